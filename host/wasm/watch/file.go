package watch

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"

	"github.com/weft-run/weft/internal/regularfile"
)

// File is a version of a watched file.
type File struct {
	Path   string            // as it was given
	Data   []byte            // its bytes, the callback's own
	SHA256 [sha256.Size]byte // of Data
	// Err says why there are no bytes: the file is gone (fs.ErrNotExist), something else is in its place (ErrNotRegular), it
	// is larger than the limit (ErrTooLarge), or it cannot be read. What was delivered before should go on serving.
	Err error
}

// File watches a regular file and calls changed with each version of it that is complete.
//
// limit is the number of bytes that the file may have; a negative one allows any. have is the digest of the version that the
// caller has: it is not delivered. Where have is zero, the first version is delivered too, and a file that is not there is
// waited for without a word. An error is delivered once, until there is another one or a version; the version after an error
// is delivered in any case, also where it is the one from before the error, to tell that the error is over.
//
// The calls of changed come from one goroutine, one after the other, and hold up nothing else; the first may come before
// File returns. A panic in it is logged. stop ends the watching without waiting: a call that is under way may still be
// running when it returns, and no other comes. It may be called more than once, by changed too.
func (w *Watcher) File(path string, limit int64, have [sha256.Size]byte, changed func(File)) (stop func(), err error) {
	full, err := absolute(path)
	faults := []error{err}
	if limit == 0 {
		faults = append(faults, errors.New("the limit is 0 bytes: give the most that the file may have, or -1 for any number"))
	}
	if changed == nil {
		faults = append(faults, errNoFunction)
	}
	if err := errors.Join(faults...); err != nil {
		return nil, fmt.Errorf("watch file %q: %w", path, err)
	}
	return w.start(&fileSource{path: full, limit: limit}, have, func(got outcome) {
		changed(File{Path: path, Data: got.data, SHA256: got.digest, Err: got.err})
	})
}

var errNoFunction = errors.New("there is no function to call: give one")

// beginnings is how often a file must have been begun anew within MaxWait to be taken for one that is rewritten all the
// time. A copy that somebody has to start twice is none.
const beginnings = 4

type fileSource struct {
	path  string
	limit int64

	looked bool
	seen   stamp                 // when it was looked at last; zero: it was not there
	begun  [beginnings]time.Time // when it was begun anew, the oldest first
	asked  time.Time             // the newest of begun when it was asked how hasty to be
}

func (f *fileSource) String() string { return f.path }

func (f *fileSource) survey(_ context.Context, s *surveyor) state {
	s.follow(f.path)
	return f.look()
}

func (f *fileSource) glance(state) state { return f.look() }

func (f *fileSource) look() state {
	info, err := os.Stat(f.path)
	if err != nil {
		f.observe(stamp{})
		return state{err: unavailable(f.path, err)}
	}
	if !info.Mode().IsRegular() {
		f.observe(stamp{})
		return state{err: fmt.Errorf("%s is %s, and a regular file was wanted: %w", f.path, kind(info.Mode()), ErrNotRegular)}
	}
	found := stampOf(info)
	f.observe(found)
	return state{entries: []entry{{stamp: found}}}
}

// observe notices when the file is begun anew: another one is in its place, or it was truncated.
func (f *fileSource) observe(now stamp) {
	there := now != stamp{}
	if f.looked && there && (f.seen == stamp{} || now.inode != f.seen.inode || now.size < f.seen.size) {
		copy(f.begun[:], f.begun[1:])
		f.begun[beginnings-1] = time.Now()
	}
	f.looked, f.seen = true, now
}

func (f *fileSource) haste(before, now state, maxWait time.Duration) haste {
	last := f.begun[beginnings-1]
	same := last.Equal(f.asked)
	f.asked = last
	switch {
	case now.err != nil:
		return patient
	case time.Since(f.begun[0]) <= maxWait:
		return inARow
	case !same || before.err != nil || before.entries[0].stamp.size != now.entries[0].stamp.size:
		return patient // it grows, or was begun anew
	default:
		return apart
	}
}

func (f *fileSource) read(ctx context.Context, found state) (outcome, bool) {
	if found.err != nil {
		return outcome{err: found.err}, true
	}
	expected := found.entries[0].stamp
	if f.limit >= 0 && expected.size > f.limit {
		return outcome{err: fmt.Errorf("%s has %d bytes, and %d are allowed: make it smaller, or allow more: %w",
			f.path, expected.size, f.limit, ErrTooLarge)}, true
	}
	file, info, err := regularfile.Open(f.path)
	if err != nil {
		return outcome{err: unavailable(f.path, err)}, !moved(err)
	}
	defer file.Close()
	if !stampOf(info).alike(expected) {
		return outcome{}, false
	}
	return f.contents(ctx, file, stampOf(info))
}

// readTwice reads from one descriptor: another file may take the place of this one meanwhile.
func (f *fileSource) readTwice(ctx context.Context, between time.Duration) (outcome, bool) {
	file, info, err := regularfile.Open(f.path)
	if err != nil {
		return outcome{}, false
	}
	defer file.Close()
	if f.limit >= 0 && info.Size() > f.limit {
		return outcome{}, false
	}
	first, ok := f.contents(ctx, file, stampOf(info))
	if !ok || !pause(ctx, between) {
		return outcome{}, false
	}
	second, ok := f.contents(ctx, file, stampOf(info))
	return second, ok && second.digest == first.digest
}

// contents reads a file from its beginning. False: it is not what it was before.
func (f *fileSource) contents(ctx context.Context, file *os.File, before stamp) (outcome, bool) {
	data := make([]byte, before.size+1) // there must be one byte less
	n, err := io.ReadFull(reader{ctx, io.NewSectionReader(file, 0, int64(len(data)))}, data)
	switch {
	case ctx.Err() != nil:
		return outcome{}, false
	case err != nil && !isEnd(err):
		return outcome{err: unavailable(f.path, err)}, true
	case int64(n) != before.size:
		return outcome{}, false
	}
	info, err := file.Stat()
	if err != nil || !stampOf(info).alike(before) {
		return outcome{}, false
	}
	data = data[:n:n]
	return outcome{digest: sha256.Sum256(data), data: data}, true
}

// moved says that an error comes from something else being there than was found.
func moved(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, regularfile.ErrNotRegular)
}

// unavailable says what is the matter with a path. A path through something that is no folder leads nowhere.
func unavailable(path string, err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return fmt.Errorf("%s is not there: put it back, or watch another path: %w", path, fs.ErrNotExist)
	}
	return fmt.Errorf("%s cannot be read: %w", path, err)
}

func kind(mode fs.FileMode) string {
	switch {
	case mode.IsRegular():
		return "a file"
	case mode.IsDir():
		return "a folder"
	case mode&fs.ModeNamedPipe != 0:
		return "a pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	case mode&fs.ModeDevice != 0:
		return "a device"
	default:
		return "no file"
	}
}

// A reader ends when its context does.
type reader struct {
	ctx context.Context
	r   io.Reader
}

func (r reader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.Read(p[:min(len(p), 1<<20)])
}
