package watch

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestANotificationThatTheKernelDroppedIsMadeUpFor(t *testing.T) {
	limit, err := os.ReadFile("/proc/sys/fs/inotify/max_queued_events")
	require.NoError(t, err)
	queue, err := strconv.Atoi(strings.TrimSpace(string(limit)))
	require.NoError(t, err)
	if queue > 100_000 {
		t.Skipf("the kernel queues %d events: too many to fill the queue", queue)
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	write(t, path, "one")
	others := []string{path + "1", path + "2"}
	for _, other := range others {
		write(t, other, "")
	}
	var log logs
	w := start(t, Options{Logger: log.logger()})
	delivered := watchFile(t, w, path, 100)
	require.Equal(t, "one", nextData(t, delivered))

	// Nobody takes notifications while the lock is held; what fits into the pipeline before the queue is some thousands.
	w.notices.mu.Lock()
	for i := range queue + 10_000 {
		require.NoError(t, os.Chmod(others[i%2], 0o600)) // equal events in a row would become one
	}
	replace(t, path, "two")
	w.notices.mu.Unlock()

	require.Equal(t, "two", nextData(t, delivered))
	assert.Contains(t, log.String(), "overflow")
	replace(t, path, "three")
	require.Equal(t, "three", nextData(t, delivered))
}

// kernelWatches counts the folders that the kernel watches for this process.
func kernelWatches(t *testing.T) int {
	t.Helper()
	infos, err := filepath.Glob("/proc/self/fdinfo/*")
	require.NoError(t, err)
	count := 0
	for _, info := range infos {
		data, _ := os.ReadFile(info) // some are closed already
		count += strings.Count(string(data), "inotify wd:")
	}
	return count
}

func TestFoldersThatWereMovedAwayAreNoLongerWatched(t *testing.T) {
	dir := t.TempDir()
	w := start(t, Options{})
	path := filepath.Join(dir, "a", "b", "f")
	publish := func(n int) string {
		next := filepath.Join(dir, "next")
		data := strconv.Itoa(n)
		write(t, filepath.Join(mkdir(t, next, "b"), "f"), data)
		if n > 0 {
			rename(t, filepath.Join(dir, "a"), filepath.Join(dir, "old"+data))
		}
		rename(t, next, filepath.Join(dir, "a"))
		return data
	}
	first := publish(0)
	delivered := watchFile(t, w, path, 100)
	require.Equal(t, first, nextData(t, delivered))
	watched := kernelWatches(t)
	require.Positive(t, watched)
	for n := range 50 {
		data := publish(n + 1)
		for f := next(t, delivered); string(f.Data) != data; f = next(t, delivered) {
		}
	}
	require.Eventually(t, func() bool { return kernelWatches(t) == watched }, patience, time.Millisecond)
}

func TestAFileThatHasMoreThanItSaysIsNotDelivered(t *testing.T) {
	f := &fileSource{path: "/proc/version", limit: -1} // says that it is empty
	_, ok := f.read(t.Context(), f.survey(t.Context(), nil))
	assert.False(t, ok)
}
