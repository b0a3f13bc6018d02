// Package pool lends resources of which only so many may exist: instances of a module, for one.
//
//	p := pool.New(makeInstance, pool.Options{Most: 128, IdleTime: time.Minute})
//	defer p.Close(ctx)
//	lease, err := p.Get(ctx, nil)
//	if err != nil {
//		return err // ErrBusy, ErrClosed, ctx.Err(), or what makeInstance returned
//	}
//	defer lease.Discard(pool.Faulty) // does nothing after Put
//	if err := lease.Value().Work(); err != nil {
//		return err
//	}
//	lease.Put()
//
// A resource is made when it is asked for and none is idle. Where Most exist, callers wait. The one that came back last is
// lent first, for its memory is still in the caches; who waits longest is served first, and what comes back is handed to
// them directly, so that nobody who comes later can take it. A wait ends with its context. What was granted to a caller
// that leaves at the same moment goes to the next one.
//
// # Nested calls
//
// A call that holds a resource may need another one, of the same pool or of another: a guest calls a host function, and
// that function calls a guest. Where such calls wait for one another nobody would ever give anything back. So a nested
// call says what it holds ([Lease.Hold], the second argument of [Pool.Get]), and this rule applies to it:
//
//	It may wait only if at least one place of the pool is held by a call that does not wait itself. Otherwise it gets
//	a *BusyError at once.
//
// A place is a resource that is out, being made or being closed. A call waits itself if it, or anything nested within it,
// waits in any pool; the caller that asks counts as waiting when the question is put, so that nobody waits for themselves.
//
// Why this cannot end in a deadlock. Call a lease blocked if a call nested within it waits. Call it safe if it is not
// blocked, or if each wait within it is for a pool in which some lease is safe without counting on this one. If all are
// safe, all come back: those that are not blocked do, what they give back ends other waits, and so on. All are safe where
// nobody waits, and each step keeps it so:
//
//   - A new wait needs a lease in its pool that is not blocked. That one counts on nobody, so the caller stays safe, and
//     with it whatever counts on the caller. If that lease becomes blocked later, then by a wait under the same rule.
//   - A lease that ends goes to the first who waits in its pool. Nothing is nested in the new lease yet, so it is not
//     blocked, and the others who wait there may count on it as they did on the old one.
//   - A wait that its context ends blocks nothing any more.
//
// Calls that hold nothing block nobody, so they may always wait. Queues are served in order, so none is passed over for
// ever. All this is about pools: calls that wait for one another by other means, such as a lock, are on their own.
//
// The rule needs no lock over all pools. A caller marks what it holds as blocked before it looks at the others: of two who
// would wait for each other, the one who looks later sees the mark of the other. If they look at the same time both may
// be turned away; that both wait is not possible.
//
// The rule turns away more than it would have to: all in a pool may be held by calls that wait for something that is sure
// to come. To know that, one would have to see all pools at one moment. To look for circles afterwards, and turn somebody
// away who waits already, would fail calls that were told to wait. Never to let nested calls wait is what [Pool.TryGet]
// does; it is for callers that cannot say what they hold.
//
// # At rest
//
// Options.IdleTime gives back what a burst has left, and [Pool.Warm] keeps a number of idle ones ready that are made
// ahead. A pool that has nothing to close and nothing to make has no goroutine, and no timer after at most one that lapses.
package pool
