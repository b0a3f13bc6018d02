package conformance_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/weft-run/weft/conformance"
)

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

// playAll plays every file, and each must pass.
func playAll(t *testing.T, way string, o conformance.Options) {
	var mu sync.Mutex
	passed, played, missing := 0, 0, 0
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
					missing++
					t.Errorf("it is not supported: %s", strings.Join(r.Missing, ", "))
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
	summarise(t, fmt.Sprintf("scenarios %s: %d passed, %d not supported", way, passed, missing))
}
