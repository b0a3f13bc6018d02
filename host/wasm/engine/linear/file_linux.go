package linear

import (
	"bytes"
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// file is the contents of an image in a file that has no name and that nobody can write to any more.
type file struct {
	fd int
	// extent is how much of the image is in the file: whole pages, behind which everything is zero.
	extent int
	view   []byte // the file, to read
	zero   []bool // for each granule of the file, whether it is zero: to look at those would make pages of them
	finder *finder
}

var _ contents = (*file)(nil)

// newFile writes a memory to a file, or returns nil where that cannot be done.
func newFile(memory []byte) *file {
	f := &file{fd: -1}
	if err := f.write(memory); err != nil {
		_ = f.close()
		return nil
	}
	f.finder = newFinder(f)
	return f
}

func (f *file) write(memory []byte) (err error) {
	page := os.Getpagesize()
	f.zero = make([]bool, len(memory)/granuleSize)
	f.extent = page // a file with nothing in it could not be mapped
	for n := range f.zero {
		f.zero[n] = bytes.Equal(memory[n*granuleSize:(n+1)*granuleSize], zeroGranule[:])
		if !f.zero[n] {
			f.extent = int(roundUp(uint64(n+1)*granuleSize, uint64(page)))
		}
	}
	f.zero = f.zero[:f.extent/granuleSize]
	if f.fd, err = newMemfd(); err != nil {
		return err
	}
	if err := unix.Ftruncate(f.fd, int64(f.extent)); err != nil {
		return err
	}
	for from := 0; from < len(f.zero); {
		to := from + 1
		for to < len(f.zero) && f.zero[to] == f.zero[from] {
			to++
		}
		if !f.zero[from] {
			if err := writeAt(f.fd, memory[from*granuleSize:to*granuleSize], from*granuleSize); err != nil {
				return err
			}
		}
		from = to
	}
	if _, err := unix.FcntlInt(uintptr(f.fd), unix.F_ADD_SEALS,
		unix.F_SEAL_WRITE|unix.F_SEAL_SHRINK|unix.F_SEAL_GROW|unix.F_SEAL_SEAL); err != nil {
		return err
	}
	// Private, though nothing is written: before 6.7 a sealed file could not be mapped in any other way.
	f.view, err = unix.Mmap(f.fd, 0, f.extent, unix.PROT_READ, unix.MAP_PRIVATE)
	return err
}

// newMemfd returns the descriptor of a new file, which programs that are started do not inherit.
func newMemfd() (int, error) {
	const flags = unix.MFD_CLOEXEC | unix.MFD_ALLOW_SEALING
	fd, err := unix.MemfdCreate("linear memory", flags|unix.MFD_NOEXEC_SEAL)
	if errors.Is(err, unix.EINVAL) { // before 6.3 no file could be said to be none that is run
		fd, err = unix.MemfdCreate("linear memory", flags)
	}
	return fd, err
}

func writeAt(fd int, data []byte, at int) error {
	for len(data) > 0 {
		n, err := unix.Pwrite(fd, data, int64(at))
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return err
		}
		data, at = data[n:], at+n
	}
	return nil
}

func (f *file) granule(n int) []byte {
	if n >= len(f.zero) || f.zero[n] {
		return zeroGranule[:]
	}
	return f.view[n*granuleSize : (n+1)*granuleSize]
}

func (f *file) close() error {
	var errs []error
	if f.view != nil {
		errs = append(errs, unix.Munmap(f.view))
	}
	if f.fd >= 0 {
		errs = append(errs, unix.Close(f.fd))
	}
	if f.finder != nil {
		errs = append(errs, f.finder.close())
	}
	return errors.Join(errs...)
}
