package middleware

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/weft-run/weft/message"
)

// trusted reports whether a message goes to the model as it is.
func (p *pii) trusted(m *message.Message) bool {
	return p.config.KeepInstructions && m.Role == message.RoleSystem
}

// redacted is a list of messages without what detectors find, and the labels of what they found. Messages are shared, so
// those that change are copied.
func (p *pii) redacted(messages []*message.Message, skip func(*message.Message) bool) ([]*message.Message, []string) {
	var found []string
	out := messages
	for i, m := range messages {
		if m == nil || skip != nil && skip(m) {
			continue
		}
		contents, labels := redactContents(p.config.Detectors, m.Contents)
		if len(labels) == 0 {
			continue
		}
		if len(found) == 0 {
			out = slices.Clone(messages)
		}
		found = union(found, labels)
		clean := *m
		clean.Contents = contents
		out[i] = &clean
	}
	return out, found
}

// redactContents is the contents of one message without what detectors find.
func redactContents(detectors []Detector, contents []message.Content) ([]message.Content, []string) {
	t := contentScanner{detectors: detectors}
	out := t.withTail(t.feed(contents))
	if len(t.found) == 0 {
		return contents, nil
	}
	return out, t.found
}

// joined is two contents of one kind as one.
func joined(a, b message.Content) message.Content { return asKind(a.Kind(), textOf(a)+textOf(b)) }

// contentScanner looks at the contents of one message, which may come in pieces. Neighbouring texts are one text, and so are
// neighbouring reasonings.
type contentScanner struct {
	detectors []Detector
	kind      message.Kind // of the text under way; empty for none
	text      scanner
	found     []string
	hits      int // how often something was found
}

// saw keeps the labels of what was found.
func (t *contentScanner) saw(labels []string) {
	if len(labels) > 0 {
		t.found = union(t.found, labels)
		t.hits++
	}
}

// piece gives the text under way a further piece, or ends it.
func (t *contentScanner) piece(text string, final bool) string {
	t.text.found = nil
	out := t.text.feed(text, final)
	t.saw(t.text.found)
	return out
}

// feed takes further contents and returns what may leave.
func (t *contentScanner) feed(contents []message.Content) []message.Content {
	out := make([]message.Content, 0, len(contents))
	for _, c := range contents {
		kind := c.Kind()
		if kind != message.KindText && kind != message.KindReasoning {
			out = append(t.withTail(out), t.whole(c))
			continue
		}
		if t.kind != kind {
			out = t.withTail(out)
			t.kind, t.text = kind, scanner{detectors: t.detectors}
		}
		piece := textOf(c)
		if clean := t.piece(piece, false); clean != "" || piece == "" {
			out = append(out, asKind(kind, clean))
		}
	}
	return out
}

// withTail ends the text under way. What was held of it joins its last piece, if that stands at the end of out.
func (t *contentScanner) withTail(out []message.Content) []message.Content {
	tail := t.flush()
	if last := len(out) - 1; last >= 0 && len(tail) > 0 && out[last].Kind() == tail[0].Kind() {
		out[last] = joined(out[last], tail[0])
		return out
	}
	return append(out, tail...)
}

// flush ends the text under way and returns what was held of it.
func (t *contentScanner) flush() []message.Content {
	if t.kind == "" {
		return nil
	}
	kind := t.kind
	rest := t.piece("", true)
	t.kind = ""
	if rest == "" {
		return nil
	}
	return []message.Content{asKind(kind, rest)}
}

// holds reports whether something was not decided yet.
func (t *contentScanner) holds() bool { return t.kind != "" && t.text.held != "" }

// whole looks at content that comes in one piece.
func (t *contentScanner) whole(c message.Content) message.Content {
	text := func(s string) string {
		clean, found := redactText(t.detectors, s)
		t.saw(found)
		return clean
	}
	raw := func(v jsontext.Value) jsontext.Value {
		clean, found := redactJSON(t.detectors, v)
		t.saw(found)
		return clean
	}
	switch c := c.(type) {
	case message.URI:
		if !strings.HasPrefix(strings.ToLower(c.URI), "data:") {
			c.URI = text(c.URI)
		}
		return c
	case message.FunctionResult:
		c.Result, c.Error = raw(c.Result), text(c.Error)
		return c
	case message.Error:
		c.Message = text(c.Message)
		return c
	case message.Unknown:
		c.JSON = raw(c.JSON)
		return c
	}
	return c
}

// redactJSON looks at the strings, names and numbers of a JSON value.
func redactJSON(detectors []Detector, v jsontext.Value) (jsontext.Value, []string) {
	var found []string
	clean := editJSON(v, jsonEdit{
		text: func(s string) string {
			clean, labels := redactText(detectors, s)
			found = union(found, labels)
			return clean
		},
		number: func(digits string) string {
			clean, labels := redactText(detectors, digits)
			if !strings.HasPrefix(clean, "[") || !strings.HasSuffix(clean, "]") {
				return digits // only a part of it looks like something, as happens with long numbers
			}
			found = union(found, labels)
			return clean
		},
	})
	if len(found) == 0 {
		return v, nil
	}
	return clean, found
}

func textOf(c message.Content) string {
	switch c := c.(type) {
	case message.Text:
		return c.Text
	case message.Reasoning:
		return c.Text
	}
	return ""
}

func asKind(kind message.Kind, text string) message.Content {
	if kind == message.KindReasoning {
		return message.Reasoning{Text: text}
	}
	return message.Text{Text: text}
}

// union is both lists of labels, each once.
func union(a, b []string) []string {
	for _, label := range b {
		if !slices.Contains(a, label) {
			a = append(a, label)
		}
	}
	return a
}
