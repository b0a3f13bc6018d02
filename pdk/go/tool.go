package pdk

import (
	"strconv"

	"github.com/weft-run/weft/pdk/go/json"
)

// Tool is a tool that a plugin adds to a run with [ContextOut.ExtendTools].
type Tool struct {
	// Name has 1 to 64 letters, digits, underscores and hyphens.
	Name        string
	Description string
	// Parameters is the JSON Schema of the arguments, which are held against it before a call; empty means an open object.
	Parameters json.Raw
	// ApprovalRequired has each call ask for approval; RequiresTrusted those that untrusted text could have led to.
	ApprovalRequired bool
	RequiresTrusted  bool
	// DeclarationOnly leaves the calls to the caller of the run.
	DeclarationOnly bool
	// Data, any JSON, is given back with each call.
	Data json.Raw

	// Call answers the calls where they reach [Tools.Call].
	Call func(call *ToolCall, out *ToolOut) error
}

// Tools are tools that answer their calls themselves. They are added in before_run, with out.ExtendTools(tools...), and
// called in call_tool, with pdk.CallTool(tools.Call).
type Tools []Tool

// Call has the tool of the call's name answer it.
func (t Tools) Call(call *ToolCall, out *ToolOut) error {
	for i := range t {
		if t[i].Name == call.Name && t[i].Call != nil {
			return t[i].Call(call, out)
		}
	}
	return NewError(CodeNotFound, "this plugin has no tool "+strconv.Quote(call.Name))
}

// CallTool is the body of the export call_tool, which the host calls when the model calls a tool that the plugin added. An
// error becomes the call's error result. Calls may run at the same time, each on a memory of its own.
func CallTool(hook func(call *ToolCall, out *ToolOut) error) int32 {
	out := &ToolOut{}
	return call(func(in *In) error {
		call := &ToolCall{Base: in.Base, State: in.State}
		if made := in.rest.get("call"); made != "" {
			r := json.NewReader(made)
			call.ReadJSON(r)
			ended("call", r)
		}
		return hook(call, out)
	}, out)
}

// ToolCall is a call of a tool that the plugin added.
type ToolCall struct {
	Base
	CallID string
	Name   string
	// Arguments are those of the model, an object that fits the tool's parameters. See [ToolCall.ReadArguments].
	Arguments json.Raw
	// Data is the tool's.
	Data json.Raw
	// State is what the plugin last set as its state in this session, an object.
	State json.Raw
}

// ReadArguments reads the arguments into v. The error has [CodeInvalidInput] and names the member.
func (c *ToolCall) ReadArguments(v json.Readable) error { return readOwn("arguments", c.Arguments, v) }

// ReadState reads the plugin's state into v. Without one it leaves v as it is.
func (c *ToolCall) ReadState(v json.Readable) error { return readOwn("state", c.State, v) }

// ReadJSON reads a call.
func (c *ToolCall) ReadJSON(r *json.Reader) {
	for name := range r.Object() {
		switch name {
		case "call_id":
			c.CallID = r.String()
		case "name":
			c.Name = r.String()
		case "arguments":
			c.Arguments = r.Raw()
		case "data":
			c.Data = r.Raw()
		}
	}
}

// ToolOut is what call_tool may return. Without a result the model gets null. A state that is set where another call
// changed it meanwhile is a conflict, and the call fails: what many calls write belongs into [KV].
type ToolOut struct {
	StateOut
	resultPart
}

var _ effects = (*ToolOut)(nil)

func (out *ToolOut) write(w *json.Writer) {
	writePart(w, "result", out.result)
	out.StateOut.write(w)
}

// WriteJSON writes the tool as the host wants it.
func (t *Tool) WriteJSON(w *json.Writer) {
	w.Object(func() {
		w.Name("name").String(t.Name)
		writeOptional(w, "description", t.Description)
		writePart(w, "parameters", t.Parameters)
		writeTrue(w, "approval_required", t.ApprovalRequired)
		writeTrue(w, "requires_trusted", t.RequiresTrusted)
		writeTrue(w, "declaration_only", t.DeclarationOnly)
		writePart(w, "data", t.Data)
	})
}

func writeTrue(w *json.Writer, name string, value bool) {
	if value {
		w.Name(name).Bool(true)
	}
}
