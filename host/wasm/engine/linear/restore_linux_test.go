package linear

import (
	"encoding/binary"
	"errors"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// adopted returns a mapped memory of so many WebAssembly pages that has an image of ones, and the image.
func adopted(t testing.TB, pages uint64) (*Memory, *Image) {
	t.Helper()
	source := New(pages*wasmPage, nil)
	defer source.Release()
	ones(source.Reallocate(pages * wasmPage))
	image, err := Capture(source)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, image.Close()) })
	return another(t, image), image
}

// another returns a memory that has adopted an image.
func another(t testing.TB, image *Image) *Memory {
	t.Helper()
	m := New(uint64(image.Size()), nil)
	t.Cleanup(m.Release)
	require.NotNil(t, m.Reallocate(uint64(image.Size())))
	require.NoError(t, m.Adopt(image))
	return m
}

func ones(b []byte) {
	b[0] = 1
	for n := 1; n < len(b); n *= 2 {
		copy(b[n:], b[:n])
	}
}

// touch writes to pages, counted from the first.
func touch(m *Memory, pages ...int) {
	for _, page := range pages {
		m.Bytes()[page*unix.Getpagesize()]++
	}
}

func TestPagesThatAreWrittenAgainAreKept(t *testing.T) {
	page := int64(unix.Getpagesize())
	m, _ := adopted(t, 64)
	require.Zero(t, m.Private())
	touch(m, 1, 2, 30)
	require.True(t, m.Restore())
	require.Zero(t, m.Private(), "written once")
	touch(m, 1, 2)
	require.True(t, m.Restore())
	require.Equal(t, 2*page, m.Private(), "written twice")
	touch(m, 1, 2, 9)
	require.True(t, m.Restore())
	require.Equal(t, 2*page, m.Private(), "9 was not written before")
	for range keepAfter - 1 {
		touch(m, 1)
		require.True(t, m.Restore())
		require.Equal(t, 2*page, m.Private())
	}
	touch(m, 1)
	require.True(t, m.Restore())
	require.Equal(t, page, m.Private(), "2 was left alone too often")
	touch(m, 2)
	require.True(t, m.Restore())
	require.Equal(t, 2*page, m.Private(), "it is known")
}

func TestOneCallThatWritesEverythingLeavesNothing(t *testing.T) {
	m, _ := adopted(t, 64)
	for range 3 {
		touch(m, 5)
		require.True(t, m.Restore())
	}
	for at := 0; at < len(m.Bytes()); at += unix.Getpagesize() {
		m.Bytes()[at]++
	}
	require.True(t, m.Restore())
	require.EqualValues(t, unix.Getpagesize(), m.Private())
	require.EqualValues(t, unix.Getpagesize(), ownPages(t, m)*unix.Getpagesize())
}

func TestPagesThatAreReadStayMapped(t *testing.T) {
	m, _ := adopted(t, 64)
	for first, last := range map[int]int{100: 100 + joinPages, 300: 300 + 2*joinPages} {
		require.True(t, isAll(m.Bytes(), 1))
		touch(m, first, last)
		require.True(t, m.Restore())
		require.True(t, isMapped(t, m, first-1))
		require.False(t, isMapped(t, m, first))
		require.Equal(t, first == 300, isMapped(t, m, first+1), "what lies between two that are near each other goes with them")
		require.False(t, isMapped(t, m, last))
		require.True(t, isMapped(t, m, last+1))
	}
}

// isMapped returns whether there is a page in memory, so that to read it is no fault.
func isMapped(t *testing.T, m *Memory, page int) bool {
	t.Helper()
	pagemap, err := os.Open("/proc/self/pagemap")
	require.NoError(t, err)
	defer pagemap.Close()
	var entry [8]byte
	_, err = pagemap.ReadAt(entry[:], int64(addressOf(m.Bytes())/uint64(unix.Getpagesize())+uint64(page))*8)
	require.NoError(t, err)
	return binary.NativeEndian.Uint64(entry[:])&entryPresent != 0
}

func TestZerosThatAreReadAreNobodysOwn(t *testing.T) {
	source := New(testMax, nil)
	defer source.Release()
	source.Reallocate(testMax)
	image, err := Capture(source)
	require.NoError(t, err)
	defer image.Close()
	m := another(t, image)
	read := func() {
		require.True(t, isZero(m.Bytes()))
		require.True(t, m.Restore())
	}
	f := image.contents.(*file)
	f.finder.ask = askPagemap // which takes them for the memory's own
	dropped := 0
	for range 3 * keepAfter {
		read()
		if !isMapped(t, m, 50) {
			dropped++
		}
	}
	require.LessOrEqual(t, dropped, 3, "they are not dropped each time")
	if m = another(t, image); canScan(m, f) {
		f.finder.ask = askScan
		read()
		require.Zero(t, m.Private())
	}
}

// canScan returns whether the kernel is 6.7 or later.
func canScan(m *Memory, f *file) bool {
	_, _, err := askScan(f.finder.fd, m.Bytes(), 0, new(answer))
	return !errors.Is(err, unix.ENOTTY)
}

func TestNoMemoryKeepsMoreThanSoMuch(t *testing.T) {
	m, _ := adopted(t, 2*keepMost/wasmPage)
	for range 5 {
		ones(m.Bytes())
		touch(m, 3)
		for at := 0; at < len(m.Bytes()); at += unix.Getpagesize() {
			m.Bytes()[at] = 9
		}
		require.True(t, m.Restore())
		require.LessOrEqual(t, m.Private(), int64(keepMost))
		require.EqualValues(t, m.Private(), ownPages(t, m)*unix.Getpagesize())
		require.True(t, isAll(m.Bytes(), 1))
	}
	require.EqualValues(t, keepMost, m.Private())
}

// ownPages counts the pages of a memory that are its own, in the oldest way of asking.
func ownPages(t testing.TB, m *Memory) (pages int) {
	t.Helper()
	fd, err := unix.Open("/proc/self/pagemap", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	require.NoError(t, err)
	defer unix.Close(fd)
	for at := 0; at < len(m.Bytes()); {
		runs, next, err := askPagemap(fd, m.Bytes(), at, new(answer))
		require.NoError(t, err)
		for _, run := range runs {
			pages += (run.to - run.from) / unix.Getpagesize()
		}
		at = next
	}
	return pages
}

func TestLockedMemoryIsRestored(t *testing.T) {
	m, _ := adopted(t, 4)
	if err := unix.Mlock(m.Bytes()); err != nil {
		t.Skipf("no memory can be locked here: %v", err)
	}
	defer unix.Munlock(m.Bytes())
	for range 3 {
		touch(m, 0, 7)
		require.True(t, m.Restore())
		require.True(t, isAll(m.Bytes(), 1))
		require.NotZero(t, m.Private())
	}
}

func TestBothWaysOfAskingSayTheSame(t *testing.T) {
	m, image := adopted(t, 64)
	f := image.contents.(*file)
	if !canScan(m, f) {
		t.Skip("a kernel before 6.7")
	}
	require.True(t, finderWith(f.finder.fd, askScan).truthful(f))
	require.True(t, finderWith(f.finder.fd, askPagemap).truthful(f))
	for name, write := range map[string]func(){
		"nothing":    func() {},
		"some":       func() { touch(m, 1, 2, 3, 77) },
		"everything": func() { ones(m.Bytes()) },
		"every other page": func() {
			for at := unix.Getpagesize(); at < len(m.Bytes()); at += 2 * unix.Getpagesize() {
				m.Bytes()[at]++
			}
		},
	} {
		m.store.(*mapping).drop(0, len(m.Bytes()))
		write()
		require.Equal(t, own(t, m, f.finder.fd, askPagemap), own(t, m, f.finder.fd, askScan), name)
	}
}

// own returns the pages that a question says are a memory's own.
func own(t *testing.T, m *Memory, fd int, ask question) (pages []int) {
	t.Helper()
	for at := 0; at < len(m.Bytes()); {
		runs, next, err := ask(fd, m.Bytes(), at, new(answer))
		require.NoError(t, err)
		require.Greater(t, next, at)
		for _, run := range runs {
			for at := run.from; at < run.to; at += unix.Getpagesize() {
				pages = append(pages, at/unix.Getpagesize())
			}
		}
		at = next
	}
	return pages
}

func TestFinderThatDoesNotTellTheTruthIsNotUsed(t *testing.T) {
	_, image := adopted(t, 1)
	f := image.contents.(*file)
	for name, ask := range map[string]question{
		"nothing is own": func(_ int, memory []byte, _ int, _ *answer) ([]pageRun, int, error) {
			return nil, len(memory), nil
		},
		"everything is own": func(_ int, memory []byte, _ int, _ *answer) ([]pageRun, int, error) {
			return []pageRun{{to: len(memory)}}, len(memory), nil
		},
		"no answer": func(int, []byte, int, *answer) ([]pageRun, int, error) { return nil, 0, unix.EPERM },
	} {
		require.False(t, finderWith(-1, ask).truthful(f), name)
	}
	require.True(t, f.finder.truthful(f))
}

func TestFinderThatFailsLaterCostsTimeOnly(t *testing.T) {
	m, image := adopted(t, 64)
	f := image.contents.(*file)
	truth := f.finder.ask
	for name, ask := range map[string]question{
		"at once": func(int, []byte, int, *answer) ([]pageRun, int, error) { return nil, 0, unix.EPERM },
		"half way": func(fd int, memory []byte, at int, a *answer) ([]pageRun, int, error) {
			if at > 0 {
				return nil, 0, unix.EPERM
			}
			return truth(fd, memory[:len(memory)/2], at, a)
		},
		"never getting on": func(_ int, _ []byte, at int, _ *answer) ([]pageRun, int, error) { return nil, at, nil },
	} {
		f.finder.ask = ask
		for range 3 {
			touch(m, 1, 200, 600)
			require.True(t, m.Restore())
			require.True(t, isAll(m.Bytes(), 1), name)
			require.Zero(t, m.Private())
		}
	}
}
