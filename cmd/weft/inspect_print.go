package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/weft-run/weft/abi"
	"github.com/weft-run/weft/host/wasm"
)

// print writes an inspection for people.
func (i *inspection) print(w io.Writer) {
	fmt.Fprintln(w, printable(i.File))
	row(w, "size", fmt.Sprintf("%s (%d bytes, %s)", size(int64(i.Size)), i.Size, plural(i.Functions, "function")))
	row(w, "sha256", i.SHA256)
	row(w, "toolchain", i.Toolchain)
	row(w, "memory", i.Memory.String())
	hooks := strings.Join(i.Hooks, ", ")
	if hooks == "" {
		hooks = "none: this is no plugin that weft could load"
	}
	row(w, "hooks", hooks)
	row(w, "exports", signatures(i.Exports))
	for n, module := range modulesOf(i.Imports) {
		label := "imports"
		if n > 0 {
			label = ""
		}
		var names []string
		for _, m := range i.Imports {
			if m.Module == module && !slices.Contains(names, m.Name) {
				names = append(names, m.Name)
			}
		}
		row(w, label, module+": "+strings.Join(names, ", "))
	}
	if i.Description != nil {
		i.Description.print(w)
		label := "asks for"
		for _, r := range i.asked {
			row(w, label, r.Name+notes(r))
			label = ""
		}
	}
	for n := range i.Entries {
		i.Entries[n].print(w)
	}
}

// notes say by what in the module a right could be used, and that it need not be given.
func notes(r wasm.AuditedRight) string {
	var all []string
	if r.Given {
		all = append(all, "granted by default")
	}
	if r.Uses == nil {
		all = append(all, "used by nothing in the module")
	}
	if all == nil {
		return ""
	}
	return " (" + strings.Join(all, ", ") + ")"
}

// String is the memory for people.
func (m memoryJSON) String() string {
	if m.Max == 0 {
		return size(int64(m.Min)) + " at least, no maximum of its own"
	}
	return size(int64(m.Min)) + " at least, " + size(int64(m.Max)) + " at most"
}

// row writes one line of a module's, unless there is nothing to say.
func row(w io.Writer, label, value string) {
	if value != "" {
		fmt.Fprintf(w, "  %-13s  %s\n", label, printable(value))
	}
}

func signatures(list []signatureJSON) string {
	names := make([]string, len(list))
	for i, e := range list {
		names[i] = e.Name
		if e.Kind != "func" {
			names[i] += " (" + e.Kind + ")"
		}
	}
	return strings.Join(names, ", ")
}

func modulesOf(imports []signatureJSON) []string {
	var modules []string
	for _, m := range imports {
		if !slices.Contains(modules, m.Module) {
			modules = append(modules, m.Module)
		}
	}
	return modules
}

func (d *descriptionJSON) print(w io.Writer) {
	fmt.Fprintln(w, "describes itself as")
	row(w, "name", strings.TrimSpace(d.Name+" "+d.Version))
	row(w, "description", d.Description)
	row(w, "abi", fmt.Sprint(d.ABI))
	row(w, "source id", d.SourceID)
	row(w, "requires", strings.Join(d.Requires, ", "))
	row(w, "layers", layers(d.Layers))
	if d.StateVersion > 0 {
		row(w, "state version", fmt.Sprint(d.StateVersion))
	}
	label := "config"
	for _, line := range configLines(d.ConfigSchema) {
		row(w, label, line)
		label = ""
	}
}

func layers(list []abi.Layer) string {
	names := make([]string, len(list))
	for i, l := range list {
		names[i] = string(l)
	}
	return strings.Join(names, ", ")
}

// configLines sum up a config schema, one key a line.
func configLines(schema []byte) []string {
	var s struct {
		Properties map[string]struct {
			Type        any    `json:"type"`
			Description string `json:"description"`
			Default     any    `json:"default"`
		} `json:"properties"`
		Required []string `json:"required"`
	}
	if len(schema) == 0 {
		return nil
	}
	if json.Unmarshal(schema, &s) != nil || len(s.Properties) == 0 {
		return []string{"see --json"}
	}
	var names []string
	for name := range s.Properties {
		names = append(names, name)
	}
	slices.Sort(names)
	lines := make([]string, len(names))
	for i, name := range names {
		p := s.Properties[name]
		notes := []string{}
		if p.Type != nil {
			notes = append(notes, fmt.Sprint(p.Type))
		}
		if slices.Contains(s.Required, name) {
			notes = append(notes, "required")
		}
		if p.Default != nil {
			value, _ := json.Marshal(p.Default) // it was read from JSON
			notes = append(notes, "default "+string(value))
		}
		lines[i] = name
		if len(notes) > 0 {
			lines[i] += " (" + strings.Join(notes, ", ") + ")"
		}
		if p.Description != "" {
			lines[i] += ": " + p.Description
		}
	}
	return lines
}
