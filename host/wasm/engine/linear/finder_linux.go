package linear

import (
	"errors"
	"io"
	"os"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// finder finds the pages of a mapping that are its own: those that were written since the mapping was made or they were
// dropped. It may be used by many goroutines.
type finder struct {
	fd  int // of /proc/self/pagemap
	ask question
	// answers are *answer. The kernel writes to them by their addresses, so they must not lie on a stack, which moves.
	answers sync.Pool
}

// question looks for own pages in a memory from an offset on. It returns those that it found and the offset up to which
// it looked.
type question func(fd int, memory []byte, at int, a *answer) (own []pageRun, next int, err error)

// pageRun is a range of pages, by their offsets in a memory.
type pageRun struct{ from, to int }

// answer is what one question gets at the most.
type answer struct {
	scan    pageScan
	regions [128]pageRegion
	entries [256]uint64
	runs    [128]pageRun
}

// newFinder returns a finder that was seen to tell the truth about pages of a file, or nil.
func newFinder(f *file) *finder {
	fd, err := unix.Open("/proc/self/pagemap", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	for _, ask := range []question{askScan, askPagemap} {
		if find := finderWith(fd, ask); find.truthful(f) {
			return find
		}
	}
	_ = unix.Close(fd)
	return nil
}

func finderWith(fd int, ask question) *finder {
	return &finder{fd: fd, ask: ask, answers: sync.Pool{New: func() any { return new(answer) }}}
}

// truthful tries the finder out: of a page that is read and one that is written, the latter is the mapping's own. A
// kernel, or whatever stands in for one, that said otherwise would let one call see what another one wrote.
func (f *finder) truthful(image *file) bool {
	page := os.Getpagesize()
	memory, err := unix.Mmap(image.fd, 0, page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE)
	if err != nil {
		return false
	}
	defer func() { _ = unix.Munmap(memory) }()
	a := f.answers.Get().(*answer)
	defer f.answers.Put(a)
	was := memory[0]
	if own, next, err := f.find(memory, 0, a); err != nil || next != page || len(own) != 0 {
		return false
	}
	memory[0] = was + 1
	own, next, err := f.find(memory, 0, a)
	return err == nil && next == page && len(own) == 1 && own[0] == pageRun{to: page}
}

func (f *finder) find(memory []byte, at int, a *answer) (own []pageRun, next int, err error) {
	return f.ask(f.fd, memory, at, a)
}

func (f *finder) close() error { return unix.Close(f.fd) }

func addressOf(memory []byte) uint64 {
	return uint64(uintptr(unsafe.Pointer(unsafe.SliceData(memory))))
}

// The request PAGEMAP_SCAN and what belongs to it, as in <linux/fs.h>.
const (
	pagemapScan = 0xc0606610

	pageIsFile    = 1 << 2
	pageIsPresent = 1 << 3
	pageIsSwapped = 1 << 4
	pageIsZero    = 1 << 5
)

type pageScan struct {
	size, flags, start, end, walkEnd uint64
	regions, regionsLen, pagesMost   uint64
	inverted, all, anyOf, returned   uint64
}

type pageRegion struct{ start, end, categories uint64 }

// askScan has the kernel go through the pages, since 6.7.
func askScan(fd int, memory []byte, at int, a *answer) ([]pageRun, int, error) {
	base := addressOf(memory)
	a.scan = pageScan{
		size: uint64(unsafe.Sizeof(a.scan)), start: base + uint64(at), end: base + uint64(len(memory)),
		regions: uint64(uintptr(unsafe.Pointer(&a.regions[0]))), regionsLen: uint64(len(a.regions)),
		// Of the pages that are there, or are swapped, all but those of a file and those that all memories share while
		// they are zero.
		inverted: pageIsFile | pageIsZero, all: pageIsFile | pageIsZero,
		anyOf: pageIsPresent | pageIsSwapped, returned: pageIsPresent | pageIsSwapped,
	}
	n, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), pagemapScan, uintptr(unsafe.Pointer(&a.scan)))
	if errno != 0 {
		return nil, 0, errno
	}
	if n > uintptr(len(a.regions)) || a.scan.walkEnd < base || a.scan.walkEnd > a.scan.end {
		return nil, 0, errors.ErrUnsupported
	}
	for i, region := range a.regions[:n] {
		a.runs[i] = pageRun{from: int(region.start - base), to: int(region.end - base)}
	}
	return a.runs[:n], int(a.scan.walkEnd - base), nil
}

// Bits of an entry of /proc/self/pagemap.
const (
	entryPresent = 1 << 63
	entrySwapped = 1 << 62
	entryFile    = 1 << 61
)

// askPagemap reads an entry for each page, since 3.5.
func askPagemap(fd int, memory []byte, at int, a *answer) ([]pageRun, int, error) {
	page := os.Getpagesize()
	entries := a.entries[:min(len(a.entries), (len(memory)-at)/page)]
	data := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(entries))), 8*len(entries))
	n, err := unix.Pread(fd, data, int64((addressOf(memory)+uint64(at))/uint64(page)*8))
	if err != nil {
		return nil, 0, err
	}
	if n != len(data) {
		return nil, 0, io.ErrUnexpectedEOF
	}
	runs := a.runs[:0]
	for i, entry := range entries {
		own := entry&entrySwapped != 0 || entry&(entryPresent|entryFile) == entryPresent
		if !own {
			continue
		}
		from := at + i*page
		if last := len(runs) - 1; last >= 0 && runs[last].to == from {
			runs[last].to += page
		} else {
			runs = append(runs, pageRun{from: from, to: from + page})
		}
	}
	return runs, at + len(entries)*page, nil
}
