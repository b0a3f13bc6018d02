package engine_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host/wasm/engine"
)

func loadGo(t testing.TB, spec engine.Spec) *engine.Module {
	t.Helper()
	spec.Name = "guest"
	spec.Limits.Faults = engine.Unlimited
	m, err := newEngine(t, engine.Options{CacheDir: cacheDir}).Load(t.Context(), goGuest(t), spec)
	require.NoError(t, err)
	return m
}

func TestGoGuest(t *testing.T) {
	m := loadGo(t, engine.Spec{})
	require.True(t, m.Info().GoGuest)
	require.True(t, strings.HasPrefix(m.Info().Toolchain, "Go 1."), m.Info().Toolchain)

	for range 3 {
		result := call(t, m, "before_run", `{"messages":[{"text":"three words here"},{"text":"and two"}]}`)
		require.Equal(t, `{"words":5}`, string(result.Output))
		require.EqualValues(t, 1, call(t, m, "counts", "").Code, "a global of the guest is as it was")
	}
	require.Zero(t, m.Stats().Discarded, "small calls do not make the memory of a Go guest grow")
}

func TestGoGuestSharedKeepsItsState(t *testing.T) {
	m := loadGo(t, engine.Spec{Shared: true, Limits: engine.Limits{Instances: 1}})
	for n := range int32(3) {
		require.Equal(t, n+1, call(t, m, "counts", "").Code)
	}
}

func TestGoGuestInit(t *testing.T) {
	m := loadGo(t, engine.Spec{Init: &engine.Init{Export: "init_index"}})
	for range 3 {
		require.EqualValues(t, 77_777, call(t, m, "look_up", "key 77777").Code)
		callFails(t, m, engine.Call{Export: "panics"})
	}
	require.Equal(t, "new", call(t, m, "look_up", "key 1").Usage.Instance)
}

func TestGoGuestThatPanicsSaysWhy(t *testing.T) {
	m := loadGo(t, engine.Spec{})
	result, err := m.Call(t.Context(), engine.Call{Export: "panics"})
	require.ErrorIs(t, err, engine.ErrTrap)
	require.Contains(t, result.Printed, "panic: no such thing")
}

func TestGoGuestThatExhaustsItsMemory(t *testing.T) {
	m := loadGo(t, engine.Spec{Limits: engine.Limits{Memory: 16 << 20}})
	result, err := m.Call(t.Context(), engine.Call{Export: "exhausts", Timeout: time.Minute})
	require.ErrorIs(t, err, engine.ErrMemoryLimit, "%s", result.Printed)
	require.LessOrEqual(t, result.Usage.Memory, int64(16<<20))
	require.EqualValues(t, 1, call(t, m, "counts", "").Code)

	_, err = m.Call(t.Context(), engine.Call{Export: "recurses", Timeout: time.Minute})
	require.Error(t, err)
	require.EqualValues(t, 1, call(t, m, "counts", "").Code)
}

func TestGuestClockIsTheHosts(t *testing.T) {
	day := time.Date(2026, 11, 20, 8, 30, 0, 0, time.UTC)
	m := loadGo(t, engine.Spec{World: engine.World{Now: func() time.Time { return day }}})
	result := call(t, m, "clock", "")
	require.Zero(t, result.Code, "the monotonic clock goes on by itself")
	require.Equal(t, "2026-11-20T08:30:00Z 0 0", string(result.Output), "no arguments, no environment")
}

func TestMountsAreReadOnlyAndHaveNoWayOut(t *testing.T) {
	outside, docs := t.TempDir(), t.TempDir()
	secret := filepath.Join(outside, "secret.txt")
	require.NoError(t, os.WriteFile(secret, []byte("secret"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(docs, "a.txt"), []byte("a page"), 0o600))
	require.NoError(t, os.Mkdir(filepath.Join(docs, "sub"), 0o700))
	require.NoError(t, os.Symlink(secret, filepath.Join(docs, "absolute.txt")))
	require.NoError(t, os.Symlink("../"+filepath.Base(outside)+"/secret.txt", filepath.Join(docs, "relative.txt")))
	require.NoError(t, os.Symlink(outside, filepath.Join(docs, "folder")))
	require.NoError(t, os.Symlink("a.txt", filepath.Join(docs, "inside.txt")))
	pipe := makePipe(t, filepath.Join(docs, "pipe"))

	m := loadGo(t, engine.Spec{Mounts: []engine.Mount{{Host: docs, Guest: "/docs"}}})
	for _, path := range []string{"/docs/a.txt", "/docs/inside.txt", "/docs/sub/../a.txt"} {
		require.Equal(t, "a page", string(call(t, m, "read_file", path).Output))
	}
	denied := []string{
		"/docs/absolute.txt", "/docs/relative.txt", "/docs/folder/secret.txt", "/docs/../secret.txt", secret,
		"/etc/passwd", "/docs/../../../../../../etc/passwd", "/docs/sub",
	}
	if pipe {
		denied = append(denied, "/docs/pipe")
	}
	for _, path := range denied {
		result := call(t, m, "read_file", path)
		require.EqualValues(t, 1, result.Code, path)
		require.NotContains(t, string(result.Output), "secret\n")
	}
	for _, path := range []string{"/docs/a.txt", "/docs/new.txt"} {
		require.EqualValues(t, 1, call(t, m, "write_file", path).Code, path)
	}
	text, err := os.ReadFile(filepath.Join(docs, "a.txt"))
	require.NoError(t, err)
	require.Equal(t, "a page", string(text))
	require.NoFileExists(t, filepath.Join(docs, "new.txt"))
}

func TestInstanceThatKeepsAFileOpenIsDiscarded(t *testing.T) {
	docs := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(docs, "a.txt"), []byte("a page"), 0o600))
	m := loadGo(t, engine.Spec{Mounts: []engine.Mount{{Host: docs, Guest: "/docs"}}})
	before := m.Stats().Discarded
	require.EqualValues(t, 1, call(t, m, "opens_and_keeps", "/docs/a.txt").Code)
	require.EqualValues(t, 1, call(t, m, "opens_and_keeps", "/docs/a.txt").Code)
	require.Equal(t, before+2, m.Stats().Discarded)
	call(t, m, "read_file", "/docs/a.txt")
	require.Equal(t, before+2, m.Stats().Discarded, "a file that was closed again is no state")
}

func BenchmarkGoGuest(b *testing.B) {
	var text strings.Builder
	for range 300 {
		text.WriteString("word ")
	}
	input, err := json.Marshal(map[string]any{"messages": []map[string]string{{"text": text.String()}}})
	require.NoError(b, err)
	for _, shared := range []bool{false, true} {
		name := map[bool]string{false: "clean", true: "shared"}[shared]
		m := loadGo(b, engine.Spec{Shared: shared})
		for _, export := range []string{"nothing", "before_run"} {
			b.Run(name+"/"+export, func(b *testing.B) {
				for b.Loop() {
					if _, err := m.Call(b.Context(), engine.Call{Export: export, Input: input}); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(m.Stats().Discarded), "discarded")
			})
		}
	}
}

func BenchmarkLoadGoGuest(b *testing.B) {
	wasm := goGuest(b)
	for _, kind := range []string{"cold", "warm"} {
		b.Run(kind, func(b *testing.B) {
			dir := b.TempDir()
			once := func() {
				e := engine.New(engine.Options{CacheDir: dir})
				_, err := e.Load(b.Context(), wasm, engine.Spec{Name: "guest"})
				require.NoError(b, err)
				require.NoError(b, e.Close(b.Context()))
			}
			once()
			for b.Loop() {
				if kind == "cold" {
					dir = b.TempDir()
				}
				once()
			}
		})
	}
}

func BenchmarkEcho(b *testing.B) {
	for _, shared := range []bool{false, true} {
		m := load(b, "echoes", engine.Spec{Shared: shared})
		for _, export := range []string{"seven", "echo", "copy"} {
			b.Run(map[bool]string{false: "clean", true: "shared"}[shared]+"/"+export, func(b *testing.B) {
				input := make([]byte, 1024)
				b.ReportAllocs()
				for b.Loop() {
					if _, err := m.Call(b.Context(), engine.Call{Export: export, Input: input}); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
