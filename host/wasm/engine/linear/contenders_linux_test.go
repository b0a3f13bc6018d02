package linear

import (
	"golang.org/x/sys/unix"
)

// contenders are the ways of this package, and those that it does without.
func contenders() []contender {
	mapped := way{name: "mapped", source: newStore, store: newStore}
	sliced := way{name: "slice", source: inSlice, store: inSlice}
	return append(ownContenders(),
		contender{"no restore at all", mapped, func(*Memory, []int) {}},
		contender{"copy everything", sliced, func(m *Memory, _ []int) {
			k := m.image.contents.(*kept)
			for n := range k.index {
				copy(m.buf[n*granuleSize:(n+1)*granuleSize], k.granule(n))
			}
		}},
		contender{"drop everything", mapped, func(m *Memory, _ []int) { drop(m.buf) }},
		contender{"drop everything, populate the same", mapped, func(m *Memory, same []int) {
			drop(m.buf)
			eachRun(same, func(from, to int) { _ = unix.Madvise(m.buf[from:to], unix.MADV_POPULATE_WRITE) })
		}},
		contender{"copy the same, drop the rest", mapped, func(m *Memory, same []int) {
			f, at := m.image.contents.(*file), 0
			eachRun(same, func(from, to int) {
				if at < from {
					drop(m.buf[at:from])
				}
				copyBack(m.buf, f, from, to)
				at = to
			})
			if at < len(m.buf) {
				drop(m.buf[at:])
			}
		}},
		contender{"copy what was written, drop nothing", mapped, func(m *Memory, _ []int) {
			f := m.image.contents.(*file)
			a := f.finder.answers.Get().(*answer)
			for at := 0; at < len(m.buf); {
				runs, next, err := f.finder.find(m.buf, at, a)
				if err != nil {
					panic(err)
				}
				for _, run := range runs {
					copyBack(m.buf, f, run.from, run.to)
				}
				at = next
			}
			f.finder.answers.Put(a)
		}},
	)
}

func drop(part []byte) {
	if err := unix.Madvise(part, unix.MADV_DONTNEED); err != nil {
		panic(err)
	}
}

// eachRun calls do for each range of pages without a gap. The offsets are sorted.
func eachRun(pages []int, do func(from, to int)) {
	size := unix.Getpagesize()
	for i := 0; i < len(pages); {
		from := pages[i] / size * size
		to := from
		for ; i < len(pages) && pages[i] <= to; i++ {
			to = pages[i]/size*size + size
		}
		do(from, to)
	}
}
