package engine

import (
	"bytes"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func writeFile(path, text string) error { return os.WriteFile(path, []byte(text), 0o600) }

const counting = `(module (memory 1) (global $n (mut i32) (i32.const 0))
	(func (export "f") (result i32) (global.set $n (i32.add (global.get $n) (i32.const 1))) (global.get $n)))`

// loadCached loads a module with a cache in dir, calls it, and returns what was logged.
func loadCached(t *testing.T, dir string, wasm []byte) string {
	t.Helper()
	var log bytes.Buffer
	e := New(Options{CacheDir: dir, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	for range 2 {
		m, err := e.Load(t.Context(), wasm, Spec{Name: "counting"})
		require.NoError(t, err)
		result, err := m.Call(t.Context(), Call{Export: "f"})
		require.NoError(t, err)
		require.EqualValues(t, 1, result.Code)
	}
	require.NoError(t, e.Close(t.Context()))
	return log.String()
}

func TestRuntimeVersionIsThatOfGoMod(t *testing.T) {
	text, err := os.ReadFile("../../../go.mod")
	require.NoError(t, err)
	require.Contains(t, string(text), "github.com/tetratelabs/wazero "+runtimeVersion)
}

// cachedFiles returns the files in a cache with their content.
func cachedFiles(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		files[path] = string(text)
		return err
	}))
	return files
}

func TestCompiledCodeIsKept(t *testing.T) {
	wasm := assemble(t, counting)
	dir := filepath.Join(t.TempDir(), "cache")
	require.Empty(t, loadCached(t, dir, wasm))
	info, err := os.Stat(dir)
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o700), info.Mode().Perm())
	files := cachedFiles(t, dir)
	require.Len(t, files, 3, "the code of module and kernel, and the seal, and nothing aside")
	times := map[string]os.FileInfo{}
	for path := range files {
		require.Contains(t, path, engineVersion())
		times[path], err = os.Stat(path)
		require.NoError(t, err)
	}

	require.Empty(t, loadCached(t, dir, wasm))
	require.Equal(t, files, cachedFiles(t, dir))
	for path, was := range times {
		is, err := os.Stat(path)
		require.NoError(t, err)
		require.True(t, os.SameFile(was, is), "used as it was")
	}
}

func TestCacheEntryThatDoesNotFitItsSealIsRebuilt(t *testing.T) {
	wasm := assemble(t, counting)
	for name, spoil := range map[string]func(t *testing.T, code, seal string){
		"code changed": func(t *testing.T, code, _ string) {
			text, err := os.ReadFile(code)
			require.NoError(t, err)
			text[len(text)/2] ^= 0xff
			require.NoError(t, os.WriteFile(code, text, 0o600))
		},
		"code cut":    func(t *testing.T, code, _ string) { require.NoError(t, os.Truncate(code, 10)) },
		"code gone":   func(t *testing.T, code, _ string) { require.NoError(t, os.Remove(code)) },
		"seal gone":   func(t *testing.T, _, seal string) { require.NoError(t, os.Remove(seal)) },
		"seal broken": func(t *testing.T, _, seal string) { require.NoError(t, writeFile(seal, "{")) },
		"seal of another": func(t *testing.T, _, seal string) {
			require.NoError(t, writeFile(seal, `{"digest":"00","files":{}}`))
		},
		"file too many": func(t *testing.T, code, _ string) { require.NoError(t, writeFile(code+"x", "x")) },
		"code is a link": func(t *testing.T, code, _ string) {
			moved := filepath.Join(t.TempDir(), "moved")
			require.NoError(t, os.Rename(code, moved))
			require.NoError(t, os.Symlink(moved, code))
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			require.NoError(t, os.Chmod(dir, 0o700))
			require.Empty(t, loadCached(t, dir, wasm))
			good := cachedFiles(t, dir)
			var code, seal string
			for path := range good {
				if filepath.Base(path) == sealFile {
					seal = path
				} else {
					code = path
				}
			}
			spoil(t, code, seal)
			log := loadCached(t, dir, wasm)
			require.Equal(t, 1, strings.Count(log, "compile cache entry removed"), log)
			require.Equal(t, good, cachedFiles(t, dir), "built again, the same")
			require.Empty(t, loadCached(t, dir, wasm))
		})
	}
}

func TestCacheFolderThatIsNotOursAloneIsNotUsed(t *testing.T) {
	wasm := assemble(t, counting)
	for name, prepare := range map[string]func(t *testing.T, dir string){
		"writable by others": func(t *testing.T, dir string) {
			require.NoError(t, os.Mkdir(dir, 0o700))
			require.NoError(t, os.Chmod(dir, 0o777))
		},
		"writable by the group": func(t *testing.T, dir string) {
			require.NoError(t, os.Mkdir(dir, 0o700))
			require.NoError(t, os.Chmod(dir, 0o770))
		},
		"symbolic link": func(t *testing.T, dir string) { require.NoError(t, os.Symlink(t.TempDir(), dir)) },
		"file":          func(t *testing.T, dir string) { require.NoError(t, writeFile(dir, "")) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "cache")
			prepare(t, dir)
			log := loadCached(t, dir, wasm)
			require.Equal(t, 1, strings.Count(log, "compile cache not used"), "one warning: %s", log)
			entries, err := filepath.Glob(filepath.Join(dir, "*"))
			require.NoError(t, err)
			require.Empty(t, entries)
		})
	}
}

func TestWhatDeadProcessesLeftAsideIsRemoved(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Chmod(dir, 0o700))
	old, young := filepath.Join(dir, engineVersion(), ".new-1"), filepath.Join(dir, engineVersion(), ".new-2")
	require.NoError(t, os.MkdirAll(old, 0o700))
	require.NoError(t, os.MkdirAll(young, 0o700))
	past := time.Now().Add(-48 * time.Hour)
	require.NoError(t, os.Chtimes(old, past, past))
	require.True(t, newDiskCache(dir, "", slog.New(slog.DiscardHandler)).usable())
	require.NoDirExists(t, old)
	require.DirExists(t, young)
}

func TestCacheThatCannotBeWrittenIsDoneWithout(t *testing.T) {
	wasm := assemble(t, counting)
	dir := t.TempDir()
	require.NoError(t, os.Chmod(dir, 0o700))
	// A file where the folder of an entry would be made: the way fails for any user, root included.
	require.NoError(t, os.Mkdir(filepath.Join(dir, engineVersion()), 0o700))
	var log bytes.Buffer
	e := New(Options{CacheDir: dir, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	require.True(t, e.cache.usable())
	require.NoError(t, os.Remove(filepath.Join(dir, engineVersion())))
	require.NoError(t, writeFile(filepath.Join(dir, engineVersion()), ""))
	m, err := e.Load(t.Context(), wasm, Spec{Name: "counting"})
	require.NoError(t, err)
	result, err := m.Call(t.Context(), Call{Export: "f"})
	require.NoError(t, err)
	require.EqualValues(t, 1, result.Code)
	require.NoError(t, e.Close(t.Context()))
	require.Contains(t, log.String(), "compile cache")
}
