package openai

import (
	"errors"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/message"
)

// chatReply is an answer of chat completions, and an event of one that is streamed.
type chatReply struct {
	ID      string         `json:"id"`
	Model   string         `json:"model"`
	Object  string         `json:"object"`
	Error   jsontext.Value `json:"error"`
	Choices []chatReplied  `json:"choices"`
	Usage   *chatUsage     `json:"usage"`
}

// chatReplied is one of the answers. Only the first is asked for.
type chatReplied struct {
	Index        int         `json:"index"`
	Message      chatMessage `json:"message"`
	Delta        chatMessage `json:"delta"`
	FinishReason string      `json:"finish_reason"`
}

// chatMessage is what a model said, or a piece of it.
type chatMessage struct {
	Content string `json:"content"`
	Refusal string `json:"refusal"`
	// Two names under which servers show a model's thinking. OpenAI shows none here.
	ReasoningContent jsontext.Value `json:"reasoning_content"`
	Reasoning        jsontext.Value `json:"reasoning"`
	ToolCalls        []chatCall     `json:"tool_calls"`
}

type chatCall struct {
	Index    *int   `json:"index"`
	ID       string `json:"id"`
	Function struct {
		Name string `json:"name"`
		// Arguments are JSON in a string; some servers write the object itself.
		Arguments jsontext.Value `json:"arguments"`
	} `json:"function"`
}

type chatUsage struct {
	PromptTokens        int `json:"prompt_tokens"`
	CompletionTokens    int `json:"completion_tokens"`
	PromptTokensDetails struct {
		CachedTokens int `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
	CompletionTokensDetails struct {
		ReasoningTokens int `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
}

func (u *chatUsage) usage() *host.Usage {
	return &host.Usage{
		InputTokens: u.PromptTokens, OutputTokens: u.CompletionTokens,
		CachedInputTokens: u.PromptTokensDetails.CachedTokens, ReasoningTokens: u.CompletionTokensDetails.ReasoningTokens,
	}
}

func (c *chat) reply(body []byte, _ call) ([]*host.Update, error) {
	var e chatEvents
	reply, err := e.read(body)
	switch {
	case err != nil:
		return nil, err
	case len(reply.Choices) == 0:
		return nil, errors.New("it has no choices")
	}
	updates := e.said(reply.Choices[0].Message)
	e.reason = reply.Choices[0].FinishReason
	end, err := e.end(true)
	return append(updates, end...), err
}

func (c *chat) events(call) events { return &chatEvents{} }

// chatEvents reads the events of a stream of chat completions.
type chatEvents struct {
	id, model string
	reason    string
	usage     *host.Usage
	tail      tail
}

var _ events = (*chatEvents)(nil)

func (e *chatEvents) event(name string, data []byte) ([]*host.Update, bool, error) {
	if name == "error" { // some servers write the error as the event itself
		said, ok := readError(data)
		if !ok {
			said.Message = string(data)
		}
		return nil, false, inReply{said}
	}
	reply, err := e.read(data)
	if err != nil {
		return nil, false, err
	}
	var updates []*host.Update
	for _, choice := range reply.Choices {
		if choice.Index != 0 {
			continue
		}
		updates = append(updates, e.said(choice.Delta)...)
		if choice.FinishReason != "" {
			e.reason = choice.FinishReason
		}
	}
	return updates, false, nil
}

// read reads an answer or an event, and keeps what is said of the whole.
func (e *chatEvents) read(data []byte) (*chatReply, error) {
	var reply chatReply
	if err := json.Unmarshal(data, &reply); err != nil {
		return nil, err
	}
	if err := asInReply(reply.Error); err != nil {
		return nil, err
	}
	if reply.Object == "error" {
		said, _ := readError(data)
		return nil, inReply{said}
	}
	if reply.ID != "" {
		e.id = reply.ID
	}
	if reply.Model != "" {
		e.model = reply.Model
	}
	if reply.Usage != nil { // some servers count in every event: the last counts all
		e.usage = reply.Usage.usage()
	}
	return &reply, nil
}

// said are the updates of what was said, but for what waits for the end.
func (e *chatEvents) said(m chatMessage) []*host.Update {
	var contents []message.Content
	thinking := m.ReasoningContent
	if thinking.Kind() != '"' {
		thinking = m.Reasoning
	}
	if thinking.Kind() == '"' && len(thinking) > len(`""`) {
		contents = append(contents, message.Reasoning{Text: textOf(thinking)})
	}
	if m.Content != "" {
		contents = append(contents, message.Text{Text: m.Content})
	}
	e.tail.refusal.WriteString(m.Refusal)
	for i, c := range m.ToolCalls {
		if c.Index != nil {
			i = *c.Index
		}
		part := e.tail.call(i, c.ID)
		if part.name == "" {
			part.name = c.Function.Name
		}
		part.arguments.WriteString(textOf(c.Function.Arguments))
	}
	if len(contents) == 0 {
		return nil
	}
	return []*host.Update{e.update(contents)}
}

func (e *chatEvents) update(contents []message.Content) *host.Update {
	return &host.Update{Role: message.RoleAssistant, Contents: contents, ResponseID: e.id, Model: e.model}
}

// end takes a finish reason for an end too: not every server writes the mark behind it.
func (e *chatEvents) end(said bool) ([]*host.Update, error) {
	if !said && e.reason == "" {
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
	last.FinishReason, last.Usage = e.tail.finish(chatFinish(e.reason)), e.usage
	return append(updates, last), nil
}

// chatFinish is a finish reason in the host's words; those without one stay.
func chatFinish(reason string) host.FinishReason {
	if reason == "function_call" {
		return host.FinishToolCalls
	}
	return host.FinishReason(reason)
}
