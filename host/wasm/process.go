package wasm

import (
	"context"

	"github.com/weft-run/weft/abi"
	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/message"
)

// wrapping is a version as a provider that wraps the rest of the run (clause PRO-2).
type wrapping struct{ notices }

var (
	_ host.WrappingProvider   = (*wrapping)(nil)
	_ host.SessionCreatedHook = (*wrapping)(nil)
	_ host.RunFailedHook      = (*wrapping)(nil)
	_ host.HookSet            = (*wrapping)(nil)
	_ host.ErrorPolicyOf      = (*wrapping)(nil)
)

// Process calls the plugin's process at the layer context.
func (w *wrapping) Process(ctx context.Context, sc *host.SessionContext, next host.Next) error {
	v := w.version
	c := v.newCall(abi.HookProcess, sc, parts{input: sc.Input})
	c.next = func(ctx context.Context, input []byte) (*view, error) {
		out, err := abi.DecodeNext(input)
		if err != nil {
			return nil, invalidInput("call_next", err)
		}
		v.unknown.Add(int64(out.Unknown))
		if err := v.clean(c, out); err != nil {
			return nil, asData(err)
		}
		if err := v.applyWith(ctx, c, sc, out, nil); err != nil {
			return nil, asData(err)
		}
		if err := next(ctx); err != nil {
			if ends(ctx, err) {
				return nil, err
			}
			return nil, c.failure(err)
		}
		response := sc.Response()
		c.parts.response = messagesOf(response)
		state, err := c.readState(ctx, sc.State())
		if err != nil {
			return nil, err
		}
		back := &view{b: []byte{'{'}}
		back.response(&v.grants, response)
		back.raw("state", state)
		back.context(&v.grants, sc)
		back.metadata(&v.grants, sc)
		return back, nil
	}
	out, err := v.prepared(ctx, c, sc, func(in *view) { in.provider(&v.grants, sc) })
	if err != nil {
		return err
	}
	return v.finish(c, v.applyWith(ctx, c, sc, out, func(out *abi.Out) (func(), error) {
		if out.Response == nil {
			return nil, nil
		}
		if err := v.may(true, "response", "result"); err != nil {
			return nil, err
		}
		return func() { _ = sc.SetResponse(v.over(sc.Response(), out.Response)) }, nil // it wraps, so it may
	}))
}

// toResponse makes a response of what a plugin gives as one.
func (v *version) toResponse(r *abi.Response) *host.Response {
	finish := host.FinishReason(r.FinishReason)
	if finish == "" {
		finish = host.FinishStop
	}
	unmark(r.Messages)
	return &host.Response{Messages: r.Messages, FinishReason: finish}
}

// over is a response of a plugin that takes the place of another: who answered, and what it cost, stays.
func (v *version) over(have *host.Response, r *abi.Response) *host.Response {
	if have == nil {
		return v.toResponse(r)
	}
	unmark(r.Messages)
	out := *have
	out.Messages = r.Messages
	if r.FinishReason != "" {
		out.FinishReason = host.FinishReason(r.FinishReason)
	}
	return &out
}

// spliced carries out changes of a list of messages, in order, on a list of its own (clause PRO-4).
func spliced(messages []*message.Message, splices []abi.Splice) ([]*message.Message, error) {
	for _, s := range splices {
		start := len(messages)
		if s.Start != nil {
			if start = *s.Start; start < 0 {
				start += len(messages)
			}
		}
		if start < 0 || start > len(messages) || s.Delete < 0 || s.Delete > len(messages)-start {
			return nil, &abi.Error{Code: abi.CodeInvalidInput, Message: "call_next: a splice is outside of the messages"}
		}
		out := make([]*message.Message, 0, len(messages)+len(s.Insert)-s.Delete)
		out = append(append(out, messages[:start]...), s.Insert...)
		messages = append(out, messages[start+s.Delete:]...)
	}
	return messages, nil
}
