package wasm

import (
	"context"
	"errors"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/weft-run/weft/abi"
	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/message"
)

// notices are the hooks that every plugin among the providers may have.
type notices struct{ *version }

// hooked is a version as a provider with hooks.
type hooked struct{ notices }

var (
	_ host.Hooks               = (*hooked)(nil)
	_ host.HookSet             = (*hooked)(nil)
	_ host.ErrorPolicyOf       = (*hooked)(nil)
	_ host.SourceTypeOf        = (*hooked)(nil)
	_ host.IndependentProvider = (*hooked)(nil)
	_ host.UntrustedSource     = (*hooked)(nil)
)

// SourceID is the plugin's.
func (p *notices) SourceID() string { return p.sourceID }

// ErrorPolicy is the configured one.
func (p *notices) ErrorPolicy() host.ErrorPolicy { return p.policy }

// Untrusted is true: what a plugin adds is text of a stranger.
func (p *notices) Untrusted() bool { return true }

// Hooks are those that the plugin exports: what is exported is what is called.
func (p *notices) Hooks() []string {
	names := make([]string, len(p.hooks))
	for i, h := range p.hooks {
		names[i] = string(h)
	}
	return names
}

// SessionCreated calls the plugin's session_created.
func (p *notices) SessionCreated(ctx context.Context, sc *host.SessionContext) error {
	return p.hook(ctx, sc, abi.HookSessionCreated, parts{}, nil, nil)
}

// RunFailed calls the plugin's run_failed.
func (p *notices) RunFailed(ctx context.Context, sc *host.SessionContext, cause error) error {
	return p.hook(ctx, sc, abi.HookRunFailed, parts{input: sc.Input}, func(v *view) {
		v.provider(&p.grants, sc)
		v.failure(cause)
	}, nil)
}

// BeforeRun calls the plugin's before_run.
func (p *hooked) BeforeRun(ctx context.Context, sc *host.SessionContext) error {
	return p.hook(ctx, sc, abi.HookBeforeRun, parts{input: sc.Input}, func(v *view) { v.provider(&p.grants, sc) }, nil)
}

// Independent reports whether before_run sees and tells nothing that others could have to do with: then it may run at the
// same time as theirs.
func (p *hooked) Independent() bool {
	g := &p.grants
	return !g.ReadsContext() && !g.CanRead("metadata") && len(g.Events) == 0 && len(g.Search) == 0
}

// StartBeforeRun calls the plugin's before_run, and leaves what it returned to apply.
func (p *hooked) StartBeforeRun(ctx context.Context, sc *host.SessionContext) (func(*host.SessionContext) error, error) {
	return p.start(ctx, sc, abi.HookBeforeRun, func(sc *host.SessionContext) parts { return parts{input: sc.Input} },
		func(v *view, sc *host.SessionContext) { v.provider(&p.grants, sc) })
}

// AfterRun calls the plugin's after_run.
func (p *hooked) AfterRun(ctx context.Context, sc *host.SessionContext) error {
	response := sc.Response()
	return p.hook(ctx, sc, abi.HookAfterRun, parts{input: sc.Input, response: messagesOf(response)}, func(v *view) {
		v.provider(&p.grants, sc)
		v.response(&p.grants, response)
	}, nil)
}

// BeforeIteration calls the plugin's before_iteration.
func (p *notices) BeforeIteration(ctx context.Context, sc *host.SessionContext, it *host.Iteration) error {
	return p.hook(ctx, sc, abi.HookBeforeIteration, iterationParts(it), func(v *view) {
		v.iteration(&p.grants, it)
		v.request(&p.grants, it.Request)
	}, func(out *abi.Out) (func(), error) { return p.reply(out, it.Skip) })
}

// BeforeTools calls the plugin's before_tools.
func (p *notices) BeforeTools(ctx context.Context, sc *host.SessionContext, it *host.Iteration) error {
	return p.hook(ctx, sc, abi.HookBeforeTools, iterationParts(it), func(v *view) {
		v.iteration(&p.grants, it)
		v.response(&p.grants, it.Reply)
		v.calls(&p.grants, it.Calls)
	}, func(out *abi.Out) (func(), error) { return p.reply(out, it.Skip) })
}

// AfterIteration calls the plugin's after_iteration.
func (p *notices) AfterIteration(ctx context.Context, sc *host.SessionContext, it *host.Iteration) error {
	return p.hook(ctx, sc, abi.HookAfterIteration, iterationParts(it), func(v *view) {
		v.iteration(&p.grants, it)
		v.response(&p.grants, it.Reply)
		v.calls(&p.grants, it.Calls)
		v.results(&p.grants, it.Results)
	}, nil)
}

// BeforeFunction calls the plugin's before_function.
func (p *notices) BeforeFunction(ctx context.Context, sc *host.SessionContext, call *host.Invocation) error {
	return p.hook(ctx, sc, abi.HookBeforeFunction, parts{}, func(v *view) {
		v.call(&p.grants, call.Call, call.Tool.SourceID)
	}, func(out *abi.Out) (func(), error) { return p.result(out, call.Block) })
}

// AfterFunction calls the plugin's after_function.
func (p *notices) AfterFunction(ctx context.Context, sc *host.SessionContext, call *host.Invocation) error {
	return p.hook(ctx, sc, abi.HookAfterFunction, parts{}, func(v *view) {
		v.call(&p.grants, call.Call, call.Tool.SourceID)
		v.result(&p.grants, call.Result)
	}, func(out *abi.Out) (func(), error) {
		return p.result(out, func(result jsontext.Value) {
			call.Result = message.FunctionResult{CallID: call.Result.CallID, Result: result}
		})
	})
}

// reply puts a response in the place of the model's, or of the calls of one.
func (p *notices) reply(out *abi.Out, skip func(*host.Response)) (func(), error) {
	if out.Response == nil {
		return nil, nil
	}
	if err := p.may(true, "response", "result"); err != nil {
		return nil, err
	}
	return func() { skip(p.toResponse(out.Response)) }, nil
}

// result puts another result in the place of a call's.
func (p *notices) result(out *abi.Out, put func(jsontext.Value)) (func(), error) {
	if out.Result == nil {
		return nil, nil
	}
	if err := p.may(true, "result", "result"); err != nil {
		return nil, err
	}
	return func() { put(out.Result) }, nil
}

func iterationParts(it *host.Iteration) parts {
	return parts{request: func() []*message.Message { return it.Request.Messages }, response: messagesOf(it.Reply)}
}

func messagesOf(r *host.Response) func() []*message.Message {
	if r == nil {
		return nil
	}
	return func() []*message.Message { return r.Messages }
}

// extra checks the effects that only one hook has, and returns what puts them in place; nil where there are none.
type extra func(*abi.Out) (put func(), err error)

// hook calls one hook of a provider and puts what it returns into the run: all of it, or nothing. The plugin's state is as
// before unless it returned properly. more takes the effects that only this hook has.
func (v *version) hook(ctx context.Context, sc *host.SessionContext, hook abi.Hook, from parts, show func(*view), more extra) error {
	return v.inTurn(ctx, v.newCall(hook, sc, from), sc, show, more)
}

// inTurn makes a call of a hook when it is the turn of its bucket.
func (v *version) inTurn(ctx context.Context, c *call, sc *host.SessionContext, show func(*view), more extra) error {
	bucket := sc.State()
	done, err := v.turns.take(ctx, bucket)
	if err != nil {
		return err
	}
	defer done()
	c.turn = bucket
	out, err := v.prepared(ctx, c, sc, show)
	if err != nil {
		return err
	}
	return v.finish(c, v.applyWith(ctx, c, sc, out, more))
}

// start calls a hook and leaves the rest of [version.hook] to apply, which is called at most once; where it is not, nothing
// changes. Where another run of the session changed the bucket meanwhile, apply calls the hook again, in its turn.
func (v *version) start(ctx context.Context, sc *host.SessionContext, hook abi.Hook, from func(*host.SessionContext) parts, show func(*view, *host.SessionContext)) (func(*host.SessionContext) error, error) {
	c := v.newCall(hook, sc, from(sc))
	out, err := v.prepared(ctx, c, sc, func(in *view) { show(in, sc) })
	if err != nil {
		return nil, err
	}
	return func(sc *host.SessionContext) error {
		err := v.applyWith(ctx, c, sc, out, nil)
		if errors.Is(err, host.ErrConflict) {
			again := v.newCall(hook, sc, from(sc))
			again.charged = c
			return v.inTurn(ctx, again, sc, func(in *view) { show(in, sc) }, nil)
		}
		return v.finish(c, err)
	}, nil
}

// newCall is a call of a hook of a provider.
func (v *version) newCall(hook abi.Hook, sc *host.SessionContext, from parts) *call {
	from.sc = sc
	c := &call{version: v, hook: hook, runID: sc.RunID(), agent: sc.AgentName(), session: sc.Session(), parts: from}
	if hook == abi.HookProcess {
		c.layer = abi.LayerContext
	}
	return c
}

// prepared writes a hook's input, and calls it.
func (v *version) prepared(ctx context.Context, c *call, sc *host.SessionContext, show func(*view)) (*abi.Out, error) {
	in := v.newView(c)
	state, err := c.readState(ctx, sc.State())
	if err != nil {
		return nil, v.finish(c, err)
	}
	in.raw("state", state)
	if show != nil {
		show(in)
	}
	return v.invoke(ctx, c, in)
}

// finish gives an error of the host's about what a hook did the hook's name.
func (v *version) finish(c *call, err error) error {
	if err == nil || c.passed != nil {
		return err
	}
	return v.failed(c, err, "")
}
