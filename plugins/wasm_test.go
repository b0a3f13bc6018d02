// Package plugins holds the test that plays the shipped plugins' golden files on what is really shipped: the modules.
// Each plugin's own tests play the same files natively.
package plugins

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host/wasm/engine"
)

func TestGoldenFilesOnTheModules(t *testing.T) {
	e := engine.New(engine.Options{CacheDir: t.TempDir(), Logger: slog.New(slog.DiscardHandler)})
	t.Cleanup(func() { require.NoError(t, e.Close(context.Background())) })
	for _, plugin := range []string{"clock", "preferences", "docs"} {
		module := build(t, plugin)
		files, err := filepath.Glob(filepath.Join(plugin, "testdata", "*.txtar"))
		require.NoError(t, err)
		require.NotEmpty(t, files)
		for _, file := range files {
			t.Run(plugin+"/"+filepath.Base(file), func(t *testing.T) { play(t, e, plugin, module, file) })
		}
	}
}

// play makes the calls of one file in order, on one instance, and compares the outputs.
func play(t *testing.T, e *engine.Engine, plugin string, module []byte, file string) {
	archive, err := txtar.ParseFile(file)
	require.NoError(t, err)
	now := time.Now
	for line := range strings.Lines(string(archive.Comment)) {
		if text, ok := strings.CutPrefix(strings.TrimSpace(line), "clock: "); ok {
			at, err := time.Parse(time.RFC3339, text)
			require.NoError(t, err)
			now = func() time.Time { return at }
		}
	}
	m, err := e.Load(t.Context(), module, engine.Spec{
		Name: plugin, Shared: true, Limits: engine.Limits{Instances: 1}, Mounts: mounts(t, plugin), World: engine.World{Now: now},
	})
	require.NoError(t, err)
	defer func() { require.NoError(t, m.Close(context.Background())) }()

	for i := 0; i+1 < len(archive.Files); i += 2 {
		hook, kind, _ := strings.Cut(archive.Files[i].Name, "/")
		require.Equal(t, "in.json", kind)
		require.Equal(t, hook+"/out.json", archive.Files[i+1].Name)
		result, err := m.Call(t.Context(), engine.Call{Export: hook, Input: archive.Files[i].Data})
		require.NoError(t, err)
		require.Zero(t, result.Code, result.Error)
		require.Equal(t, compact(t, archive.Files[i+1].Data), compact(t, result.Output), "%s, call %d", hook, i/2+1)
	}
}

// mounts are the folders below testdata/mount, each at its own name.
func mounts(t *testing.T, plugin string) []engine.Mount {
	folders, err := filepath.Glob(filepath.Join(plugin, "testdata", "mount", "*"))
	require.NoError(t, err)
	out := make([]engine.Mount, len(folders))
	for i, f := range folders {
		out[i] = engine.Mount{Host: f, Guest: "/" + filepath.Base(f)}
	}
	return out
}

func build(t *testing.T, plugin string) []byte {
	t.Helper()
	out := filepath.Join(t.TempDir(), plugin+".wasm")
	cmd := exec.Command("go", "build", "-buildmode=c-shared", "-ldflags=-s -w", "-trimpath", "-o", out, ".")
	cmd.Dir = plugin
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm")
	text, err := cmd.CombinedOutput()
	require.NoError(t, err, string(text))
	module, err := os.ReadFile(out)
	require.NoError(t, err)
	return module
}

func compact(t *testing.T, text []byte) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, json.Compact(&b, text))
	return b.String()
}
