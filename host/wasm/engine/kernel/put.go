package kernel

import (
	"context"
	"encoding/binary"
	"math/bits"
)

// Put copies data into a fresh block for the guest and returns its offset. No data has no block: its offset is 0, and
// that is no failure. It returns false where there is no room. It may be called while the guest is in a host function.
func (k *Kernel) Put(data []byte) (offset uint64, ok bool) {
	if len(data) == 0 {
		return 0, true
	}
	if offset = k.place(uint64(len(data))); offset == 0 {
		return 0, false
	}
	return offset, k.memory.Write(uint32(offset), data)
}

// place returns the offset of n fresh bytes, or 0. What alloc does where there is no freed block, it does without a call:
// the next block lies at the end.
func (k *Kernel) place(n uint64) uint64 {
	memory := k.bytes()
	if n > most {
		setWord(memory, stateRefused, 1)
		return 0
	}
	capacity := capacityFor(n)
	if binary.LittleEndian.Uint32(memory[listOf(capacity):]) != 0 {
		return k.allocate(n)
	}
	top := k.top.Get()
	block := top + headerSize
	end := block + capacity
	if top < start || top > uint64(len(memory)) || end > most || !k.reserve(end) {
		setWord(memory, stateRefused, 1)
		return 0
	}
	memory = k.bytes()
	headerOf(memory, block).set(block, capacity, n, uint32(word(memory, stateLast)))
	setWord(memory, stateLast, block)
	setWord(memory, stateHigh, max(word(memory, stateHigh), end))
	k.top.Set(end)
	return block
}

// listOf returns where the list of freed blocks of a capacity begins: one for each capacity that is small, and above that
// one from each power of two to the next.
func listOf(capacity uint64) int {
	if capacity <= small {
		return lists + 4*int(capacity/least)
	}
	return lists + 4*(86-bits.LeadingZeros32(uint32(capacity)))
}

// allocate calls alloc. The guest may be inside another function of the module at that time, or inside this very one by
// way of another api.Function: each has a stack of its own.
func (k *Kernel) allocate(n uint64) uint64 {
	if k.alloc == nil {
		k.alloc = k.mod.ExportedFunction("alloc")
	}
	k.stack[0] = n
	if err := k.alloc.CallWithStack(context.Background(), k.stack[:]); err != nil {
		return 0 // The module was closed. Nothing in alloc itself can fail.
	}
	return k.stack[0]
}
