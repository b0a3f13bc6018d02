package host

import (
	"context"
	"errors"
	"time"
)

// IndependentProvider is a provider whose before_run reads nothing that other providers of the run add: neither their
// context nor shared metadata. The before_run of several of them runs at the same time: when the first is due, that of all
// others is started too which stand before the next wrapping provider. Each is waited for, and applied, at its own place in
// the order, so that nothing in the run, the session or the model's request tells whether they ran at once or one after the
// other ([AgentConfig.SequentialBeforeRun]).
//
// Where an earlier provider fails, those that were started have their contexts cancelled, are waited for, and are not
// applied; none of their later hooks is called. What they did to the world outside stays.
type IndependentProvider interface {
	Provider
	// StartBeforeRun does the work of before_run and changes nothing of the run. It is called in place of BeforeRun, on a
	// goroutine of its own where several are. It may read the input, the options, the ids and its own state; sc shows no
	// context and no metadata of others. An error, or a panic, is that of before_run. [Emit] does nothing in it.
	//
	// The returned apply puts the effects in, by the context that it is given; nil is for no effects. It is called on the
	// run's goroutine. What StartBeforeRun itself adds to sc is an error, and its state is to be written by apply alone.
	StartBeforeRun(ctx context.Context, sc *SessionContext) (apply func(sc *SessionContext) error, err error)
	// Independent reports whether the provider is one. It is asked once; where it says no, BeforeRun is called as of any
	// other provider.
	Independent() bool
}

// errNotApplied is what the trace says of a provider that was started, and whose turn never came.
var errNotApplied = errors.New("the run failed before the provider's turn")

// startedHook is the before_run of one independent provider.
type startedHook struct {
	sc    *SessionContext // alone: it is not the run's
	done  chan struct{}   // nil for one that is not started ahead
	taken bool            // its turn came
	state *State          // what it was given for its state, if it asked

	apply    func(sc *SessionContext) error
	err      error
	duration time.Duration
	turn     time.Time // when it came

	// Where somebody follows: the part's context, what is told of it, and how that ends.
	ctx   context.Context
	trace *HookTrace
	end   func()
}

// ahead is the before_run of several providers, started at the same time.
type ahead struct {
	first  int
	hooks  []*startedHook // by position from first on; nil for other providers
	cancel context.CancelFunc
}

// at is the hook of the provider at position i, if it is started and its turn has not come.
func (a *ahead) at(i int) *startedHook {
	if a == nil || i < a.first || i >= a.first+len(a.hooks) {
		return nil
	}
	if h := a.hooks[i-a.first]; h != nil && !h.taken {
		return h
	}
	return nil
}

// stop ends what was started and will not be applied, and waits for it.
func (a *ahead) stop() {
	if a == nil {
		return
	}
	a.cancel()
	for i := range a.hooks {
		h := a.at(a.first + i)
		if h == nil {
			continue
		}
		<-h.done
		h.taken = true
		if h.end == nil {
			continue
		}
		h.trace.Duration = h.duration
		h.trace.Err = &HookError{SourceID: h.sc.slot.sourceID, Hook: "before_run", Err: errors.Join(errNotApplied, h.err)}
		h.end()
	}
}

// startAhead starts the before_run of the provider at position i, and of all others that need not wait for it. It is nil
// where that is one alone.
func (r *run) startAhead(ctx context.Context, i int) *ahead {
	if r.agent.sequential || r.slots[i].independent == nil || r.ahead.at(i) != nil {
		return nil
	}
	behind, several := i, 0
	for ; behind < len(r.slots) && r.slots[behind].wrap == nil; behind++ {
		if r.slots[behind].independent != nil {
			several++
		}
	}
	if several < 2 {
		return nil
	}
	ctx, cancel := context.WithCancel(ctx)
	a := &ahead{first: i, hooks: make([]*startedHook, behind-i), cancel: cancel}
	for n := range a.hooks {
		if r.slots[i+n].independent == nil {
			continue
		}
		h := r.newStarted(ctx, i+n)
		h.done = make(chan struct{})
		if len(r.tracers) > 0 {
			h.trace = r.hookTrace("before_run", h.sc.slot)
			h.trace.Concurrent = true
			h.ctx, h.end = r.tracers.start(ctx, h.trace)
			h.sc.costs = ledgerOf(h.ctx)
		}
		a.hooks[n] = h
	}
	for _, h := range a.hooks {
		if h != nil {
			go h.run()
		}
	}
	return a
}

// newStarted prepares a hook, with a run that holds only what the provider may read.
func (r *run) newStarted(ctx context.Context, i int) *startedHook {
	alone := &run{agent: r.agent, id: r.id, session: r.session, input: r.input, options: r.options}
	h := &startedHook{ctx: ctx, sc: &SessionContext{run: alone, slot: r.slots[i], pos: i, costs: r.tracers.ledger(ctx)}}
	h.sc.ahead = h
	return h
}

// run does the work of the hook, on any goroutine.
func (h *startedHook) run() {
	start := time.Now()
	h.err = errors.New("StartBeforeRun ended its goroutine")
	defer func() {
		h.duration = time.Since(start)
		if h.done != nil {
			close(h.done)
		}
	}()
	h.err = guard(nil, func() (err error) {
		h.apply, err = h.sc.slot.independent.StartBeforeRun(withoutEvents(h.ctx), h.sc)
		return err
	})
	if h.err == nil && h.sc.run.touched() {
		h.err = errors.New("StartBeforeRun changed the run by itself: that is for the function that it returns")
	}
}

// touched reports whether anything was added to the run.
func (r *run) touched() bool {
	c := &r.context
	return len(c.messages)+len(c.instructions)+len(c.tools)+len(c.middleware)+len(r.metadata) > 0
}

// beforeRun calls before_run of the provider at position i, or applies it where it was started ahead.
func (r *run) beforeRun(ctx context.Context, i int) (skipped bool, err error) {
	s := r.slots[i]
	if s.independent == nil {
		return r.hook(ctx, i, "before_run", s.before.BeforeRun)
	}
	h := r.ahead.at(i)
	return r.callHook(ctx, i, "before_run", h, func(ctx context.Context, sc *SessionContext) error {
		if h == nil {
			h = r.newStarted(ctx, i)
			h.run()
		} else {
			<-h.done
			h.turn = time.Now()
		}
		if h.state != nil {
			r.session.adopt(s.sourceID, h.state)
		}
		if h.err != nil || h.apply == nil {
			return h.err
		}
		return h.apply(sc)
	})
}
