package conformance

import (
	"slices"

	"github.com/weft-run/weft/abi"
)

// Missing lists what the scenario uses and this version does not have, or, with wasm, does not have for plugins. It is
// found by looking at the file alone; where it is empty, the scenario can be played.
func (s *Scenario) Missing(wasm bool) []string {
	var missing []string
	add := func(uses bool, what string) {
		if uses && !slices.Contains(missing, what) {
			missing = append(missing, what)
		}
	}
	a := &s.Agent
	add(wasm && len(a.Middleware) > 0, "middleware as a plugin")
	for _, t := range s.Turns {
		add(wasm && len(t.Middleware) > 0, "middleware as a plugin")
	}
	for _, p := range a.Providers {
		add(wasm && p.Script["process"] != nil, "wrapping provider as a plugin")
		for _, hook := range hooks {
			for _, op := range p.Script[hook] {
				add(wasm && !pluginMay(hook, op.Name), op.Name+" in "+hook+" of a plugin")
			}
		}
	}
	return missing
}

// opEffects says which effect of the contract a plugin needs for an operation (clause OUT-3 of abi.md). Operations that
// are not listed need none.
var opEffects = map[string]string{
	"extend_messages":     "extend_messages",
	"extend_instructions": "extend_instructions",
	"extend_tools":        "extend_tools",
	"extend_middleware":   "extend_middleware",
	"state_set":           "state",
	"state_incr":          "state",
	"metadata_set":        "metadata",
}

// pluginMay reports whether a plugin can do in a hook what the operation says.
func pluginMay(hook, op string) bool {
	effect, ok := opEffects[op]
	return !ok || hook == "process" || slices.Contains(abi.Effects(abi.Hook(hook)), effect)
}
