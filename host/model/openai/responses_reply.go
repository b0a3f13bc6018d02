package openai

import (
	"fmt"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/message"
)

// response is an answer of the protocol, which its streams carry too.
type response struct {
	ID                string         `json:"id"`
	Model             string         `json:"model"`
	Status            string         `json:"status"`
	Error             jsontext.Value `json:"error"`
	IncompleteDetails struct {
		Reason string `json:"reason"`
	} `json:"incomplete_details"`
	Output       []outputItem `json:"output"`
	Conversation struct {
		ID string `json:"id"`
	} `json:"conversation"`
	Store *bool           `json:"store"`
	Usage *responsesUsage `json:"usage"`
}

// outputItem is a message, a call or reasoning; items of other types are passed over.
type outputItem struct {
	ID      string `json:"id"`
	Type    string `json:"type"`
	Content []struct {
		Type    string `json:"type"`
		Text    string `json:"text"`
		Refusal string `json:"refusal"`
	} `json:"content"`
	Summary []struct {
		Text string `json:"text"`
	} `json:"summary"`
	CallID    string         `json:"call_id"`
	Name      string         `json:"name"`
	Arguments jsontext.Value `json:"arguments"`
}

// The types of items that are read.
const (
	itemMessage   = "message"
	itemReasoning = "reasoning"
	itemCall      = "function_call"
)

type responsesUsage struct {
	InputTokens        int `json:"input_tokens"`
	OutputTokens       int `json:"output_tokens"`
	InputTokensDetails struct {
		CachedTokens int `json:"cached_tokens"`
	} `json:"input_tokens_details"`
	OutputTokensDetails struct {
		ReasoningTokens int `json:"reasoning_tokens"`
	} `json:"output_tokens_details"`
}

func (u *responsesUsage) usage() *host.Usage {
	return &host.Usage{
		InputTokens: u.InputTokens, OutputTokens: u.OutputTokens,
		CachedInputTokens: u.InputTokensDetails.CachedTokens, ReasoningTokens: u.OutputTokensDetails.ReasoningTokens,
	}
}

func (p *responding) reply(body []byte, call call) ([]*host.Update, error) {
	var r response
	if err := json.Unmarshal(body, &r); err != nil {
		return nil, err
	}
	e := responsesEvents{call: call}
	updates, err := e.over(&r)
	if err != nil {
		return nil, err
	}
	end, err := e.end(true)
	return append(updates, end...), err
}

// over takes the state of the response when it is over. It returns what was not said in pieces.
func (e *responsesEvents) over(r *response) ([]*host.Update, error) {
	e.note(r)
	if err := asInReply(r.Error); err != nil {
		return nil, err
	}
	switch r.Status {
	case "completed":
		e.reason = host.FinishStop
	case "incomplete":
		if e.reason = host.FinishReason(r.IncompleteDetails.Reason); e.reason == "max_output_tokens" {
			e.reason = host.FinishLength
		}
	case "failed", "cancelled":
		return nil, inReply{serviceError{Message: "the response is " + r.Status}}
	default:
		return nil, fmt.Errorf("the response has the status %q, which is none of an answer that is over", r.Status)
	}
	if r.Usage != nil {
		e.usage = r.Usage.usage()
	}
	e.isOver = true
	if e.any {
		return nil, nil
	}
	var updates []*host.Update
	for i, item := range r.Output {
		updates = append(updates, e.item(i, item)...)
	}
	return updates, nil
}

// note keeps what is said of the whole.
func (e *responsesEvents) note(r *response) {
	if r.ID != "" {
		e.id = r.ID
	}
	if r.Model != "" {
		e.model = r.Model
	}
	if r.Conversation.ID != "" {
		e.call.conversation = r.Conversation.ID
	}
	if r.Store != nil {
		e.call.stored = *r.Store
	}
}

// item are the updates of a whole item.
func (e *responsesEvents) item(index int, item outputItem) []*host.Update {
	var updates []*host.Update
	switch item.Type {
	case itemMessage:
		for _, c := range item.Content {
			e.tail.refusal.WriteString(c.Refusal)
			updates = append(updates, e.text(item.ID, c.Text)...)
		}
	case itemReasoning:
		for i, s := range item.Summary {
			updates = append(updates, e.reasoning(partKey("summary", index, i), s.Text)...)
		}
		for i, c := range item.Content {
			updates = append(updates, e.reasoning(partKey("content", index, i), c.Text)...)
		}
	case itemCall:
		e.callItem(index, item)
	}
	return updates
}

// callItem takes a call that is whole, or has only begun.
func (e *responsesEvents) callItem(index int, item outputItem) {
	e.any = true
	part := e.tail.call(index, item.CallID)
	if item.Name != "" {
		part.name = item.Name
	}
	if arguments := textOf(item.Arguments); arguments != "" {
		part.arguments.Reset()
		part.arguments.WriteString(arguments)
	}
}

// text are the updates of a text of a message.
func (e *responsesEvents) text(id, text string) []*host.Update {
	if text == "" {
		return nil
	}
	e.any, e.reasoned = true, ""
	u := e.update([]message.Content{message.Text{Text: text}})
	u.MessageID = id
	return []*host.Update{u}
}

// reasoning are the updates of a piece of reasoning. A part that follows another begins a new paragraph.
func (e *responsesEvents) reasoning(part, text string) []*host.Update {
	if text == "" {
		return nil
	}
	if e.reasoned != "" && e.reasoned != part {
		text = "\n\n" + text
	}
	e.any, e.reasoned = true, part
	return []*host.Update{e.update([]message.Content{message.Reasoning{Text: text}})}
}

// partKey tells the parts of reasoning apart.
func partKey(kind string, item, part int) string {
	return kind + " " + strconv.Itoa(item) + " " + strconv.Itoa(part)
}

func (e *responsesEvents) update(contents []message.Content) *host.Update {
	return &host.Update{Role: message.RoleAssistant, Contents: contents, ResponseID: e.id, Model: e.model}
}
