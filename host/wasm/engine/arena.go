package engine

import (
	"encoding/binary"
	"slices"
)

// The arena is the memory that a guest shares with its host through extism:host/env: input, output, and whatever passes
// through host functions lies there. It belongs to one instance and is emptied between calls.
//
// Blocks lie one after the other, and what is freed at the end is used again. A list of blocks, in the order of their
// offsets, is kept beside the bytes, out of the guest's reach.
type arena struct {
	budget *budget
	buf    []byte
	blocks []block
	// free counts the freed blocks in the middle, to leave out the search where there are none.
	free int
	// top is where the next block begins. It sinks when blocks at the end are freed; high is the highest that it was.
	top, high uint64
}

type block struct {
	offset, size, length uint64
	free                 bool
	// pinned blocks were given as output or error. They may be freed at once, and are read when the call is over.
	pinned bool
}

const (
	// arenaStart is the first offset: 0 stands for none.
	arenaStart = 16
	// arenaKeep is how much room an arena keeps between calls, in bytes.
	arenaKeep = 1 * mib
	// arenaLookBack bounds the search for a freed block that can be used again, so that no sequence of allocations
	// costs more than in proportion to its length.
	arenaLookBack = 64
)

// alloc returns the offset of n fresh bytes, or 0 where there is no room for them. Whether they are zero is not promised.
func (a *arena) alloc(n uint64) uint64 {
	if n == 0 {
		return 0
	}
	if a.free > 0 {
		for i := len(a.blocks) - 1; i >= max(0, len(a.blocks)-arenaLookBack); i-- {
			if b := &a.blocks[i]; b.free && b.size >= n && b.size/2 <= n {
				b.free, b.length = false, n
				a.free--
				return b.offset
			}
		}
	}
	if a.top == 0 {
		a.top = arenaStart
	}
	if n > 1<<40 { // more than any limit, and small enough that no sum below overflows
		a.budget.hit = true
		return 0
	}
	room := (n + 7) &^ 7 // so that blocks are aligned for load_u64
	if !a.reserve(a.top+room) || !a.reserveBlock() {
		return 0
	}
	offset := a.top
	a.top += room
	a.high = max(a.high, a.top)
	a.blocks = append(a.blocks, block{offset: offset, size: room, length: n})
	return offset
}

// reserve makes the buffer at least n bytes long: twice as long as it was, or where that is too much, as long as it may
// be. Less would have it copied again and again.
func (a *arena) reserve(n uint64) bool {
	have := uint64(cap(a.buf))
	if n <= have {
		return true
	}
	room := max(n, 2*have, 4*kib)
	if left := a.budget.limit - a.budget.used; a.budget.limit >= 0 && left < int64(room-have) {
		room = max(n, have+uint64(max(left, 0)))
	}
	if !a.budget.take(int64(room - have)) {
		return false
	}
	larger := make([]byte, room)
	copy(larger, a.buf)
	a.buf = larger
	return true
}

// blockCost is what an entry in the list of blocks costs, in bytes. It is counted too, so that a guest cannot make the
// host keep a long list of tiny blocks.
const blockCost = 32

// reserveBlock makes room for one more entry in the list of blocks.
func (a *arena) reserveBlock() bool {
	have := cap(a.blocks)
	if len(a.blocks) < have {
		return true
	}
	room := max(2*have, 32)
	if !a.budget.take(int64(room-have) * blockCost) {
		return false
	}
	a.blocks = append(make([]block, 0, room), a.blocks...)
	return true
}

// find returns the place in the list of the block that begins at offset.
func (a *arena) find(offset uint64) (int, bool) {
	i, ok := slices.BinarySearchFunc(a.blocks, offset, func(b block, offset uint64) int {
		switch {
		case b.offset < offset:
			return -1
		case b.offset > offset:
			return 1
		}
		return 0
	})
	return i, ok && !a.blocks[i].free
}

// length returns the length of the block that begins at offset, or 0 where none does.
func (a *arena) length(offset uint64) uint64 {
	if i, ok := a.find(offset); ok {
		return a.blocks[i].length
	}
	return 0
}

// release frees the block that begins at offset, where there is one.
func (a *arena) release(offset uint64) {
	i, ok := a.find(offset)
	if !ok || a.blocks[i].pinned {
		return
	}
	a.blocks[i].free = true
	a.free++
	for n := len(a.blocks); n > 0 && a.blocks[n-1].free; n-- {
		a.top = a.blocks[n-1].offset
		a.blocks = a.blocks[:n-1]
		a.free--
	}
}

// slice returns length bytes from offset, and whether they lie in the arena. The numbers come from the guest, and their
// sum is never formed.
func (a *arena) slice(offset, length uint64) ([]byte, bool) {
	if offset < arenaStart || offset > a.top || length > a.top-offset {
		return nil, false
	}
	return a.buf[offset : offset+length : offset+length], true
}

// block returns the bytes of the block that begins at offset, and whether there is one.
func (a *arena) block(offset uint64) ([]byte, bool) {
	i, ok := a.find(offset)
	if !ok {
		return nil, false
	}
	return a.slice(offset, a.blocks[i].length)
}

// pin keeps the block that offset lies in from being freed.
func (a *arena) pin(offset uint64) {
	i, ok := a.find(offset)
	if !ok && i > 0 {
		i-- // offset lies inside a block that begins before it
	}
	if i < len(a.blocks) {
		a.blocks[i].pinned = true
	}
}

// put copies data into a fresh block and returns its offset. No data has no block: its offset is 0, and that is no
// failure.
func (a *arena) put(data []byte) (uint64, bool) {
	if len(data) == 0 {
		return 0, true
	}
	offset := a.alloc(uint64(len(data)))
	if offset == 0 {
		return 0, false
	}
	copy(a.buf[offset:], data)
	return offset, true
}

// reset forgets everything. The bytes are zeroed, so that no call reads what an earlier one left.
func (a *arena) reset() {
	if cap(a.buf)+cap(a.blocks)*blockCost > arenaKeep {
		a.close()
	}
	clear(a.buf[:a.high])
	a.blocks, a.free, a.top, a.high = a.blocks[:0], 0, 0, 0
}

// close gives the memory back.
func (a *arena) close() {
	a.budget.give(int64(cap(a.buf) + cap(a.blocks)*blockCost))
	a.buf, a.blocks, a.free, a.top, a.high = nil, nil, 0, 0, 0
}

// load64 and store64 access eight bytes.
func (a *arena) load64(offset uint64) (uint64, bool) {
	b, ok := a.slice(offset, 8)
	if !ok {
		return 0, false
	}
	return binary.LittleEndian.Uint64(b), true
}

func (a *arena) store64(offset, value uint64) bool {
	b, ok := a.slice(offset, 8)
	if ok {
		binary.LittleEndian.PutUint64(b, value)
	}
	return ok
}
