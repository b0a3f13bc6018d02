package pdk

import "github.com/weft-run/weft/pdk/go/json"

// FunctionContext is a tool call as middleware around it sees it. What is changed before [FunctionContext.Next] is what the
// tool gets.
type FunctionContext struct {
	Base
	// Name and Data are what [ContextOut.ExtendMiddleware] said; empty where the middleware stands in the configuration.
	Name string
	Data json.Raw
	// Call is the call, with the arguments as they stand. Right: read "calls".
	Call Call

	changed bool
	given   json.Raw
	resultPart
	endPart
}

// SetArguments replaces the arguments, an object. Right: change "arguments".
func (c *FunctionContext) SetArguments(arguments json.Raw) {
	c.Call.Arguments, c.changed = arguments, true
}

// WriteArguments replaces the arguments with what v writes, which must be an object. Right: change "arguments".
func (c *FunctionContext) WriteArguments(v json.Writable) { c.SetArguments(json.Marshal(v)) }

// Result returns the result as it stands, any JSON: what the last Next came to, unless another one was set since. It is
// empty where there is none, and where the plugin may not read it. Right: read "calls".
func (c *FunctionContext) Result() json.Raw {
	if c.result != "" {
		return c.result
	}
	return c.given
}

// Text returns the result as a text: the content of a string, the JSON itself of anything else.
func (c *FunctionContext) Text() string { return textOf("result", c.Result()) }

// Next calls the tool. Afterwards [FunctionContext.Result] is what it came to. It may be called again. The error is an
// [*Error]: a hook that does not handle it returns it as it is.
func (c *FunctionContext) Next() error {
	changed, given := c.changed, c.given
	c.changed = false
	err := callNext(func(w *json.Writer) {
		if changed {
			w.Name("arguments").Raw(c.Call.Arguments)
		}
	}, func(name string, r *json.Reader) {
		if name == "result" {
			given = r.Raw()
		}
	})
	if err == nil {
		c.given, c.result = given, ""
	}
	return err
}

func (c *FunctionContext) begin(in *In) {
	c.Base, c.Name, c.Data, c.Call = in.Base, in.rest.text("name"), in.rest.get("data"), in.Call()
}

func (c *FunctionContext) write(w *json.Writer) {
	writePart(w, "result", c.result)
	c.endPart.write(w)
}
