// Package plugins holds the test that plays the shipped plugins' golden files on what is really shipped: the modules.
// Each plugin's own tests play the same files natively.
package plugins

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host/wasm/engine"
)

func TestGoldenFilesOnTheModules(t *testing.T) {
	e := sandbox(t)
	for _, plugin := range []string{"clock", "preferences", "docs", "guard", "cache", "summary", "memory", "web-search", "azure-ai-search", "mem0"} {
		module := module(t, plugin)
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
	asked := &exchanges{t: t}
	m, err := e.Load(t.Context(), module, engine.Spec{
		Functions: hostFunctions(t, module, asked), HTTP: asked,
		Name: plugin, Shared: true, Limits: engine.Limits{Instances: 1}, Mounts: mounts(t, plugin), World: engine.World{Now: now},
	})
	require.NoError(t, err)
	defer func() { require.NoError(t, m.Close(context.Background())) }()

	for left := archive.Files; len(left) > 0; {
		hook, kind, _ := strings.Cut(left[0].Name, "/")
		require.Equal(t, "in.json", kind)
		end := slices.IndexFunc(left, func(f txtar.File) bool { return f.Name == hook+"/out.json" })
		require.Positive(t, end, "%s/in.json has no output", hook)
		asked.left = left[1:end]
		result, err := m.Call(t.Context(), engine.Call{Export: hook, Input: left[0].Data})
		require.NoError(t, err)
		require.Zero(t, result.Code, result.Error)
		require.Equal(t, compact(t, left[end].Data), compact(t, result.Output), "%s\n%s", hook, left[0].Data)
		require.Empty(t, asked.left, "%s did not ask for all of this", hook)
		left = left[end+1:]
	}
}

// hostFunctions are those that a module imports, as a golden file answers them.
func hostFunctions(t *testing.T, module []byte, asked *exchanges) map[string]engine.Function {
	info, err := engine.Inspect(module)
	require.NoError(t, err)
	all := map[string]engine.Function{}
	for _, i := range info.Imports {
		if i.Module == "extism:host/user" {
			all[i.Name] = asked.function(i.Name)
		}
	}
	return all
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
