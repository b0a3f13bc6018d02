package linear

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// guestLike says what calls of a kind of guest do with their memory, in pages of 4 KiB. Half of the memory is not zero.
type guestLike struct {
	name string
	size int
	same int // pages that every call writes
	some int // pages that it writes besides, at the most: others in each call, in clusters
	read int // pages that every call reads, at the most
}

var guestsLike = []guestLike{
	{name: "C-1MiB", size: 1 << 20, same: 10, read: 10},
	{name: "C-8MiB", size: 8 << 20, same: 10, read: 10},
	{name: "AssemblyScript-1.2MiB", size: 19 * wasmPage, same: 20, read: 20},
	{name: "Go-3.2MiB", size: 51 * wasmPage, same: 40, some: 210, read: 100},
	{name: "Go-3.2MiB-same-pages", size: 51 * wasmPage, same: 170, read: 100},
}

// calls returns what 64 calls do: the offsets that they write to and read from.
func (g guestLike) calls() (writes [64][]int, reads []int) {
	random := rand.New(rand.NewPCG(1, 2))
	pages := g.size / granuleSize
	var same []int
	for n := range g.same {
		if n < g.same/2 {
			same = append(same, pages/3+n) // a stack
		} else {
			same = append(same, random.IntN(pages))
		}
	}
	for n := range writes {
		writes[n] = append(writes[n], same...)
		for most := len(same) + g.some*2/7 + random.IntN(g.some*5/7+1); len(writes[n]) < most; {
			first := random.IntN(pages)
			for page := first; page < min(pages, first+1+random.IntN(16)) && len(writes[n]) < most; page++ {
				writes[n] = append(writes[n], page)
			}
		}
		for i := range writes[n] {
			writes[n][i] *= granuleSize
		}
	}
	for range g.read {
		reads = append(reads, random.IntN(pages)*granuleSize)
	}
	return writes, reads
}

func call(memory []byte, n int, writes [64][]int, reads []int) (sum byte) {
	for _, at := range writes[n%len(writes)] {
		memory[at+n%100]++
	}
	for _, at := range reads {
		sum += memory[at]
	}
	return sum
}

// prepared returns a memory of the guest after its start.
func (g guestLike) prepared(b testing.TB, s func(max uint64) store) *Memory {
	m := New(uint64(g.size), nil)
	m.store = s(uint64(g.size))
	require.NotNil(b, m.Reallocate(uint64(g.size)))
	for n := range g.size / 2 {
		m.Bytes()[n] = byte(n*7 + 1)
	}
	return m
}

// contender is a way to make a memory as its image again.
type contender struct {
	name    string
	way     way
	restore func(m *Memory, same []int)
}

// ownContenders are the ways of this package.
func ownContenders() (all []contender) {
	for _, w := range ways() {
		all = append(all, contender{name: w.name, way: w, restore: func(m *Memory, _ []int) { m.Restore() }})
	}
	return all
}

// BenchmarkCall measures the writes and reads of a call and the Restore after it, page faults included, in as many
// goroutines at once as the name says. Compare what stands side by side, and run it more than once.
func BenchmarkCall(b *testing.B) {
	for _, guest := range guestsLike {
		writes, reads := guest.calls()
		same := slices.Sorted(slices.Values(writes[0][:guest.same]))
		for _, c := range contenders() {
			for _, goroutines := range []int{1, 2} {
				b.Run(fmt.Sprintf("%s/%s/%d", guest.name, c.name, goroutines), func(b *testing.B) {
					source := guest.prepared(b, c.way.source)
					image := c.way.capture(b, source)
					source.Release()
					defer image.Close()
					var memories []*Memory
					for range goroutines {
						m := guest.prepared(b, c.way.store)
						defer m.Release()
						require.NoError(b, m.Adopt(image))
						for n := range 64 { // as they are after a while
							call(m.Bytes(), n, writes, reads)
							c.restore(m, same)
						}
						memories = append(memories, m)
					}
					b.ResetTimer()
					var group sync.WaitGroup
					for _, m := range memories {
						group.Go(func() {
							var sum byte // or the reads would be left out
							for n := range b.N {
								sum += call(m.Bytes(), n, writes, reads)
								c.restore(m, same)
							}
							m.Bytes()[0] = sum
						})
					}
					group.Wait()
				})
			}
		}
	}
}

// BenchmarkStart measures what a memory costs before its first call, from New to Adopt, and Release.
func BenchmarkStart(b *testing.B) {
	for _, guest := range guestsLike {
		for _, w := range ways() {
			b.Run(guest.name+"/"+w.name, func(b *testing.B) {
				source := guest.prepared(b, w.source)
				image := w.capture(b, source)
				source.Release()
				defer image.Close()
				for b.Loop() {
					m := New(2*uint64(guest.size), nil)
					m.store = w.store(m.max)
					m.Reallocate(uint64(guest.size))
					if err := m.Adopt(image); err != nil {
						b.Fatal(err)
					}
					m.Release()
				}
			})
		}
	}
}

// BenchmarkCapture measures Capture and Close.
func BenchmarkCapture(b *testing.B) {
	for _, guest := range guestsLike {
		for _, w := range ways() {
			b.Run(guest.name+"/"+w.name, func(b *testing.B) {
				source := guest.prepared(b, w.source)
				defer source.Release()
				for b.Loop() {
					if err := w.capture(b, source).Close(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
