package pdk

import "github.com/weft-run/weft/pdk/go/json"

// BeforeIteration is the body of the export before_iteration, which the host calls before each model call; see
// [In.Iteration] and [In.Request]. With a response that is set the model is not asked.
func BeforeIteration(hook func(in *In, out *ResponseOut) error) int32 {
	out := &ResponseOut{}
	return call(func(in *In) error { return hook(in, out) }, out)
}

// BeforeTools is the body of the export before_tools, which the host calls when a reply calls tools; see [In.Response] and
// [In.Calls]. With a response that is set no call runs, and the run ends with that.
func BeforeTools(hook func(in *In, out *ResponseOut) error) int32 {
	out := &ResponseOut{}
	return call(func(in *In) error { return hook(in, out) }, out)
}

// BeforeFunction is the body of the export before_function, which the host calls before each tool call; see [In.Call]. With
// a result that is set the tool is not called. Right: change "result".
func BeforeFunction(hook func(in *In, out *ResultOut) error) int32 {
	out := &ResultOut{}
	return call(func(in *In) error { return hook(in, out) }, out)
}

// AfterFunction is the body of the export after_function, which the host calls with each call's result; see [In.Call] and
// [In.Result]. A result that is set takes its place. Right: change "result".
func AfterFunction(hook func(in *In, out *ResultOut) error) int32 {
	out := &ResultOut{}
	return call(func(in *In) error { return hook(in, out) }, out)
}

// AfterIteration is the body of the export after_iteration, which the host calls when the calls of a reply are answered;
// see [In.Iteration], [In.Response], [In.Calls] and [In.Results].
func AfterIteration(hook func(in *In, out *RunOut) error) int32 {
	out := &RunOut{}
	return call(func(in *In) error { return hook(in, out) }, out)
}

// Iteration is one model call of a run.
type Iteration struct {
	// Number counts the model calls of the run from 1.
	Number int
	// Usage counts the tokens of the run so far; nil where nobody told. Right: read "response".
	Usage *Usage
}

// ModelRequest tells of a model call what is not its messages.
type ModelRequest struct {
	// Count is how many messages the model is sent. They are fetched with [GetMessages], part [PartRequest].
	Count        int
	Instructions string
	// Tools are the names of the tools that are offered.
	Tools []string
	// ConversationID names the conversation where a service keeps the history.
	ConversationID string
}

// Call is one tool call.
type Call struct {
	CallID string
	Name   string
	// Arguments are those of the model, an object.
	Arguments json.Raw
	// SourceID is the provider that added the tool, where one did.
	SourceID string
}

// Result is what a tool call came to.
type Result struct {
	CallID string
	// Result is any JSON.
	Result json.Raw
	// Error is the error's text where the call failed.
	Error string
}

// Iteration returns which model call a hook of the loop is about.
func (in *In) Iteration() Iteration {
	iteration := readPart[Iteration]("iteration", in.rest.get("iteration"))
	if iteration == nil {
		return Iteration{}
	}
	return *iteration
}

// Request returns what the model is asked, or nil where there is nothing to see. Right: read "request".
func (in *In) Request() *ModelRequest {
	return readPart[ModelRequest]("request", in.rest.get("request"))
}

// Call returns the call that before_function and after_function are about. Right: read "calls".
func (in *In) Call() Call {
	call := readPart[Call]("call", in.rest.get("call"))
	if call == nil {
		return Call{}
	}
	return *call
}

// Calls returns the calls of the reply. Right: read "calls".
func (in *In) Calls() []Call { return readList[Call]("calls", in.rest.get("calls")) }

// Result returns the call's result, in after_function. Right: read "calls".
func (in *In) Result() Result {
	result := readPart[Result]("result", in.rest.get("result"))
	if result == nil {
		return Result{}
	}
	return *result
}

// Results returns the results of the reply's calls, in after_iteration. Right: read "calls".
func (in *In) Results() []Result { return readList[Result]("results", in.rest.get("results")) }

// Text returns the result as a text: the content of a string, the JSON itself of anything else.
func (t *Result) Text() string { return textOf("result", t.Result) }

// ReadJSON reads which model call it is.
func (i *Iteration) ReadJSON(r *json.Reader) {
	for name := range r.Object() {
		switch name {
		case "number":
			i.Number = r.Int()
		case "usage":
			i.Usage = &Usage{}
			i.Usage.ReadJSON(r)
		}
	}
}

// ReadJSON reads what a model is asked.
func (m *ModelRequest) ReadJSON(r *json.Reader) {
	for name := range r.Object() {
		switch name {
		case "count":
			m.Count = r.Int()
		case "instructions":
			m.Instructions = r.String()
		case "tools":
			m.Tools = r.Strings()
		case "conversation_id":
			m.ConversationID = r.String()
		}
	}
}

// ReadJSON reads a call.
func (c *Call) ReadJSON(r *json.Reader) {
	for name := range r.Object() {
		switch name {
		case "call_id":
			c.CallID = r.String()
		case "name":
			c.Name = r.String()
		case "arguments":
			c.Arguments = r.Raw()
		case "source_id":
			c.SourceID = r.String()
		}
	}
}

// ReadJSON reads a result.
func (t *Result) ReadJSON(r *json.Reader) {
	for name := range r.Object() {
		switch name {
		case "call_id":
			t.CallID = r.String()
		case "result":
			t.Result = r.Raw()
		case "error":
			t.Error = r.String()
		}
	}
}
