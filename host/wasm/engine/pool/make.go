package pool

import (
	"context"
	"runtime/debug"
	"time"
)

// maker is the right to make a resource: a place that is taken by something that does not exist yet. The lock of the pool
// guards it.
type maker struct {
	ahead  bool
	cancel context.CancelCauseFunc // nil before it began
	cause  error                   // why it was interrupted
}

func (m *maker) interrupt(cause error) {
	if m.cause == nil {
		m.cause = cause
	}
	if m.cancel != nil {
		m.cancel(cause)
	}
}

// aheadKey marks the context of what is made ahead.
type aheadKey struct{}

// Ahead says whether ctx is that of a resource that is made ahead, for nobody in particular (see Pool.Warm). The function
// that makes it may then want to spare others: to fail rather than to take memory from what is in use.
func Ahead(ctx context.Context) bool { return ctx.Value(aheadKey{}) != nil }

// reserve takes a free place. The lock is held.
func (p *Pool[T]) reserve() *maker {
	m := &maker{}
	p.making[m] = struct{}{}
	return m
}

// fill makes the resource that m gives the right to, and lends it.
func (p *Pool[T]) fill(ctx context.Context, m *maker, within *Hold, waited time.Duration) (Lease[T], error) {
	value, err := p.build(ctx, m)
	if err != nil {
		return Lease[T]{}, err
	}
	p.mu.Lock()
	s := p.adopt(m, value)
	if m.cause != nil {
		p.closing++
		p.mu.Unlock()
		p.finish(s, Interrupted)
		return Lease[T]{}, m.cause
	}
	lease := p.lend(s, within)
	p.mu.Unlock()
	lease.fresh, lease.waited = true, waited
	return lease, nil
}

// build makes a resource. Where that fails, also by a panic or by runtime.Goexit, the place is passed on.
func (p *Pool[T]) build(ctx context.Context, m *maker) (value T, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	done := false
	defer func() {
		r := recover()
		if done && err == nil {
			return
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		p.stats.Failed++
		p.abandon(m)
		switch {
		case r != nil:
			err = &PanicError{Value: r, Stack: debug.Stack()}
		case m.cause != nil:
			err = m.cause
		}
	}()
	p.mu.Lock()
	m.cancel = cancel
	err = m.cause
	p.mu.Unlock()
	if err == nil {
		value, err = p.make(ctx)
	}
	done = true
	return value, err
}

// abandon gives up a place for which no resource was made. The lock is held.
func (p *Pool[T]) abandon(m *maker) {
	delete(p.making, m)
	if m.ahead {
		p.ahead = false
		p.rest()
	}
	p.pass()
}

// adopt counts a resource that was made. The lock is held.
func (p *Pool[T]) adopt(m *maker, value T) *slot[T] {
	delete(p.making, m)
	s := &slot[T]{pool: p, value: value}
	p.live[s] = struct{}{}
	p.stats.Created++
	return s
}

// aheadRest is for how long none is made ahead after one could not be, and after Trim.
const aheadRest = time.Second

func (p *Pool[T]) rest() { p.restUntil = time.Now().Add(aheadRest) }

// Warm keeps n idle resources ready from now on, made ahead in the background one after the other, as far as Options.Most
// allows and nobody waits; idle time does not close them. 0, which is the state of a new pool, ends that. What is made
// ahead is made when a call takes an idle one or closes one; after one could not be made, and after Trim, none is for a
// second.
func (p *Pool[T]) Warm(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.warm, p.restUntil = max(n, 0), time.Time{}
	p.makeAhead()
	p.tickIfNeeded()
}

// makeAhead starts to make resources if too few are idle. The lock is held.
func (p *Pool[T]) makeAhead() {
	if p.ahead || !p.wantsAhead() || time.Now().Before(p.restUntil) {
		return
	}
	p.ahead = true
	m := p.reserveAhead()
	go p.keepAhead(m)
}

// wantsAhead says whether one should be made ahead. There is no room while somebody waits.
func (p *Pool[T]) wantsAhead() bool {
	return len(p.idle) < p.warm && !p.closed && p.hasRoom()
}

func (p *Pool[T]) reserveAhead() *maker {
	m := p.reserve()
	m.ahead = true
	return m
}

// keepAhead makes resources until enough are idle.
func (p *Pool[T]) keepAhead(m *maker) {
	ctx := context.WithValue(context.Background(), aheadKey{}, true)
	for m != nil {
		value, err := p.build(ctx, m)
		if err != nil {
			return
		}
		m = p.store(m, value)
	}
}

// store makes a resource that was made ahead idle, and returns the right to make another one where that is wanted.
func (p *Pool[T]) store(m *maker, value T) *maker {
	p.mu.Lock()
	s := p.adopt(m, value)
	if p.closed {
		p.ahead = false
		p.closing++
		p.mu.Unlock()
		p.finish(s, Closed)
		return nil
	}
	defer p.mu.Unlock()
	p.give(s)
	if p.wantsAhead() {
		return p.reserveAhead()
	}
	p.ahead = false
	return nil
}
