package host

import (
	"context"
	"errors"
	"log/slog"
	"time"
)

// failedHookTime bounds a RunFailed hook, whose context does not end with the run's.
const failedHookTime = 5 * time.Second

// from runs the providers from position i on, and the model behind the last of them.
func (r *run) from(ctx context.Context, i int) error {
	if i == len(r.slots) {
		return guard(r.out, func() error { return r.loop(ctx) }) // tools, schemas, sources and clients are others' code too
	}
	if r.slots[i].wrap != nil {
		return r.wrapped(ctx, i)
	}
	return r.hooked(ctx, i)
}

// hooked runs a provider with hooks: before, the rest, after.
func (r *run) hooked(ctx context.Context, i int) error {
	s := r.slots[i]
	if r.perCall(s) {
		return r.from(ctx, i+1)
	}
	skipped := false
	if s.hasBefore() && (s.history == nil || s.history.loads(r)) {
		if a := r.startAhead(ctx, i); a != nil {
			r.ahead = a
			defer a.stop() // also where a consumer's panic passes through
		}
		var err error
		skipped, err = r.beforeRun(ctx, i)
		if err != nil && !skipped {
			r.ahead.stop()
			return err
		}
		r.goOnWithout(i, skipped)
	}
	if err := r.from(ctx, i+1); err != nil {
		if !skipped {
			r.tellFailed(ctx, i, err)
		}
		return err
	}
	if s.after != nil && !skipped {
		passed, err := r.hook(ctx, i, "after_run", func(ctx context.Context, sc *SessionContext) error { return s.after.AfterRun(ctx, sc) })
		if err != nil && !passed {
			r.afterErrs = append(r.afterErrs, err)
		}
	}
	return nil
}

// goOnWithout remembers whether the provider at position i takes part in the rest of the run.
func (r *run) goOnWithout(i int, gone bool) {
	if gone && r.gone == nil {
		r.gone = map[int]bool{}
	}
	if r.gone != nil {
		r.gone[i] = gone
	}
}

// wrapped runs a provider that wraps the rest.
func (r *run) wrapped(ctx context.Context, i int) error {
	s := r.slots[i]
	called, inner := 0, error(nil)
	around := r.tracers.ledger(ctx)
	next := func(ctx context.Context) error {
		ctx = r.tracers.within(ctx, around)
		r.context.dropAfter(i)
		called++
		r.response, r.ownResponse = nil, false
		afterErrs := len(r.afterErrs)
		if inner = r.from(ctx, i+1); inner != nil {
			r.afterErrs = r.afterErrs[:afterErrs]
		}
		return inner
	}
	skipped, err := r.hook(ctx, i, "process", func(ctx context.Context, sc *SessionContext) error {
		defer func() { r.calledNext = called }()
		if err := s.wrap.Process(ctx, sc, next); err != nil {
			return err
		}
		if r.response == nil {
			return ErrNoResult
		}
		if s.untrusted && r.ownResponse {
			r.response = labelled(r.response)
		}
		return nil
	})
	switch {
	case err == nil:
		if !r.ownResponse {
			return nil
		}
		r.ownResponse = false
		return r.out.showAll(r.response)
	case skipped && called == 0:
		r.goOnWithout(i, true)
		return r.from(ctx, i+1)
	case skipped && r.response != nil:
		return nil // it failed after the rest was done, which stands
	case inner == nil:
		return err
	}
	r.tellFailed(ctx, i, err)
	if errors.Is(err, inner) {
		return inner // an error from below is told as it is, not once more by each provider that it passed
	}
	return err
}

// hook calls one hook of the provider at position i: guarded, traced, and with its error policy. skipped says that the
// policy lets the run go on in spite of err.
func (r *run) hook(ctx context.Context, i int, name string, call func(ctx context.Context, sc *SessionContext) error) (skipped bool, err error) {
	return r.callHook(ctx, i, name, nil, call)
}

// callHook is hook for one that may have been started before its turn; h is nil for the others.
func (r *run) callHook(ctx context.Context, i int, name string, h *startedHook, call func(ctx context.Context, sc *SessionContext) error) (skipped bool, err error) {
	if err := ctx.Err(); err != nil && name != "after_run" {
		return false, err // what is done is still to be stored, so after_run is left to the hook
	}
	if h != nil {
		h.taken = true
	}
	s := r.slots[i]
	mark := r.context.mark(s.sourceID)
	if len(r.tracers) > 0 {
		var t *HookTrace
		var end func()
		if h == nil {
			t = r.hookTrace(name, s)
			ctx, end = r.tracers.start(ctx, t)
		} else {
			ctx, t, end = h.ctx, h.trace, h.end
		}
		defer func() {
			added := r.context.since(mark, s.sourceID)
			if err == nil {
				t.Messages, t.Instructions, t.Tools = added.messages, added.instructions, added.tools
			}
			t.Err, t.Skipped = err, skipped
			if name == "process" {
				t.NextCalls = r.calledNext
			}
			if h != nil {
				t.Duration = h.duration + time.Since(h.turn)
			}
			end()
		}()
	}
	sc := &SessionContext{run: r, slot: s, pos: i, costs: r.tracers.ledger(ctx)}
	told := r.eventsFrom(ctx, s.sourceID)
	err = guard(r.out, func() error { return call(told, sc) })
	if err != nil {
		// What a failing hook had added is taken back, as it is for a plugin, whose effects come all together or not at all.
		r.metadata = sc.metadataBefore()
		r.context.undo(mark, s.sourceID)
		skipped = s.policy == OnErrorSkip && ctx.Err() == nil && !errors.Is(err, ErrStopped)
		err = &HookError{SourceID: s.sourceID, Hook: name, Err: err}
	}
	if skipped {
		r.agent.log.LogAttrs(ctx, slog.LevelWarn, "a provider failed and was skipped, as its on_error says",
			slog.String("agent", r.agent.name), slog.String("provider", s.sourceID), slog.Any("error", err))
		if untold := r.tellSkipped(told, name, err); untold != nil { // the caller left, or its own code failed
			return false, untold
		}
	}
	return skipped, err
}

// hookTrace begins the description of a hook call.
func (r *run) hookTrace(name string, s *slot) *HookTrace {
	t := r.trace(name)
	t.SourceID, t.SourceType = s.sourceID, s.sourceType
	if name == "process" {
		t.Layer = "context"
	}
	return &t
}

// tellFailed calls run_failed of the provider at position i, if it has one.
func (r *run) tellFailed(ctx context.Context, i int, cause error) {
	s := r.slots[i]
	if s.failed == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), failedHookTime)
	defer cancel()
	skipped, err := r.hook(ctx, i, "run_failed", func(ctx context.Context, sc *SessionContext) error { return s.failed.RunFailed(ctx, sc, cause) })
	if err != nil && !skipped {
		r.agent.log.LogAttrs(ctx, slog.LevelWarn, "run_failed itself failed",
			slog.String("agent", r.agent.name), slog.String("provider", s.sourceID), slog.Any("error", err))
	}
}

// undo takes back what a provider added after a mark.
func (c *runContext) undo(m contextMark, sourceID string) {
	c.restore(m.replaced)
	c.instructions, c.tools, c.middleware = c.instructions[:m.instructions], c.tools[:m.tools], c.middleware[:m.middleware]
	for i := range c.messages {
		if c.messages[i].sourceID != sourceID {
			continue
		}
		if m.messages == 0 {
			c.messages = append(c.messages[:i:i], c.messages[i+1:]...)
		} else {
			c.messages[i].messages = c.messages[i].messages[:m.messages]
		}
		return
	}
}
