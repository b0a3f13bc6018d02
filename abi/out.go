package abi

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/weft-run/weft/message"
)

// Out is what a hook returns: its effects (clauses OUT-1 to OUT-10). An absent member changes nothing. What goes into
// call_next at the layer context has the same members (clause PRO-2).
type Out struct {
	// ExtendMessages are added to the context under the plugin's source id.
	ExtendMessages []*message.Message `json:"extend_messages,omitzero"`
	// ExtendInstructions are added to the run's instructions.
	ExtendInstructions []string `json:"extend_instructions,omitzero"`
	// ExtendTools are added to the run.
	ExtendTools []Tool `json:"extend_tools,omitzero"`
	// ExtendMiddleware has the plugin's process stand at a layer for the rest of the run.
	ExtendMiddleware []Middleware `json:"extend_middleware,omitzero"`
	// State replaces the plugin's bucket.
	State jsontext.Value `json:"state,omitzero"`
	// Metadata is merged, key by key, into the run's shared metadata.
	Metadata map[string]jsontext.Value `json:"metadata,omitzero"`
	// Response takes the place of the response that there is.
	Response *Response `json:"response,omitzero"`
	// Result takes the place of a tool call's result: any JSON.
	Result jsontext.Value `json:"result,omitzero"`
	// Terminate unwinds the layer.
	Terminate bool `json:"terminate,omitzero"`
	// Updates leave in the place of one; nil lets it pass, an empty list drops it.
	Updates []Update `json:"updates,omitzero"`
	// Carry is given to the next call of on_update of the same stream.
	Carry jsontext.Value `json:"carry,omitzero"`
	// Error reports that the hook failed. State is kept, other effects are dropped.
	Error *Error `json:"error,omitzero"`

	// Unknown counts members that the host passed over.
	Unknown int `json:"-"`
}

// Tool is a tool that a plugin adds (clause TOL-1).
type Tool struct {
	Name        string `json:"name"`
	Description string `json:"description,omitzero"`
	// Parameters is the JSON Schema of the arguments; absent means an open object.
	Parameters jsontext.Value `json:"parameters,omitzero"`
	// ApprovalRequired has each call ask for approval; RequiresTrusted those that untrusted text could have led to.
	ApprovalRequired bool `json:"approval_required,omitzero"`
	RequiresTrusted  bool `json:"requires_trusted,omitzero"`
	// DeclarationOnly leaves the calls to the caller of the run.
	DeclarationOnly bool `json:"declaration_only,omitzero"`
	// Data is given to call_tool.
	Data jsontext.Value `json:"data,omitzero"`
}

// Middleware says where the plugin's own process is to stand for the rest of a run (clause OUT-9).
type Middleware struct {
	Layer Layer          `json:"layer"`
	Name  string         `json:"name,omitzero"`
	Data  jsontext.Value `json:"data,omitzero"`
}

var contextEffects = []string{
	"extend_messages", "extend_instructions", "extend_tools", "extend_middleware", "state", "metadata",
}

// Effects says which members of [Out] a hook may return (clause OUT-3). The layer matters for process alone.
func Effects(h Hook, layer Layer) []string {
	switch h {
	case HookBeforeRun:
		return append(contextEffects[:len(contextEffects):len(contextEffects)], "error")
	case HookAfterRun, HookRunFailed, HookAfterIteration:
		return []string{"state", "metadata", "error"}
	case HookBeforeIteration, HookBeforeTools:
		return []string{"response", "state", "metadata", "error"}
	case HookBeforeFunction, HookAfterFunction:
		return []string{"result", "state", "metadata", "error"}
	case HookSessionCreated, HookMigrateState:
		return []string{"state", "error"}
	case HookOnUpdate:
		return []string{"updates", "carry", "error"}
	case HookCallTool:
		return []string{"result", "state", "error"}
	case HookInit:
		return []string{"error"}
	case HookProcess:
		switch layer {
		case LayerContext:
			return append(contextEffects[:len(contextEffects):len(contextEffects)], "response", "error")
		case LayerAgent, LayerChat:
			return []string{"response", "terminate", "error"}
		case LayerFunction:
			return []string{"result", "terminate", "error"}
		}
	}
	return nil
}
