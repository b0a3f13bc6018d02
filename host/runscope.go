package host

import (
	"context"
	"errors"
	"slices"
	"sync"
)

// runScope holds what was acquired for one call of an agent, until that is over.
type runScope struct {
	parent *runScope // that of the run which called this one, as a tool does

	mu   sync.Mutex
	over bool
	held *held // nil where nothing is
}

// held is what a scope holds; most hold nothing.
type held struct {
	pins     map[any]*pin
	releases []func() // in the order in which the values were acquired

	// The sources of untrusted text (trust.go): what agents met that this run called, and what it met itself, which the run
	// that called this one is told of.
	inbound, outbound []string
}

// holds is what the scope holds. The caller has the lock.
func (s *runScope) holds() *held {
	if s.held == nil {
		s.held = &held{}
	}
	return s.held
}

// pin is one value of a scope. Its lock is held while it is acquired, so that others of the run wait for it.
type pin struct {
	mu    sync.Mutex
	done  bool
	value any
}

// pinKey keeps values of different types apart, whatever key they are pinned under.
type pinKey[T any] struct{ key any }

type scopeKey struct{}

// scopeOf is the scope of the run that a context belongs to, or nil.
func scopeOf(ctx context.Context) *runScope {
	s, _ := ctx.Value(scopeKey{}).(*runScope)
	return s
}

// scopedContext is a context with the scope that it carries, in one allocation.
type scopedContext struct {
	context.Context
	scope runScope
	// run says that it is that of a run, which may be within a part of another one: what it costs is not that part's.
	run bool
}

// Value finds the scope; the rest is left to the context around it.
func (c *scopedContext) Value(key any) any {
	switch {
	case key == (scopeKey{}):
		return &c.scope
	case c.run && key == (ledgerKey{}):
		return nil
	}
	return c.Context.Value(key)
}

// newScope gives a context a scope of its own.
func newScope(ctx context.Context) *scopedContext {
	c := &scopedContext{Context: ctx}
	c.scope.parent = scopeOf(ctx)
	return c
}

// RunScope gives a context a scope of its own for [Pin], as each call of an agent does by itself: for calling providers
// and tools outside any run, and for tests. end releases what was pinned, the newest first, and returns the panics of
// doing so; calling it again does nothing.
func RunScope(ctx context.Context) (scoped context.Context, end func() error) {
	c := newScope(ctx)
	return c, c.scope.end
}

// Pin returns a value that stays the same for the whole run that ctx belongs to. The first Pin of a key in a run acquires
// it, all later ones get what that acquired; release, which may be nil, is called once, when the call of the agent is over:
// after the last after_run or run_failed hook, after all agent middleware, for streams too, and also where they are left.
// What agent middleware runs again sees the same value. An agent that is called by a tool of the run has a scope of its
// own.
//
// Keys are compared, so they must be comparable; values of different types never share a key. Pin may be called by many
// goroutines; those that come while the value is acquired wait. acquire must not Pin the same key. Where it panics, nothing
// is pinned and the next Pin tries again.
//
// Without a run, or in a goroutine that outlives it, there is nobody to say when the value is done with: Pin acquires it,
// calls release at once and returns it. So the value's methods must be safe, if only by returning an error, after
// release. [RunScope] makes a scope where there is no run.
func Pin[T any](ctx context.Context, key any, acquire func() (value T, release func())) T {
	scope := scopeOf(ctx)
	if p := scope.pin(pinKey[T]{key}); p != nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.done {
			value, _ := p.value.(T) // nil where T is an interface and the value was nil
			return value
		}
		value, release := acquire()
		if scope.keep(p, value, release) {
			return value
		}
		return released(value, release)
	}
	return released(acquire())
}

func released[T any](value T, release func()) T {
	if release != nil {
		release()
	}
	return value
}

// pin is the pin of a key; nil where there is no scope, or one that is over.
func (s *runScope) pin(key any) *pin {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return nil
	}
	h := s.holds()
	p := h.pins[key]
	if p == nil {
		if h.pins == nil {
			h.pins = map[any]*pin{}
		}
		p = &pin{}
		h.pins[key] = p
	}
	return p
}

// keep makes a value that of a pin, whose lock the caller holds. It reports whether the scope will release it.
func (s *runScope) keep(p *pin, value any, release func()) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return false
	}
	p.done, p.value = true, value
	if release != nil {
		s.held.releases = append(s.held.releases, release)
	}
	return true
}

// end releases all values, the newest first, whichever of them panics.
func (s *runScope) end() error {
	s.mu.Lock()
	h := s.held
	s.over, s.held = true, nil
	s.mu.Unlock()
	if h == nil {
		return nil
	}
	s.parent.addUntrusted(slices.Concat(h.inbound, h.outbound))
	var faults []error
	for _, release := range slices.Backward(h.releases) {
		faults = append(faults, guard(nil, func() error {
			release()
			return nil
		}))
	}
	return errors.Join(faults...)
}

// addUntrusted remembers the sources of untrusted text that an agent met which the run called, or that [Distrust] tells of.
func (s *runScope) addUntrusted(sources []string) {
	if s == nil || len(sources) == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.holds()
	for _, source := range sources {
		if !slices.Contains(h.inbound, source) { // a stream says so with each update
			h.inbound = append(h.inbound, source)
		}
	}
}

// takeUntrusted returns what was remembered, and forgets it.
func (s *runScope) takeUntrusted() []string {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held == nil {
		return nil
	}
	sources := s.held.inbound
	s.held.inbound = nil
	return sources
}

// met says which untrusted text the run met.
func (s *runScope) met(sources []string) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.holds().outbound = sources
}
