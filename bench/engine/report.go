package main

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
)

// row is one line of the table.
type row struct {
	Case  string `json:"case"`
	Guest string `json:"guest"`
	Host  string `json:"host"`
	// Micros is what one call took, the median over the rounds. It is absent where the case is not about a call's time.
	Micros float64 `json:"us,omitzero"`
	// Ratio is the median of the ratios to the native function in the same round. It is absent where there is none.
	Ratio float64 `json:"ratio_to_native,omitzero"`
	// Figures are what else was found, and what is held against a target.
	Figures []figure `json:"figures,omitempty"`
}

// figure is a number with its target, if it has one.
type figure struct {
	What   string  `json:"what"`
	Value  float64 `json:"value"`
	Unit   string  `json:"unit,omitzero"`
	Target string  `json:"target,omitzero"`
	// Missed says that the target is not met.
	Missed bool `json:"missed,omitzero"`
}

// plain is a figure without a target.
func plain(what string, value float64, unit string) figure {
	return figure{What: what, Value: rounded(value), Unit: unit}
}

func atMost(what string, value float64, unit string, target float64) figure {
	f := plain(what, value, unit)
	f.Target, f.Missed = "at most "+number(target), f.Value > target
	return f
}

func atLeast(what string, value float64, unit string, target float64) figure {
	f := plain(what, value, unit)
	f.Target, f.Missed = "at least "+number(target), f.Value < target
	return f
}

// String says it as the table does: "2.1 times native (at most 1.8: missed)".
func (f figure) String() string {
	var b strings.Builder
	b.WriteString(f.What + " " + number(f.Value))
	if f.Unit != "" {
		b.WriteString(" " + f.Unit)
	}
	if f.Target != "" {
		b.WriteString(" (" + f.Target)
		if f.Missed {
			b.WriteString(", **missed**")
		}
		b.WriteString(")")
	}
	return b.String()
}

// number writes a number with commas between the thousands.
func number(v float64) string {
	text := strconv.FormatFloat(v, 'f', -1, 64)
	whole, _, _ := strings.Cut(text, ".")
	for i := len(whole) - 3; i > 0 && whole[i-1] != '-'; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// table prints the rows as Markdown, under a line that says on what they were measured.
func table(w io.Writer, rows []row, rounds int) {
	fmt.Fprintf(w, "%s, %s/%s, %d CPUs, medians of %d interleaved rounds; %s\n\n",
		runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), rounds, strings.Join(versions(), ", "))
	fmt.Fprintf(w, "| %-14s | %-9s | %-15s | %10s | %8s | %s\n", "case", "guest", "host", "µs", "x native", "figures (target) |")
	fmt.Fprintf(w, "|-%s-|-%s-|-%s-|-%s:|-%s:|---|\n",
		strings.Repeat("-", 14), strings.Repeat("-", 9), strings.Repeat("-", 15), strings.Repeat("-", 10), strings.Repeat("-", 8))
	missed := 0
	for _, r := range rows {
		figures := make([]string, len(r.Figures))
		for i, f := range r.Figures {
			figures[i] = f.String()
			if f.Missed {
				missed++
			}
		}
		fmt.Fprintf(w, "| %-14s | %-9s | %-15s | %10s | %8s | %s |\n",
			r.Case, r.Guest, r.Host, orEmpty(r.Micros), orEmpty(r.Ratio), strings.Join(figures, "; "))
	}
	fmt.Fprintf(w, "\ntargets missed: %d\n", missed)
}

func orEmpty(v float64) string {
	if v == 0 {
		return ""
	}
	return number(v)
}

// versions names the peers, and the runtime that Weft and Extism's SDK share, as they are built in.
func versions() []string {
	var out []string
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return out
	}
	for _, m := range info.Deps {
		switch m.Path {
		case sdkModule, grpcModule, "github.com/tetratelabs/wazero":
			out = append(out, m.Path+" "+m.Version)
		}
	}
	return out
}

// present leaves out the rows that were not measured.
func present(rows []row) []row {
	var out []row
	for _, r := range rows {
		if r.Case != "" {
			out = append(out, r)
		}
	}
	return out
}
