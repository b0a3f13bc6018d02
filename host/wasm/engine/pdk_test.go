package engine_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host/wasm/engine"
)

// pdkGuest is a guest of testdata/pdk: written with one of Extism's PDKs, all to the same effect.
type pdkGuest struct {
	// name is what scripts/pdk-guests calls it, folder where its sources are.
	name, folder string
	// levels are those at which the host gets its lines.
	levels []string
}

var pdkGuests = []pdkGuest{
	// The first is its trace: version 1.1.3 of the PDK has log_error as the import of both.
	{"go", "go", []string{"error", "debug", "info", "warn", "error"}},
	{"rust", "rust", []string{"trace", "debug", "info", "warn", "error"}},
	{"rust-wasip1", "rust", []string{"trace", "debug", "info", "warn", "error"}},
	{"assemblyscript", "assemblyscript", []string{"debug", "info", "warn", "error"}},
}

// module returns the guest as scripts/pdk-guests built it. Without it the test is skipped, or fails if CI=true.
func (g pdkGuest) module(t *testing.T) []byte {
	t.Helper()
	missing := t.Skipf
	if os.Getenv("CI") == "true" {
		missing = t.Fatalf
	}
	path := filepath.Join("..", "..", "..", "bin", "guests", "pdk-"+g.name+".wasm")
	built, err := os.Stat(path)
	if err != nil {
		missing("needs the guest %s, which is not built (scripts/pdk-guests %[1]s)", g.name)
	}
	require.NoError(t, filepath.WalkDir(filepath.Join("testdata", "pdk", g.folder), func(source string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if err == nil && info.ModTime().After(built.ModTime()) {
			missing("needs the guest %s, which is older than %s (scripts/pdk-guests %[1]s)", g.name, source)
		}
		return err
	}))
	wasm, err := os.ReadFile(path)
	require.NoError(t, err)
	return wasm
}

// eachPDK runs a test for every guest, loaded with spec.
func eachPDK(t *testing.T, spec engine.Spec, test func(*testing.T, pdkGuest, *engine.Module)) {
	for _, g := range pdkGuests {
		t.Run(g.name, func(t *testing.T) {
			spec.Name = g.name
			m, err := newEngine(t, engine.Options{CacheDir: cacheDir}).Load(t.Context(), g.module(t), spec)
			require.NoError(t, err)
			test(t, g, m)
		})
	}
}

func TestPDKInputAndOutput(t *testing.T) {
	spec := engine.Spec{Limits: engine.Limits{Output: 2 << 20}}
	eachPDK(t, spec, func(t *testing.T, _ pdkGuest, m *engine.Module) {
		for _, size := range []int{0, 1, 7, 8, 9, 63, 64, 65, 1000, 65_535, 65_536, 65_537, 1 << 20} {
			input := bytes.Repeat([]byte("\x00\x01\xfe\xffabcdefg"), size/11+1)[:size]
			result, err := m.Call(t.Context(), engine.Call{Export: "echo", Input: input, Timeout: time.Minute})
			require.NoError(t, err)
			require.Zero(t, result.Code)
			require.True(t, bytes.Equal(input, result.Output), "%d bytes", size)
		}
		text := strings.Repeat("Über die Höhe, 世界. ", 500)
		require.True(t, strings.ToUpper(text) == string(call(t, m, "shout", text).Output))
	})
}

func TestPDKConfig(t *testing.T) {
	eachPDK(t, engine.Spec{}, func(t *testing.T, _ pdkGuest, m *engine.Module) {
		require.Equal(t, "hello, Ada", string(call(t, m, "greet", "Ada").Output))
	})
	spec := engine.Spec{Config: map[string]string{"greeting": "good day", "other": "x"}}
	eachPDK(t, spec, func(t *testing.T, _ pdkGuest, m *engine.Module) {
		require.Equal(t, "good day, Ada", string(call(t, m, "greet", "Ada").Output))
	})
}

func TestPDKVars(t *testing.T) {
	eachPDK(t, engine.Spec{}, func(t *testing.T, _ pdkGuest, m *engine.Module) {
		for range 3 {
			require.Equal(t, "1", string(call(t, m, "count", "").Output), "each call has its own")
			require.Equal(t, "forgotten", string(call(t, m, "forget", "").Output))
		}
	})
	spec := engine.Spec{Shared: true, Limits: engine.Limits{Instances: 1}}
	eachPDK(t, spec, func(t *testing.T, _ pdkGuest, m *engine.Module) {
		for _, want := range []string{"1", "2", "3"} {
			require.Equal(t, want, string(call(t, m, "count", "").Output))
		}
	})
}

func TestPDKLogs(t *testing.T) {
	eachPDK(t, engine.Spec{}, func(t *testing.T, g pdkGuest, m *engine.Module) {
		lines, usage := logged(t, m, "logs", "something to say")
		var want []line
		for _, level := range g.levels {
			want = append(want, line{level, "something to say"})
		}
		require.Equal(t, want, lines)
		require.Equal(t, len(want), usage.LogLines)
		require.Zero(t, call(t, m, "logs", "nobody listens").Code)
	})
}

func TestPDKErrors(t *testing.T) {
	eachPDK(t, engine.Spec{}, func(t *testing.T, g pdkGuest, m *engine.Module) {
		result := call(t, m, "fails", "that")
		require.EqualValues(t, 3, result.Code)
		require.Equal(t, "cannot do that", result.Error)
		require.Empty(t, result.Output)

		err := callFails(t, m, engine.Call{Export: "panics"})
		require.ErrorIs(t, err, engine.ErrTrap)
		require.EqualError(t, err, g.name+": panics trapped: unreachable")
		require.Equal(t, "still there", string(call(t, m, "echo", "still there").Output))
	})
}

func TestPDKHTTPIsNotGranted(t *testing.T) {
	eachPDK(t, engine.Spec{}, func(t *testing.T, g pdkGuest, m *engine.Module) {
		err := callFails(t, m, engine.Call{Export: "fetch", Input: []byte("https://example.com/")})
		require.ErrorIs(t, err, engine.ErrTrap)
		require.EqualError(t, err, g.name+": fetch trapped: http_request: this host sends no HTTP requests for its plugins")
	})
}
