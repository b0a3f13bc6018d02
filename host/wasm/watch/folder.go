package watch

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"
)

// Folder is a version of a watched folder.
type Folder struct {
	Path   string            // as it was given
	SHA256 [sha256.Size]byte // of everything in it, as FolderDigest computes it
	// Err says why there is no digest: the folder is gone (fs.ErrNotExist), something else is in its place (ErrNotFolder), it
	// holds too much (ErrTooLarge), or it cannot be read.
	Err error
}

// Folder watches a folder with everything in it, at all depths, and calls changed once it settled after a change. have is
// the digest that FolderDigest returned before the caller used what is in it; where it is zero, the first version is
// delivered too. It is looked at after a settle time, and once more after another one. In everything else it is like File.
func (w *Watcher) Folder(path string, have [sha256.Size]byte, changed func(Folder)) (stop func(), err error) {
	source, err := w.folderSource(path)
	faults := []error{err}
	if changed == nil {
		faults = append(faults, errNoFunction)
	}
	if err := errors.Join(faults...); err != nil {
		return nil, fmt.Errorf("watch folder %q: %w", path, err)
	}
	return w.start(source, have, func(got outcome) {
		changed(Folder{Path: path, SHA256: got.digest, Err: got.err})
	})
}

// digestTries is how often a folder's digest is tried where the folder changes under the eyes.
const digestTries = 3

// FolderDigest computes the digest of what is in a folder now: the names of everything in it, at all depths, the contents of
// files, and where symbolic links lead. Links are not followed; times and permissions do not count; pipes, devices and
// sockets count as such, and so does what may not be read. Where the folder changes all the time there is no digest: then
// the zero digest, given to Folder, has the first version delivered that can be read.
func (w *Watcher) FolderDigest(ctx context.Context, path string) ([sha256.Size]byte, error) {
	source, err := w.folderSource(path)
	if err != nil {
		return digest{}, fmt.Errorf("digest of folder %q: %w", path, err)
	}
	for range digestTries {
		got, ok := source.read(ctx, source.survey(ctx, nil))
		if ctx.Err() != nil {
			return digest{}, ctx.Err()
		}
		if ok {
			return got.digest, got.err
		}
	}
	return digest{}, fmt.Errorf("folder %s changes all the time: try again when it is left alone", path)
}

type folderSource struct {
	path  string
	most  int                  // entries
	root  string               // the path without links, when it was surveyed last
	known map[string]knownFile // by name
}

// A knownFile was read before, and need not be again while its stamp tells that.
type knownFile struct {
	stamp  stamp
	read   time.Time // when the reading began
	digest digest
}

func (w *Watcher) folderSource(path string) (*folderSource, error) {
	full, err := absolute(path)
	return &folderSource{path: full, most: w.options.FolderEntries}, err
}

func (f *folderSource) String() string { return f.path }

// glance sees nothing: all of a folder would have to be looked at.
func (f *folderSource) glance(before state) state { return before }

// haste is the same always: what is in a folder has no single writer that could be waited for.
func (f *folderSource) haste(_, _ state, _ time.Duration) haste { return inARow }

func (f *folderSource) readTwice(ctx context.Context, between time.Duration) (outcome, bool) {
	first, ok := f.read(ctx, f.survey(ctx, nil))
	if !ok || !pause(ctx, between) {
		return outcome{}, false
	}
	second, ok := f.read(ctx, f.survey(ctx, nil))
	return second, ok && second.digest == first.digest
}

func (f *folderSource) survey(ctx context.Context, s *surveyor) state {
	f.root = s.follow(f.path)
	info, err := os.Stat(f.path)
	if err != nil {
		return state{err: unavailable(f.path, err)}
	}
	if !info.IsDir() {
		return state{err: fmt.Errorf("%s is %s, and a folder was wanted: %w", f.path, kind(info.Mode()), ErrNotFolder)}
	}
	l := listing{ctx: ctx, surveyor: s, root: f.root, most: f.most}
	if err := l.folder(""); err != nil {
		return state{err: unavailable(f.path, err)}
	}
	if len(l.entries) > f.most {
		return state{err: fmt.Errorf("%s holds more than %d files and folders: keep less in it, or raise FolderEntries: %w",
			f.path, f.most, ErrTooLarge)}
	}
	return state{entries: l.entries}
}

// A listing finds everything in a folder.
type listing struct {
	ctx      context.Context
	surveyor *surveyor
	root     string
	most     int
	entries  []entry // those of a folder after it, by name
}

// folder lists a folder by its name from the root; all its entries come before it returns, or more than are allowed.
func (l *listing) folder(name string) error {
	full := filepath.Join(l.root, name)
	l.surveyor.watch(full, everyName)
	names, err := l.names(full)
	if err != nil {
		return err
	}
	for _, base := range names {
		if l.ctx.Err() != nil || len(l.entries) > l.most {
			return l.ctx.Err()
		}
		l.entry(path.Join(name, base))
	}
	return nil
}

// names reads the names in a folder, sorted; of more than are allowed only some.
func (l *listing) names(full string) ([]string, error) {
	f, err := os.OpenFile(full, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	names, err := f.Readdirnames(l.most + 1)
	if err != nil && !isEnd(err) {
		return nil, err
	}
	slices.Sort(names)
	return names, nil
}

func (l *listing) entry(name string) {
	full := filepath.Join(l.root, name)
	info, err := os.Lstat(full)
	if errors.Is(err, fs.ErrNotExist) {
		return // it went away meanwhile; the next survey sees the same, or another one is needed
	}
	if err != nil {
		l.entries = append(l.entries, entry{name: name, fault: err.Error()})
		return
	}
	e := entry{name: name, stamp: stampOf(info)}
	switch {
	case info.IsDir():
		e.stamp = stamp{mode: fs.ModeDir} // all else follows from what is in it
		at := len(l.entries)
		l.entries = append(l.entries, e)
		if err := l.folder(name); err != nil {
			l.entries[at].fault = err.Error()
		}
		return
	case info.Mode()&fs.ModeSymlink != 0:
		if e.link, err = os.Readlink(full); err != nil {
			return
		}
	}
	l.entries = append(l.entries, e)
}
