package pool

import (
	"context"
	"sync"
	"time"
)

// Pool lends resources. It may be used by any number of goroutines.
type Pool[T Resource] struct {
	make    func(context.Context) (T, error)
	options Options

	mu     sync.Mutex
	closed bool
	// live has all resources that exist. Each is out, idle or being closed; making has those that do not exist yet. Live
	// and making together are the places in use, and never more than Options.Most.
	live    map[*slot[T]]struct{}
	making  map[*maker]struct{}
	closing int
	idle    []*slot[T] // the one that came back last stands last
	// queue is empty unless all places are in use and nothing is idle.
	queue queue[T]
	stats Stats

	warm      int       // how many idle ones are made ahead
	ahead     bool      // whether one is being made ahead now
	restUntil time.Time // before this time none is made ahead

	timer   *time.Timer // closes what expires; made at first use
	ticking bool
	clock   uint64 // how often the timer went off

	drained chan struct{} // closed when the pool is closed and no place is in use
}

// New returns a pool of what newResource makes.
//
// It is called outside the lock, by the goroutine that asks for a resource and with its context, or in the background (see
// Pool.Warm); any number of times at once. The context is also cancelled by Pool.Interrupt and Pool.Close. An error goes to
// the caller that asked, and a panic too, as a *PanicError. It must not wait for a resource of a pool.
func New[T Resource](newResource func(context.Context) (T, error), options Options) *Pool[T] {
	return &Pool[T]{
		make: newResource, options: options.orDefaults(),
		live: map[*slot[T]]struct{}{}, making: map[*maker]struct{}{}, drained: make(chan struct{}),
	}
}

// Get lends a resource: an idle one, or a new one, or, where all are in use, the next that comes back.
//
// A call that holds resources already passes the Hold of the last that it got as within, and keeps that until Get has
// returned; others pass nil. See the package's description for when nested calls may wait. One that passes nil although it
// holds something may wait for ever.
//
// The error is a *BusyError (errors.Is: ErrBusy), ErrClosed, ctx.Err(), the error of the function that makes resources, or
// the cause that Interrupt was given while it did.
func (p *Pool[T]) Get(ctx context.Context, within *Hold) (Lease[T], error) {
	return p.get(ctx, within, true)
}

// TryGet is Get for callers that do not wait for others: it lends an idle resource or a new one, or fails with a
// *BusyError. Making a new one takes what it takes.
func (p *Pool[T]) TryGet(ctx context.Context, within *Hold) (Lease[T], error) {
	return p.get(ctx, within, false)
}

func (p *Pool[T]) get(ctx context.Context, within *Hold, mayWait bool) (Lease[T], error) {
	if err := ctx.Err(); err != nil {
		return Lease[T]{}, err
	}
	p.mu.Lock()
	if last := len(p.idle) - 1; last >= 0 {
		s := p.idle[last]
		p.idle[last] = nil
		p.idle = p.idle[:last]
		lease := p.lend(s, within)
		if last < p.warm {
			p.makeAhead()
		}
		p.mu.Unlock()
		return lease, nil
	}
	if p.closed {
		p.mu.Unlock()
		return Lease[T]{}, ErrClosed
	}
	if p.hasRoom() {
		m := p.reserve()
		p.makeAhead()
		p.mu.Unlock()
		return p.fill(ctx, m, within, 0)
	}
	w, err := p.join(within, mayWait)
	p.mu.Unlock()
	if err != nil {
		return Lease[T]{}, err
	}
	return p.await(ctx, w)
}

// Stats returns what the pool does and did. It takes the lock for a moment and allocates nothing.
func (p *Pool[T]) Stats() Stats {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.stats
	s.Live, s.Idle, s.Making, s.Waiting = len(p.live), len(p.idle), len(p.making), p.queue.len
	return s
}

// The functions below need the lock.

// lend starts a lease of a resource that is not out.
func (p *Pool[T]) lend(s *slot[T], within *Hold) Lease[T] {
	s.turn++
	if within != nil {
		s.hold.parent.Store(within)
	}
	p.stats.Borrowed++
	return Lease[T]{slot: s, turn: s.turn}
}

func (p *Pool[T]) hasRoom() bool { return !exceeds(len(p.live)+len(p.making)+1, p.options.Most) }

// give hands a resource to who waits longest, or makes it idle.
func (p *Pool[T]) give(s *slot[T]) {
	if w := p.queue.pop(); w != nil {
		w.lease = p.lend(s, w.within)
		p.grant(w)
		return
	}
	s.since = p.clock
	p.idle = append(p.idle, s)
	p.tickIfNeeded()
}

// pass gives a place that became free to who waits longest. Nobody waits once the pool is closed.
func (p *Pool[T]) pass() {
	if p.closed {
		if len(p.live) == 0 && len(p.making) == 0 {
			close(p.drained)
		}
		return
	}
	if w := p.queue.pop(); w != nil {
		w.maker = p.reserve()
		p.grant(w)
		return
	}
	p.makeAhead()
}

// end ends a lease and gives its resource back or closes it. It takes the lock itself.
func (p *Pool[T]) end(l Lease[T], discard bool, why Reason) {
	s := l.slot
	p.mu.Lock()
	if s.turn != l.turn {
		p.mu.Unlock()
		return
	}
	s.turn++
	if s.hold.parent.Load() != nil {
		s.hold.parent.Store(nil) // or it would keep what it points to from being collected
	}
	switch {
	case s.interrupted:
		why = Interrupted
	case discard:
	case p.closed:
		why = Closed
	case p.queue.len == 0 && exceeds(len(p.idle)+1, p.keep()):
		why = Surplus
	default:
		p.give(s)
		p.mu.Unlock()
		return
	}
	p.closing++
	p.mu.Unlock()
	p.finish(s, why)
}

// keep is how many idle resources are kept.
func (p *Pool[T]) keep() int {
	if p.options.Keep < 0 || p.warm == 0 {
		return p.options.Keep
	}
	return max(p.options.Keep, p.warm+1)
}
