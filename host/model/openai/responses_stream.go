package openai

import (
	"cmp"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/weft-run/weft/host"
)

// responsesEvent is an event of a stream. Which fields it has depends on its type.
type responsesEvent struct {
	Type         string     `json:"type"`
	ItemID       string     `json:"item_id"`
	OutputIndex  int        `json:"output_index"`
	SummaryIndex int        `json:"summary_index"`
	ContentIndex int        `json:"content_index"`
	Item         outputItem `json:"item"`
	// Delta is a text, and an object in events that are passed over.
	Delta     jsontext.Value `json:"delta"`
	Arguments jsontext.Value `json:"arguments"`
	Response  response       `json:"response"`

	Error   jsontext.Value `json:"error"`
	Code    jsontext.Value `json:"code"`
	Message jsontext.Value `json:"message"`
}

// responsesEvents reads the events of a stream of the protocol.
type responsesEvents struct {
	call      call
	id, model string
	reason    host.FinishReason
	usage     *host.Usage
	tail      tail
	reasoned  string // the part of reasoning that came last, if nothing came behind it
	any       bool   // something was said
	isOver    bool
}

var _ events = (*responsesEvents)(nil)

func (p *responding) events(call call) events { return &responsesEvents{call: call} }

func (e *responsesEvents) event(name string, data []byte) ([]*host.Update, bool, error) {
	var event responsesEvent
	if err := json.Unmarshal(data, &event); err != nil {
		return nil, false, err
	}
	if err := asInReply(event.Error); err != nil {
		return nil, false, err
	}
	delta := textOf(event.Delta)
	switch cmp.Or(event.Type, name) {
	case "error":
		return nil, false, inReply{serviceError{Message: textOf(event.Message), Code: event.Code}}
	case "response.created", "response.in_progress", "response.queued":
		e.note(&event.Response)
	case "response.output_text.delta":
		return e.text(event.ItemID, delta), false, nil
	case "response.refusal.delta":
		e.any = true
		e.tail.refusal.WriteString(delta)
	case "response.reasoning_summary_text.delta":
		return e.reasoning(partKey("summary", event.OutputIndex, event.SummaryIndex), delta), false, nil
	case "response.reasoning_text.delta":
		return e.reasoning(partKey("content", event.OutputIndex, event.ContentIndex), delta), false, nil
	case "response.output_item.added", "response.output_item.done":
		if event.Item.Type == itemCall {
			e.callItem(event.OutputIndex, event.Item)
		}
	case "response.function_call_arguments.delta":
		e.any = true
		e.tail.call(event.OutputIndex, "").arguments.WriteString(delta)
	case "response.function_call_arguments.done":
		e.callItem(event.OutputIndex, outputItem{Arguments: event.Arguments})
	case "response.completed", "response.incomplete", "response.failed", "response.cancelled":
		updates, err := e.over(&event.Response)
		return updates, err == nil, err
	}
	return nil, false, nil
}

// end wants the event that carries the whole response: the protocol has no other mark.
func (e *responsesEvents) end(bool) ([]*host.Update, error) {
	if !e.isOver {
		return nil, errNoEnd
	}
	contents, err := e.tail.contents()
	if err != nil {
		return nil, err
	}
	var updates []*host.Update
	if len(contents) > 0 {
		updates = append(updates, e.update(contents))
	}
	last := e.update(nil)
	last.FinishReason, last.Usage = e.tail.finish(e.reason), e.usage
	switch {
	case e.call.conversation != "":
		last.ConversationID = e.call.conversation
	case e.call.stored:
		last.ConversationID = e.id
	}
	return append(updates, last), nil
}

// callOf is what reading the answer to a request needs to know.
func callOf(request *host.ChatRequest) call {
	c := call{stored: request.Options.Store == nil || *request.Options.Store}
	if id := request.ConversationID; len(id) > len(conversationPrefix) && id[:len(conversationPrefix)] == conversationPrefix {
		c.conversation = id
	}
	return c
}
