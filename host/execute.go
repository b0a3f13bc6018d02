package host

import (
	"context"
	"errors"
	"fmt"

	"github.com/weft-run/weft/message"
)

// execute carries out a run inside its agent middleware. out is nil for a run that is not streamed.
func (a *Agent) execute(ctx context.Context, input []*message.Message, c RunConfig, out *emitter) (*Response, error) {
	if err := c.Middleware.check(); err != nil {
		return nil, fmt.Errorf("run: %w", err)
	}
	wrappers := append(a.middleware.Agent[:len(a.middleware.Agent):len(a.middleware.Agent)], c.Middleware.Agent...)
	if len(wrappers) == 0 {
		return a.runOnce(ctx, input, c, out)
	}
	ac := &AgentContext{
		AgentName: a.name, Session: c.Session, Messages: message.CloneAll(input), Options: c.Options.Clone(), Streaming: out != nil,
	}
	var afterErr error
	terminated, err := chain(ctx, out, len(wrappers), func(ctx context.Context, i int, next Next) error {
		return wrappers[i].ProcessAgent(ctx, ac, next)
	}, func(ctx context.Context) error {
		inner := c
		inner.Options, ac.Result = ac.Options, nil
		response, err := a.runOnce(ctx, ac.Messages, inner, out)
		if response == nil {
			return err
		}
		ac.Result, afterErr = response, errors.Join(afterErr, err) // what only after_run hooks failed at does not undo the run
		return nil
	})
	switch {
	case err != nil:
		return nil, err
	case ac.Result == nil && terminated:
		ac.Result = &Response{}
	case ac.Result == nil:
		return nil, fmt.Errorf("agent middleware neither called next nor set a result: %w", ErrNoResult)
	}
	if out != nil && out.shown == 0 {
		if err := out.showAll(ac.Result); err != nil {
			return nil, err
		}
	}
	return ac.Result, afterErr
}

func (a *Agent) runOnce(ctx context.Context, input []*message.Message, c RunConfig, out *emitter) (*Response, error) {
	r, err := a.newRun(input, c)
	if err != nil {
		return nil, err
	}
	r.out = out
	return r.do(ctx)
}
