//go:build unix

package regularfile

import (
	"errors"
	"path/filepath"
	"syscall"
	"testing"
)

func TestAPipeIsRefusedWithoutWaitingForItsWriter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(path, -1); !errors.Is(err, ErrNotRegular) {
		t.Errorf("read: %v", err)
	}
	if _, _, err := Open(path); !errors.Is(err, ErrNotRegular) {
		t.Errorf("open: %v", err)
	}
}
