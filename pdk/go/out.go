package pdk

import (
	"slices"

	"github.com/weft-run/weft/pdk/go/json"
)

// StateOut is what session_created and migrate_state may return, and a part of what other hooks may.
type StateOut struct {
	state json.Raw
}

// SetState replaces the plugin's state of this session; it must be a JSON object. The next hook of the session finds it
// as [In.State]. It is kept even if the hook fails.
func (out *StateOut) SetState(state json.Raw) { out.state = state }

// WriteState replaces the plugin's state with what v writes, which must be a JSON object.
func (out *StateOut) WriteState(v json.Writable) { out.state = json.Marshal(v) }

// RunOut is what after_run, run_failed and after_iteration may return.
type RunOut struct {
	StateOut
	metadata members
}

// SetMetadata sets one member of what the plugins of this run share. Right: add "metadata".
func (out *RunOut) SetMetadata(name string, value json.Raw) { out.metadata.set(name, value) }

// ContextOut is what before_run may return.
type ContextOut struct {
	RunOut
	messages     []Message
	instructions []string
	// tools and middleware are JSON already, so that only a plugin that has some needs to know how they are written.
	tools, middleware []json.Raw
}

// ExtendMessages adds messages to the run's context, behind those that were added before. The host marks them with the
// plugin's source id. Roles other than user need a right.
func (out *ContextOut) ExtendMessages(messages ...Message) {
	out.messages = append(out.messages, messages...)
}

// ExtendInstructions adds to the run's instructions.
func (out *ContextOut) ExtendInstructions(instructions ...string) {
	out.instructions = append(out.instructions, instructions...)
}

// ExtendTools adds tools to the run; the model's calls of them reach [CallTool]. Right: add "tools".
func (out *ContextOut) ExtendTools(tools ...Tool) {
	for i := range tools {
		out.tools = append(out.tools, json.Marshal(&tools[i]))
	}
}

// ExtendMiddleware has the plugin's own process stand at a layer, innermost, for the rest of the run. Right: middleware,
// with that layer.
func (out *ContextOut) ExtendMiddleware(middleware ...Middleware) {
	for i := range middleware {
		out.middleware = append(out.middleware, json.Marshal(&middleware[i]))
	}
}

// Middleware says where the plugin's own process is to stand.
type Middleware struct {
	// Layer is [LayerChat] or [LayerFunction].
	Layer Layer
	// Name and Data, any JSON, are given to process.
	Name string
	Data json.Raw
}

// WriteJSON writes the middleware.
func (m *Middleware) WriteJSON(w *json.Writer) {
	w.Object(func() {
		w.Name("layer").String(string(m.Layer))
		writeOptional(w, "name", m.Name)
		writePart(w, "data", m.Data)
	})
}

// ResponseOut is what before_iteration and before_tools may return.
type ResponseOut struct {
	RunOut
	response *Response
}

// SetResponse gives a response in place of the one that there is, or that there would be: its messages and why it ends.
// Right: change "result".
func (out *ResponseOut) SetResponse(response *Response) { out.response = response }

// SetText is SetResponse with an assistant message of one text.
func (out *ResponseOut) SetText(text string) { out.response = textResponse(text) }

// ResultOut is what before_function and after_function may return.
type ResultOut struct {
	RunOut
	resultPart
}

// resultPart is the result of a call.
type resultPart struct {
	result json.Raw
}

// SetResult sets the result of the call, any JSON.
func (out *resultPart) SetResult(result json.Raw) { out.result = result }

// WriteResult makes what v writes the result of the call.
func (out *resultPart) WriteResult(v json.Writable) { out.result = json.Marshal(v) }

// SetText makes a text the result of the call.
func (out *resultPart) SetText(text string) { out.result = json.String(text) }

// effects are what a hook leaves to be written.
type effects interface {
	write(w *json.Writer)
	// writeState writes what is kept of a hook that failed.
	writeState(w *json.Writer)
}

var (
	_ effects = (*StateOut)(nil)
	_ effects = (*RunOut)(nil)
	_ effects = (*ContextOut)(nil)
	_ effects = (*ResponseOut)(nil)
	_ effects = (*ResultOut)(nil)
)

func (out *StateOut) writeState(w *json.Writer) { writePart(w, "state", out.state) }

func (out *StateOut) write(w *json.Writer) { out.writeState(w) }

func (out *RunOut) write(w *json.Writer) {
	out.StateOut.write(w)
	out.metadata.write(w, "metadata")
}

func (out *ContextOut) write(w *json.Writer) {
	if len(out.messages) > 0 {
		w.Name("extend_messages")
		writeMessages(w, out.messages)
	}
	if len(out.instructions) > 0 {
		w.Name("extend_instructions").Strings(out.instructions)
	}
	writeValues(w, "extend_tools", out.tools)
	writeValues(w, "extend_middleware", out.middleware)
	out.RunOut.write(w)
}

func (out *ResponseOut) write(w *json.Writer) {
	writeResponse(w, out.response)
	out.RunOut.write(w)
}

func (out *ResultOut) write(w *json.Writer) {
	writePart(w, "result", out.result)
	out.RunOut.write(w)
}

// noEffects is what init returns, and what is left of a hook that panicked.
type noEffects struct{}

func (noEffects) write(*json.Writer)      {}
func (noEffects) writeState(*json.Writer) {}

// writePart writes a member unless it is absent.
func writePart(w *json.Writer, name string, value json.Raw) {
	if value != "" {
		w.Name(name).Raw(value)
	}
}

func writeResponse(w *json.Writer, response *Response) {
	if response != nil {
		w.Name("response").Value(response)
	}
}

func textResponse(text string) *Response { return &Response{Messages: []Message{Assistant(text)}} }

// sortedNames are the names of m in a fixed order, so that the same values give the same bytes.
func sortedNames(m map[string]json.Raw) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
