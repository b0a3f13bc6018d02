package structured

import (
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/internal/strictjson"
	"github.com/weft-run/weft/message"
)

// maxDepth is how deep an answer may nest.
const maxDepth = 128

// bare is the JSON value in a reply: all of it but white space, or all that stands in a code fence.
func bare(text string) (jsontext.Value, error) {
	text = strings.TrimSpace(text)
	if inside, fenced := strings.CutPrefix(text, "```"); fenced {
		language, rest, _ := strings.Cut(inside, "\n")
		language = strings.TrimSpace(language)
		closed, ok := strings.CutSuffix(rest, "```")
		if !ok || language != "" && !strings.EqualFold(language, "json") {
			return nil, errors.New("the code fence is not closed, or is not one of JSON")
		}
		text = strings.TrimSpace(closed)
	}
	if text == "" {
		return nil, errors.New("there is no text; one JSON value was wanted")
	}
	dec, err := strictjson.Decoder([]byte(text), maxDepth)
	if err != nil {
		return nil, err
	}
	value, err := dec.ReadValue()
	if err != nil {
		return nil, strictjson.AsFault(err)
	}
	value = value.Clone()
	if err := strictjson.End(dec); err != nil {
		return nil, errors.New("something follows the JSON value; nothing but one value was wanted")
	}
	return value, nil
}

// value takes the value out of the bare answer, and holds it against the schema.
func (f *format) value(answer jsontext.Value) (jsontext.Value, error) {
	value := answer
	if f.wrapped {
		var wrapper struct {
			Value jsontext.Value `json:"value"`
		}
		if err := json.Unmarshal(answer, &wrapper, json.RejectUnknownMembers(true)); err != nil || wrapper.Value == nil {
			return nil, errors.New(`an object with the one member "value" was wanted, and the answer in it`)
		}
		value = wrapper.Value
	}
	if err := f.schema.Validate(value); err != nil {
		return nil, err
	}
	if f.decode != nil {
		return value, f.decode(value)
	}
	return value, nil
}

// decode reads a value that fits the schema into a Go value. What the type itself refuses is a fault of the answer.
func decode(value jsontext.Value, into any) error {
	if err := json.Unmarshal(value, into); err != nil {
		return fmt.Errorf("the value does not go into the type: %w", err)
	}
	return nil
}

// reply is what a model said, as far as it matters here.
type reply struct {
	text    string
	calls   bool
	refusal string // what it says in place of an answer
	finish  host.FinishReason
}

// read sums up messages. What stands before the last result belongs to the way to the answer.
func read(messages []*message.Message, finish host.FinishReason) reply {
	r := reply{finish: finish}
	var text strings.Builder
	for _, m := range messages {
		for _, content := range m.Contents {
			switch c := content.(type) {
			case message.Text:
				if m.Role == message.RoleAssistant {
					text.WriteString(c.Text)
				}
			case message.Error:
				if c.Code == refusalCode {
					r.refusal += c.Message
				}
			case message.FunctionCall, message.ApprovalRequest:
				r.calls = true
			case message.FunctionResult:
				r.calls, r.refusal = false, ""
				text.Reset()
			}
		}
	}
	r.text = text.String()
	return r
}

// refusalCode is the code of a [message.Error] in which a service says that the model refused.
const refusalCode = "refusal"

// check finds the value in a reply, or what is wrong with it.
func (f *format) check(r reply) (answer, value jsontext.Value, wrong *Error) {
	fail := func(reason Reason, err error) (jsontext.Value, jsontext.Value, *Error) {
		return nil, nil, &Error{Reason: reason, Text: cutText(r.text), Err: err}
	}
	switch {
	case r.refusal != "":
		r.text = r.refusal
		return fail(ReasonRefusal, errors.New("the model refused to answer"))
	case r.finish == host.FinishContentFilter:
		return fail(ReasonContentFilter, errors.New("the service's content filter stopped the answer"))
	}
	answer, err := bare(r.text)
	switch {
	case err == nil:
		if value, err = f.value(answer); err == nil {
			return answer, value, nil
		}
		return fail(ReasonSchema, err)
	case r.finish == host.FinishLength:
		return fail(ReasonLength, fmt.Errorf("the answer was cut off at the model's token limit: %w", err))
	case strings.TrimSpace(r.text) == "":
		return fail(ReasonEmpty, err)
	}
	return fail(ReasonNotJSON, err)
}
