package telemetry

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/message"
)

// recordInput records what goes into a part.
func (t *Tracer) recordInput(span trace.Span, h *host.HookTrace) {
	r := recorder{span: span, limit: t.config.ContentLimit}
	switch {
	case h.Hook == "model" && h.Request != nil:
		r.messages(keyInput, h.Request.Messages, "")
		if h.Request.Instructions != "" {
			r.fitted(keyInstructions, func(longest int) []byte {
				return append(appendText(append([]byte(nil), '['), "text", h.Request.Instructions, longest), ']')
			})
		}
	case h.Hook == "function" && h.Call != nil:
		r.value(keyArguments, h.Call.Arguments)
	}
	r.done()
}

// recordOutput records what a part came to.
func (t *Tracer) recordOutput(span trace.Span, h *host.HookTrace) {
	r := recorder{span: span, limit: t.config.ContentLimit}
	switch {
	case (h.Hook == "model" || h.Hook == "run") && h.Response != nil:
		reason := string(h.Response.FinishReason)
		if reason == "" {
			reason = string(host.FinishStop) // the conventions ask for one
		}
		if reason == string(host.FinishToolCalls) {
			reason = "tool_call" // the word of the conventions
		}
		r.messages(keyOutput, h.Response.Messages, reason)
	case h.Hook == "function" && h.Result != nil && h.Result.CallID != "":
		r.value(keyResult, h.Result.Result)
	}
	r.done()
}

// recorder puts content on a span. No attribute is longer than limit, and each is valid JSON.
type recorder struct {
	span  trace.Span
	limit int
	cut   bool
}

func (r *recorder) done() {
	if r.cut {
		r.span.SetAttributes(keyContentCut.Bool(true))
	}
}

// messages records the newest messages that fit.
func (r *recorder) messages(key attribute.Key, messages []*message.Message, finishReason string) {
	if len(messages) == 0 {
		return
	}
	room := r.limit - len("[]")
	var kept [][]byte
	for _, m := range slices.Backward(messages) {
		encoded := appendMessage(nil, m, finishReason, r.limit)
		if len(encoded)+len(",") > room {
			r.cut = true
			if len(kept) > 0 {
				break
			}
			if encoded = fit(room-len(","), func(longest int) []byte { return appendMessage(nil, m, finishReason, longest) }); encoded == nil {
				break
			}
		}
		room -= len(encoded) + len(",")
		kept = append(kept, encoded)
		if r.cut {
			break
		}
	}
	if len(kept) == 0 {
		return
	}
	out := make([]byte, 0, r.limit-room)
	out = append(out, '[')
	for i, encoded := range slices.Backward(kept) {
		out = append(out, encoded...)
		if i > 0 {
			out = append(out, ',')
		}
	}
	r.span.SetAttributes(key.String(string(append(out, ']'))))
}

// value records a JSON value; one that is too long, or no JSON, as the text of its beginning.
func (r *recorder) value(key attribute.Key, v jsontext.Value) {
	switch {
	case len(v) == 0:
	case len(v) <= r.limit && v.IsValid():
		r.span.SetAttributes(key.String(string(v)))
	default:
		r.fitted(key, func(longest int) []byte { return appendQuoted(nil, string(v), longest) })
	}
}

// fitted records what encode makes, with texts as short as it takes to fit.
func (r *recorder) fitted(key attribute.Key, encode func(longest int) []byte) {
	encoded := encode(r.limit)
	if len(encoded) > r.limit {
		encoded, r.cut = fit(r.limit, encode), true
	}
	if encoded != nil {
		r.span.SetAttributes(key.String(string(encoded)))
	}
}

// fit halves the texts until the whole fits. It returns nil where it does not fit without any text.
func fit(room int, encode func(longest int) []byte) []byte {
	for longest := max(room, 0); ; longest /= 2 {
		switch encoded := encode(longest); {
		case len(encoded) <= room:
			return encoded
		case longest == 0:
			return nil
		}
	}
}

// appendMessage appends a message in the conventions' form. Texts longer than longest are cut.
func appendMessage(b []byte, m *message.Message, finishReason string, longest int) []byte {
	b = append(appendQuoted(append(b, `{"role":`...), string(m.Role), longestIdentifier), `,"parts":[`...)
	for i, content := range m.Contents {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendPart(b, content, longest)
	}
	b = append(b, ']')
	if m.AuthorName != "" {
		b = appendQuoted(append(b, `,"name":`...), m.AuthorName, longestIdentifier)
	}
	if finishReason != "" {
		b = appendQuoted(append(b, `,"finish_reason":`...), finishReason, longestIdentifier)
	}
	return append(b, '}')
}

func appendPart(b []byte, content message.Content, longest int) []byte {
	switch c := content.(type) {
	case message.Text:
		return appendText(b, "text", c.Text, longest)
	case message.Reasoning:
		return appendText(b, "reasoning", c.Text, longest)
	case message.URI:
		modality, _, _ := strings.Cut(c.MediaType, "/")
		b = appendQuoted(append(b, `{"type":"uri","uri":`...), c.URI, longest)
		b = appendQuoted(append(b, `,"mime_type":`...), c.MediaType, longestIdentifier)
		return append(appendQuoted(append(b, `,"modality":`...), modality, longestIdentifier), '}')
	case message.FunctionCall:
		b = appendQuoted(append(b, `{"type":"tool_call","id":`...), c.CallID, longestIdentifier)
		b = appendQuoted(append(b, `,"name":`...), c.Name, longestIdentifier)
		return append(appendValue(append(b, `,"arguments":`...), c.Arguments, longest), '}')
	case message.FunctionResult:
		b = appendQuoted(append(b, `{"type":"tool_call_response","id":`...), c.CallID, longestIdentifier)
		return append(appendValue(append(b, `,"response":`...), c.Result, longest), '}')
	case message.Error:
		return appendText(b, "error", c.Message, longest)
	}
	return append(appendQuoted(append(b, `{"type":`...), string(content.Kind()), longestIdentifier), '}')
}

func appendText(b []byte, kind, text string, longest int) []byte {
	b = append(append(append(b, `{"type":"`...), kind...), `","content":`...)
	return append(appendQuoted(b, text, longest), '}')
}

// appendValue appends a JSON value, or the beginning of its text where it is too long.
func appendValue(b []byte, v jsontext.Value, longest int) []byte {
	switch {
	case len(v) == 0:
		return append(b, "null"...)
	case len(v) <= longest && v.IsValid():
		return append(b, v...)
	}
	return appendQuoted(b, string(v), longest)
}

func appendQuoted(b []byte, text string, longest int) []byte {
	b, _ = jsontext.AppendQuote(b, cutText(text, longest)) // it is valid UTF-8, the only thing that could fail
	return b
}

// cutText is the beginning of a text, as valid UTF-8 of at most longest bytes.
func cutText(text string, longest int) string {
	if len(text) > longest {
		for longest > 0 && !utf8.RuneStart(text[longest]) {
			longest--
		}
		text = text[:longest]
	}
	return strings.ToValidUTF8(text, "?") // the usual replacement character would be longer than what it replaces
}
