package kernel_test

import (
	"bytes"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLengthOfWhatIsNoBlock(t *testing.T) {
	i := newInstance(t)
	block := i.call("alloc", 40)
	i.call("alloc", 1)
	for _, function := range []string{"length", "length_unsafe"} {
		require.EqualValues(t, 40, i.call(function, block))
		for _, offset := range []uint64{0, 1, 16, 512, block - 16, block + 1, block + 16, block + 1<<32, 1 << 40, math.MaxUint64} {
			require.Zero(t, i.call(function, offset), offset)
			_, ok := i.Block(offset)
			require.False(t, ok)
		}
	}
	i.call("free", block)
	require.Zero(t, i.call("length", block))
	i.call("free", block)
	i.call("free", block+1)
	i.call("free", math.MaxUint64)
	require.Zero(t, i.call("alloc", 0))
}

func TestFreedBlocksAreUsedAgain(t *testing.T) {
	i := newInstance(t)
	for _, size := range []uint64{1, 16, 17, 100, 1024, 1025, 5000, 70_000} {
		i.Reset()
		first, second, last := i.call("alloc", size), i.call("alloc", size), i.call("alloc", size)
		i.call("free", first)
		require.Equal(t, first, i.call("alloc", size), "from the middle")
		i.call("free", first)
		i.call("free", second)
		used := i.Used()
		require.Equal(t, second, i.call("alloc", size), "the one that was freed last")
		offset, ok := i.Put(make([]byte, size))
		require.True(t, ok)
		require.Equal(t, first, offset, "by the host too")
		require.Equal(t, used, i.Used())
		for _, block := range []uint64{first, second, last} {
			i.call("free", block)
		}
		require.Equal(t, first, i.call("alloc", 3*size), "what was freed at the end is one again")
	}
}

func TestBlocksThatAreGivenBackLeaveTheirLists(t *testing.T) {
	i := newInstance(t)
	require.True(t, i.Begin(nil, -1))
	early := i.call("alloc", 100)
	i.call("alloc", 1)
	late := []uint64{i.call("alloc", 100), i.call("alloc", 100), i.call("alloc", 100)}
	last := i.call("alloc", 1)
	i.call("free", late[0])
	i.call("free", early)
	i.call("free", late[2])
	i.call("free", late[1])
	i.call("free", last) // takes the three before it along, from the end, the beginning and the middle of the list
	require.Equal(t, early, i.call("alloc", 100), "what lies further below is not lost")
	require.Equal(t, late[0], i.call("alloc", 100))
}

func TestManyAllocationsStayCheap(t *testing.T) {
	i := newInstance(t)
	// Freed blocks of one class that are all too small for what comes next: nothing may look at all of them.
	var blocks []uint64
	for range 20_000 {
		blocks = append(blocks, i.call("alloc", 1040))
		i.call("alloc", 1)
	}
	for _, b := range blocks {
		i.call("free", b)
	}
	for range 10_000 {
		require.NotZero(t, i.call("alloc", 2000))
	}
}

func TestMemoryThatCannotGrow(t *testing.T) {
	i := newMachine(t, 4).instance(t)
	require.True(t, i.Begin(nil, -1))
	require.False(t, i.Refused())
	first := i.call("alloc", 100_000)
	require.NotZero(t, first)
	require.Zero(t, i.call("alloc", 200_000))
	require.True(t, i.Refused())
	i.Reset()
	require.False(t, i.Refused())
	require.NotZero(t, i.call("alloc", 4*65536-544-16), "to the last byte")
	require.EqualValues(t, 4*65536, i.Size())
	require.False(t, i.Refused())
	_, ok := i.Put([]byte("x"))
	require.False(t, ok)
	require.True(t, i.Refused())
	for _, n := range []uint64{1, 1 << 31, 1<<32 - 1, 1 << 32, 1 << 63, math.MaxUint64} {
		require.Zero(t, i.call("alloc", n), n)
	}
	i.Reset()
	require.False(t, i.Begin(make([]byte, 4*65536-527), -1))
	require.True(t, i.Begin(make([]byte, 4*65536-528), -1))
}

func TestMemoryGrowsByDoubling(t *testing.T) {
	i := newMachine(t, 100).instance(t)
	var sizes []int64
	for range 90 {
		require.NotZero(t, i.call("alloc", 65536))
		if n := i.Size() >> 16; len(sizes) == 0 || n != sizes[len(sizes)-1] {
			sizes = append(sizes, n)
		}
	}
	require.Equal(t, []int64{2, 4, 8, 16, 32, 64, 65, 66}, sizes[:8], "and page by page where twice as much is too much")

	i = newMachine(t, 100).instance(t)
	sizes = nil
	for range 90 {
		_, ok := i.Put(make([]byte, 65536))
		require.True(t, ok)
		if n := i.Size() >> 16; len(sizes) == 0 || n != sizes[len(sizes)-1] {
			sizes = append(sizes, n)
		}
	}
	require.Equal(t, []int64{2, 4, 8, 16, 32, 64, 65, 66}, sizes[:8], "the host likewise")
}

func TestOutputAndErrorStayWhenTheyAreFreed(t *testing.T) {
	i := newInstance(t)
	require.True(t, i.Begin(nil, -1))
	put := func(text string) uint64 {
		offset, ok := i.Put([]byte(text))
		require.True(t, ok)
		return offset
	}
	a, b, c := put("the output, in part"), put("the rest of it, and more than"), put("the error")
	i.call("output_set", a+4, b+5-(a+4)) // from inside one block to inside the next
	i.call("error_set", c)
	for _, block := range []uint64{c, b, a} {
		i.call("free", block)
	}
	for range 100 {
		offset := i.call("alloc", 24)
		i.call("store_u64", offset, math.MaxUint64)
		put("xxxxxxxxxxxxxxxxxxxxxxxxxxxx")
	}
	output, ok := i.Output()
	require.True(t, ok)
	require.True(t, bytes.HasPrefix(output, []byte("output, in part")), "%q", output)
	require.True(t, bytes.HasSuffix(output, []byte("the r")), "%q", output)
	text, _ := i.ErrorText()
	require.Equal(t, "the error", string(text))
}
