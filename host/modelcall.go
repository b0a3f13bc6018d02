package host

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/weft-run/weft/message"
)

// callModel makes the request of what stands in the context and puts the answer on the run.
func (r *run) callModel(ctx context.Context) error {
	request, err := r.request()
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	start := time.Now()
	var response *Response
	err = r.guard(func() (err error) {
		if r.emit != nil {
			response, err = r.stream(ctx, request)
		} else {
			response, err = r.agent.client.Complete(ctx, request)
		}
		return err
	})
	if err == nil && response == nil {
		err = errors.New("the client returned no response and no error")
	}
	if err != nil && !errors.Is(err, ErrStopped) {
		err = &ModelError{Err: err}
	}
	if r.tracer != nil {
		r.tracer(ctx, HookTrace{RunID: r.id, Hook: "model", Duration: time.Since(start), Err: err, Costs: usageCosts(response)})
	}
	if err != nil {
		return err
	}
	if response.ConversationID != "" && r.session != nil {
		r.session.SetServiceSessionID(response.ConversationID)
	}
	r.response, r.ownResponse = response, false
	return nil
}

func usageCosts(r *Response) []Cost {
	if r == nil || r.Usage == nil {
		return nil
	}
	return []Cost{
		{Name: "input_tokens", Used: int64(r.Usage.InputTokens)},
		{Name: "output_tokens", Used: int64(r.Usage.OutputTokens)},
	}
}

// stream hands the model's updates to the consumer and adds them up.
func (r *run) stream(ctx context.Context, request *ChatRequest) (*Response, error) {
	var c collector
	for u, err := range r.agent.client.Stream(ctx, request) {
		if err != nil {
			return nil, err
		}
		c.add(u)
		if !r.show(u) {
			return nil, ErrStopped
		}
	}
	return c.done(), ctx.Err()
}

// show gives one update to the consumer and reports whether it wants more.
func (r *run) show(u *Update) bool {
	r.inEmit = true
	more := r.emit(u)
	r.inEmit = false
	return more
}

// emitOwn streams a response that a provider set itself.
func (r *run) emitOwn() error {
	if r.emit == nil || !r.ownResponse {
		return nil
	}
	r.ownResponse = false
	for _, u := range updatesOf(r.response) {
		if !r.show(u) {
			return ErrStopped
		}
	}
	return nil
}

// request puts together what the model is sent: context by source, then the input; instructions of the agent, the
// providers and the run; their tools in the same order.
func (r *run) request() (*ChatRequest, error) {
	size := len(r.input)
	for _, c := range r.context.messages {
		size += len(c.messages)
	}
	messages := make([]*message.Message, 0, size)
	for _, c := range r.context.messages {
		messages = append(messages, c.messages...)
	}
	messages = append(messages, r.input...)

	lines := make([]string, 0, 2+len(r.context.instructions))
	if r.agent.instructions != "" {
		lines = append(lines, r.agent.instructions)
	}
	for _, i := range r.context.instructions {
		lines = append(lines, i.text)
	}
	if r.options.Instructions != "" {
		lines = append(lines, r.options.Instructions)
	}
	tools, err := r.offeredTools()
	if err != nil {
		return nil, err
	}
	options := r.options.Clone()
	options.Instructions, options.ConversationID = "", ""
	return &ChatRequest{
		Messages: messages, Instructions: strings.Join(lines, "\n"), ConversationID: r.conversationID(),
		Tools: tools, Options: options,
	}, nil
}

// conversationID is that of the next model call: the run's option, else the session's, which an earlier call of this run
// may have set, else the agent's (semantics: Service-managed history).
func (r *run) conversationID() string {
	if !r.ownConversation && r.session != nil {
		if id := r.session.ServiceSessionID(); id != "" {
			return id
		}
	}
	return r.options.ConversationID
}

// offeredTools merges the tools of agent, providers and run. The same tool twice counts once.
func (r *run) offeredTools() ([]OfferedTool, error) {
	if len(r.agent.tools)+len(r.context.tools)+len(r.tools) == 0 {
		return nil, nil
	}
	var all []OfferedTool
	for _, t := range r.agent.tools {
		all = append(all, OfferedTool{Tool: t})
	}
	for _, t := range r.context.tools {
		all = append(all, t.OfferedTool)
	}
	for _, t := range r.tools {
		all = append(all, OfferedTool{Tool: t})
	}
	seen := make(map[string]OfferedTool, len(all))
	out := all[:0]
	for _, t := range all {
		name := t.Definition().Name
		other, ok := seen[name]
		switch {
		case !ok:
			seen[name] = t
			out = append(out, t)
		case !sameTool(t.Tool, other.Tool):
			return nil, fmt.Errorf("duplicate tool %q: %s and %s both have one: rename or remove one of them", name, owner(other), owner(t))
		}
	}
	return out, nil
}

func owner(t OfferedTool) string {
	if t.SourceID == "" {
		return "the agent or the run"
	}
	return "provider " + t.SourceID
}
