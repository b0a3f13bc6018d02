package pdk

import "github.com/weft-run/weft/pdk/go/json"

// Content is one part of a message: one of [Text], [Reasoning], [URI], [FunctionCall], [FunctionResult], [ErrorContent]
// and [UnknownContent]. Use a type switch; the set is closed.
type Content interface {
	json.Writable
	// Type is the name of the kind: the "type" of the JSON.
	Type() string

	content()
}

// Text is plain text.
type Text struct{ Text string }

// Reasoning is what a model shows of its thinking. It is no part of [Message.Text].
type Reasoning struct{ Text string }

// URI points to an image, a file or another resource; a data: URI carries it along.
type URI struct {
	URI string
	// MediaType is the resource's media type, such as "image/png"; it may be empty.
	MediaType string
}

// FunctionCall is the model's wish to have a tool called.
type FunctionCall struct {
	CallID string
	Name   string
	// Arguments is the JSON that the model wrote, an object as a rule. Empty means no arguments.
	Arguments json.Raw
}

// FunctionResult is what a tool call came to.
type FunctionResult struct {
	CallID string
	// Result is any JSON value; empty means null.
	Result json.Raw
	// Error is the error's text where the call failed.
	Error string
}

// ErrorContent is an error that a model or a service reported inside a message.
type ErrorContent struct {
	Message string
	Code    string
}

// UnknownContent is content of a kind that this version of the package does not know, kept as it is.
type UnknownContent struct {
	Kind string
	JSON json.Raw
}

// Type is "text".
func (Text) Type() string { return "text" }

// Type is "reasoning".
func (Reasoning) Type() string { return "reasoning" }

// Type is "uri".
func (URI) Type() string { return "uri" }

// Type is "function_call".
func (FunctionCall) Type() string { return "function_call" }

// Type is "function_result".
func (FunctionResult) Type() string { return "function_result" }

// Type is "error".
func (ErrorContent) Type() string { return "error" }

// Type is the kind that the content's JSON names.
func (c UnknownContent) Type() string { return c.Kind }

func (Text) content()           {}
func (Reasoning) content()      {}
func (URI) content()            {}
func (FunctionCall) content()   {}
func (FunctionResult) content() {}
func (ErrorContent) content()   {}
func (UnknownContent) content() {}

// WriteJSON writes the content.
func (c Text) WriteJSON(w *json.Writer) {
	w.Object(func() {
		w.Name("type").String(c.Type())
		w.Name("text").String(c.Text)
	})
}

// WriteJSON writes the content.
func (c Reasoning) WriteJSON(w *json.Writer) {
	w.Object(func() {
		w.Name("type").String(c.Type())
		w.Name("text").String(c.Text)
	})
}

// WriteJSON writes the content.
func (c URI) WriteJSON(w *json.Writer) {
	w.Object(func() {
		w.Name("type").String(c.Type())
		w.Name("uri").String(c.URI)
		writeOptional(w, "media_type", c.MediaType)
	})
}

// WriteJSON writes the content.
func (c FunctionCall) WriteJSON(w *json.Writer) {
	w.Object(func() {
		w.Name("type").String(c.Type())
		w.Name("call_id").String(c.CallID)
		w.Name("name").String(c.Name)
		if c.Arguments != "" {
			w.Name("arguments").Raw(c.Arguments)
		}
	})
}

// WriteJSON writes the content.
func (c FunctionResult) WriteJSON(w *json.Writer) {
	w.Object(func() {
		w.Name("type").String(c.Type())
		w.Name("call_id").String(c.CallID)
		w.Name("result").Raw(c.Result)
		writeOptional(w, "error", c.Error)
	})
}

// WriteJSON writes the content.
func (c ErrorContent) WriteJSON(w *json.Writer) {
	w.Object(func() {
		w.Name("type").String(c.Type())
		w.Name("message").String(c.Message)
		writeOptional(w, "code", c.Code)
	})
}

// WriteJSON writes the content as it was read.
func (c UnknownContent) WriteJSON(w *json.Writer) { w.Raw(c.JSON) }

func readContents(r *json.Reader) (all []Content) {
	for range r.Array() {
		if c := readContent(r); c != nil {
			all = append(all, c)
		}
	}
	return all
}

func writeContents(w *json.Writer, all []Content) {
	w.Array(func() {
		for _, c := range all {
			c.WriteJSON(w)
		}
	})
}

// readContent reads one content. Its type may come last, so all members are gathered first.
func readContent(r *json.Reader) Content {
	var kind, text, uri, mediaType, callID, name, message, code, failure string
	var arguments, result json.Raw
	start := *r // for a content of a kind that is not known
	foreign := false
	for member := range r.Object() {
		if foreign {
			continue
		}
		switch member {
		case "type":
			kind = r.String()
			foreign = !known(kind)
		case "text":
			text = gathered(r)
		case "uri":
			uri = gathered(r)
		case "media_type":
			mediaType = gathered(r)
		case "call_id":
			callID = gathered(r)
		case "name":
			name = gathered(r)
		case "message":
			message = gathered(r)
		case "code":
			code = gathered(r)
		case "error":
			failure = gathered(r)
		case "arguments":
			arguments = r.Raw()
		case "result":
			result = r.Raw()
		}
	}
	if r.Err() != nil {
		return nil
	}
	switch kind {
	case "text":
		return Text{Text: text}
	case "reasoning":
		return Reasoning{Text: text}
	case "uri":
		return URI{URI: uri, MediaType: mediaType}
	case "function_call":
		return FunctionCall{CallID: callID, Name: name, Arguments: arguments}
	case "function_result":
		return FunctionResult{CallID: callID, Result: result, Error: failure}
	case "error":
		return ErrorContent{Message: message, Code: code}
	}
	return UnknownContent{Kind: kind, JSON: start.Raw()}
}

func known(kind string) bool {
	switch kind {
	case "text", "reasoning", "uri", "function_call", "function_result", "error":
		return true
	}
	return false
}

// gathered reads a string. In a kind that is not known, and whose type comes later, the member may be anything.
func gathered(r *json.Reader) string {
	if r.Kind() != json.KindString {
		r.Raw()
		return ""
	}
	return r.String()
}
