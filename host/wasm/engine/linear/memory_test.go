package linear

import (
	"bytes"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const testMax = 64 * wasmPage

// purse is a budget that knows what was taken from it.
type purse struct {
	limit, used int64
	refused     bool
}

func (p *purse) Take(n int64) bool {
	if n < 0 || p.used+n > p.limit {
		p.refused = true
		return false
	}
	p.used += n
	return true
}

func (p *purse) Give(n int64) { p.used -= n }

// memory returns a memory of so many WebAssembly pages in a store of its own, which is released when the test is over.
func memory(t testing.TB, s store, pages uint64) *Memory {
	t.Helper()
	m := New(testMax, nil)
	m.store = s
	t.Cleanup(m.Release)
	if pages > 0 {
		require.Len(t, m.Reallocate(pages*wasmPage), int(pages*wasmPage))
	}
	return m
}

// everyWay runs a test for each way in which memories can lie.
func everyWay(t *testing.T, test func(t *testing.T, w way)) {
	for _, w := range ways() {
		t.Run(w.name, func(t *testing.T) { test(t, w) })
	}
}

func isZero(data []byte) bool { return isAll(data, 0) }

func isAll(data []byte, value byte) bool { return bytes.Count(data, []byte{value}) == len(data) }

func TestGrowthIsZeroAndKeepsWhatThereWas(t *testing.T) {
	everyWay(t, func(t *testing.T, w way) {
		m := memory(t, w.store(testMax), 0)
		var want []byte
		for n := uint64(1); n <= 20; n++ {
			buf := m.Reallocate(n * wasmPage)
			require.Len(t, buf, int(n)*wasmPage)
			require.Equal(t, len(buf), cap(buf), "nobody may append to it")
			want = append(want, make([]byte, wasmPage)...)
			require.True(t, bytes.Equal(want, buf))
			for _, at := range []int{0, wasmPage / 2, wasmPage - 1} {
				at += int(n-1) * wasmPage
				buf[at], want[at] = byte(n), byte(n)
			}
		}
		require.Len(t, m.Reallocate(wasmPage), 20*wasmPage, "it does not shrink")
		require.Nil(t, m.Reallocate(testMax+wasmPage), "more than its maximum")
		require.True(t, bytes.Equal(want, m.Bytes()), "a refusal changes nothing")
	})
}

func TestReleasedMemoryIsGoneAndAFreshOneZero(t *testing.T) {
	everyWay(t, func(t *testing.T, w way) {
		for range 20 {
			m := memory(t, w.store(testMax), 16)
			require.True(t, isZero(m.Bytes()))
			for n := range m.Bytes() {
				m.Bytes()[n] = 0xff
			}
			m.Release()
			m.Release()
			require.Empty(t, m.Bytes())
			require.Zero(t, m.Private())
			require.False(t, m.Restore())
		}
	})
}

func TestBudgetIsChargedForWhatTheGuestHas(t *testing.T) {
	everyWay(t, func(t *testing.T, w way) {
		p := &purse{limit: 10 * wasmPage}
		m := New(testMax, p)
		m.store = w.store(testMax)

		require.True(t, m.Prepay(4*wasmPage))
		require.EqualValues(t, 4*wasmPage, p.used)
		require.Empty(t, m.Bytes())
		require.NotNil(t, m.Reallocate(3*wasmPage))
		require.EqualValues(t, 4*wasmPage, p.used, "three were paid for, and one is left")
		require.NotNil(t, m.Reallocate(6*wasmPage))
		require.EqualValues(t, 6*wasmPage, p.used)
		require.NotNil(t, m.Reallocate(10*wasmPage))

		require.False(t, p.refused)
		require.Nil(t, m.Reallocate(11*wasmPage))
		require.True(t, p.refused)
		require.EqualValues(t, 10*wasmPage, p.used)
		require.False(t, m.Prepay(1))
		require.False(t, m.Prepay(-1))

		p.limit = 1000 * wasmPage
		require.Nil(t, m.Reallocate(testMax+wasmPage))
		require.False(t, m.Prepay(testMax))
		require.EqualValues(t, 10*wasmPage, p.used, "what the maximum forbids is given back")

		require.True(t, m.Prepay(wasmPage))
		m.Release()
		require.Zero(t, p.used)
		m.Release()
		require.Zero(t, p.used)
	})
}

func TestBudgetHearsOfWhatTheMaximumForbids(t *testing.T) {
	p := &purse{limit: testMax}
	m := New(testMax, p)
	defer m.Release()
	require.NotNil(t, m.Reallocate(testMax))
	require.Nil(t, m.Reallocate(testMax+wasmPage))
	require.True(t, p.refused)
}

func TestRestoreUndoesEveryByte(t *testing.T) {
	everyWay(t, func(t *testing.T, w way) {
		source := memory(t, w.source(testMax), 16)
		for n := range 5 * wasmPage { // and behind that, zeros
			source.Bytes()[n] = byte(n%251 + 1)
		}
		source.Bytes()[9*wasmPage] = 1
		want := bytes.Clone(source.Bytes())
		image := w.capture(t, source)
		defer image.Close()
		require.Equal(t, len(want), image.Size())

		m := memory(t, w.store(testMax), 16)
		m.Bytes()[3] = 77 // what a start did that the image does not have
		m.Bytes()[15*wasmPage] = 77
		require.NoError(t, m.Adopt(image))
		require.True(t, bytes.Equal(want, m.Bytes()))
		for name, write := range map[string]func(b []byte){
			"nothing": func([]byte) {},
			"everything": func(b []byte) {
				for n := range b {
					b[n] = 0xaa
				}
			},
			"zeros":          func(b []byte) { clear(b) },
			"first and last": func(b []byte) { b[0]++; b[len(b)-1]++ },
			"the same again": func(b []byte) { copy(b, want) },
			"every other granule": func(b []byte) {
				for n := 0; n < len(b); n += 2 * granuleSize {
					b[n+granuleSize-1]++
				}
			},
		} {
			for range 3 { // a page is treated differently when it is written again
				write(m.Bytes())
				require.True(t, m.Restore())
				require.True(t, bytes.Equal(want, m.Bytes()), name)
			}
		}
		require.True(t, bytes.Equal(want, source.Bytes()), "the source is nobody's but its own")
		require.Equal(t, want[0], image.contents.granule(0)[0])
	})
}

func TestMemoryThatGrewCannotBeRestored(t *testing.T) {
	everyWay(t, func(t *testing.T, w way) {
		source := memory(t, w.source(testMax), 4)
		source.Bytes()[0] = 1
		image := w.capture(t, source)
		defer image.Close()
		m := memory(t, w.store(testMax), 4)
		require.NoError(t, m.Adopt(image))
		m.Bytes()[1] = 2
		require.NotNil(t, m.Reallocate(6*wasmPage))
		require.Equal(t, []byte{1, 2}, m.Bytes()[:2])
		require.True(t, isZero(m.Bytes()[4*wasmPage:]))
		m.Bytes()[5*wasmPage] = 3
		require.False(t, m.Restore())
		require.Equal(t, []byte{1, 2}, m.Bytes()[:2], "it is left alone")
		require.EqualValues(t, 3, m.Bytes()[5*wasmPage])
		require.EqualValues(t, 6*wasmPage, m.Private(), "nobody can say what of it is shared")
	})
}

func TestAdoptRefuses(t *testing.T) {
	everyWay(t, func(t *testing.T, w way) {
		source := memory(t, w.source(testMax), 4)
		image := w.capture(t, source)
		m := memory(t, w.store(testMax), 3)
		m.Bytes()[0] = 9
		require.ErrorContains(t, m.Adopt(image), "the memory has 196608 bytes and the image 262144: grow the memory")
		require.NoError(t, image.Close())
		m.Reallocate(4 * wasmPage)
		require.ErrorIs(t, m.Adopt(image), ErrClosed)
		require.EqualValues(t, 9, m.Bytes()[0])
		require.False(t, m.Restore(), "it has no image")
		require.NoError(t, image.Close(), "again")
	})
}

func TestCaptureRefusesAPartOfAPage(t *testing.T) {
	m := New(testMax, nil)
	defer m.Release()
	m.Reallocate(wasmPage + 1)
	_, err := Capture(m)
	require.ErrorContains(t, err, "65537 bytes")
}

func TestEmptyMemory(t *testing.T) {
	source := New(0, nil)
	require.Empty(t, source.Reallocate(0))
	image, err := Capture(source)
	require.NoError(t, err)
	m := New(testMax, nil)
	require.NoError(t, m.Adopt(image))
	require.True(t, m.Restore())
	require.NotNil(t, m.Reallocate(wasmPage))
	require.False(t, m.Restore())
	require.NoError(t, image.Close())
	m.Release()
	source.Release()
}

func TestImageStaysUntilItsLastMemoryIsReleased(t *testing.T) {
	everyWay(t, func(t *testing.T, w way) {
		source := memory(t, w.source(testMax), 4)
		source.Bytes()[70] = 7
		image := w.capture(t, source)
		source.Release()
		a, b := memory(t, w.store(testMax), 4), memory(t, w.store(testMax), 4)
		require.NoError(t, a.Adopt(image))
		require.NoError(t, b.Adopt(image))
		require.NoError(t, image.Close())
		require.NoError(t, image.Close())
		a.Bytes()[70]++
		a.Release()
		a.Release()
		b.Bytes()[70]++
		require.True(t, b.Restore())
		require.EqualValues(t, 7, b.Bytes()[70])
	})
}

// TestAgainstACopy does at random what can be done with memories, and compares them with plain copies.
func TestAgainstACopy(t *testing.T) {
	everyWay(t, func(t *testing.T, w way) {
		for seed := range uint64(20) {
			against(t, w, seed)
		}
	})
}

// modelled is a memory beside what it should be.
type modelled struct {
	*Memory
	purse      *purse
	now, image []byte
}

func against(t *testing.T, w way, seed uint64) {
	random := rand.New(rand.NewPCG(seed, 7))
	source := memory(t, w.source(testMax), 1+random.Uint64N(12))
	scribble(random, source.Bytes(), nil)
	image := w.capture(t, source)
	was := bytes.Clone(source.Bytes())
	defer func() { assert.NoError(t, image.Close()) }()

	fresh := func() *modelled {
		m := &modelled{purse: &purse{limit: testMax}}
		m.Memory = New(testMax, m.purse)
		m.store = w.store(testMax)
		require.True(t, m.Prepay(wasmPage))
		require.NotNil(t, m.Reallocate(wasmPage))
		scribble(random, m.Bytes(), nil)
		require.NotNil(t, m.Reallocate(uint64(image.Size())))
		require.NoError(t, m.Adopt(image))
		m.now, m.image = bytes.Clone(was), was
		return m
	}
	m := fresh()
	for step := range 150 {
		switch random.IntN(12) {
		default:
			scribble(random, m.Bytes(), m.now)
		case 5, 6, 7, 8:
			can := len(m.now) == len(m.image)
			require.Equal(t, can, m.Restore(), "seed %d step %d", seed, step)
			if can {
				copy(m.now, m.image)
			}
		case 9:
			if random.IntN(4) == 0 {
				size := min(len(m.now)+random.IntN(3)*wasmPage, testMax)
				require.Len(t, m.Reallocate(uint64(size)), size)
				m.now = append(m.now, make([]byte, size-len(m.now))...)
			}
		case 10: // as a module does that is initialised once more
			if random.IntN(4) == 0 {
				later := w.capture(t, m.Memory)
				require.NoError(t, m.Adopt(later))
				require.NoError(t, later.Close())
				m.image = bytes.Clone(m.now)
			}
		case 11:
			if random.IntN(4) == 0 {
				m.Release()
				require.Zero(t, m.purse.used)
				m = fresh()
			}
		}
		require.EqualValues(t, len(m.now), m.purse.used)
		require.True(t, bytes.Equal(m.now, m.Bytes()), "seed %d step %d", seed, step)
	}
	m.Release()
	require.Zero(t, m.purse.used)
	require.True(t, bytes.Equal(was, source.Bytes()))
}

// scribble does what a call might do to a memory, and the same to its copy.
func scribble(random *rand.Rand, memory, same []byte) {
	for range random.IntN(40) {
		at := random.IntN(len(memory))
		if random.IntN(3) > 0 {
			at = at % (8 * granuleSize) // where every call writes
		}
		length := min(len(memory)-at, []int{1, 8, 300, granuleSize, 5 * granuleSize}[random.IntN(5)])
		value := byte(random.IntN(3)) // often what is there
		fill := bytes.Repeat([]byte{value}, length)
		copy(memory[at:], fill)
		if same != nil {
			copy(same[at:], fill)
		}
	}
}

func TestManyGoroutinesWithMemoriesOfOneImage(t *testing.T) {
	everyWay(t, func(t *testing.T, w way) {
		source := memory(t, w.source(testMax), 8)
		scribble(rand.New(rand.NewPCG(1, 1)), source.Bytes(), nil)
		want := bytes.Clone(source.Bytes())
		image := w.capture(t, source)
		var group sync.WaitGroup
		for n := range 16 {
			group.Go(func() {
				random := rand.New(rand.NewPCG(uint64(n), 3))
				for range 10 {
					m := New(testMax, nil)
					m.store = w.store(testMax)
					m.Reallocate(8 * wasmPage)
					if !assert.NoError(t, m.Adopt(image)) {
						return
					}
					for range 10 {
						scribble(random, m.Bytes(), nil)
						if !assert.True(t, m.Restore()) || !assert.True(t, bytes.Equal(want, m.Bytes())) {
							return
						}
					}
					m.Release()
				}
			})
		}
		group.Wait()
		require.NoError(t, image.Close())
	})
}
