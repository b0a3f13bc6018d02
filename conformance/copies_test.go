package conformance_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// Where the recorded scenarios lie beside the project as well, the copies here must be the same.
func TestCopiesAreWhatLiesBesideTheProject(t *testing.T) {
	beside := filepath.Join("..", "..", "shared", "scenarios")
	entries, err := os.ReadDir(beside)
	if err != nil {
		return // they do not lie there, and need not
	}
	theirs := map[string]bool{}
	for _, e := range entries {
		theirs[e.Name()] = true
		want, err := os.ReadFile(filepath.Join(beside, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		have, err := os.ReadFile(filepath.Join("scenarios", e.Name()))
		if err != nil {
			t.Errorf("%s lies beside the project and has no copy in scenarios: %v", e.Name(), err)
			continue
		}
		if !bytes.Equal(want, have) {
			t.Errorf("scenarios/%s differs from the file beside the project", e.Name())
		}
	}
	own, err := os.ReadDir("scenarios")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range own {
		if !theirs[e.Name()] {
			t.Errorf("scenarios/%s does not lie beside the project: files of our own belong into scenarios-extra", e.Name())
		}
	}
}
