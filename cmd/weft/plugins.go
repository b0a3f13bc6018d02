package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weft-run/weft/abi"
	"github.com/weft-run/weft/host/config"
	"github.com/weft-run/weft/host/wasm"
)

func newPlugins(s streams) *cobra.Command {
	var engineFlags engineFlags
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "plugins [weft.yaml]",
		Short: "Load the plugins of a config, and list them",
		Long: strings.TrimSpace(`
Load the plugins of a weft.yaml as weft run does, and list them: where each stands, its version and digest, its state, its
hooks and its rights. Without a name it is the weft.yaml in the current folder. No model is asked, and no tool server is
started. Where a plugin cannot be loaded, the exit code is 1.`),
		Example:           "  weft plugins\n  weft plugins guide.yaml --json",
		Args:              between(0, 1, "one config at most"),
		ValidArgsFunction: completeInOrder([]string{"yaml", "yml"}),
		RunE: func(cmd *cobra.Command, args []string) error {
			path := "weft.yaml"
			if len(args) > 0 {
				path = args[0]
			}
			return listPlugins(cmd, s, path, &engineFlags, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON array")
	engineFlags.add(cmd)
	return cmd
}

func listPlugins(cmd *cobra.Command, s streams, path string, flags *engineFlags, asJSON bool) error {
	log, err := newLogger(s, "warn")
	if err != nil {
		return err
	}
	e, err := flags.engine(cmd, log)
	if err != nil {
		return err
	}
	c, err := config.Load(path)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt)
	defer stop()
	loaded, err := c.LoadPlugins(ctx, config.BuildOptions{Engine: e, Getenv: os.Getenv, Logger: log, Loading: (&progress{w: s.err}).loading})
	if err != nil {
		return interrupted(err)
	}
	listed := make([]pluginJSON, len(loaded.List))
	for i, l := range loaded.List {
		listed[i] = newPluginJSON(l)
	}
	if asJSON {
		err = printJSON(s.out, listed)
	} else {
		printPlugins(s.out, path, listed)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTime)
	defer cancel()
	return errors.Join(err, loaded.Err(), loaded.Close(ctx))
}

// stateFailed is the state of a plugin that could not be loaded; the others are those of package wasm.
const stateFailed = "failed"

// pluginJSON is one plugin of a config. What is known only of one that was loaded is absent from others.
type pluginJSON struct {
	SourceID string `json:"source_id,omitempty"`
	File     string `json:"file"`
	// Line is that of the entry in the config, and Place the entry in the config's own words.
	Line  int    `json:"line"`
	Place string `json:"place"`
	// Layer is context for a provider, else where the middleware stands.
	Layer        abi.Layer `json:"layer,omitempty"`
	Version      string    `json:"version,omitempty"`
	SHA256       string    `json:"sha256,omitempty"`
	StateVersion int       `json:"state_version,omitempty"`
	State        string    `json:"state"`
	// Error says why it could not be loaded, and how to mend it.
	Error  string      `json:"error,omitempty"`
	Hooks  []abi.Hook  `json:"hooks,omitempty"`
	Grants *abi.Grants `json:"grants,omitempty"`

	why []string // the reasons alone, without remedies
}

func newPluginJSON(l config.LoadedPlugin) pluginJSON {
	p := pluginJSON{SourceID: l.Wasm.SourceID, File: l.Wasm.Path, Line: l.Line, Place: l.Place, Layer: l.Wasm.Layer, State: stateFailed}
	if !l.Wasm.Middleware {
		p.Layer = abi.LayerContext
	}
	if l.Err != nil {
		p.Error, p.why = l.Err.Error(), reasons(l.Err)
		return p
	}
	status, grants := l.Loaded.Status(), l.Loaded.Grants()
	p.SourceID, p.Layer, p.Version, p.SHA256 = status.SourceID, status.Layer, status.Version, status.Digest
	p.StateVersion, p.State, p.Hooks, p.Grants = status.StateVersion, string(status.State), status.Hooks, &grants
	return p
}

// reasons are why a plugin could not be loaded, without places and remedies.
func reasons(err error) []string {
	var all []string
	if refused, ok := errors.AsType[*wasm.LoadError](err); ok {
		for _, f := range refused.Faults {
			all = append(all, f.What)
		}
	} else if faults, ok := errors.AsType[*config.Errors](err); ok {
		for _, f := range faults.Faults {
			all = append(all, f.Message)
		}
	}
	if all == nil {
		return []string{err.Error()}
	}
	return all
}

// printPlugins lists plugins for people.
func printPlugins(w io.Writer, path string, plugins []pluginJSON) {
	if len(plugins) == 0 {
		fmt.Fprintf(w, "%s has no plugins\n", printable(path))
	}
	for _, p := range plugins {
		name := p.SourceID
		if name == "" {
			name = p.Place
		}
		fmt.Fprintf(w, "%s (%s): %s\n", printable(name), p.kind(), p.State)
		for _, reason := range p.why {
			row(w, "why", reason)
		}
		row(w, "file", p.File)
		row(w, "version", p.Version)
		row(w, "sha256", p.SHA256[:min(len(p.SHA256), 12)])
		if p.StateVersion > 0 {
			row(w, "state version", fmt.Sprint(p.StateVersion))
		}
		row(w, "hooks", hookNames(p.Hooks))
		if p.Grants != nil {
			row(w, "rights", grouped(wasm.Rights(*p.Grants)))
		}
	}
}

// kind says what a plugin is in its agent.
func (p *pluginJSON) kind() string {
	switch p.Layer {
	case abi.LayerContext:
		return "provider"
	case "":
		return "middleware"
	}
	return "middleware, layer " + string(p.Layer)
}

func hookNames(hooks []abi.Hook) string {
	names := make([]string, len(hooks))
	for i, h := range hooks {
		names[i] = string(h)
	}
	return strings.Join(names, ", ")
}

// grouped writes rights in one line, those of one member behind its name.
func grouped(rights []string) string {
	var b strings.Builder
	last := ""
	for _, r := range rights {
		list, rest, _ := strings.Cut(r, " ")
		switch {
		case list == last:
			b.WriteString(", ")
		case last == "":
			b.WriteString(list + " ")
		default:
			b.WriteString("; " + list + " ")
		}
		b.WriteString(rest)
		last = list
	}
	return b.String()
}
