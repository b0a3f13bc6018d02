package measure

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/pprof"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Case is one thing that a program measures, by something that its cases share; it gives rows of a table.
type Case[B, R any] struct {
	Name string
	Run  func(ctx context.Context, b B) ([]R, error)
}

// Cases are all that a program measures, in the order of its table.
type Cases[B, R any] []Case[B, R]

// Names are those of the cases, with commas between them.
func (cs Cases[B, R]) Names() string {
	names := make([]string, len(cs))
	for i, c := range cs {
		names[i] = c.Name
	}
	return strings.Join(names, ", ")
}

// Chosen returns the cases of a list of names with commas between them, or all for an empty one.
func (cs Cases[B, R]) Chosen(list string) (Cases[B, R], error) {
	if list == "" {
		return cs, nil
	}
	var out Cases[B, R]
	for name := range strings.SplitSeq(list, ",") {
		found := false
		for _, c := range cs {
			if c.Name == name {
				out, found = append(out, c), true
			}
		}
		if !found {
			return nil, fmt.Errorf("-case: no case %q: there are %s", name, cs.Names())
		}
	}
	return out, nil
}

// Measure runs the cases one after the other, and tells standard error of each in the name of the program. A case that fails
// does not take the others' rows away.
func (cs Cases[B, R]) Measure(ctx context.Context, program string, b B) ([]R, error) {
	var rows []R
	var errs []error
	for _, c := range cs {
		start := time.Now()
		some, err := c.Run(ctx, b)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", c.Name, err))
			continue
		}
		if len(some) == 0 {
			continue
		}
		fmt.Fprintf(os.Stderr, "%s: %s measured in %s\n", program, c.Name, time.Since(start).Round(time.Second))
		rows = append(rows, some...)
	}
	return rows, errors.Join(errs...)
}

// Profile writes what the processor does to a file until stop is called; an empty name stands for no file.
func Profile(name string) (stop func(), err error) {
	if name == "" {
		return func() {}, nil
	}
	file, err := os.Create(name)
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(file); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return func() {
		pprof.StopCPUProfile()
		_ = file.Close() // a profile that is cut short does not read
	}, nil
}

// WriteRows writes rows to a file as JSON; an empty name stands for no file.
func WriteRows[R any](name string, rows []R) error {
	if name == "" {
		return nil
	}
	data, err := json.Marshal(rows, jsontext.WithIndent("  "))
	if err != nil {
		return err
	}
	return os.WriteFile(name, append(data, '\n'), 0o644)
}
