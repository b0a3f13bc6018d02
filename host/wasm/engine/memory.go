package engine

import (
	"sync/atomic"

	"github.com/weft-run/weft/host/wasm/engine/linear"
)

// ledger counts the memory of all instances of an engine.
type ledger struct {
	limit int64
	used  atomic.Int64
}

// take reserves n bytes, or nothing and false where they are not to be had.
func (l *ledger) take(n int64) bool {
	if used := l.used.Add(n); exceeds(used, l.limit) {
		l.used.Add(-n)
		return false
	}
	return true
}

func (l *ledger) give(n int64) { l.used.Add(-n) }

// budget counts the memory of one instance: that of the guest, that of its kernel, and what the host keeps for it. It is
// used by whoever runs the instance, one at a time.
type budget struct {
	ledger *ledger
	limit  int64
	used   int64
	// hit says that the guest was refused memory since the call began. A trap after that is put down to the limit: a
	// guest that gets no memory has few other ways to say so.
	hit bool
}

var _ linear.Budget = (*budget)(nil)

// Take implements the same method as documented on linear.Budget.
func (b *budget) Take(n int64) bool {
	if exceeds(b.used+n, b.limit) || !b.ledger.take(n) {
		b.hit = true
		return false
	}
	b.used += n
	return true
}

// Give implements the same method as documented on linear.Budget.
func (b *budget) Give(n int64) {
	b.used -= n
	b.ledger.give(n)
}

// quietBudget is the budget of the kernel's memory. The kernel asks for more than it needs first, and for what it needs
// then; it says itself whether there was no room.
type quietBudget struct{ *budget }

// Take implements the same method as documented on linear.Budget.
func (q quietBudget) Take(n int64) bool {
	hit := q.hit
	ok := q.budget.Take(n)
	q.hit = hit
	return ok
}
