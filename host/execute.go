package host

import (
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"github.com/weft-run/weft/message"
)

// execute carries out a run inside its agent middleware. out is nil for a run that is not streamed.
func (a *Agent) execute(ctx context.Context, input []*message.Message, c RunConfig, out *emitter) (response *Response, err error) {
	if err := c.Middleware.check(); err != nil {
		return nil, fmt.Errorf("run: %w", err)
	}
	if err := checkInput(input); err != nil {
		return nil, err
	}
	e := execution{agent: a, config: c, id: uuid.NewString(), out: out, tracers: a.tracers}
	if c.Tracer != nil {
		e.tracers = append(slices.Clip(e.tracers), c.Tracer)
	}
	scoped := newScope(ctx)
	scoped.run = true
	defer e.endScope(scoped)
	ctx = e.withEvents(scoped)
	if len(e.tracers) == 0 {
		return e.wrapped(ctx, input)
	}
	t := e.trace("run")
	ctx, end := e.tracers.start(ctx, &t)
	defer func() {
		t.Response, t.Err = response, err
		end() // also where a consumer's panic passes through
	}()
	return e.wrapped(ctx, input)
}

// execution is one call of the agent, with its agent middleware. That may run what is inside any number of times.
type execution struct {
	agent    *Agent
	config   RunConfig
	id       string // of the next run
	out      *emitter
	tracers  tracers
	afterErr error
}

// endScope releases what the run pinned.
func (e *execution) endScope(c *scopedContext) {
	if err := c.scope.end(); err != nil {
		e.agent.log.ErrorContext(c, "what a run had pinned could not be released", "agent", e.agent.name, "error", err)
	}
}

// trace begins the description of a part.
func (e *execution) trace(hook string) HookTrace {
	t := HookTrace{RunID: e.id, AgentName: e.agent.name, Hook: hook, Streaming: e.out != nil}
	if e.config.Session != nil {
		t.SessionID = e.config.Session.ID()
	}
	return t
}

func (e *execution) wrapped(ctx context.Context, input []*message.Message) (*Response, error) {
	wrappers := append(slices.Clip(e.agent.middleware.Agent), e.config.Middleware.Agent...)
	if len(wrappers) == 0 {
		return e.once(ctx, input, e.config)
	}
	ac := &AgentContext{
		AgentName: e.agent.name, RunID: e.id, Session: e.config.Session, Messages: message.CloneAll(input), Options: e.config.Options.Clone(),
		Streaming: e.out != nil,
	}
	out := e.out
	terminated, err := (&layer{
		name: "agent", middleware: len(wrappers),
		call: func(ctx context.Context, i int, next Next) error {
			return wrappers[i].ProcessAgent(ctx, ac, next)
		},
		describe: func(i int) any { return wrappers[i] },
		core: func(ctx context.Context) error {
			inner := e.config
			inner.Options, ac.Result = ac.Options, nil
			response, err := e.once(ctx, ac.Messages, inner)
			if response == nil {
				return err
			}
			ac.Result, e.afterErr = response, err // what only after_run hooks failed at does not undo the run
			return nil
		},
		out: &e.out, hooks: &ac.hooks, result: func() *Response { return ac.Result }, set: func(r *Response) { ac.Result = r },
		tracers: e.tracers, trace: e.trace, passing: func() passing { return passing{messages: ac.Messages, options: ac.Options} },
	}).run(ctx)
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
	return ac.Result, e.afterErr
}

// once is one run inside all agent middleware.
func (e *execution) once(ctx context.Context, input []*message.Message, c RunConfig) (*Response, error) {
	r, err := e.agent.newRun(input, c)
	if err != nil {
		return nil, err
	}
	r.id, e.id = e.id, ""
	if r.id == "" {
		r.id = uuid.NewString()
	}
	r.out, r.tracers, r.tells = e.out, e.tracers, e.out != nil || c.OnEvent != nil
	return r.do(ctx)
}
