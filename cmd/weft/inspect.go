package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"github.com/weft-run/weft/abi"
	"github.com/weft-run/weft/host/wasm"
	"github.com/weft-run/weft/host/wasm/engine"
	"github.com/weft-run/weft/internal/regularfile"
)

func newInspect(s streams) *cobra.Command {
	var engineFlags engineFlags
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "inspect FILE.wasm [weft.yaml]",
		Short: "Tell what a plugin is, what it asks for, and what it is given",
		Long: strings.TrimSpace(`
Tell what a module is: its size and digest, what built it, its memory, its hooks and other exports, and what it imports.
If it exports describe, that is run in the sandbox, without any rights, and what it says of itself is shown: its name,
its config, and the rights that it asks for. Nothing else of the module is run but its start.

With a config, each entry of it that names the file is shown too: the rights that the plugin asks for, those that the entry
gives, and the hooks and imports by which the plugin could make use of them, side by side; then what is asked for and not
given, with the lines to add, what is given and not asked for, and what is given and used by nothing in the module. Where
the plugin would not load with an entry, the exit code is 1.`),
		Example: strings.Trim(`
  weft inspect plugins/clock.wasm
  weft inspect plugins/clock.wasm weft.yaml
  weft inspect --json plugins/clock.wasm`, "\n"),
		Args:              between(1, 2, "one file, and one config at most,"),
		ValidArgsFunction: completeInOrder([]string{"wasm"}, []string{"yaml", "yml"}),
		RunE: func(cmd *cobra.Command, args []string) error {
			log, err := newLogger(s, "warn")
			if err != nil {
				return err
			}
			e, err := engineFlags.engine(cmd, log)
			if err != nil {
				return err
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt)
			defer stop()
			waiting := &progress{w: s.err}
			i, err := inspect(ctx, e, args[0], waiting.loading)
			if i == nil {
				return interrupted(err)
			}
			if len(args) > 1 && err == nil {
				done := waiting.loading(args[0])
				i.Entries, err = inspectEntries(ctx, e, args[0], args[1])
				done()
				if i.Entries == nil {
					return interrupted(err)
				}
			}
			if asJSON {
				return errors.Join(printJSON(s.out, i), err)
			}
			i.print(s.out)
			if len(args) > 1 && err == nil && len(i.Entries) == 0 {
				i.printSuggestion(s.out, args[1])
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON object")
	engineFlags.add(cmd)
	return cmd
}

// inspection is what weft inspect knows of a module.
type inspection struct {
	File      string `json:"file"`
	Size      int    `json:"size"`
	SHA256    string `json:"sha256"`
	Toolchain string `json:"toolchain,omitempty"`
	// Hooks are exports that this host calls, Exports all others.
	Hooks       []string         `json:"hooks"`
	Exports     []signatureJSON  `json:"exports,omitempty"`
	Imports     []signatureJSON  `json:"imports,omitempty"`
	Memory      memoryJSON       `json:"memory"`
	Functions   int              `json:"functions"`
	Description *descriptionJSON `json:"description,omitempty"`
	// Entries are those of the config that name the file; absent where no config was named.
	Entries []entryJSON `json:"entries,omitzero"`

	asked   []wasm.AuditedRight // and whether it is given by default
	missing []string            // lines that give it
}

// signatureJSON is an import, or an export that is no hook.
type signatureJSON struct {
	Module  string   `json:"module,omitempty"`
	Name    string   `json:"name"`
	Kind    string   `json:"kind"`
	Params  []string `json:"params,omitempty"`
	Results []string `json:"results,omitempty"`
}

// memoryJSON is in bytes. A maximum of 0 is none.
type memoryJSON struct {
	Min uint64 `json:"min"`
	Max uint64 `json:"max,omitempty"`
}

// descriptionJSON is what the plugin says of itself. Grants are what it asks for.
type descriptionJSON struct {
	Name         string         `json:"name,omitempty"`
	Version      string         `json:"version,omitempty"`
	Description  string         `json:"description,omitempty"`
	ABI          int            `json:"abi"`
	SourceID     string         `json:"source_id,omitempty"`
	Requires     []string       `json:"requires,omitempty"`
	ConfigSchema jsontext.Value `json:"config_schema,omitempty"`
	Grants       *abi.Grants    `json:"grants,omitempty"`
	Layers       []abi.Layer    `json:"layers,omitempty"`
	StateVersion int            `json:"state_version,omitempty"`
}

// inspect reads a module and lets it describe itself. Where only that failed, there is both an inspection and an error.
func inspect(ctx context.Context, e *engine.Engine, path string, loading func(string) func()) (*inspection, error) {
	module, err := readModule(path)
	if err != nil {
		return nil, err
	}
	info, err := engine.Inspect(module)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	i := newInspection(path, info)
	if !slices.Contains(i.Hooks, string(abi.HookDescribe)) {
		return i, nil
	}
	defer loading(path)()
	d, err := wasm.Describe(ctx, e, module)
	if err != nil {
		return i, fmt.Errorf("%s: %w", path, interrupted(err))
	}
	i.Description = &descriptionJSON{
		Name: d.Name, Version: d.Version, Description: d.Description, ABI: max(d.ABI, 1), SourceID: d.SourceID,
		Requires: d.Requires, ConfigSchema: d.ConfigSchema, Grants: d.Grants, Layers: d.Layers, StateVersion: d.StateVersion,
	}
	audit := wasm.Compare(d.Grants, abi.DefaultGrants(), wasm.UsesOf(info, ""))
	i.missing = audit.Missing
	for _, r := range audit.Rights {
		if r.Asked {
			i.asked = append(i.asked, r)
		}
	}
	return i, nil
}

// readModule reads a regular file that is no larger than a module may be at most.
func readModule(path string) ([]byte, error) {
	limit := engine.DefaultLimits(true).Module
	module, err := regularfile.Read(path, limit)
	switch {
	case errors.Is(err, regularfile.ErrNotRegular):
		return nil, fmt.Errorf("%s is no regular file: name a .wasm file", path)
	case err == nil && int64(len(module)) > limit:
		return nil, fmt.Errorf("%s is too large; a module has at most %s", path, size(limit))
	}
	return module, err
}

func newInspection(path string, info *engine.Info) *inspection {
	i := &inspection{
		File: path, Size: info.Size, SHA256: info.SHA256, Toolchain: info.Toolchain, Hooks: []string{}, Functions: info.Functions,
		Memory: memoryJSON{Min: info.Memory.Pages.Min * engine.PageSize, Max: info.Memory.Pages.Max * engine.PageSize},
	}
	for _, e := range info.Exports {
		switch {
		case slices.Contains(abi.Hooks, abi.Hook(e.Name)) && info.Callable(e.Name):
			i.Hooks = append(i.Hooks, e.Name)
		default:
			i.Exports = append(i.Exports, signatureJSON{Name: e.Name, Kind: e.Kind, Params: e.Params, Results: e.Results})
		}
	}
	for _, m := range info.Imports {
		i.Imports = append(i.Imports, signatureJSON(m))
	}
	return i
}
