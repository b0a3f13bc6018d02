package pool

import (
	"context"
	"slices"
	"time"
)

// finish closes a resource that is counted as closing, and passes its place on, also where Close panics.
func (p *Pool[T]) finish(s *slot[T], why Reason) {
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.live, s)
		p.closing--
		p.stats.Discarded[why]++
		p.pass()
	}()
	s.value.Close()
}

// takeIdle takes the n resources out that have been idle longest, to be closed. The lock is held.
func (p *Pool[T]) takeIdle(n int) []*slot[T] {
	taken := slices.Clone(p.idle[:n])
	p.idle = slices.Delete(p.idle, 0, n)
	p.closing += n
	return taken
}

// Trim closes all idle resources, for what they cost, and returns how many they were. It goes below what Warm asked for.
// It may be called by the function that makes resources.
func (p *Pool[T]) Trim() int {
	p.mu.Lock()
	idle := p.takeIdle(len(p.idle))
	p.rest()
	p.mu.Unlock()
	for _, s := range idle {
		p.finish(s, Trimmed)
	}
	return len(idle)
}

// Interrupt ends the calls in flight: it interrupts each resource that is out, and cancels the making of those that callers
// asked for, whose Get then fails with cause. Those who wait go on waiting.
func (p *Pool[T]) Interrupt(cause error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for m := range p.making {
		if !m.ahead {
			m.interrupt(cause)
		}
	}
	for s := range p.live {
		if s.out() {
			s.interrupted = true
			s.value.Interrupt(cause)
		}
	}
}

// Close closes the pool. Those who wait and those who come later fail with ErrClosed; what is idle is closed, and what is
// out when it comes back. Close waits for that. Where ctx is over first it interrupts what is out with ErrClosed and
// returns ctx.Err() at once; Drained says when the last one is closed. Close may be called again, and waits again.
func (p *Pool[T]) Close(ctx context.Context) error {
	for _, s := range p.shut() {
		p.finish(s, Closed)
	}
	select {
	case <-p.drained:
		return nil
	default:
	}
	select {
	case <-p.drained:
		return nil
	case <-ctx.Done():
		p.Interrupt(ErrClosed)
		return ctx.Err()
	}
}

// Drained returns a channel that is closed when the pool is closed and all its resources are.
func (p *Pool[T]) Drained() <-chan struct{} { return p.drained }

// shut turns everyone away and returns what is to be closed.
func (p *Pool[T]) shut() []*slot[T] {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil
	}
	p.closed = true
	for w := p.queue.pop(); w != nil; w = p.queue.pop() {
		w.err = ErrClosed
		p.grant(w)
	}
	for m := range p.making {
		if m.ahead {
			m.interrupt(ErrClosed)
		}
	}
	if p.timer != nil {
		p.timer.Stop()
	}
	idle := p.takeIdle(len(p.idle))
	p.pass() // for a pool in which nothing is
	return idle
}

// ticks is how many times the timer goes off in Options.IdleTime. A resource is closed at the first tick before which it
// was idle for all of that time. This needs no clock where a resource comes back, and the order of idle ones is that of
// their age.
const ticks = 4

// tickIfNeeded starts the timer if there is something that it may have to close. The lock is held.
func (p *Pool[T]) tickIfNeeded() {
	if p.options.IdleTime <= 0 || p.ticking || len(p.idle) <= p.warm || p.closed {
		return
	}
	p.ticking = true
	every := max(p.options.IdleTime/ticks, 1)
	if p.timer == nil {
		p.timer = time.AfterFunc(every, p.tick)
		return
	}
	p.timer.Reset(every)
}

// tick closes what nobody used for long enough.
func (p *Pool[T]) tick() {
	p.mu.Lock()
	p.clock++
	expired := 0
	for expired < len(p.idle)-p.warm && p.clock-p.idle[expired].since > ticks {
		expired++
	}
	taken := p.takeIdle(expired)
	p.ticking = false
	p.tickIfNeeded()
	p.mu.Unlock()
	for _, s := range taken {
		p.finish(s, Expired)
	}
}
