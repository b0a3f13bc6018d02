package main

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/weft-run/weft/bench/internal/measure"
)

// row is one line of the table.
type row struct {
	Case  string `json:"case"`
	Guest string `json:"guest"`
	// Messages is the length of the history.
	Messages int `json:"messages,omitzero"`
	// Micros is the median over the rounds of what the case is about. It is absent where that is no time.
	Micros float64 `json:"us,omitzero"`
	// Ratio is the median of the ratios to the native one in the same round. It is absent where there is none.
	Ratio float64 `json:"ratio_to_native,omitzero"`
	// Figures are what else was found, and what is held against a target.
	Figures []measure.Figure `json:"figures,omitempty"`
	// Elsewhere marks a figure that is known from another machine and was not measured with the others.
	Elsewhere bool `json:"elsewhere,omitzero"`
}

// table prints the rows as Markdown, under a line that says on what they were measured.
func table(w io.Writer, rows []row, rounds int) {
	fmt.Fprintf(w, "%s, %s/%s, %d CPUs, medians of %d interleaved rounds; %s\n\n",
		runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), rounds, wazero())
	fmt.Fprintf(w, "| %-16s | %-37s | %8s | %10s | %8s | %s\n", "case", "guest", "messages", "µs", "x native", "figures (target) |")
	fmt.Fprintf(w, "|-%s-|-%s-|-%s:|-%s:|-%s:|---|\n",
		strings.Repeat("-", 16), strings.Repeat("-", 37), strings.Repeat("-", 8), strings.Repeat("-", 10), strings.Repeat("-", 8))
	missed := 0
	for _, r := range rows {
		figures, n := measure.Cells(r.Figures)
		missed += n
		guest := r.Guest
		if r.Elsewhere {
			guest += " (measured elsewhere)"
		}
		fmt.Fprintf(w, "| %-16s | %-37s | %8s | %10s | %8s | %s |\n", r.Case, guest,
			measure.Filled(float64(r.Messages)), measure.Filled(r.Micros), measure.Filled(r.Ratio), figures)
	}
	fmt.Fprintf(w, "\ntargets missed: %d\n", missed)
}

// wazero names the runtime as it is built in.
func wazero() string {
	const path = "github.com/tetratelabs/wazero"
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			if m.Path == path {
				return path + " " + m.Version
			}
		}
	}
	return path
}
