package engine

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"sync"
)

// Mount gives a guest a folder of the host, to read.
type Mount struct {
	// Host is the folder. It must be there when the module is loaded.
	Host string
	// Guest is where the guest finds it: an absolute path with slashes, such as /docs.
	Guest string
}

// mount is a folder that is open. Everything in it is reached through its handle, so that no path and no symbolic link
// leads out of it.
type mount struct {
	guest string
	root  *os.Root
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
		open = append(open, mount{guest: m.Guest, root: root})
	}
	if len(faults) > 0 {
		closeMounts(open)
		return nil, faults
	}
	return open, nil
}

func closeMounts(mounts []mount) {
	for _, m := range mounts {
		_ = m.root.Close() // It was only read.
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
		_ = f.File.Close() // It was only read.
	}
}

// mountFS is a mount as one instance sees it: to be read, and files and folders only. To open a pipe or a device could
// block, or do something.
type mountFS struct {
	root  *os.Root
	files *openFiles
	meter *meter
}

var _ fs.FS = (*mountFS)(nil)

// Open implements the same method as documented on fs.FS.
func (m *mountFS) Open(name string) (fs.File, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	info, err := m.root.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() && !info.IsDir() {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
	}
	file, err := m.root.Open(name)
	if err != nil {
		return nil, err
	}
	f := &mountFile{File: file, files: m.files, meter: m.meter}
	if !m.files.add(f) {
		_ = file.Close()
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
	}
	return f, nil
}

// mountFile is a file that is open. What a guest reads of it, it pays for.
type mountFile struct {
	*os.File
	files *openFiles
	meter *meter
}

// Read implements the same method as documented on fs.File.
func (f *mountFile) Read(p []byte) (int, error) {
	n, err := f.File.Read(p)
	f.meter.pay(n)
	return n, err
}

// ReadAt implements the same method as documented on io.ReaderAt.
func (f *mountFile) ReadAt(p []byte, offset int64) (int, error) {
	n, err := f.File.ReadAt(p, offset)
	f.meter.pay(n)
	return n, err
}

// Close implements the same method as documented on fs.File.
func (f *mountFile) Close() error {
	f.files.remove(f)
	return f.File.Close()
}
