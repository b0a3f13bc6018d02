package host

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/weft-run/weft/message"
)

// callModel makes one model call inside its chat middleware. With dropCalls, calls in the reply are dropped.
func (r *run) callModel(ctx context.Context, request *ChatRequest, dropCalls bool) (*Response, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	wrappers := r.chatMiddleware()
	own := *request
	own.Messages = slices.Clip(own.Messages) // the loop goes on behind its end
	if len(wrappers) > 0 {                   // who may write into it
		own.Messages, own.Options = slices.Clone(request.Messages), request.Options.Clone()
	}
	cc := &ChatContext{RunID: r.id, AgentName: r.agent.name, Session: r.session, Request: &own, Streaming: r.out != nil}
	shown := 0
	if r.out != nil {
		shown = r.out.shown
	}
	l := &layer{
		name: "chat", middleware: len(wrappers),
		call: func(ctx context.Context, i int, next Next) error {
			return wrappers[i].ProcessChat(ctx, cc, next)
		},
		describe: func(i int) any { return wrappers[i] },
		core: func(ctx context.Context) error {
			if !sameList(cc.Request.Messages, request.Messages) {
				r.distrustIn(cc.Request.Messages) // what middleware added
			}
			shown, err := r.shownToModel(ctx, cc.Request)
			if err == nil {
				cc.Result, err = r.complete(ctx, shown, dropCalls)
			}
			return err
		},
		out: &r.out, hooks: &cc.hooks, result: func() *Response { return cc.Result }, set: func(r *Response) { cc.Result = r },
		tracers: r.tracers, trace: r.trace,
	}
	if len(r.tracers) > 0 {
		l.passing = cc.passing
	}
	terminated, err := l.run(ctx)
	if len(wrappers) > 0 {
		r.distrustTold(ctx)
	}
	switch {
	case err != nil:
		return nil, err
	case cc.Result == nil && terminated:
		cc.Result = &Response{}
	case cc.Result == nil:
		return nil, fmt.Errorf("chat middleware neither called next nor set a result: %w", ErrNoResult)
	}
	if dropCalls {
		cc.Result = withoutCalls(cc.Result)
	}
	if r.out != nil && r.out.shown == shown {
		return cc.Result, r.out.showAll(cc.Result)
	}
	return cc.Result, nil
}

// sameList reports whether two lists hold the same messages.
func sameList(a, b []*message.Message) bool {
	if len(a) == len(b) && len(a) > 0 && &a[0] == &b[0] {
		return true
	}
	return slices.Equal(a, b)
}

// shownToModel is the request as the model gets it, behind all middleware.
func (r *run) shownToModel(ctx context.Context, request *ChatRequest) (*ChatRequest, error) {
	var err error
	if request.Messages, err = r.compact(ctx, request.Messages); err != nil || !r.agent.markUntrusted {
		return request, err
	}
	return markUntrusted(request), nil
}

// compact thins out what is sent with one model call. What is stored stays as it is.
func (r *run) compact(ctx context.Context, messages []*message.Message) ([]*message.Message, error) {
	if r.agent.compaction == nil {
		return messages, nil
	}
	var own *message.Message
	for _, m := range r.input {
		if m.Role == message.RoleUser {
			own = m
		}
	}
	var kept []*message.Message
	err := guard(r.out, func() (err error) {
		kept, err = r.agent.compaction.Compact(ctx, messages, own)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("compaction: %w", err)
	}
	return kept, nil
}

// complete asks the client.
func (r *run) complete(ctx context.Context, request *ChatRequest, dropCalls bool) (response *Response, err error) {
	if len(r.tracers) == 0 {
		return r.ask(ctx, request, dropCalls, nil)
	}
	t := r.trace("model")
	t.Request = request
	ctx, end := r.tracers.start(ctx, &t)
	defer func() {
		ReportCost(ctx, usageCosts(response)...)
		t.Response, t.Err = response, err
		end() // also where a consumer's panic passes through
	}()
	return r.ask(ctx, request, dropCalls, &t)
}

// ask asks the client, and keeps what it says of the conversation. t is nil where nobody follows.
func (r *run) ask(ctx context.Context, request *ChatRequest, dropCalls bool, t *HookTrace) (response *Response, err error) {
	var shown error // what came of showing the pieces, which is no fault of the model
	err = guard(r.out, func() (err error) {
		if r.out != nil {
			response, shown, err = r.stream(ctx, request, dropCalls, t)
		} else {
			response, err = r.agent.client.Complete(ctx, request)
		}
		return err
	})
	if shown != nil {
		return nil, shown
	}
	if err == nil && response == nil {
		err = errors.New("the client returned no response and no error")
	}
	if err != nil {
		if _, ok := errors.AsType[*ModelError](err); !ok {
			err = &ModelError{Err: err}
		}
		return nil, err
	}
	for i, m := range response.Messages {
		if m == nil {
			return nil, &ModelError{Kind: ErrBadReply, Err: fmt.Errorf("message %d of the reply is nil", i)}
		}
	}
	response = withSoundCalls(response)
	if response.ConversationID != "" {
		r.returnedConversation = response.ConversationID
		if r.session != nil {
			r.session.SetServiceSessionID(response.ConversationID)
		}
	}
	return response, nil
}

// stream hands the model's updates to the consumer and adds them up.
func (r *run) stream(ctx context.Context, request *ChatRequest, dropCalls bool, t *HookTrace) (response *Response, shown, err error) {
	var c collector
	for u, err := range r.agent.client.Stream(ctx, request) {
		if err != nil {
			return nil, nil, err
		}
		if t != nil && t.FirstUpdate == 0 {
			t.FirstUpdate = time.Since(t.Start)
		}
		if dropCalls {
			u = u.withoutCalls()
		}
		if sound := soundCalls(u.Contents); sound != nil {
			own := *u
			own.Contents, u = sound, &own
		}
		c.add(u)
		if err := guard(r.out, func() error { return r.out.show(u) }); err != nil {
			return nil, err, nil
		}
	}
	return c.done(), nil, ctx.Err()
}

// withSoundCalls is a response whose calls have arguments that JSON can hold, so that a session with them can be saved.
func withSoundCalls(r *Response) *Response {
	own := r
	for i, m := range r.Messages {
		sound := soundCalls(m.Contents)
		if sound == nil {
			continue
		}
		if own == r {
			copied := *r
			copied.Messages = slices.Clone(r.Messages)
			own = &copied
		}
		c := *m
		c.Contents = sound
		own.Messages[i] = &c
	}
	return own
}

// soundCalls puts what a model wrote in the place of arguments and is no JSON into a JSON string. It is nil where there is
// none such.
func soundCalls(contents []message.Content) []message.Content {
	var sound []message.Content
	for i, c := range contents {
		call, ok := c.(message.FunctionCall)
		if !ok || len(call.Arguments) == 0 || call.Arguments.IsValid() {
			continue
		}
		if sound == nil {
			sound = slices.Clone(contents)
		}
		call.Arguments = textValue(string(call.Arguments))
		sound[i] = call
	}
	return sound
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
