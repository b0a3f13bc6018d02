package openai

import (
	"errors"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/message"
)

// refusalCode is the code of the error content that a model's refusal becomes.
const refusalCode = "refusal"

// errNoEnd is a stream that was closed in the middle.
var errNoEnd = errors.New("the stream ended before it said so: what came is only a part of the answer")

// sum adds updates up to the response that an agent makes of them, so that both ways of calling come to the same.
func sum(updates []*host.Update) *host.Response {
	var r host.Response
	var current *message.Message
	var contents []message.Content
	flush := func() {
		if current != nil {
			current.Contents = joined(contents)
		}
		contents = nil
	}
	for _, u := range updates {
		r.ID, r.Model, r.ConversationID = u.ResponseID, u.Model, u.ConversationID
		if u.FinishReason != "" {
			r.FinishReason = u.FinishReason
		}
		if u.Usage != nil {
			r.Usage = u.Usage
		}
		if len(u.Contents) == 0 {
			continue
		}
		if current == nil || current.ID != "" && u.MessageID != "" && u.MessageID != current.ID {
			flush()
			current = &message.Message{Role: u.Role}
			r.Messages = append(r.Messages, current)
		}
		if current.ID == "" {
			current.ID = u.MessageID
		}
		contents = append(contents, u.Contents...)
	}
	flush()
	return &r
}

// joined are contents with neighbouring texts, and neighbouring reasoning, made one.
func joined(contents []message.Content) []message.Content {
	var all []message.Content
	for i := 0; i < len(contents); {
		kind, from := contents[i].Kind(), i
		var text strings.Builder
		for ; i < len(contents) && contents[i].Kind() == kind; i++ {
			switch c := contents[i].(type) {
			case message.Text:
				text.WriteString(c.Text)
			case message.Reasoning:
				text.WriteString(c.Text)
			}
		}
		switch kind {
		case message.KindText:
			all = append(all, message.Text{Text: text.String()})
		case message.KindReasoning:
			all = append(all, message.Reasoning{Text: text.String()})
		default:
			all = append(all, contents[from:i]...)
		}
	}
	return all
}

// tail is what an answer ends in: the calls and the refusal, which are whole only when the stream is over.
type tail struct {
	calls   []*callPart
	byIndex map[int]*callPart
	refusal strings.Builder
}

// callPart is a call as far as it has come.
type callPart struct {
	id, name  string
	arguments strings.Builder
}

// call is the call of an index. Some services give all calls the same index, so another id is another call.
func (t *tail) call(index int, id string) *callPart {
	part := t.byIndex[index]
	if part == nil || id != "" && part.id != "" && id != part.id {
		part = &callPart{}
		if t.byIndex == nil {
			t.byIndex = map[int]*callPart{}
		}
		t.byIndex[index] = part
		t.calls = append(t.calls, part)
	}
	if id != "" {
		part.id = id
	}
	return part
}

// contents are the refusal and the calls.
func (t *tail) contents() ([]message.Content, error) {
	var all []message.Content
	if t.refusal.Len() > 0 {
		all = append(all, message.Error{Message: t.refusal.String(), Code: refusalCode})
	}
	for _, part := range t.calls {
		if part.name == "" {
			return nil, errors.New("a call names no function")
		}
		if part.id == "" { // servers that give none match results by their order
			part.id = "call_" + uuid.NewString()
		}
		all = append(all, message.FunctionCall{CallID: part.id, Name: part.name, Arguments: argumentsOf(part.arguments.String())})
	}
	return all, nil
}

// finish is the reason to stop, where the service's is none that tells calls and refusals.
func (t *tail) finish(reason host.FinishReason) host.FinishReason {
	switch {
	case reason != "" && reason != host.FinishStop:
		return reason
	case t.refusal.Len() > 0:
		return host.FinishContentFilter
	case len(t.calls) > 0:
		return host.FinishToolCalls
	}
	return host.FinishStop
}

// argumentsOf are the arguments that a model wrote. What is no JSON is kept as a string: it fits no schema of arguments.
func argumentsOf(text string) jsontext.Value {
	if text = strings.TrimSpace(text); text == "" {
		return nil
	}
	if v := jsontext.Value(text); v.IsValid() {
		return v
	}
	quoted, err := jsontext.AppendQuote(nil, text)
	if err != nil { // of invalid UTF-8 alone, and then quoted has U+FFFD for it
		return jsontext.Value(quoted)
	}
	return quoted
}
