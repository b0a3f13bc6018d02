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
	// refused is who refused the guest memory since the call began, kernel who refused the kernel. A trap after that is
	// put down to it: a guest that gets no memory has few other ways to say so.
	refused, kernel refusal
}

// refusal is what stood in the way of more memory: nothing, the limit of the module, or that of the engine, which is not
// the guest's doing.
type refusal uint8

const (
	byModule refusal = iota + 1
	byEngine
)

var _ linear.Budget = (*budget)(nil)

// Take implements the same method as documented on linear.Budget.
func (b *budget) Take(n int64) bool {
	why := b.take(n)
	if why != 0 {
		b.refused = why
	}
	return why == 0
}

func (b *budget) take(n int64) refusal {
	switch {
	case exceeds(b.used+n, b.limit):
		return byModule
	case !b.ledger.take(n):
		return byEngine
	}
	b.used += n
	return 0
}

// Give implements the same method as documented on linear.Budget.
func (b *budget) Give(n int64) {
	b.used -= n
	b.ledger.give(n)
}

// What the runtime keeps for each instance beside its memory, in bytes, about.
const (
	globalCost  = 128
	elementCost = 8
	// usualCost is what most modules come to, and nobody counts.
	usualCost = 64 * kib
)

// fixedCost is what an instance of the module takes beside its memory: tables, elements of segments and globals. A module
// with shadows has each table twice.
func (c *checked) fixedCost() int64 {
	elements := c.tableElements()
	if c.shadowed {
		elements *= 2
	}
	return max(0, (elements+c.segmentElements())*elementCost+int64(c.GlobalCount())*globalCost-usualCost)
}

// quietBudget is the budget of the kernel's memory. The kernel asks for more than it needs first, and for what it needs
// then; it says itself whether there was no room.
type quietBudget struct{ *budget }

// Take implements the same method as documented on linear.Budget.
func (q quietBudget) Take(n int64) bool {
	why := q.take(n)
	if why != 0 {
		q.kernel = why
	}
	return why == 0
}
