package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/weft-run/weft/abi"
	"github.com/weft-run/weft/message"
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
	if len(i.Reserved) > 0 {
		row(w, "later hooks", strings.Join(i.Reserved, ", ")+" (not called by this version)")
	}
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
	}
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
		fmt.Fprintf(w, "  %-12s  %s\n", label, printable(value))
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
	label := "config"
	for _, line := range configLines(d.ConfigSchema) {
		row(w, label, line)
		label = ""
	}
	d.printGrants(w)
}

// printGrants tells what the plugin asks for, and of that what it must be granted.
func (d *descriptionJSON) printGrants(w io.Writer) {
	if d.Grants == nil {
		return
	}
	g, have := d.Grants, abi.DefaultGrants()
	roles := func(list []message.Role) []string {
		var names []string
		for _, r := range list {
			names = append(names, string(r))
		}
		return names
	}
	label := "asks for"
	for _, ask := range []struct {
		list        string
		asked, have []string
	}{{"read", g.Read, have.Read}, {"add", g.Add, have.Add}, {"roles", roles(g.Roles), roles(have.Roles)}} {
		for _, right := range ask.asked {
			line := ask.list + " " + right
			if slices.Contains(ask.have, right) {
				line += " (granted by default)"
			}
			row(w, label, line)
			label = ""
		}
	}
	for _, f := range g.Files {
		row(w, label, "files: a folder at "+f.Guest+", to read")
		label = ""
	}
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
