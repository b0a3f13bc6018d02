package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Fault is one mistake in a config.
type Fault struct {
	// File is the config's name; Line and Column count from 1 and are 0 where the fault has no place in the file.
	File         string
	Line, Column int
	// Path is the place in the config's own words, such as providers[1].grant.read[0]. Empty for the whole.
	Path string
	// Message says what was wanted and what is there.
	Message string
	// Hint says how to mend it. It may be empty, and may have several lines.
	Hint string
}

// String is the fault in one line, in the form that editors and terminals turn into a link; a hint of several lines
// follows indented.
func (f Fault) String() string {
	var b strings.Builder
	b.WriteString(f.File)
	if f.Line > 0 {
		fmt.Fprintf(&b, ":%d:%d", f.Line, f.Column)
	}
	b.WriteString(": ")
	if f.Path != "" {
		b.WriteString(f.Path + ": ")
	}
	b.WriteString(f.Message)
	if f.Hint != "" {
		b.WriteString(": " + f.Hint)
	}
	return strings.ReplaceAll(b.String(), "\n", "\n    ")
}

// maxFaults is how many mistakes are listed; a file that is something else altogether has thousands.
const maxFaults = 100

// Errors are all mistakes of a config, in the order of the file.
type Errors struct {
	File   string
	Faults []Fault
	// More is how many faults there are beyond those listed.
	More int
	// causes are the errors behind faults that came from elsewhere, for errors.Is and errors.As.
	causes []error
}

// Error is a line for each fault.
func (e *Errors) Error() string {
	if len(e.Faults) == 1 && e.More == 0 {
		return e.Faults[0].String()
	}
	lines := make([]string, 0, len(e.Faults)+2)
	lines = append(lines, fmt.Sprintf("%s has %d faults:", e.File, len(e.Faults)+e.More))
	for _, f := range e.Faults {
		lines = append(lines, f.String())
	}
	if e.More > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", e.More))
	}
	return strings.Join(lines, "\n")
}

// Unwrap gives the errors of plugins that could not be loaded, and of files that could not be read.
func (e *Errors) Unwrap() []error { return e.causes }

// place is where something stands in a file.
type place struct{ line, column int }

// collector gathers faults.
type collector struct {
	file   string
	faults []Fault
	causes []error
}

func (c *collector) add(line, column int, path, hint, format string, args ...any) {
	c.faults = append(c.faults, Fault{
		File: c.file, Line: line, Column: column, Path: path, Message: fmt.Sprintf(format, args...), Hint: hint,
	})
}

// join takes over what another gathered.
func (c *collector) join(other collector) {
	c.faults = append(c.faults, other.faults...)
	c.causes = append(c.causes, other.causes...)
}

// err is nil where there is no fault.
func (c *collector) err() error {
	if len(c.faults) == 0 {
		return nil
	}
	slices.SortStableFunc(c.faults, func(a, b Fault) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	e := &Errors{File: c.file, Faults: c.faults, causes: c.causes}
	if len(e.Faults) > maxFaults {
		e.More = len(e.Faults) - maxFaults
		e.Faults = e.Faults[:maxFaults]
	}
	return e
}
