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
	Host  string `json:"host"`
	// Micros is what one call took, the median over the rounds. It is absent where the case is not about a call's time.
	Micros float64 `json:"us,omitzero"`
	// Ratio is the median of the ratios to the native function in the same round. It is absent where there is none.
	Ratio float64 `json:"ratio_to_native,omitzero"`
	// Figures are what else was found, and what is held against a target.
	Figures []measure.Figure `json:"figures,omitempty"`
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
		figures, n := measure.Cells(r.Figures)
		missed += n
		fmt.Fprintf(w, "| %-14s | %-9s | %-15s | %10s | %8s | %s |\n",
			r.Case, r.Guest, r.Host, measure.Filled(r.Micros), measure.Filled(r.Ratio), figures)
	}
	fmt.Fprintf(w, "\ntargets missed: %d\n", missed)
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
