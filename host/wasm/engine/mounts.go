package engine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"sync"

	"github.com/weft-run/weft/internal/regularfile"
)

// Mount gives a guest a folder of the host.
type Mount struct {
	// Host is the folder. It must be there when the module is loaded.
	Host string
	// Guest is where the guest finds it: an absolute path with slashes, such as /docs.
	Guest string
	// Writable lets the guest change what is in the folder: write, make, rename and remove files and folders, though no
	// links. All calls share the folder, so what one leaves there others find. False means that it may only read.
	Writable bool
}

// mount is a folder that is open. Everything in it is reached through its handle, so that no path and no symbolic link
// leads out of it.
type mount struct {
	guest    string
	root     *os.Root
	writable bool
}

// openMounts opens all folders, or none, and says what is wrong with each.
func openMounts(mounts []Mount) ([]mount, []Fault) {
	var open []mount
	var faults []Fault
	seen := map[string]bool{}
	for _, m := range mounts {
		what := fmt.Sprintf("mount %s at %s", m.Host, m.Guest)
		if !path.IsAbs(m.Guest) || path.Clean(m.Guest) != m.Guest {
			faults = append(faults, Fault{What: what, Have: m.Guest, Want: "an absolute path such as /docs", Remedy: "change the guest path"})
			continue
		}
		if seen[m.Guest] {
			faults = append(faults, Fault{What: what, Have: "two folders at one path", Remedy: "give each folder a path of its own"})
			continue
		}
		seen[m.Guest] = true
		root, err := os.OpenRoot(m.Host)
		if err != nil {
			faults = append(faults, Fault{What: what, Have: err.Error(), Remedy: "create the folder, or correct its path"})
			continue
		}
		open = append(open, mount{guest: m.Guest, root: root, writable: m.Writable})
	}
	if len(faults) > 0 {
		closeMounts(open)
		return nil, faults
	}
	return open, nil
}

func closeMounts(mounts []mount) {
	for _, m := range mounts {
		_ = m.root.Close() // No file is open through it any more.
	}
}

// mostFiles is how many files one instance may have open at once.
const mostFiles = 64

// openFiles holds what one instance has open, so that it can be closed with it, whatever the guest did.
type openFiles struct {
	mu   sync.Mutex
	open map[*mountFile]struct{}
}

func (o *openFiles) add(f *mountFile) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.open) >= mostFiles {
		return false
	}
	if o.open == nil {
		o.open = map[*mountFile]struct{}{}
	}
	o.open[f] = struct{}{}
	return true
}

func (o *openFiles) remove(f *mountFile) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.open, f)
}

func (o *openFiles) closeAll() {
	o.mu.Lock()
	open := o.open
	o.open = nil
	o.mu.Unlock()
	for f := range open {
		_ = f.File.Close() // Of what the guest did not close itself, it does not want to know.
	}
}

// mountFS is a mount as one instance sees it: to be read, and files and folders only. To open a pipe or a device could
// block, or do something.
type mountFS struct {
	root     *os.Root
	instance *instance
}

var _ fs.FS = (*mountFS)(nil)

// Open implements the same method as documented on fs.FS.
func (m *mountFS) Open(name string) (fs.File, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	return m.open(name, os.O_RDONLY, 0)
}

// open opens what is a file or a folder, before as well as after: something else may take its place in between.
func (m *mountFS) open(name string, flag int, perm fs.FileMode) (*mountFile, error) {
	info, err := m.root.Stat(name)
	if err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
	}
	if err != nil && (flag&os.O_CREATE == 0 || !errors.Is(err, fs.ErrNotExist)) {
		return nil, err
	}
	file, err := m.root.OpenFile(name, flag|regularfile.NonBlock, perm)
	if err != nil {
		return nil, err
	}
	f := &mountFile{File: file, instance: m.instance}
	info, err = file.Stat()
	if err != nil || !info.Mode().IsRegular() && !info.IsDir() || !m.instance.files.add(f) {
		_ = file.Close() // Nothing was written to it.
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
	}
	return f, nil
}

// mountFile is a file that is open. What a guest reads of it, it pays for.
type mountFile struct {
	*os.File
	instance *instance
}

// Read implements the same method as documented on fs.File.
func (f *mountFile) Read(p []byte) (int, error) {
	n, err := f.File.Read(p)
	f.instance.meter.pay(n)
	return n, err
}

// ReadAt implements the same method as documented on io.ReaderAt.
func (f *mountFile) ReadAt(p []byte, offset int64) (int, error) {
	n, err := f.File.ReadAt(p, offset)
	f.instance.meter.pay(n)
	return n, err
}

// Close implements the same method as documented on fs.File.
func (f *mountFile) Close() error {
	f.instance.files.remove(f)
	return f.File.Close()
}
