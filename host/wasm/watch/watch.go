package watch

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/weft-run/weft/internal/regularfile"
)

// What the Err of a File or a Folder can be, besides fs.ErrNotExist and errors of the system.
var (
	ErrNotRegular = regularfile.ErrNotRegular       // what is in the file's place is no regular file
	ErrNotFolder  = errors.New("no folder")         // what is in the folder's place is no folder
	ErrTooLarge   = errors.New("over a limit")      // a file of too many bytes, or a folder of too many entries
	ErrClosed     = errors.New("watcher is closed") // returned by File and Folder after Close
)

// Options are settings of a Watcher. The zero value has the defaults.
type Options struct {
	// Settle is how long nothing may change before something is read. Default: 100 ms.
	Settle time.Duration
	// MaxWait is after how long changes that never pause are read nevertheless (see the package's documentation). It is at
	// least Settle. Default: 2 s.
	MaxWait time.Duration
	// Poll is how often something is looked at where the system gives no notifications for it. Default: none but Rescan, and
	// New fails where there are no notifications at all.
	Poll time.Duration
	// Rescan is how often everything is looked at, for what no notification came. Default: 30 s; negative: never.
	Rescan time.Duration
	// FolderEntries is how many files and folders a watched folder may hold, at all depths. Default: 100,000.
	FolderEntries int
	// Logger gets warnings about what cannot be watched, and the panics of callbacks. Default: none.
	Logger *slog.Logger
}

// Watcher tells when files and folders have a new version that is complete. Its methods may be called concurrently.
type Watcher struct {
	options Options
	notices *notices
	ctx     context.Context
	cancel  context.CancelFunc

	mu      sync.Mutex
	closed  bool
	running sync.WaitGroup // of things

	closing sync.Once
	err     error // of closing
}

// New starts a watcher. It fails where an option makes no sense, and where the system gives no notifications and
// Options.Poll is not set.
func New(options Options) (*Watcher, error) {
	options, err := options.complete()
	if err != nil {
		return nil, err
	}
	native, err := fsnotify.NewWatcher()
	if err != nil {
		if options.Poll == 0 {
			return nil, fmt.Errorf("no notifications of changed files: %w: raise the system's limit "+
				"(on Linux fs.inotify.max_user_instances), or set Poll to look at the files at an interval", err)
		}
		options.Logger.Warn("no notifications of changed files: they are looked at every so often", "error", err, "poll", options.Poll)
		return newWatcher(options, nil), nil
	}
	return newWatcher(options, &backend{folders: native, close: native.Close, events: native.Events, errors: native.Errors}), nil
}

func newWatcher(options Options, b *backend) *Watcher {
	w := &Watcher{options: options, notices: newNotices(b, options.Logger)}
	w.ctx, w.cancel = context.WithCancel(context.Background())
	return w
}

func (o Options) complete() (Options, error) {
	var faults []error
	duration := func(name string, value *time.Duration, byDefault time.Duration) {
		switch {
		case *value < 0:
			faults = append(faults, fmt.Errorf("%s is %s: set a positive duration, or 0 for the default", name, *value))
		case *value == 0:
			*value = byDefault
		}
	}
	duration("Settle", &o.Settle, 100*time.Millisecond)
	duration("MaxWait", &o.MaxWait, 2*time.Second)
	duration("Poll", &o.Poll, 0)
	o.MaxWait = max(o.MaxWait, o.Settle)
	if o.Rescan == 0 {
		o.Rescan = 30 * time.Second
	}
	switch {
	case o.FolderEntries < 0:
		faults = append(faults, fmt.Errorf("FolderEntries is %d: set a positive number, or 0 for the default", o.FolderEntries))
	case o.FolderEntries == 0:
		o.FolderEntries = 100_000
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o, errors.Join(faults...)
}

// Close ends everything. It waits for callbacks that are under way, so a callback must not call it. Further calls return
// what the first one did.
func (w *Watcher) Close() error {
	w.closing.Do(func() {
		w.mu.Lock()
		w.closed = true
		w.mu.Unlock()
		w.cancel()
		w.running.Wait()
		w.err = w.notices.close()
	})
	return w.err
}

// start watches with the source until stop is called, which does not wait.
func (w *Watcher) start(s source, have digest, report func(outcome)) (stop func(), err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return nil, ErrClosed
	}
	ctx, cancel := context.WithCancel(w.ctx)
	t := newThing(w, s, have, report)
	w.running.Go(func() {
		defer cancel()
		t.run(ctx)
	})
	return cancel, nil
}

// absolute makes a path independent of the working directory. It leaves .. alone, which after a link is not what it looks
// like.
func absolute(path string) (string, error) {
	if path == "" {
		return "", errors.New("no path is given: name what is to be watched")
	}
	if filepath.IsAbs(path) {
		return path, nil
	}
	if filepath.Separator == '\\' { // where .. is resolved before links are
		return filepath.Abs(path)
	}
	dir, err := os.Getwd()
	return dir + string(filepath.Separator) + path, err
}
