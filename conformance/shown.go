package conformance

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/message"
)

// shown is a message as scenarios show it.
type shown struct {
	Role    string       `json:"role"`
	Text    string       `json:"text,omitzero"`
	Calls   []Call       `json:"calls,omitempty"`
	Results []CallResult `json:"results,omitempty"`
	// Other are the kinds of contents that the format has no word for.
	Other  []string `json:"other,omitempty"`
	Source string   `json:"source,omitzero"`
	// Excluded says that compaction marked the message.
	Excluded bool `json:"excluded,omitzero"`
}

// approvalKinds are contents that are not shown: requests for approval and the answers to them.
var approvalKinds = []message.Kind{message.KindApprovalRequest, message.KindApprovalResponse}

// show turns messages into what is compared. Neighbouring tool messages of one source become one
// if they are marked alike.
func show(messages []*message.Message) []shown {
	var out []shown
	for _, m := range messages {
		s, visible := showOne(m)
		if !visible {
			continue
		}
		if n := len(out) - 1; n >= 0 && s.Role == "tool" && out[n].Role == "tool" && out[n].Source == s.Source && out[n].Excluded == s.Excluded {
			out[n].Text += s.Text
			out[n].Calls = append(out[n].Calls, s.Calls...)
			out[n].Results = append(out[n].Results, s.Results...)
			out[n].Other = append(out[n].Other, s.Other...)
			continue
		}
		out = append(out, s)
	}
	return out
}

// showOne reports visible false for a message that holds nothing but approvals.
func showOne(m *message.Message) (s shown, visible bool) {
	s = shown{Role: string(m.Role), Text: m.Text(), Source: m.SourceID, Excluded: m.Excluded()}
	hidden := 0
	for _, c := range m.Contents {
		switch t := c.(type) {
		case message.Text:
		case message.FunctionCall:
			s.Calls = append(s.Calls, Call{CallID: t.CallID, Name: t.Name, Arguments: orEmptyObject(t.Arguments)})
		case message.FunctionResult:
			s.Results = append(s.Results, CallResult{CallID: t.CallID, Result: resultText(t)})
		default:
			if slices.Contains(approvalKinds, c.Kind()) {
				hidden++
				continue
			}
			s.Other = append(s.Other, string(c.Kind()))
		}
	}
	return s, hidden == 0 || hidden < len(m.Contents)
}

func orEmptyObject(v jsontext.Value) jsontext.Value {
	if len(v) == 0 {
		return jsontext.Value("{}")
	}
	return v
}

// resultText is a result as the model reads it: a string's text, or any other value as JSON.
func resultText(r message.FunctionResult) string {
	var text string
	if r.Result.Kind() == '"' && json.Unmarshal(r.Result, &text) == nil {
		return text
	}
	return string(r.Result)
}

// mergeTools does for expected messages what show does for those that were seen.
func mergeTools(messages []Message) []Message {
	var out []Message
	for _, m := range messages {
		n := len(out) - 1
		if n < 0 || m.Role != "tool" || out[n].Role != "tool" || !equalPointers(m.Source, out[n].Source) || !equalPointers(m.Excluded, out[n].Excluded) {
			out = append(out, m)
			continue
		}
		out[n].Results = append(slices.Clone(out[n].Results), m.Results...)
	}
	return out
}

func equalPointers[T comparable](a, b *T) bool {
	return a == b || a != nil && b != nil && *a == *b
}

// toHost turns a message of a scenario into one that can be handed to an agent.
func (m Message) toHost() *message.Message {
	out := &message.Message{Role: message.Role(m.Role)}
	if m.Text != nil {
		out.Contents = append(out.Contents, message.Text{Text: *m.Text})
	}
	for _, c := range m.Calls {
		out.Contents = append(out.Contents, c.toHost())
	}
	for _, r := range m.Results {
		out.Contents = append(out.Contents, message.FunctionResult{CallID: r.CallID, Result: quote(r.Result)})
	}
	return out
}

func (c Call) toHost() message.Content {
	return message.FunctionCall{CallID: c.CallID, Name: c.Name, Arguments: c.Arguments.Clone()}
}

func toHost(messages []Message) []*message.Message {
	out := make([]*message.Message, len(messages))
	for i, m := range messages {
		out[i] = m.toHost()
	}
	return out
}

// seenRequest is what one model call received.
type seenRequest struct {
	messages       []shown
	instructions   string
	tools          []string
	toolChoice     jsontext.Value
	conversationID string
	options        jsontext.Value
}

// showRequest keeps what is compared of a request. The option tool_choice stands apart from the others, and "auto" is
// what holds without it.
func showRequest(r *host.ChatRequest) (seenRequest, error) {
	s := seenRequest{messages: show(r.Messages), instructions: r.Instructions, conversationID: r.ConversationID}
	for _, t := range r.Tools {
		s.tools = append(s.tools, t.Definition().Name)
	}
	slices.Sort(s.tools)
	options := r.Options.Clone()
	var err error
	if options.ToolChoice != (host.ToolChoice{}) {
		if s.toolChoice, err = options.ToolChoice.MarshalJSON(); err != nil {
			return s, err
		}
	}
	options.ToolChoice = host.ToolChoice{}
	s.options, err = options.JSON()
	return s, err
}

// quote is text as a JSON string. Invalid UTF-8 is replaced.
func quote(text string) jsontext.Value {
	b, _ := jsontext.AppendQuote(nil, strings.ToValidUTF8(text, "\uFFFD")) // valid UTF-8 can always be quoted
	return b
}
