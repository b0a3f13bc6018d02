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
	add(len(a.Middleware) > 0, "agent.middleware")
	add(a.FunctionInvocation != nil && s.callsTools(), "agent.function_invocation")
	add(a.PerServiceCallHistory, "agent.per_service_call_history")
	add(a.Compaction != nil, "agent.compaction")
	add(s.callsTools(), "calls of tools")
	for _, t := range s.Turns {
		add(len(t.Middleware) > 0, "turn.middleware")
		add(len(t.Approve) > 0, "turn.approve")
	}
	for _, p := range a.Providers {
		add(p.Kind == KindCompaction, "compaction provider")
		add(p.SkipExcluded, "skip_excluded")
		add(wasm && p.Script["process"] != nil, "wrapping provider as a plugin")
		for _, hook := range hooks {
			for _, op := range p.Script[hook] {
				add(op.Name == "extend_middleware", "extend_middleware")
				add(wasm && !pluginMay(hook, op.Name), op.Name+" in "+hook+" of a plugin")
			}
		}
	}
	return missing
}

// callsTools reports whether a model asks for tools in an agent that has some: then the loop is needed.
func (s *Scenario) callsTools() bool {
	if !slices.ContainsFunc(s.Model.Replies, func(r Reply) bool { return len(r.Calls) > 0 }) {
		return false
	}
	return len(s.Agent.Tools) > 0 || slices.ContainsFunc(s.Agent.Providers, func(p Provider) bool {
		for _, ops := range p.Script {
			if slices.ContainsFunc(ops, func(op Op) bool { return op.Name == "extend_tools" }) {
				return true
			}
		}
		return false
	})
}

// opEffects says which effect of the contract a plugin needs for an operation (clause OUT-3 of abi.md). Operations that
// are not listed need none.
var opEffects = map[string]string{
	"extend_messages":     "extend_messages",
	"extend_instructions": "extend_instructions",
	"extend_tools":        "extend_tools",
	"state_set":           "state",
	"state_incr":          "state",
	"metadata_set":        "metadata",
}

// pluginMay reports whether a plugin can do in a hook what the operation says.
func pluginMay(hook, op string) bool {
	effect, ok := opEffects[op]
	return !ok || hook == "process" || slices.Contains(abi.Effects(abi.Hook(hook)), effect)
}
