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
	// What the path names is looked at before it is opened: opening a pipe waits for whoever writes to it.
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &os.PathError{Op: "read", Path: path, Err: ErrNotRegular}
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if limit < 0 {
		return io.ReadAll(f)
	}
	return io.ReadAll(io.LimitReader(f, limit+1))
}
