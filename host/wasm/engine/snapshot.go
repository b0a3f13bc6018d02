package engine

import (
	"bytes"

	"github.com/tetratelabs/wazero/api"
)

// snapshot is the state of a module after its start and init: what every call begins with. All instances share it, and
// nothing changes it.
type snapshot struct {
	size  int
	index []int32 // for each granule, which of the kept ones it is, or -1 where it is all zero
	kept  []byte
	// globals are the values of the mutable globals, in the order of module.globals.
	globals []uint64
}

// granule is the unit in which memory is compared and copied, in bytes. It divides PageSize.
const granule = 4 * kib

var zeroGranule [granule]byte

func takeSnapshot(memory []byte, globals []api.MutableGlobal) *snapshot {
	s := &snapshot{size: len(memory), index: make([]int32, len(memory)/granule)}
	for n := range s.index {
		part := memory[n*granule : (n+1)*granule]
		if bytes.Equal(part, zeroGranule[:]) {
			s.index[n] = -1
			continue
		}
		s.index[n] = int32(len(s.kept) / granule)
		s.kept = append(s.kept, part...)
	}
	s.kept = bytes.Clone(s.kept) // append may have left as much again
	for _, g := range globals {
		s.globals = append(s.globals, g.Get())
	}
	return s
}

// restore makes memory and globals what they were. Only what differs is written: most of a memory is as it was, and what
// is only read stays in pages that cost nothing.
func (s *snapshot) restore(memory []byte, globals []api.MutableGlobal) {
	for n, at := range s.index {
		part := memory[n*granule : (n+1)*granule]
		was := zeroGranule[:]
		if at >= 0 {
			was = s.kept[int(at)*granule : (int(at)+1)*granule]
		}
		if !bytes.Equal(part, was) {
			copy(part, was)
		}
	}
	for n, g := range globals {
		g.Set(s.globals[n])
	}
}
