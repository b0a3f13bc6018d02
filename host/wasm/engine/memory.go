package engine

import (
	"sync/atomic"

	"github.com/tetratelabs/wazero/experimental"
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

// budget counts the memory of one instance: what the guest has and what the host keeps for it. It is used by whoever
// runs the instance, one at a time.
type budget struct {
	ledger *ledger
	limit  int64
	used   int64
	// hit says that the guest was refused memory since the call began. A trap after that is put down to the limit: a
	// guest that gets no memory has few other ways to say so.
	hit bool
}

// take reserves n bytes. Where they are not to be had it reserves nothing, and notes that it was so.
func (b *budget) take(n int64) bool {
	if exceeds(b.used+n, b.limit) || !b.ledger.take(n) {
		b.hit = true
		return false
	}
	b.used += n
	return true
}

func (b *budget) give(n int64) {
	b.used -= n
	b.ledger.give(n)
}

// guestMemory is the linear memory of one instance. It is a Go slice that grows as the guest asks for it; a maximum that
// a module declares costs nothing until then.
type guestMemory struct {
	budget *budget
	// prepaid is what was reserved before the instance was made: the runtime takes it for granted that the minimum can
	// be had.
	prepaid int64
	buf     []byte
}

var _ experimental.LinearMemory = (*guestMemory)(nil)

// Reallocate implements the same method as documented on experimental.LinearMemory.
func (m *guestMemory) Reallocate(size uint64) []byte {
	grown := int64(size) - int64(len(m.buf))
	if grown <= 0 {
		return m.buf
	}
	paid := min(grown, m.prepaid)
	if !m.budget.take(grown - paid) {
		return nil
	}
	m.prepaid -= paid
	if size > uint64(cap(m.buf)) {
		// A quarter more than is asked for, so that a guest that grows page by page does not copy its memory each time.
		// The pages beyond the length are not touched, and so cost address space only.
		room := size
		if len(m.buf) > 0 {
			room += size / 4
		}
		larger := make([]byte, size, room)
		copy(larger, m.buf)
		m.buf = larger
		return m.buf
	}
	m.buf = m.buf[:size]
	return m.buf
}

// Free implements the same method as documented on experimental.LinearMemory.
func (m *guestMemory) Free() {
	m.budget.give(int64(len(m.buf)) + m.prepaid)
	m.buf, m.prepaid = nil, 0
}
