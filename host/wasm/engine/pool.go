package engine

import (
	"context"
	"runtime"
	"slices"
	"sync"
)

// pool lends the instances of one module. It makes them when they are needed and none is idle, up to a number, and
// keeps a few that are idle.
type pool struct {
	most, queue, keep int

	mu      sync.Mutex
	closed  bool
	live    map[*instance]struct{}
	making  int
	idle    []*instance
	waiting []chan grant
	stats   Stats
	drained chan struct{} // closed when the pool is closed and nothing is out
}

// grant is what a waiting caller gets: an instance, or the right to make one, or an error.
type grant struct {
	instance *instance
	err      error
}

// Stats says what the instances of a module do.
type Stats struct {
	// Live is how many instances there are, Idle how many of them no call uses.
	Live, Idle int
	// Waiting is how many calls wait for an instance.
	Waiting int
	// Created and Discarded are how many instances were made and closed since the module was loaded.
	Created, Discarded int
}

func newPool(limits Limits) *pool {
	return &pool{
		most: limits.Instances, queue: limits.Queue, keep: 2 * runtime.GOMAXPROCS(0),
		live: map[*instance]struct{}{}, drained: make(chan struct{}),
	}
}

// get returns an instance, or nil for the right to make one; made or abandoned must follow then. It waits where all
// instances are out.
func (p *pool) get(ctx context.Context) (*instance, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	p.mu.Lock()
	switch {
	case p.closed:
		p.mu.Unlock()
		return nil, ErrClosed
	case len(p.idle) > 0:
		i := p.idle[len(p.idle)-1]
		p.idle = p.idle[:len(p.idle)-1]
		p.mu.Unlock()
		return i, nil
	case !exceeds(len(p.live)+p.making+1, p.most):
		p.making++
		p.mu.Unlock()
		return nil, nil
	case exceeds(len(p.waiting)+1, p.queue):
		p.mu.Unlock()
		return nil, ErrBusy
	}
	turn := make(chan grant, 1)
	p.waiting = append(p.waiting, turn)
	p.mu.Unlock()

	select {
	case g := <-turn:
		return g.instance, g.err
	case <-ctx.Done():
		p.leave(turn)
		return nil, ctx.Err()
	}
}

// leave takes a caller out of the queue. What it was granted in the meantime goes to the next one.
func (p *pool) leave(turn chan grant) {
	p.mu.Lock()
	at := slices.Index(p.waiting, turn)
	if at >= 0 {
		p.waiting = slices.Delete(p.waiting, at, at+1)
		p.mu.Unlock()
		return
	}
	p.mu.Unlock()
	switch g := <-turn; {
	case g.err != nil:
	case g.instance != nil:
		p.put(g.instance)
	default:
		p.abandoned()
	}
}

// made counts an instance that get gave the right to make.
func (p *pool) made(i *instance) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.making--
	p.live[i] = struct{}{}
	p.stats.Created++
}

// abandoned gives the right to make an instance back.
func (p *pool) abandoned() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.making--
	p.pass()
}

// put takes a clean instance back.
func (p *pool) put(i *instance) {
	p.mu.Lock()
	switch {
	case p.closed || len(p.waiting) == 0 && len(p.idle) >= p.keep:
		p.mu.Unlock()
		p.discard(i)
	case len(p.waiting) > 0:
		p.waiting[0] <- grant{instance: i}
		p.waiting = slices.Delete(p.waiting, 0, 1)
		p.mu.Unlock()
	default:
		p.idle = append(p.idle, i)
		p.mu.Unlock()
	}
}

// discard closes an instance that is out.
func (p *pool) discard(i *instance) {
	i.close()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.live, i)
	p.stats.Discarded++
	p.pass()
}

// pass gives a free place to whoever waits longest. The lock is held.
func (p *pool) pass() {
	if p.closed {
		p.settle()
		return
	}
	if len(p.waiting) > 0 {
		p.making++
		p.waiting[0] <- grant{}
		p.waiting = slices.Delete(p.waiting, 0, 1)
	}
}

// settle closes drained once the pool is closed and nothing is out. The lock is held.
func (p *pool) settle() {
	if len(p.live) == 0 && p.making == 0 {
		select {
		case <-p.drained:
		default:
			close(p.drained)
		}
	}
}

// trim closes the idle instances, for the memory that they hold.
func (p *pool) trim() {
	p.mu.Lock()
	idle := p.idle
	p.idle = nil
	p.mu.Unlock()
	for _, i := range idle {
		p.discard(i)
	}
}

// close turns everyone away and closes what is idle. What is out is closed when it comes back; drained says when.
func (p *pool) close() {
	p.mu.Lock()
	p.closed = true
	for _, turn := range p.waiting {
		turn <- grant{err: ErrClosed}
	}
	p.waiting = nil
	p.settle()
	p.mu.Unlock()
	p.trim()
}

// interrupt ends the calls in flight.
func (p *pool) interrupt(cause error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range p.live {
		i.interrupt(cause)
	}
}

func (p *pool) report() Stats {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.stats
	s.Live, s.Idle, s.Waiting = len(p.live), len(p.idle), len(p.waiting)
	return s
}
