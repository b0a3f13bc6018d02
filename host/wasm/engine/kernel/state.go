package kernel

import "encoding/binary"

// Where things lie in the memory of an instance; kernel.wat has the same numbers. The words of the state are out of the
// reach of guests.
const (
	stateHigh         = 0  // the highest that top was since Begin
	stateInputLength  = 8  // the length of the input
	stateOutputOffset = 16 // where the output begins
	stateOutputLength = 24 // how long it is
	stateOutputLimit  = 32 // how long it may be
	stateError        = 40 // the block of the error, or 0
	stateFloor        = 48 // the end of the first block, below which top does not sink
	stateFault        = 56 // which rule was broken, or 0
	stateFaultOffset  = 64
	stateFaultLength  = 72
	stateRefused      = 80 // 1 once there was no room for a block
	stateLast         = 88 // the last block, 4 bytes

	lists = 128 // the lists of freed blocks, 4 bytes each
	small = 1024

	headerSize = 16
	// start is where the first block begins, and the lowest offset that a guest can reach.
	start = 528
	least = 16 // the least capacity of a block; all are multiples of it

	page = 1 << 16
	// most is the highest that top can be: one page less than 32 bits can address.
	most = 1<<32 - page

	// live and free stand in the header of a block, xor its offset.
	live = 0x6576696c
)

// header is that of one block.
type header []byte

func headerOf(memory []byte, block uint64) header { return memory[block-headerSize : block] }

func (h header) set(block, capacity, length uint64, previous uint32) {
	binary.LittleEndian.PutUint32(h, live^uint32(block))
	binary.LittleEndian.PutUint32(h[4:], uint32(capacity))
	binary.LittleEndian.PutUint32(h[8:], uint32(length))
	binary.LittleEndian.PutUint32(h[12:], previous)
}

// isLive says whether the header is that of a block in use that begins at block.
func (h header) isLive(block uint64) bool {
	return binary.LittleEndian.Uint32(h) == live^uint32(block)
}

func (h header) length() uint64 { return uint64(binary.LittleEndian.Uint32(h[8:])) }

func word(memory []byte, at int) uint64           { return binary.LittleEndian.Uint64(memory[at:]) }
func setWord(memory []byte, at int, value uint64) { binary.LittleEndian.PutUint64(memory[at:], value) }

// capacityFor is the capacity of a block of n bytes, which are at most most.
func capacityFor(n uint64) uint64 { return (max(n, 1) + least - 1) &^ (least - 1) }
