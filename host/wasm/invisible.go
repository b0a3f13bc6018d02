package wasm

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/weft-run/weft/abi"
	"github.com/weft-run/weft/message"
)

// Text that a plugin adds is read by models and shown to people, and must say the same to both (clause OUT-11).

// invisible reports characters that nobody sees and models read, which are the tags, or that have a text shown in another
// order than it is read in, which are the overrides, embeddings and isolates of its direction.
func invisible(r rune) bool {
	return r >= 0xE0000 && r <= 0xE007F || r >= 0x202A && r <= 0x202E || r >= 0x2066 && r <= 0x2069
}

// cleaner takes such characters out of what a plugin adds, and counts them.
type cleaner struct {
	removed int
	fault   error
}

// clean is what a hook returned, or gave to call_next, without characters that nobody sees.
func (v *version) clean(c *call, out *abi.Out) error {
	var k cleaner
	k.messages("/extend_messages", out.ExtendMessages)
	for i := range out.ExtendInstructions {
		k.text(fmt.Sprintf("/extend_instructions/%d", i), &out.ExtendInstructions[i])
	}
	for i := range out.ExtendTools {
		place := fmt.Sprintf("/extend_tools/%d", i)
		k.text(place+"/description", &out.ExtendTools[i].Description)
		k.json(place+"/parameters", &out.ExtendTools[i].Parameters)
	}
	if out.Response != nil {
		k.messages("/response/messages", out.Response.Messages)
	}
	k.json("/result", &out.Result)
	for i := range out.Updates {
		k.contents(fmt.Sprintf("/updates/%d", i), out.Updates[i].Contents)
	}
	return v.cleaned(c, &k)
}

// cleaned counts what was taken out, and is the error of what cannot be.
func (v *version) cleaned(c *call, k *cleaner) error {
	if k.removed > 0 {
		c.removed += k.removed
		v.removed.Add(int64(k.removed))
		v.log.Warn("the plugin added characters that nobody sees; they were taken out", slog.String("plugin", v.sourceID),
			slog.String("hook", string(c.hook)), slog.Int("count", k.removed))
	}
	return k.fault
}

func (k *cleaner) text(place string, s *string) {
	if strings.IndexByte(*s, 0) >= 0 {
		k.refuse(place, "the text holds the character U+0000, which no text may (OUT-11)")
	}
	if strings.IndexFunc(*s, invisible) < 0 {
		return
	}
	*s = strings.Map(func(r rune) rune {
		if invisible(r) {
			k.removed++
			return -1
		}
		return r
	}, *s)
}

func (k *cleaner) refuse(place, reason string) {
	if k.fault == nil {
		k.fault = &abi.OutputError{Pointer: place, Reason: reason}
	}
}

func (k *cleaner) messages(place string, messages []*message.Message) {
	for i, m := range messages {
		at := fmt.Sprintf("%s/%d", place, i)
		k.text(at+"/author_name", &m.AuthorName)
		k.contents(at, m.Contents)
	}
}

// contents cleans contents in their place.
func (k *cleaner) contents(place string, contents []message.Content) {
	for i, content := range contents {
		at := fmt.Sprintf("%s/contents/%d", place, i)
		switch c := content.(type) {
		case message.Text:
			k.text(at+"/text", &c.Text)
			contents[i] = c
		case message.Reasoning:
			k.text(at+"/text", &c.Text)
			contents[i] = c
		case message.URI:
			k.text(at+"/uri", &c.URI)
			contents[i] = c
		case message.FunctionCall:
			k.json(at+"/arguments", &c.Arguments)
			contents[i] = c
		case message.FunctionResult:
			k.json(at+"/result", &c.Result)
			k.text(at+"/error", &c.Error)
			contents[i] = c
		case message.Error:
			k.text(at+"/message", &c.Message)
			contents[i] = c
		}
	}
}

// json cleans the texts in a JSON value; all else keeps its bytes.
func (k *cleaner) json(place string, value *jsontext.Value) {
	if !bytes.ContainsFunc(*value, invisible) && !bytes.Contains(*value, []byte(`\u`)) {
		return // what is escaped has a \u
	}
	var out []byte
	copied := 0
	dec := jsontext.NewDecoder(bytes.NewReader(*value))
	for kind := dec.PeekKind(); kind != 0; kind = dec.PeekKind() {
		if kind != '"' {
			if _, err := dec.ReadToken(); err != nil {
				return // it was read before, so it is JSON
			}
			continue
		}
		within, n := dec.StackIndex(dec.StackDepth())
		raw, err := dec.ReadValue()
		if err != nil {
			return
		}
		end := int(dec.InputOffset())
		unquoted, err := jsontext.AppendUnquote(nil, raw)
		text := string(unquoted)
		before := k.removed
		if k.text(place, &text); err != nil || k.removed == before {
			continue
		}
		if within == '{' && n%2 == 0 {
			k.refuse(place, "the name of a member holds characters that nobody sees (OUT-11)")
		}
		out = append(out, (*value)[copied:end-len(raw)]...)
		out, _ = jsontext.AppendQuote(out, text) // it came out of JSON, so it is valid
		copied = end
	}
	if copied > 0 {
		*value = append(out, (*value)[copied:]...)
	}
}
