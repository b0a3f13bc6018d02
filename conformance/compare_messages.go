package conformance

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// absent stands in differences for what is not there.
const absent = "nothing"

// inJSON is any value as compact JSON, for differences.
func inJSON(v any) string {
	b, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		return fmt.Sprintf("%v", v)
	}
	return string(b)
}

// messages compares a list of messages.
func (r *Result) messages(path string, want []Message, have []shown) {
	want = mergeTools(want)
	for i := range max(len(want), len(have)) {
		at := fmt.Sprintf("%s/%d", path, i)
		switch {
		case i >= len(have):
			r.differ(at, want[i].String(), absent)
		case i >= len(want):
			r.differ(at, absent, inJSON(have[i]))
		default:
			r.message(at, want[i], have[i])
		}
	}
}

// message compares one message as a whole: what is absent in want must not be there.
func (r *Result) message(path string, want Message, have shown) {
	if want.Role != have.Role {
		r.differ(path+"/role", inJSON(want.Role), inJSON(have.Role))
	}
	switch {
	case want.TextContains != nil:
		if !contains(have.Text, *want.TextContains) {
			r.differ(path+"/text_contains", "a text that contains "+inJSON(*want.TextContains), inJSON(have.Text))
		}
	case orEmpty(want.Text) != have.Text:
		r.differ(path+"/text", inJSON(orEmpty(want.Text)), inJSON(have.Text))
	}
	if !slices.EqualFunc(want.Calls, have.Calls, sameCall) {
		r.differ(path+"/calls", inJSON(want.Calls), inJSON(have.Calls))
	}
	if !slices.Equal(want.Results, have.Results) {
		r.differ(path+"/results", inJSON(want.Results), inJSON(have.Results))
	}
	if have.Other != nil {
		r.differ(path, "no other contents", strings.Join(have.Other, ", "))
	}
	if want.Source != nil && *want.Source != have.Source {
		r.differ(path+"/source", inJSON(*want.Source), inJSON(have.Source))
	}
	if want.Excluded != nil && *want.Excluded != have.Excluded {
		r.differ(path+"/excluded", inJSON(*want.Excluded), inJSON(have.Excluded))
	}
}

func sameCall(a, b Call) bool {
	return a.CallID == b.CallID && a.Name == b.Name && sameJSON(a.Arguments, b.Arguments)
}

func orEmpty(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// contains looks for a part of a text without regard to case.
func contains(text, part string) bool {
	return strings.Contains(strings.ToLower(text), strings.ToLower(part))
}

// String is the expected message in one line of JSON.
func (m Message) String() string {
	out := map[string]any{"role": m.Role}
	if m.Text != nil {
		out["text"] = *m.Text
	}
	if m.TextContains != nil {
		out["text_contains"] = *m.TextContains
	}
	if m.Calls != nil {
		out["calls"] = m.Calls
	}
	if m.Results != nil {
		out["results"] = m.Results
	}
	if m.Source != nil {
		out["source"] = *m.Source
	}
	if m.Excluded != nil {
		out["excluded"] = *m.Excluded
	}
	return inJSON(out)
}

// request compares what one model call received.
func (r *Result) request(path string, want Request, have seenRequest) {
	if want.Messages.Set {
		r.messages(path+"/messages", want.Messages.Value, have.messages)
	}
	text := func(key string, want Wanted[string], have string) {
		wanted := inJSON(want.Value)
		if want.Null {
			wanted = absent
		}
		if want.Set && want.Value != have {
			seen := inJSON(have)
			if have == "" {
				seen = absent
			}
			r.differ(path+"/"+key, wanted, seen)
		}
	}
	text("instructions", want.Instructions, have.instructions)
	if want.Tools.Set {
		names := slices.Sorted(slices.Values(want.Tools.Value))
		if !slices.Equal(names, have.tools) {
			r.differ(path+"/tools", inJSON(names), inJSON(have.tools))
		}
	}
	value := func(key string, want Wanted[jsontext.Value], have jsontext.Value, nothing string) {
		if want.Set && !sameJSON(orNothing(want.Value, nothing), orNothing(have, nothing)) {
			r.differ(path+"/"+key, string(tidy(orNothing(want.Value, nothing))), string(tidy(orNothing(have, nothing))))
		}
	}
	value("tool_choice", want.ToolChoice, have.toolChoice, `"auto"`)
	text("conversation_id", want.ConversationID, have.conversationID)
	value("options", want.Options, have.options, "{}")
}

// orNothing puts what stands for an absent value in its place.
func orNothing(v jsontext.Value, nothing string) jsontext.Value {
	if len(v) == 0 || v.Kind() == 'n' {
		return jsontext.Value(nothing)
	}
	return v
}

// texts compares two lists of texts entry by entry.
func (r *Result) texts(path string, want, have []string) {
	for i := range max(len(want), len(have)) {
		wanted, seen := absent, absent
		if i < len(want) {
			wanted = inJSON(want[i])
		}
		if i < len(have) {
			seen = inJSON(have[i])
		}
		if wanted != seen {
			r.differ(fmt.Sprintf("%s/%d", path, i), wanted, seen)
		}
	}
}
