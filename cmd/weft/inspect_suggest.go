package main

import (
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"

	"github.com/weft-run/weft/abi"
)

var plainPath = regexp.MustCompile(`^[A-Za-z0-9_./-]+$`)

// printSuggestion writes an entry for a plugin that a config does not name.
func (i *inspection) printSuggestion(w io.Writer, configPath string) {
	path := i.File
	folder, err := filepath.Abs(filepath.Dir(configPath))
	if file, failed := filepath.Abs(i.File); err == nil && failed == nil {
		if relative, err := filepath.Rel(folder, file); err == nil {
			path = filepath.ToSlash(relative)
		}
	}
	if !plainPath.MatchString(path) {
		path = strconv.Quote(path)
	}
	list, layer := i.stands()
	fmt.Fprintf(w, "%s has no entry for it; this one would give what it asks for:\n  %s:\n    - plugin: %s\n", printable(configPath), list, printable(path))
	if layer != "" {
		fmt.Fprintf(w, "      layer: %s\n", layer)
	}
	for n, line := range indented(i.missing) {
		if n == 0 {
			fmt.Fprintln(w, "      grant:")
		}
		fmt.Fprintln(w, "      "+printable(line))
	}
}

// stands says in which list an entry of the plugin would be, and at which layer if that must be said.
func (i *inspection) stands() (list string, layer abi.Layer) {
	var layers []abi.Layer
	if i.Description != nil {
		layers = i.Description.Layers
	}
	provider := slices.ContainsFunc(i.Hooks, func(h string) bool {
		return h != string(abi.HookProcess) && slices.Contains(abi.ProviderHooks, abi.Hook(h))
	})
	if provider || slices.Contains(layers, abi.LayerContext) {
		return "providers", ""
	}
	switch len(layers) {
	case 0:
		return "middleware", abi.LayerAgent
	case 1:
		return "middleware", ""
	}
	return "middleware", layers[0]
}
