package watch

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// settle is short, and long enough for a machine that is busy: no test fails where a version comes later.
const settle = 20 * time.Millisecond

// patience is how long a test waits for what must come.
const patience = 20 * time.Second

// noRescan keeps the safety net away, so that what is delivered was notified.
const noRescan = -1

var none [sha256.Size]byte

// start makes a watcher that ends with the test.
func start(t *testing.T, options Options) *Watcher {
	t.Helper()
	if options.Settle == 0 {
		options.Settle = settle
	}
	if options.Rescan == 0 {
		options.Rescan = noRescan
	}
	w, err := New(options)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, w.Close()) })
	return w
}

// watchFile watches a file without having a version of it, and returns what is delivered.
func watchFile(t *testing.T, w *Watcher, path string, limit int64) <-chan File {
	t.Helper()
	delivered := make(chan File, 10_000)
	stop, err := w.File(path, limit, none, func(f File) { delivered <- f })
	require.NoError(t, err)
	t.Cleanup(stop)
	return delivered
}

// next waits for a delivery.
func next[T any](t *testing.T, delivered <-chan T) T {
	t.Helper()
	select {
	case d := <-delivered:
		return d
	case <-time.After(patience):
		require.FailNow(t, "nothing was delivered")
		panic("unreachable")
	}
}

// nextData waits for a version and returns its bytes.
func nextData(t *testing.T, delivered <-chan File) string {
	t.Helper()
	f := next(t, delivered)
	require.NoError(t, f.Err)
	require.Equal(t, sha256.Sum256(f.Data), f.SHA256)
	return string(f.Data)
}

func write(t *testing.T, path, data string) {
	t.Helper()
	require.NoError(t, os.WriteFile(path, []byte(data), 0o600))
}

// replace writes a file as careful programs do.
func replace(t *testing.T, path, data string) {
	t.Helper()
	write(t, path+".new", data)
	require.NoError(t, os.Rename(path+".new", path))
}

func mkdir(t *testing.T, elements ...string) string {
	t.Helper()
	dir := filepath.Join(elements...)
	require.NoError(t, os.MkdirAll(dir, 0o700))
	return dir
}

func link(t *testing.T, target, path string) {
	t.Helper()
	require.NoError(t, os.Symlink(target, path))
}

func rename(t *testing.T, from, to string) {
	t.Helper()
	require.NoError(t, os.Rename(from, to))
}

// version is a file's content whose end tells whether it is whole.
func version(n, size int) []byte {
	body := bytes.Repeat(fmt.Appendf(nil, "version %d.", n), size/8+1)[:size]
	sum := sha256.Sum256(body)
	return append(body, sum[:]...)
}

func whole(data []byte) bool {
	if len(data) < sha256.Size {
		return false
	}
	end := len(data) - sha256.Size
	return sha256.Sum256(data[:end]) == [sha256.Size]byte(data[end:])
}

// A bench is a watcher whose notifications the test makes, for tests in a bubble of testing/synctest: their time is not
// the real one, but their files are.
type bench struct {
	*Watcher
	events chan fsnotify.Event
	errors chan error

	mu    sync.Mutex
	added map[string]bool
	calls []string // "add FOLDER" and "remove FOLDER"
	fails error    // what Add returns
}

func (b *bench) Add(folder string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.fails != nil {
		return b.fails
	}
	b.added[folder] = true
	b.calls = append(b.calls, "add "+folder)
	return nil
}

func (b *bench) Remove(folder string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.added, folder)
	b.calls = append(b.calls, "remove "+folder)
	return nil
}

func startBench(t *testing.T, options Options) *bench {
	t.Helper()
	options, err := options.complete()
	require.NoError(t, err)
	b := &bench{events: make(chan fsnotify.Event), errors: make(chan error), added: map[string]bool{}}
	b.Watcher = newWatcher(options, &backend{
		folders: b,
		close:   func() error { close(b.events); close(b.errors); return nil },
		events:  b.events,
		errors:  b.errors,
	})
	t.Cleanup(func() { require.NoError(t, b.Close()) })
	return b
}

// notify says that something happened at a path.
func (b *bench) notify(path string, op fsnotify.Op) { b.events <- fsnotify.Event{Name: path, Op: op} }

// called returns the calls since the last time.
func (b *bench) called() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	defer func() { b.calls = nil }()
	return b.calls
}

// logs is a logger whose lines can be read while it is written to.
type logs struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logs) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logs) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func (l *logs) logger() *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }

// digestOf returns a folder's digest.
func digestOf(t *testing.T, w *Watcher, path string) [sha256.Size]byte {
	t.Helper()
	d, err := w.FolderDigest(context.Background(), path)
	require.NoError(t, err)
	return d
}
