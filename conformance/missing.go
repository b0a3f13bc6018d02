package conformance

import (
	"slices"

	"github.com/weft-run/weft/abi"
)

// Missing lists what the scenario uses and cannot be played: nothing natively; with wasm, operations in hooks of a plugin
// that the contract gives no such effect. It is found by looking at the file alone; where it is empty, the scenario can be
// played.
func (s *Scenario) Missing(wasm bool) []string {
	if !wasm {
		return nil
	}
	var missing []string
	for _, p := range s.Agent.Providers {
		for _, hook := range hooks {
			for _, op := range p.Script[hook] {
				what := op.Name + " in " + hook + " of a plugin"
				if !pluginMay(hook, op.Name) && !slices.Contains(missing, what) {
					missing = append(missing, what)
				}
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
	return !ok || slices.Contains(abi.Effects(abi.Hook(hook), abi.LayerContext), effect)
}
