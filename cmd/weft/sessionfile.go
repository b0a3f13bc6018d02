package main

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/weft-run/weft/host"
)

// sessionFile keeps a session between starts. The file is replaced as a whole after each answer, so that it is always
// one whole session, and never over somebody else's change.
type sessionFile struct {
	path string
	// known is the digest of what was last read or written; zero where there was no file.
	known [sha256.Size]byte
}

// openSession reads the session in a file; a file that is not there stands for a new one.
func openSession(path string) (*sessionFile, *host.Session, error) {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target // what is replaced is the file and not the link to it
	}
	f := &sessionFile{path: path}
	data, err := f.read()
	switch {
	case err != nil:
		return nil, nil, err
	case data == nil:
		if info, err := os.Stat(filepath.Dir(path)); err != nil || !info.IsDir() {
			return nil, nil, fmt.Errorf("session %s: there is no folder %s to keep it in", path, filepath.Dir(path))
		}
		return f, host.NewSession(""), nil
	}
	session, err := host.RestoreSession(data)
	if err != nil {
		return nil, nil, fmt.Errorf("session %s (the file is left as it is): %w", path, err)
	}
	f.known = sha256.Sum256(data)
	return f, session, nil
}

// read returns the bytes of the file; nil where there is none.
func (f *sessionFile) read() ([]byte, error) {
	info, err := os.Stat(f.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("session %w", err)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("session %s is no regular file", f.path)
	}
	data, err := os.ReadFile(f.path)
	if err != nil {
		return nil, fmt.Errorf("session %w", err)
	}
	if data == nil {
		data = []byte{}
	}
	return data, nil
}

// save writes the session, unless the file changed since it was last read or written.
func (f *sessionFile) save(s *host.Session) error {
	data, err := s.MarshalJSON()
	if err != nil {
		return fmt.Errorf("session %s cannot be written as JSON: %w", f.path, err)
	}
	data = append(data, '\n')
	there, err := f.read()
	if err != nil {
		return err
	}
	digest := [sha256.Size]byte{}
	if there != nil {
		digest = sha256.Sum256(there)
	}
	if digest != f.known {
		return fmt.Errorf("session %s was changed by somebody else meanwhile; this answer is not in it: use one file for each conversation", f.path)
	}
	if bytes.Equal(there, data) {
		return nil
	}
	if err := replaceFile(f.path, data); err != nil {
		return fmt.Errorf("session %s could not be kept: %w", f.path, err)
	}
	f.known = sha256.Sum256(data)
	return nil
}

// replaceFile puts a new file in the place of an old one, whole or not at all, readable by its owner alone.
func replaceFile(path string, data []byte) (err error) {
	dir := filepath.Dir(path)
	temp, err := os.CreateTemp(dir, "."+filepath.Base(path)+".*") // made with mode 0600
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = temp.Close()
			_ = os.Remove(temp.Name())
		}
	}()
	if _, err := temp.Write(data); err != nil {
		return err
	}
	if err := temp.Sync(); err != nil {
		return err
	}
	if err := temp.Close(); err != nil {
		return err
	}
	if err := os.Rename(temp.Name(), path); err != nil {
		return err
	}
	syncFolder(dir)
	return nil
}

// syncFolder makes a rename last where the system can; the file itself is written in any case.
func syncFolder(dir string) {
	d, err := os.Open(dir)
	if err != nil {
		return
	}
	defer d.Close()
	_ = d.Sync()
}
