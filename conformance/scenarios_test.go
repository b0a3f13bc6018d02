package conformance_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/weft-run/weft/conformance"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// scenarioFiles are all scenarios of the project: the recorded ones, and ours.
func scenarioFiles(t testing.TB) []string {
	t.Helper()
	recorded, err := filepath.Glob(filepath.Join("scenarios", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	extra, err := filepath.Glob(filepath.Join("scenarios-extra", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	if len(recorded) == 0 || len(extra) == 0 {
		t.Fatalf("%d recorded scenarios and %d others: one of the folders is empty", len(recorded), len(extra))
	}
	return append(recorded, extra...)
}

func TestScenariosNative(t *testing.T) {
	playAll(t, "native", conformance.Options{})
}

func TestScenariosWithPlugins(t *testing.T) {
	playAll(t, "wasm", withPlugins(t))
}

// playAll plays every file. Each must pass, or lack exactly what the golden file lists: nothing becomes unsupported, or
// supported, unnoticed.
func playAll(t *testing.T, way string, o conformance.Options) {
	var mu sync.Mutex
	passed, played, missing := 0, 0, []string(nil)
	files := scenarioFiles(t)
	t.Run("files", func(t *testing.T) {
		for _, file := range files {
			t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
				t.Parallel()
				s, err := conformance.Load(file)
				if err != nil {
					t.Fatal(err)
				}
				if s.Name+".json" != filepath.Base(file) {
					t.Errorf("its name is %q, unlike that of the file", s.Name)
				}
				r := conformance.Play(t.Context(), s, o)
				mu.Lock()
				defer mu.Unlock()
				played++
				switch r.Status {
				case conformance.Pass:
					passed++
				case conformance.Unsupported:
					missing = append(missing, filepath.ToSlash(file)+": "+strings.Join(r.Missing, ", "))
				default:
					for _, d := range r.Differences {
						t.Error(d)
					}
				}
			})
		}
	})
	if played < len(files) {
		return // -run chose some of them
	}
	slices.Sort(missing)
	summarise(t, fmt.Sprintf("scenarios %s: %d passed, %d not supported", way, passed, len(missing)))
	golden(t, "not-supported-"+way+".txt", strings.Join(missing, "\n")+"\n")
}

// golden compares text with a file in testdata, or writes that with -update.
func golden(t *testing.T, name, have string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(have), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) == have {
		return
	}
	wanted, seen := strings.Split(string(want), "\n"), strings.Split(have, "\n")
	for _, line := range wanted {
		if !slices.Contains(seen, line) {
			t.Errorf("%s has a line that is not so: %s", path, line)
		}
	}
	for _, line := range seen {
		if !slices.Contains(wanted, line) {
			t.Errorf("%s lacks a line: %s", path, line)
		}
	}
	t.Log("where that is meant, write the file anew with -update")
}
