package linear

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// mappings counts the lines of /proc/self/maps that begin in a memory's address space, or all of them.
func mappings(t testing.TB, of *Memory) (n int) {
	t.Helper()
	data, err := os.ReadFile("/proc/self/maps")
	require.NoError(t, err)
	for line := range strings.Lines(string(data)) {
		var from, to uint64
		_, err := fmt.Sscanf(line, "%x-%x", &from, &to)
		require.NoError(t, err)
		if of == nil {
			n++
			continue
		}
		space := of.store.(*mapping).space
		if base := addressOf(space); to > base && from < base+uint64(len(space)) {
			n++
		}
	}
	return n
}

func descriptors(t testing.TB) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	return len(entries)
}

func TestNothingIsLeftBehind(t *testing.T) {
	round := func() {
		source := New(testMax, nil)
		source.Reallocate(4 * wasmPage)
		ones(source.Bytes()[:2*wasmPage])
		image, err := Capture(source)
		require.NoError(t, err)
		m := New(testMax, nil)
		m.Reallocate(4 * wasmPage)
		require.NoError(t, m.Adopt(image))
		for range 3 {
			touch(m, 1, 7)
			require.True(t, m.Restore())
		}
		m.Reallocate(5 * wasmPage)
		later, err := Capture(m)
		require.NoError(t, err)
		require.NoError(t, m.Adopt(later), "in place of the one before")
		source.Release()
		require.NoError(t, image.Close())
		require.NoError(t, later.Close())
		m.Release()
	}
	round()
	runtime.GC()
	maps, fds := mappings(t, nil), descriptors(t)
	for range 1000 {
		round()
	}
	require.Equal(t, fds, descriptors(t))
	// The Go runtime maps memory of its own; one mapping left in each round would be 1,000.
	require.Less(t, mappings(t, nil), maps+20)
}

func TestMemoryTakesThreeMappings(t *testing.T) {
	source := New(testMax, nil)
	defer source.Release()
	source.Reallocate(8 * wasmPage)
	ones(source.Bytes()[:4*wasmPage])
	image, err := Capture(source)
	require.NoError(t, err)
	defer image.Close()
	m := New(testMax, nil)
	defer m.Release()
	m.Reallocate(8 * wasmPage)
	require.NoError(t, m.Adopt(image))
	base := addressOf(m.Bytes())
	for round := range 4 {
		for at := 0; at < len(m.Bytes()); at += (2 + round) * unix.Getpagesize() { // pages kept and dropped in turn
			m.Bytes()[at]++
		}
		require.True(t, m.Restore())
	}
	require.LessOrEqual(t, mappings(t, m), 3)
	for n := uint64(9); n <= 20; n++ {
		m.Bytes()[(n-2)*wasmPage]++
		m.Reallocate(n * wasmPage)
		require.Equal(t, base, addressOf(m.Bytes()), "it never moves")
	}
	require.LessOrEqual(t, mappings(t, m), 3)
}

func TestNothingIsMappedBehindTheLastByteThatIsNotZero(t *testing.T) {
	source := New(testMax, nil)
	defer source.Release()
	source.Reallocate(testMax)
	source.Bytes()[0], source.Bytes()[3*wasmPage] = 1, 1
	image, err := Capture(source)
	require.NoError(t, err)
	defer image.Close()
	f := image.contents.(*file)
	require.Equal(t, 3*wasmPage+unix.Getpagesize(), f.extent)
	for n := range testMax / granuleSize {
		require.Equal(t, n == 0 || n == 3*wasmPage/granuleSize, f.granule(n)[0] != 0)
	}
	var stat unix.Stat_t
	require.NoError(t, unix.Fstat(f.fd, &stat))
	require.LessOrEqual(t, stat.Blocks*512, int64(2*unix.Getpagesize()), "zero pages are not written, nor made by a look at them")
}

func TestFileOfAnImageCannotBeChanged(t *testing.T) {
	_, image := adopted(t, 2)
	f := image.contents.(*file)
	_, err := unix.Pwrite(f.fd, []byte{9}, 0)
	require.ErrorIs(t, err, unix.EPERM)
	require.ErrorIs(t, unix.Ftruncate(f.fd, 0), unix.EPERM)
	_, err = unix.Mmap(f.fd, 0, f.extent, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	require.ErrorIs(t, err, unix.EPERM)
	for _, fd := range []int{f.fd, f.finder.fd} {
		flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
		require.NoError(t, err)
		require.NotZero(t, flags&unix.FD_CLOEXEC, "programs that are started do not get it")
	}
}

func TestImageThatCannotBeMappedIsCopied(t *testing.T) {
	_, image := adopted(t, 2)
	f := image.contents.(*file)
	fd := f.fd
	f.fd = -1
	defer func() { f.fd = fd }()
	m := another(t, image)
	for range 2 {
		require.True(t, isAll(m.Bytes(), 1))
		require.EqualValues(t, 2*wasmPage, m.Private())
		touch(m, 0, 5)
		require.True(t, m.Restore())
	}
}

func TestAdoptingAnImageWithLessInIt(t *testing.T) {
	m, _ := adopted(t, 4)
	clear(m.Bytes()[wasmPage:])
	image, err := Capture(m)
	require.NoError(t, err)
	defer image.Close()
	require.NoError(t, m.Adopt(image))
	for range 3 {
		require.True(t, isAll(m.Bytes()[:wasmPage], 1))
		require.True(t, isZero(m.Bytes()[wasmPage:]))
		touch(m, 0, 20, 63)
		require.True(t, m.Restore())
	}
	require.LessOrEqual(t, mappings(t, m), 3)
}

func TestAdoptingAnImageThatLiesElsewhere(t *testing.T) {
	m, _ := adopted(t, 2)
	source := New(testMax, nil)
	source.store = new(heap)
	source.Reallocate(2 * wasmPage)
	source.Bytes()[5] = 5
	image, err := Capture(source)
	require.NoError(t, err)
	defer image.Close()
	require.NoError(t, m.Adopt(image))
	for range 3 {
		require.True(t, bytes.Equal(source.Bytes(), m.Bytes()))
		require.EqualValues(t, 2*wasmPage, m.Private())
		ones(m.Bytes())
		require.True(t, m.Restore())
	}
}

// cost is what the process uses, in bytes.
type cost struct{ pss, anonymous int64 }

func measure(t *testing.T) (c cost) {
	t.Helper()
	runtime.GC()
	f, err := os.Open("/proc/self/smaps_rollup")
	require.NoError(t, err)
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		for name, to := range map[string]*int64{"Pss:": &c.pss, "Anonymous:": &c.anonymous} {
			if rest, ok := strings.CutPrefix(lines.Text(), name); ok {
				_, err := fmt.Sscan(rest, to)
				require.NoError(t, err)
				*to *= 1024
			}
		}
	}
	require.NoError(t, lines.Err())
	return c
}

func TestIdleMemoriesCostLittle(t *testing.T) {
	const mib = 1 << 20
	before := measure(t)
	first, image := adopted(t, 50*mib/wasmPage)
	first.Release()
	memories := make([]*Memory, 128)
	for n := range memories {
		memories[n] = another(t, image)
	}
	for range 3 { // so that the pages are kept
		for n, m := range memories {
			for page := range 20 {
				touch(m, page*600+n)
			}
			require.True(t, m.Restore())
		}
	}
	after := measure(t)
	pss, own := (after.pss-before.pss)/mib, (after.anonymous-before.anonymous)/mib
	t.Logf("128 memories of one image of 50 MiB: %d MiB in all, of which %d MiB are not shared", pss, own)
	require.Less(t, own, int64(30))
	require.Less(t, pss, int64(100))
	for _, m := range memories {
		require.LessOrEqual(t, m.Private(), int64(20*unix.Getpagesize()))
	}
}

// confined runs a test once more in a process of its own.
func confined(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	const inside = "LINEAR_TEST_CONFINED"
	if os.Getenv(inside) != "" {
		test(t)
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), inside+"=1")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "--- PASS: "+t.Name())
}

// limited sets a limit of the process.
func limited(t *testing.T, resource int, most uint64) {
	t.Helper()
	require.NoError(t, unix.Setrlimit(resource, &unix.Rlimit{Cur: most, Max: most}))
}

func TestWithoutAddressSpace(t *testing.T) {
	confined(t, func(t *testing.T) {
		source := New(testMax, nil)
		defer source.Release()
		ones(source.Reallocate(testMax))
		image, err := Capture(source)
		require.NoError(t, err)
		defer image.Close()
		var status [4]int
		data, err := os.ReadFile("/proc/self/statm")
		require.NoError(t, err)
		_, err = fmt.Sscan(string(data), &status[0])
		require.NoError(t, err)
		limited(t, unix.RLIMIT_AS, uint64(status[0]*unix.Getpagesize()+1<<30))

		m := New(4<<30, nil)
		defer m.Release()
		require.True(t, m.Prepay(testMax))
		require.NotNil(t, m.Reallocate(testMax))
		require.IsType(t, new(heap), m.store)
		require.NoError(t, m.Adopt(image))
		touch(m, 3)
		require.True(t, m.Restore())
		require.True(t, isAll(m.Bytes(), 1))
	})
}

func TestWithoutDescriptors(t *testing.T) {
	confined(t, func(t *testing.T) {
		source := New(testMax, nil)
		defer source.Release()
		ones(source.Reallocate(4 * wasmPage))
		limited(t, unix.RLIMIT_NOFILE, 0)
		image, err := Capture(source)
		require.NoError(t, err)
		defer image.Close()
		require.IsType(t, new(kept), image.contents)
		m := another(t, image)
		require.IsType(t, new(mapping), m.store)
		touch(m, 3)
		require.True(t, m.Restore())
		require.True(t, isAll(m.Bytes(), 1))
	})
}
