package regularfile

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestRead(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	if err := os.WriteFile(path, []byte("12345"), 0o600); err != nil {
		t.Fatal(err)
	}
	for limit, want := range map[int64]string{-1: "12345", 3: "1234", 5: "12345", 9: "12345"} {
		got, err := Read(path, limit)
		if err != nil || string(got) != want {
			t.Errorf("limit %d: %q, %v; want %q", limit, got, err, want)
		}
	}
	if _, err := Read(dir, -1); !errors.Is(err, ErrNotRegular) {
		t.Errorf("a folder: %v", err)
	}
	if _, err := Read(filepath.Join(dir, "missing"), -1); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("nothing there: %v", err)
	}
}
