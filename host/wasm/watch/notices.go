package watch

import (
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"syscall"

	"github.com/fsnotify/fsnotify"
)

// A backend is the part of fsnotify that is used here.
type backend struct {
	folders interface {
		Add(folder string) error
		Remove(folder string) error
	}
	close  func() error
	events <-chan fsnotify.Event
	errors <-chan error
}

// everyName stands for all names in a folder.
const everyName = ""

// places are the folders that a thing depends on, each with the names in it that matter.
type places map[string]map[string]bool

// notices shares one backend among all things: it knows who wants to hear of which names in which folders.
type notices struct {
	backend *backend // nil: there are no notifications
	log     *slog.Logger
	done    chan struct{} // closed when the last notification was passed on

	// calls is held around calls of the backend, and never while a notification is passed on: fsnotify may wait for that
	// while it holds a lock that those calls need.
	calls sync.Mutex

	mu      sync.Mutex
	folders map[string]*folder
	things  map[*thing]bool
}

// A folder is one that somebody depends on.
type folder struct {
	wanted map[*thing]map[string]bool
	added  os.FileInfo // what it was when notifications were asked for, if they were had; guarded by calls
	failed string      // why they were not had; guarded by calls
}

func newNotices(b *backend, log *slog.Logger) *notices {
	n := &notices{
		backend: b,
		log:     log,
		done:    make(chan struct{}),
		folders: map[string]*folder{},
		things:  map[*thing]bool{},
	}
	if b == nil {
		close(n.done)
	} else {
		go n.run()
	}
	return n
}

func (n *notices) close() error {
	if n.backend == nil {
		return nil
	}
	n.calls.Lock()
	err := n.backend.close()
	n.calls.Unlock()
	<-n.done
	return err
}

func (n *notices) run() {
	defer close(n.done)
	events, failures := n.backend.events, n.backend.errors
	var last string
	for events != nil || failures != nil {
		select {
		case event, ok := <-events:
			if !ok {
				events = nil
				continue
			}
			n.pass(event)
		case err, ok := <-failures:
			if !ok {
				failures = nil
				continue
			}
			// A failure can come again and again; it is told once.
			if err.Error() != last {
				last = err.Error()
				n.log.Warn("notifications of changed files were lost: everything is looked at", "error", err)
			}
			n.recheck()
		}
	}
}

// pass tells of an event those whom it concerns.
func (n *notices) pass(event fsnotify.Event) {
	name := filepath.Clean(event.Name)
	base := filepath.Base(name)
	n.mu.Lock()
	defer n.mu.Unlock()
	if f := n.folders[filepath.Dir(name)]; f != nil {
		for t, names := range f.wanted {
			if names[base] || names[everyName] {
				t.wake()
			}
		}
	}
	if n.folders[name] != nil && (event.Has(fsnotify.Rename) || event.Has(fsnotify.Remove)) {
		n.recheckLocked() // the backend gave it up, and perhaps what is known by its path
	}
}

// recheck makes everything be looked at, since notifications may have been lost.
func (n *notices) recheck() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.recheckLocked()
}

func (n *notices) recheckLocked() {
	for t := range n.things {
		t.look()
	}
}

// join makes the thing one that is told to look again.
func (n *notices) join(t *thing) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.things[t] = true
}

// leave ends everything that the thing wanted.
func (n *notices) leave(t *thing, has places) {
	n.keep(t, has, nil)
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.things, t)
}

// want asks for notifications of a name in a folder. It asks the backend in any case: whatever became of the folder since
// the last time, there are notifications of what is there now. False: there are none. A folder that is not there is no such
// case: the one above tells when it is.
//
// The backend knows a folder by the path that it had when it was added. A folder that is renamed is dropped by it, and for
// a moment has two paths: dropping the old one then drops the new one too. So whenever a folder is not what it was,
// everything asks again.
func (n *notices) want(t *thing, path, name string) bool {
	if n.backend == nil {
		return false
	}
	info, err := os.Lstat(path)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	n.calls.Lock()
	defer n.calls.Unlock()
	n.mu.Lock()
	f := n.folders[path]
	if f == nil {
		f = &folder{wanted: map[*thing]map[string]bool{}}
		n.folders[path] = f
	}
	if f.wanted[t] == nil {
		f.wanted[t] = map[string]bool{}
	}
	f.wanted[t][name] = true
	n.mu.Unlock()

	if f.added != nil && !os.SameFile(f.added, info) {
		_ = n.backend.folders.Remove(path) // there may be none any more
		defer n.recheck()
	}
	f.added = nil
	err = n.backend.folders.Add(path)
	switch {
	case err == nil:
		f.added, f.failed = info, ""
	case errors.Is(err, fs.ErrNotExist):
	default:
		n.complain(f, path, err)
		return false
	}
	return true
}

// complain warns once of a folder of which there are no notifications.
func (n *notices) complain(f *folder, path string, err error) {
	if f.failed == err.Error() {
		return
	}
	f.failed = err.Error()
	remedy := "let the folder be read"
	if errors.Is(err, syscall.ENOSPC) {
		remedy = "raise fs.inotify.max_user_watches"
	}
	n.log.Warn("no notifications of changes in a folder: they are found by looking every so often (options Poll and Rescan)",
		"folder", path, "error", err, "remedy", remedy)
}

// keep gives up what the thing had and has no more.
func (n *notices) keep(t *thing, had, has places) {
	if n.backend == nil {
		return
	}
	n.calls.Lock()
	defer n.calls.Unlock()
	moved := false
	for path := range had {
		if has[path] == nil {
			moved = n.drop(t, path) || moved
		}
	}
	n.mu.Lock()
	for path, names := range has {
		if f := n.folders[path]; f != nil {
			f.wanted[t] = names
		}
	}
	n.mu.Unlock()
	if moved {
		n.recheck()
	}
}

// drop ends what the thing wanted of a folder. True: the backend gave up a folder that is not where it was.
func (n *notices) drop(t *thing, path string) bool {
	n.mu.Lock()
	f := n.folders[path]
	if f != nil {
		delete(f.wanted, t)
		if len(f.wanted) > 0 {
			f = nil
		} else {
			delete(n.folders, path)
		}
	}
	n.mu.Unlock()
	if f == nil || f.added == nil {
		return false
	}
	_ = n.backend.folders.Remove(path) // there may be none any more
	info, err := os.Lstat(path)
	return err != nil || !os.SameFile(f.added, info)
}
