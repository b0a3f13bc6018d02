package linear

import (
	"math"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// mapping is a memory in address space of its own, which was reserved to its maximum and so never moves.
type mapping struct {
	space  []byte
	opened int // how much of the space can be used
	size   int // how much of that the guest has
	// file is the image whose pages are mapped, or nil where there is none or its contents were copied.
	file   *file
	habits habits
}

var _ store = (*mapping)(nil)

// newStore returns the store of a memory that can grow to max bytes: a slice where the address space is not to be had.
func newStore(max uint64) store {
	if s := reserve(max); s != nil {
		return s
	}
	return new(heap)
}

// reserve returns a mapping of max bytes, none of which can be used yet, or nil.
func reserve(max uint64) *mapping {
	page := uint64(os.Getpagesize())
	if max == 0 || max > math.MaxInt-page || page > wasmPage {
		return nil
	}
	space, err := unix.Mmap(-1, 0, int(roundUp(max, page)), unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
	if err != nil {
		return nil
	}
	// A huge page would make 2 MiB of one byte that is written, and Restore deals in pages. A kernel that has none says
	// that the request is invalid, which is as good.
	_ = unix.Madvise(space, unix.MADV_NOHUGEPAGE)
	return &mapping{space: space}
}

func roundUp(n, unit uint64) uint64 { return (n + unit - 1) / unit * unit }

func (s *mapping) prepare(size uint64) bool {
	if size > uint64(len(s.space)) {
		return false
	}
	end := int(roundUp(size, uint64(os.Getpagesize())))
	if end <= s.opened {
		return true
	}
	if unix.Mprotect(s.space[s.opened:end], unix.PROT_READ|unix.PROT_WRITE) != nil {
		return false
	}
	s.opened = end
	return true
}

func (s *mapping) grow(size uint64) []byte {
	if !s.prepare(size) {
		return nil
	}
	s.size = int(size)
	return s.space[:size:size]
}

// keepGrown is how much a memory keeps of what it had grown by, in bytes.
const keepGrown = 2 * wasmPage

func (s *mapping) shrink(size uint64) []byte {
	rest := s.space[size:s.size]
	// What a call adds to its memory the next one adds as a rule. To zero a little costs less than the faults of pages that
	// were dropped, and interrupts no other core.
	if len(rest) <= keepGrown || unix.Madvise(rest, unix.MADV_DONTNEED) != nil { // locked memory may not be dropped
		clear(rest)
	}
	s.size = int(size)
	return s.space[:size:size]
}

func (s *mapping) capture() contents {
	memory := s.space[:s.size]
	if f := newFile(memory); f != nil {
		return f
	}
	return keep(memory)
}

func (s *mapping) adopt(c contents) (int64, error) {
	memory := s.space[:s.size]
	before := s.file
	s.file = nil
	f, ok := c.(*file)
	if !ok {
		copyBack(memory, c, 0, len(memory))
		return int64(len(memory)), nil
	}
	err := mapOver(memory[:f.extent], f.fd, 0)
	if err == nil && before != nil && f.extent < before.extent {
		err = mapOver(memory[f.extent:before.extent], -1, unix.MAP_ANON)
		_ = unix.Madvise(memory[f.extent:before.extent], unix.MADV_NOHUGEPAGE) // as in reserve
	}
	if err != nil {
		// As a rule the kernel refuses before it touches what was mapped there. Only if all of that is still there can
		// it be copied to.
		if unix.Mprotect(memory, unix.PROT_READ|unix.PROT_WRITE) != nil {
			return int64(len(memory)), err
		}
		copyBack(memory, c, 0, len(memory))
		return int64(len(memory)), nil
	}
	s.file = f
	s.habits = make(habits, len(memory)/os.Getpagesize())
	if f.extent < len(memory) {
		return s.drop(f.extent, len(memory)), nil
	}
	return 0, nil
}

// mapOver maps the beginning of a file, or nothing but zeros, in place of what is mapped at a part of a memory.
func mapOver(part []byte, fd, flags int) error {
	_, err := unix.MmapPtr(fd, 0, unsafe.Pointer(unsafe.SliceData(part)), uintptr(len(part)),
		unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_FIXED|unix.MAP_NORESERVE|flags)
	return os.NewSyscallError("mmap", err)
}

func (s *mapping) restore(c contents) int64 {
	if s.file == nil {
		copyBack(s.space[:s.size], c, 0, s.size)
		return int64(s.size)
	}
	r := restoring{mapping: s, page: os.Getpagesize()}
	if !r.all() {
		// Nothing is known of the pages, or no more, so none of them is kept.
		return s.drop(0, s.size)
	}
	return r.kept
}

// drop makes a range as the image again by dropping the pages that are the memory's own. It returns how many bytes are
// its own nevertheless: a process that has locked its memory may not drop it, and copies.
func (s *mapping) drop(from, to int) int64 {
	memory := s.space[:s.size]
	if unix.Madvise(memory[from:to], unix.MADV_DONTNEED) == nil {
		return 0
	}
	copyBack(memory, s.file, from, to)
	return int64(to - from)
}

func (s *mapping) free() { _ = unix.Munmap(s.space) } // it was mapped, and is unmapped once
