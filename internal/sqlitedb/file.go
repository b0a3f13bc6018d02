package sqlitedb

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// makeFile makes sure that path names a regular file, and returns it as an absolute path. SQLite gives the files that it
// puts beside it the same permissions.
func makeFile(path, name string) (string, error) {
	if path == "" {
		return "", fmt.Errorf("%s: a path was wanted, and none is there", name)
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	// A file that is there is looked at and not opened: closing it would end the locks that this process has on it.
	switch f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600); {
	case err == nil:
		if err := f.Close(); err != nil {
			return "", fmt.Errorf("%s: %w", name, err)
		}
		return path, nil
	case !errors.Is(err, fs.ErrExist):
		return "", fmt.Errorf("%s: %w", name, err)
	}
	info, err := os.Stat(path)
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	if !info.Mode().IsRegular() {
		return "", fmt.Errorf("%s %s: a regular file was wanted, and %s is there", name, path, info.Mode().Type())
	}
	return path, nil
}
