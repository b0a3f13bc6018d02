package engine

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/tetratelabs/wazero/experimental/sys"
	"github.com/tetratelabs/wazero/experimental/sysfs"
	wasmsys "github.com/tetratelabs/wazero/sys"
)

// entrySize is what a new file or folder counts as written, so that empty ones have an end, too.
const entrySize = 4 * kib

// writableFS is a mount that the guest may change. What is only read goes the way of any mount.
type writableFS struct {
	sys.UnimplementedFS
	files *mountFS
	read  sysfs.AdaptFS
}

var _ sys.FS = (*writableFS)(nil)

func newWritableFS(m *mountFS) *writableFS {
	return &writableFS{files: m, read: sysfs.AdaptFS{FS: m}}
}

// OpenFile implements the same method as documented on sys.FS.
func (w *writableFS) OpenFile(name string, flag sys.Oflag, perm fs.FileMode) (sys.File, sys.Errno) {
	const changes = sys.O_RDWR | sys.O_WRONLY | sys.O_APPEND | sys.O_CREAT | sys.O_TRUNC
	if flag&changes == 0 {
		return w.read.OpenFile(name, flag, perm)
	}
	name, errno := inMount(name)
	if errno != 0 {
		return nil, errno
	}
	if flag&sys.O_DIRECTORY != 0 {
		return nil, sys.EISDIR
	}
	if _, err := w.files.root.Lstat(name); errors.Is(err, fs.ErrNotExist) && flag&sys.O_CREAT != 0 {
		w.files.instance.write(entrySize)
	}
	file, err := w.files.open(name, openFlags(flag), perm.Perm())
	if err != nil {
		return nil, sys.UnwrapOSError(err)
	}
	adapted, errno := (&sysfs.AdaptFS{FS: opened{file}}).OpenFile(name, sys.O_RDONLY, 0)
	if errno != 0 {
		_ = file.Close() // Nothing was written to it.
		return nil, errno
	}
	return &writableFile{File: adapted, file: file, appends: flag&sys.O_APPEND != 0}, 0
}

// openFlags are the flags of package os for those that a guest may set. What is written is not forced to the disk at each
// write, whatever the guest says: it can ask for that when it is done.
func openFlags(flag sys.Oflag) int {
	out := os.O_RDONLY
	switch {
	case flag&sys.O_RDWR != 0:
		out = os.O_RDWR
	case flag&sys.O_WRONLY != 0:
		out = os.O_WRONLY
	}
	for _, f := range []struct {
		guest sys.Oflag
		host  int
	}{{sys.O_APPEND, os.O_APPEND}, {sys.O_CREAT, os.O_CREATE}, {sys.O_EXCL, os.O_EXCL}, {sys.O_TRUNC, os.O_TRUNC}} {
		if flag&f.guest != 0 {
			out |= f.host
		}
	}
	return out
}

// opened is a file system of one file, which is open.
type opened struct{ file *mountFile }

// Open implements the same method as documented on fs.FS.
func (o opened) Open(string) (fs.File, error) { return o.file, nil }

// Stat implements the same method as documented on sys.FS.
func (w *writableFS) Stat(name string) (wasmsys.Stat_t, sys.Errno) { return w.read.Stat(name) }

// Lstat implements the same method as documented on sys.FS.
func (w *writableFS) Lstat(name string) (wasmsys.Stat_t, sys.Errno) { return w.read.Lstat(name) }

// Mkdir implements the same method as documented on sys.FS.
func (w *writableFS) Mkdir(name string, perm fs.FileMode) sys.Errno {
	name, errno := inMount(name)
	if errno != 0 {
		return errno
	}
	w.files.instance.write(entrySize)
	return sys.UnwrapOSError(w.files.root.Mkdir(name, perm.Perm()))
}

// Rename implements the same method as documented on sys.FS.
func (w *writableFS) Rename(from, to string) sys.Errno {
	from, errno := inMount(from)
	if errno != 0 {
		return errno
	}
	if to, errno = inMount(to); errno != 0 {
		return errno
	}
	return sys.UnwrapOSError(w.files.root.Rename(from, to))
}

// Rmdir implements the same method as documented on sys.FS.
func (w *writableFS) Rmdir(name string) sys.Errno { return w.remove(name, true) }

// Unlink implements the same method as documented on sys.FS.
func (w *writableFS) Unlink(name string) sys.Errno { return w.remove(name, false) }

func (w *writableFS) remove(name string, folder bool) sys.Errno {
	name, errno := inMount(name)
	if errno != 0 {
		return errno
	}
	info, err := w.files.root.Lstat(name)
	switch {
	case err != nil:
		return sys.UnwrapOSError(err)
	case folder && !info.IsDir():
		return sys.ENOTDIR
	case !folder && info.IsDir():
		return sys.EISDIR
	}
	return sys.UnwrapOSError(w.files.root.Remove(name))
}

// inMount is a guest's path as it stands below the folder.
func inMount(name string) (string, sys.Errno) {
	name = path.Clean(strings.TrimPrefix(name, "/"))
	if !fs.ValidPath(name) {
		return "", sys.EINVAL
	}
	return name, 0
}

// writableFile is a file that is open to be changed. What a guest writes, it pays for, and one call may write so much.
type writableFile struct {
	sys.File // what does not change it
	file     *mountFile
	appends  bool
}

// IsAppend implements the same method as documented on sys.File.
func (f *writableFile) IsAppend() bool { return f.appends }

// Write implements the same method as documented on sys.File.
func (f *writableFile) Write(p []byte) (int, sys.Errno) {
	at := int64(-1)
	if !f.appends {
		if offset, err := f.file.Seek(0, io.SeekCurrent); err == nil {
			at = offset
		}
	}
	f.account(at, int64(len(p)))
	n, err := f.file.Write(p)
	return n, sys.UnwrapOSError(err)
}

// Pwrite implements the same method as documented on sys.File.
func (f *writableFile) Pwrite(p []byte, at int64) (int, sys.Errno) {
	if at < 0 {
		return 0, sys.EINVAL
	}
	f.account(at, int64(len(p)))
	n, err := f.file.WriteAt(p, at)
	return n, sys.UnwrapOSError(err)
}

// Truncate implements the same method as documented on sys.File.
func (f *writableFile) Truncate(length int64) sys.Errno {
	if length < 0 {
		return sys.EINVAL
	}
	f.account(length, 0)
	return sys.UnwrapOSError(f.file.Truncate(length))
}

// Sync implements the same method as documented on sys.File.
func (f *writableFile) Sync() sys.Errno { return sys.UnwrapOSError(f.file.Sync()) }

// Datasync implements the same method as documented on sys.File.
func (f *writableFile) Datasync() sys.Errno { return f.Sync() }

// account counts bytes before they are written at an offset, or at the end where that is below 0. What a file grows by
// counts, if that is more: a hole takes no room here, and takes it in the next copy.
func (f *writableFile) account(at, n int64) {
	if info, err := f.file.Stat(); err == nil && at > info.Size() {
		n += at - info.Size()
	}
	f.file.instance.write(n)
}

// write counts what a call writes into folders, and ends a call that writes more than it may.
func (i *instance) write(n int64) {
	i.meter.pay(int(min(n, entrySize*kib)))
	i.written += n
	if limit := i.module.limits.FileWrites; exceeds(i.written, limit) || i.written < 0 {
		panic(&hostFault{cause: i.module.limitError("file writes", i.export, size(limit), "", "limits.file_writes")})
	}
}
