package watch

import (
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestOptionsThatMakeNoSenseAreAllNamed(t *testing.T) {
	_, err := New(Options{Settle: -1, MaxWait: -1, Poll: -1, FolderEntries: -1})
	require.Error(t, err)
	for _, name := range []string{"Settle", "MaxWait", "Poll", "FolderEntries"} {
		assert.Contains(t, err.Error(), name+" is -1")
	}
}

func TestTheDefaultsAreThoseOfTheDocumentation(t *testing.T) {
	o, err := Options{}.complete()
	require.NoError(t, err)
	assert.Equal(t, 100*time.Millisecond, o.Settle)
	assert.Equal(t, 2*time.Second, o.MaxWait)
	assert.Equal(t, time.Duration(0), o.Poll)
	assert.Equal(t, 30*time.Second, o.Rescan)
	assert.Equal(t, 100_000, o.FolderEntries)
	o, err = Options{Settle: time.Minute, MaxWait: time.Second}.complete()
	require.NoError(t, err)
	assert.Equal(t, time.Minute, o.MaxWait, "it is at least Settle")
}

func TestWhatCannotBeWatchedIsRefusedWithEveryReason(t *testing.T) {
	w := start(t, Options{})
	_, err := w.File("", 0, none, nil)
	require.Error(t, err)
	assert.Contains(t, err.Error(), "no path is given")
	assert.Contains(t, err.Error(), "the limit is 0 bytes")
	assert.Contains(t, err.Error(), "there is no function to call")
	_, err = w.Folder("", none, nil)
	require.Error(t, err)
	assert.Contains(t, err.Error(), "no path is given")
	assert.Contains(t, err.Error(), "there is no function to call")
}

func TestAClosedWatcherWatchesNothing(t *testing.T) {
	w, err := New(Options{})
	require.NoError(t, err)
	require.NoError(t, w.Close())
	require.NoError(t, w.Close(), "a second time")
	_, err = w.File("f", -1, none, func(File) {})
	require.ErrorIs(t, err, ErrClosed)
	_, err = w.Folder("f", none, func(Folder) {})
	require.ErrorIs(t, err, ErrClosed)
}

func TestClosingWaitsForACallback(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := startBench(t, Options{})
		path := filepath.Join(t.TempDir(), "f")
		write(t, path, "one")
		called, finish, closed := make(chan struct{}), make(chan struct{}), make(chan struct{})
		_, err := b.File(path, -1, none, func(File) { close(called); <-finish })
		require.NoError(t, err)
		<-called
		go func() { b.Close(); close(closed) }()
		synctest.Wait()
		select {
		case <-closed:
			assert.Fail(t, "closed while a callback was running")
		default:
		}
		close(finish)
		<-closed
	})
}

func TestACallbackThatPanicsIsLoggedAndCalledAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	write(t, path, "one")
	var log logs
	w := start(t, Options{Logger: log.logger()})
	calls := make(chan string, 10)
	_, err := w.File(path, -1, none, func(f File) { calls <- string(f.Data); panic("at the disco") })
	require.NoError(t, err)
	require.Equal(t, "one", next(t, calls))
	replace(t, path, "two")
	require.Equal(t, "two", next(t, calls))
	assert.Contains(t, log.String(), "at the disco")
	assert.Contains(t, log.String(), path)
	assert.Contains(t, log.String(), "watch_test.go", "the stack says where")
}

func TestACallbackThatTakesLongHoldsUpOnlyItself(t *testing.T) {
	dir := t.TempDir()
	slow, quick := filepath.Join(dir, "slow"), filepath.Join(dir, "quick")
	write(t, slow, "one")
	write(t, quick, "one")
	w := start(t, Options{})
	begun, goOn := make(chan string, 10), make(chan struct{})
	var inside atomic.Int32
	_, err := w.File(slow, -1, none, func(f File) {
		assert.Equal(t, int32(1), inside.Add(1), "never two calls at once")
		begun <- string(f.Data)
		<-goOn
		inside.Add(-1)
	})
	require.NoError(t, err)
	require.Equal(t, "one", next(t, begun))
	delivered := watchFile(t, w, quick, -1)
	require.Equal(t, "one", nextData(t, delivered))
	for _, data := range []string{"two", "three"} {
		replace(t, slow, data)
		replace(t, quick, data)
		require.Equal(t, data, nextData(t, delivered))
	}
	assert.Empty(t, begun)
	close(goOn)
	assert.Equal(t, "three", next(t, begun), "what came meanwhile is one version, the last")
}

func TestACallbackMayStopItsWatching(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := startBench(t, Options{Rescan: time.Second})
		path := filepath.Join(t.TempDir(), "f")
		write(t, path, "one")
		calls := 0
		stops := make(chan func(), 1)
		stop, err := b.File(path, -1, none, func(File) { calls++; (<-stops)() })
		require.NoError(t, err)
		stops <- stop
		time.Sleep(10 * time.Second)
		replace(t, path, "two")
		time.Sleep(10 * time.Second)
		synctest.Wait()
		assert.Equal(t, 1, calls)
		stop() // a second time
		assert.Empty(t, b.added, "nothing is left to be notified of")
	})
}

func TestNothingIsLeftOfWhatIsNoLongerWatched(t *testing.T) {
	descriptors := func() int {
		entries, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Skip("this system does not list the descriptors of a process in /proc/self/fd")
		}
		return len(entries)
	}
	before := descriptors()
	dir := t.TempDir()
	write(t, filepath.Join(mkdir(t, dir, "folder", "deep"), "f"), "one")
	w, err := New(Options{Settle: time.Millisecond})
	require.NoError(t, err)
	opened := descriptors()
	for i := range 1000 {
		path := filepath.Join(dir, "f"+strconv.Itoa(i%10))
		if i < 10 {
			write(t, path, "one")
		}
		called := make(chan struct{}, 10)
		stop, err := w.File(path, -1, none, func(File) { called <- struct{}{} })
		require.NoError(t, err)
		stopFolder, err := w.Folder(filepath.Join(dir, "folder"), none, func(Folder) { called <- struct{}{} })
		require.NoError(t, err)
		if i%50 == 0 { // the others end wherever they are
			next(t, called)
			next(t, called)
		}
		stop()
		stopFolder()
	}
	w.running.Wait()
	assert.Equal(t, opened, descriptors())
	assert.Empty(t, w.notices.folders)
	assert.Empty(t, w.notices.things)
	require.NoError(t, w.Close()) // and TestMain looks at the goroutines
	assert.Equal(t, before, descriptors())
}
