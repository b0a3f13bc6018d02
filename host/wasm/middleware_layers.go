package wasm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/weft-run/weft/abi"
	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/message"
)

// ProcessAgent calls process around a run (clause PRO-3).
func (s *stand) ProcessAgent(ctx context.Context, ac *host.AgentContext, next host.Next) error {
	v := s.of(ctx)
	g := &v.grants
	c := s.newCall(v, ac.RunID, ac.AgentName, ac.Session, parts{
		input:    func() []*message.Message { return ac.Messages },
		response: func() []*message.Message { return messagesIn(ac.Result) },
	})
	next = s.streamed(v, c, ac.Streaming, ac.OnStream, next)
	if !v.can(abi.HookProcess) {
		return next(ctx)
	}
	c.around(next, func(n *abi.Next) error {
		if err := errors.Join(v.may(n.Input != nil, "input", "messages"), v.may(n.Options != nil, "options", "options")); err != nil {
			return err
		}
		options, err := v.setOptions(ac.Options, n.Options)
		if err != nil {
			return err
		}
		messages, fresh := ac.Messages, false
		if n.Input != nil {
			var k cleaner
			messages = reused(messages, n.Input, func(m []*message.Message) {
				unmark(m)
				k.messages("/input", m)
				fresh = true
			})
			if err := v.cleaned(c, &k); err != nil {
				return err
			}
		}
		if fresh || options.Instructions != ac.Options.Instructions {
			host.Distrust(ctx, v.sourceID)
		}
		ac.Messages, ac.Options = messages, options
		return nil
	}, func(back *view) { back.response(g, ac.Result) })
	in := s.view(v, c)
	in.boolean("streaming", ac.Streaming)
	if g.CanRead("input") {
		in.messages("input", ac.Messages)
	}
	if g.CanRead("options") {
		in.options(ac.Options)
	}
	messages, options := ac.Messages, ac.Options
	restore := func() { ac.Messages, ac.Options = messages, options }
	return s.run(ctx, v, c, in, next, restore, v.takeResponse(ctx, &ac.Result), func() bool { return ac.Result != nil })
}

// ProcessChat calls process around a model call (clause PRO-4).
func (s *stand) ProcessChat(ctx context.Context, cc *host.ChatContext, next host.Next) error {
	v := s.of(ctx)
	g := &v.grants
	c := s.newCall(v, cc.RunID, cc.AgentName, cc.Session, parts{
		request:  func() []*message.Message { return cc.Request.Messages },
		response: func() []*message.Message { return messagesIn(cc.Result) },
	})
	next = s.streamed(v, c, cc.Streaming, cc.OnStream, next)
	if !v.can(abi.HookProcess) {
		return next(ctx)
	}
	c.around(next, func(n *abi.Next) error { return v.changeRequest(ctx, c, cc.Request, n) }, func(back *view) { back.response(g, cc.Result) })
	in := s.view(v, c)
	in.boolean("streaming", cc.Streaming)
	in.request(g, cc.Request)
	if g.CanRead("options") {
		in.options(cc.Request.Options)
	}
	request := *cc.Request
	restore := func() { *cc.Request = request }
	return s.run(ctx, v, c, in, next, restore, v.takeResponse(ctx, &cc.Result), func() bool { return cc.Result != nil })
}

// changeRequest puts what a plugin gave to call_next into a model call.
func (v *version) changeRequest(ctx context.Context, c *call, r *host.ChatRequest, n *abi.Next) error {
	changes := n.Messages != nil || n.Splice != nil || n.Instructions != nil
	if err := errors.Join(v.may(changes, "messages", "messages"), v.may(n.Options != nil, "options", "options")); err != nil {
		return err
	}
	options, err := v.setOptions(r.Options, n.Options)
	if err != nil {
		return err
	}
	messages := r.Messages
	var k cleaner
	mark := func(m []*message.Message) {
		v.stamp(m)
		k.messages("/messages", m)
	}
	switch {
	case n.Messages != nil:
		messages = reused(messages, n.Messages, mark)
	case n.Splice != nil:
		for _, splice := range n.Splice {
			mark(splice.Insert)
		}
		if messages, err = spliced(messages, n.Splice); err != nil {
			return err
		}
	}
	if n.Instructions != nil && *n.Instructions != r.Instructions {
		k.text("/instructions", n.Instructions)
	}
	if err := v.cleaned(c, &k); err != nil {
		return err
	}
	if n.Instructions != nil && *n.Instructions != r.Instructions || options.Instructions != r.Options.Instructions {
		host.Distrust(ctx, v.sourceID) // messages have a label of their own
	}
	r.Messages, r.Options = messages, options
	if n.Instructions != nil {
		r.Instructions = *n.Instructions
	}
	return nil
}

// ProcessFunction calls process around a tool call (clause PRO-5).
func (s *stand) ProcessFunction(ctx context.Context, fc *host.FunctionContext, next host.Next) error {
	v := s.of(ctx)
	if !v.can(abi.HookProcess) {
		return next(ctx)
	}
	g := &v.grants
	c := s.newCall(v, fc.RunID, fc.AgentName, fc.Session, parts{})
	c.around(next, func(n *abi.Next) error {
		if err := v.may(n.Arguments != nil, "arguments", "arguments"); err != nil {
			return err
		}
		if n.Arguments == nil {
			return nil
		}
		var k cleaner
		k.json("/arguments", &n.Arguments)
		if err := errors.Join(v.cleaned(c, &k), checkArguments(fc, n.Arguments)); err != nil {
			return err
		}
		host.Distrust(ctx, v.sourceID)
		fc.Arguments = n.Arguments
		return nil
	}, func(back *view) {
		if g.CanRead("calls") && fc.Result != nil {
			back.raw("result", fc.Result)
		}
	})
	in := s.view(v, c)
	in.call(g, message.FunctionCall{CallID: fc.CallID, Name: fc.Tool.Definition().Name, Arguments: fc.Arguments}, fc.Tool.SourceID)
	arguments := fc.Arguments
	restore := func() { fc.Arguments = arguments }
	return s.run(ctx, v, c, in, next, restore, func(out *abi.Out) error {
		if err := v.may(out.Result != nil, "result", "result"); err != nil {
			return err
		}
		if out.Result != nil {
			host.Distrust(ctx, v.sourceID)
			fc.Result = out.Result
		}
		return nil
	}, func() bool { return fc.Result != nil })
}

// checkArguments holds arguments that a plugin gives to a call against what was decided of it before: the schema of its tool,
// and who was asked.
func checkArguments(fc *host.FunctionContext, arguments jsontext.Value) error {
	if bytes.Equal(arguments, fc.Arguments) {
		return nil
	}
	definition := fc.Tool.Definition()
	asked := false
	if t, ok := fc.Tool.Tool.(host.ApprovalTool); ok {
		asked = t.NeedsApproval(message.FunctionCall{CallID: fc.CallID, Name: definition.Name, Arguments: fc.Arguments}) ||
			t.NeedsApproval(message.FunctionCall{CallID: fc.CallID, Name: definition.Name, Arguments: arguments})
	}
	if t, ok := fc.Tool.Tool.(host.TrustRequiredTool); ok && t.RequiresTrusted() {
		asked = true
	}
	if asked {
		return &abi.Error{Code: abi.CodeDenied, Message: fmt.Sprintf("call_next: the arguments of %s cannot be changed: the tool needs approval, or requires trusted text", definition.Name)}
	}
	if err := checkJSONObject(arguments); err != nil {
		return &abi.Error{Code: abi.CodeInvalidInput, Message: fmt.Sprintf("call_next: arguments must be one JSON object: %v", err)}
	}
	if definition.Parameters == nil {
		return nil
	}
	if err := definition.Parameters.Validate(arguments); err != nil {
		return &abi.Error{Code: abi.CodeInvalidInput, Message: fmt.Sprintf("call_next: the arguments of %s: %v", definition.Name, err)}
	}
	return nil
}

// takeResponse puts the response that process returned in place.
func (v *version) takeResponse(ctx context.Context, result **host.Response) func(*abi.Out) error {
	return func(out *abi.Out) error {
		if err := v.may(out.Response != nil, "response", "result"); err != nil {
			return err
		}
		if out.Response != nil {
			host.Distrust(ctx, v.sourceID)
			*result = v.over(*result, out.Response)
		}
		return nil
	}
}

// reused are the messages that a plugin gives in the place of others: those that it gives as it got them are the same, and
// keep their source; the others are marked.
func reused(have, given []*message.Message, mark func([]*message.Message)) []*message.Message {
	known := make(map[string][]*message.Message, len(have))
	for _, m := range have {
		if text, err := m.AppendJSON(nil); err == nil {
			known[string(text)] = append(known[string(text)], m)
		}
	}
	out := slices.Clone(given)
	for i, m := range out {
		text, err := m.AppendJSON(nil)
		if same := known[string(text)]; err == nil && len(same) > 0 {
			out[i], known[string(text)] = same[0], same[1:]
			continue
		}
		mark(out[i : i+1])
	}
	return out
}

func messagesIn(r *host.Response) []*message.Message {
	if r == nil {
		return nil
	}
	return r.Messages
}
