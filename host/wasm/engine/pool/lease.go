package pool

import (
	"sync/atomic"
	"time"
)

// Resource is what a pool lends.
type Resource interface {
	// Close frees the resource. It is called once, by one goroutine, when nobody uses the resource any more. It must not
	// wait for a resource of a pool, and must not panic.
	Close()
	// Interrupt ends what the borrower does with the resource, with cause as the reason. It may be called by any goroutine
	// at any time between Get and Put, also before the borrower has begun: what it begins then should end at once. It has
	// to return without waiting and must not use the pool. A resource that was interrupted is closed when it comes back, so
	// it needs no way to forget.
	Interrupt(cause error)
}

// Lease is a resource that was lent. It may be copied: all copies are one lease, and the first Put or Discard of any of
// them ends it. The zero value is a lease that has ended.
type Lease[T Resource] struct {
	slot   *slot[T]
	turn   uint64
	fresh  bool
	waited time.Duration
}

// Value returns the resource. It must not be used after Put or Discard. The zero Lease has none, and Value panics.
func (l Lease[T]) Value() T { return l.slot.value }

// New says whether the resource was made for this lease.
func (l Lease[T]) New() bool { return l.fresh }

// Waited returns how long the borrower stood in the queue. Making the resource is not part of it.
func (l Lease[T]) Waited() time.Duration { return l.waited }

// Hold returns what a nested call passes to Pool.Get while this lease lasts. It is nil for the zero Lease.
func (l Lease[T]) Hold() *Hold {
	if l.slot == nil {
		return nil
	}
	return &l.slot.hold
}

// Put gives the resource back, to be used again. It goes to who waits longest; see Options for when it is closed instead,
// and then Put returns when it is. It does nothing where the lease has ended, and may be called by any goroutine.
func (l Lease[T]) Put() { l.end(false, 0) }

// Discard closes the resource and gives its place to who waits longest. It does nothing where the lease has ended, and may
// be called by any goroutine.
func (l Lease[T]) Discard(why Reason) { l.end(true, why) }

func (l Lease[T]) end(discard bool, why Reason) {
	if l.slot != nil {
		l.slot.pool.end(l, discard, min(why, reasons-1))
	}
}

// slot is a resource and what the pool knows of it. The lock of the pool guards it, but for value, which never changes,
// and hold.
type slot[T Resource] struct {
	pool  *Pool[T]
	value T
	// turn grows when the resource is lent and when it comes back: it is odd while the resource is out, and a lease of an
	// earlier turn has ended.
	turn        uint64
	interrupted bool
	since       uint64 // what Pool.clock was when the resource became idle
	hold        Hold
}

func (s *slot[T]) out() bool { return s.turn%2 == 1 }

// Hold stands for a resource that a call holds while it asks for another one; see the package's description of nested
// calls.
type Hold struct {
	parent  atomic.Pointer[Hold]
	blocked atomic.Int32 // how many callers wait within this lease
}

// deepest is how many calls may stand within one another where the innermost waits. Deeper ones never wait.
const deepest = 64

// path returns the hold and all that it is within, or false where they are too many.
func (h *Hold) path() ([]*Hold, bool) {
	var path []*Hold
	for ; h != nil; h = h.parent.Load() {
		if len(path) == deepest {
			return nil, false
		}
		path = append(path, h)
	}
	return path, true
}

// mark says of each hold that one more, or one less, waits within it.
func mark(path []*Hold, by int32) {
	for _, h := range path {
		h.blocked.Add(by)
	}
}
