// Package regularfile reads files that somebody named: regular ones only, and no more of them than is wanted. A pipe or a
// device would block or never end.
package regularfile

import (
	"errors"
	"io"
	"os"
)

// ErrNotRegular is the error for anything that is no regular file.
var ErrNotRegular = errors.New("no regular file")

// Read reads at most limit bytes and one more, which tells a file that is too large; a negative limit reads everything.
func Read(path string, limit int64) ([]byte, error) {
	f, _, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if limit < 0 {
		return io.ReadAll(f)
	}
	return io.ReadAll(io.LimitReader(f, limit+1))
}

// Open opens a regular file for reading, and tells what the opened descriptor is of. It never waits for the other end of a
// pipe, not even of one that takes the file's place in this moment.
func Open(path string) (*os.File, os.FileInfo, error) {
	// What the path names is looked at before it is opened: to open a device can do something.
	info, err := os.Stat(path)
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, nil, notRegular(path)
	}
	f, err := os.OpenFile(path, os.O_RDONLY|NonBlock, 0)
	if err != nil {
		return nil, nil, err
	}
	if info, err = f.Stat(); err == nil && !info.Mode().IsRegular() {
		err = notRegular(path)
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

func notRegular(path string) error {
	return &os.PathError{Op: "read", Path: path, Err: ErrNotRegular}
}
