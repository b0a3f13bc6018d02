package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/weft-run/weft/abi"
	"github.com/weft-run/weft/host/config"
	"github.com/weft-run/weft/host/wasm"
	"github.com/weft-run/weft/host/wasm/engine"
)

// entryJSON is what an entry of a config gives a plugin, beside what the plugin asks for and could use.
type entryJSON struct {
	Config string `json:"config"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
	// Place is the entry in the config's own words, such as providers[1].
	Place    string      `json:"place"`
	SourceID string      `json:"source_id,omitempty"`
	Layer    abi.Layer   `json:"layer,omitempty"`
	Given    abi.Grants  `json:"given"`
	Rights   []rightJSON `json:"rights,omitempty"`
	// Missing are lines of YAML to add below grant.
	Missing  []string    `json:"missing,omitempty"`
	NotAsked []string    `json:"not_asked,omitempty"`
	Unused   []string    `json:"unused,omitempty"`
	Denied   []string    `json:"denied,omitempty"`
	Faults   []faultJSON `json:"faults,omitempty"`
}

// rightJSON is one right. Uses are hooks and functions by which the plugin could make use of it.
type rightJSON struct {
	Name    string   `json:"name"`
	Asked   bool     `json:"asked"`
	Given   bool     `json:"given"`
	Default bool     `json:"default,omitempty"`
	Uses    []string `json:"uses,omitempty"`
}

type faultJSON struct {
	What   string `json:"what"`
	Remedy string `json:"remedy,omitempty"`
}

// errWouldNotLoad is the error of entries that are shown with what keeps them from loading.
type errWouldNotLoad struct{ lines []string }

// Error is a line for each fault.
func (e *errWouldNotLoad) Error() string {
	if len(e.lines) == 1 {
		return e.lines[0]
	}
	return "it would not load:\n" + strings.Join(e.lines, "\n")
}

// inspectEntries holds the plugin at path against each entry of a config that names its file. Entries that would not load
// are an error beside the entries.
func inspectEntries(ctx context.Context, e *engine.Engine, path, configPath string) ([]entryJSON, error) {
	c, err := config.Load(configPath)
	if err != nil {
		return nil, err
	}
	file, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	entries := []entryJSON{}
	refused := &errWouldNotLoad{}
	for _, p := range c.Plugins() {
		if other, err := os.Stat(p.Wasm.Path); err != nil || !os.SameFile(file, other) {
			continue
		}
		i, err := wasm.Inspect(ctx, e, p.Wasm)
		if err != nil {
			return entries, fmt.Errorf("%s:%d:%d: %s: %w", configPath, p.Line, p.Column, p.Place, interrupted(err))
		}
		entries = append(entries, newEntry(configPath, p, i))
		for _, f := range i.Faults {
			fault := config.Fault{File: configPath, Line: p.Line, Column: p.Column, Path: p.Place, Message: f.What, Hint: f.Remedy}
			refused.lines = append(refused.lines, fault.String())
		}
	}
	if refused.lines != nil {
		return entries, refused
	}
	return entries, nil
}

func newEntry(configPath string, p *config.Plugin, i *wasm.Inspection) entryJSON {
	entry := entryJSON{
		Config: configPath, Line: p.Line, Column: p.Column, Place: p.Place, SourceID: i.SourceID, Layer: i.Layer, Given: i.Grants,
		Missing: i.Audit.Missing, NotAsked: i.Audit.NotAsked(), Unused: i.Audit.Unused(), Denied: i.Audit.Denied,
	}
	for _, r := range i.Audit.Rights {
		entry.Rights = append(entry.Rights, rightJSON(r))
	}
	for _, f := range i.Faults {
		entry.Faults = append(entry.Faults, faultJSON(f))
	}
	return entry
}

// print writes what an entry gives, for people.
func (e *entryJSON) print(w io.Writer) {
	stands := "a provider"
	if e.Layer != "" && e.Layer != abi.LayerContext {
		stands = "middleware at the layer " + string(e.Layer)
	}
	fmt.Fprintf(w, "in %s:%d, as %s with the source id %s\n", printable(e.Config), e.Line, stands, printable(e.SourceID))
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "  right\tasked\tgiven\tused by")
	for _, r := range e.Rights {
		given := yesNo(r.Given)
		if r.Given && r.Default {
			given = "by default"
		}
		uses := strings.Join(r.Uses, ", ")
		if uses == "" {
			uses = "-"
		}
		fmt.Fprintf(table, "  %s\t%s\t%s\t%s\n", printable(r.Name), yesNo(r.Asked), given, printable(uses))
	}
	_ = table.Flush() // what w could not write is told at the end
	if len(e.Missing) > 0 {
		fmt.Fprintln(w, "  asked for and not given; to give it, add to the entry:")
		for _, line := range append([]string{"grant:"}, indented(e.Missing)...) {
			fmt.Fprintln(w, "    "+printable(line))
		}
	}
	difference(w, "given and not asked for", e.NotAsked)
	difference(w, "given and used by nothing in the module", e.Unused)
	difference(w, "imported, and denied without a right", e.Denied)
}

func yesNo(yes bool) string {
	if yes {
		return "yes"
	}
	return "no"
}

func difference(w io.Writer, what string, names []string) {
	if len(names) > 0 {
		fmt.Fprintf(w, "  %s: %s\n", what, printable(strings.Join(names, ", ")))
	}
}

func indented(lines []string) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = "  " + line
	}
	return out
}
