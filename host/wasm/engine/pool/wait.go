package pool

import (
	"context"
	"time"
)

// waiter is a caller that waits. It gets one of a lease, the right to make a resource, or an error.
type waiter[T Resource] struct {
	previous, next *waiter[T]
	queued         bool // whether it stands in the queue; what it was granted does not change after that

	within *Hold
	path   []*Hold // what is marked as blocked while it waits
	began  time.Time
	ready  chan struct{} // closed when it got something

	lease  Lease[T]
	maker  *maker
	err    error
	waited time.Duration
}

// queue is a list of those who wait, in the order in which they came.
type queue[T Resource] struct {
	first, last *waiter[T]
	len         int
}

func (q *queue[T]) push(w *waiter[T]) {
	w.queued, w.previous = true, q.last
	if q.last == nil {
		q.first = w
	} else {
		q.last.next = w
	}
	q.last = w
	q.len++
}

// pop takes the one out that came first. It returns nil where nobody waits.
func (q *queue[T]) pop() *waiter[T] {
	w := q.first
	if w != nil {
		q.remove(w)
	}
	return w
}

func (q *queue[T]) remove(w *waiter[T]) {
	if w.previous == nil {
		q.first = w.next
	} else {
		w.previous.next = w.next
	}
	if w.next == nil {
		q.last = w.previous
	} else {
		w.next.previous = w.previous
	}
	w.queued, w.previous, w.next = false, nil, nil
	q.len--
}

// join puts a caller into the queue, if it may wait. The lock is held.
func (p *Pool[T]) join(within *Hold, mayWait bool) (*waiter[T], error) {
	if !mayWait {
		return nil, p.busy(NoWait)
	}
	if exceeds(p.queue.len+1, p.options.Queue) {
		return nil, p.busy(QueueFull)
	}
	path, ok := within.path()
	if !ok {
		return nil, p.busy(WouldBlock)
	}
	if within != nil {
		// The order matters: see the package's description.
		mark(path, +1)
		if !p.moves() {
			mark(path, -1)
			return nil, p.busy(WouldBlock)
		}
	}
	w := &waiter[T]{within: within, path: path, began: time.Now(), ready: make(chan struct{})}
	p.queue.push(w)
	p.stats.Waits++
	return w, nil
}

// moves says whether a place is held by a call that does not wait. The lock is held.
func (p *Pool[T]) moves() bool {
	if len(p.making) > 0 || p.closing > 0 {
		return true
	}
	for s := range p.live {
		if s.out() && s.hold.blocked.Load() == 0 {
			return true
		}
	}
	return false
}

func (p *Pool[T]) busy(why Refusal) error {
	p.stats.Busy++
	return &BusyError{
		Why: why, Out: len(p.live) + len(p.making), Most: p.options.Most, Waiting: p.queue.len, Queue: p.options.Queue,
	}
}

// grant wakes a caller that was taken out of the queue and given something. The lock is held.
func (p *Pool[T]) grant(w *waiter[T]) {
	p.leaves(w)
	w.lease.waited = w.waited
	close(w.ready)
}

// leaves ends the wait of a caller that is no longer in the queue. The lock is held.
func (p *Pool[T]) leaves(w *waiter[T]) {
	mark(w.path, -1)
	w.waited = time.Since(w.began)
	p.stats.waited(w.waited)
}

// await waits for what a caller is granted.
func (p *Pool[T]) await(ctx context.Context, w *waiter[T]) (Lease[T], error) {
	select {
	case <-w.ready:
	case <-ctx.Done():
		p.leave(w)
		return Lease[T]{}, ctx.Err()
	}
	if w.maker != nil {
		return p.fill(ctx, w.maker, w.within, w.waited)
	}
	return w.lease, w.err
}

// leave takes a caller out of the queue. What it was granted in the meantime goes to the next one.
func (p *Pool[T]) leave(w *waiter[T]) {
	p.mu.Lock()
	switch {
	case w.queued:
		p.queue.remove(w)
		p.leaves(w)
	case w.maker != nil:
		delete(p.making, w.maker)
		p.pass()
	case w.err == nil:
		p.stats.Borrowed-- // nobody saw it
		p.mu.Unlock()
		w.lease.Put()
		return
	}
	p.mu.Unlock()
}
