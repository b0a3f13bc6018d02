package engine_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/weft-run/weft/host/wasm/engine"
	"github.com/weft-run/weft/internal/testneed"
	"github.com/weft-run/weft/internal/wat"
)

// cacheDir is a compile cache for the tests that need the Go guest, which takes seconds to compile.
var cacheDir string

func TestMain(m *testing.M) {
	var err error
	if cacheDir, err = os.MkdirTemp("", "engine-test"); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		_ = os.RemoveAll(cacheDir)
		os.Exit(code)
	}))
}

// fixture assembles testdata/<name>.wat.
func fixture(t testing.TB, name string) []byte {
	t.Helper()
	return wat.Assemble(t, filepath.Join("testdata", name+".wat"))
}

// newEngine returns an engine that is closed when the test is over.
func newEngine(t testing.TB, options engine.Options) *engine.Engine {
	t.Helper()
	e := engine.New(options)
	t.Cleanup(func() { require.NoError(t, e.Close(context.Background())) })
	return e
}

// load loads a fixture under its own name, in an engine of its own.
func load(t testing.TB, name string, spec engine.Spec) *engine.Module {
	t.Helper()
	return loadBytes(t, fixture(t, name), name, spec)
}

func loadBytes(t testing.TB, wasm []byte, name string, spec engine.Spec) *engine.Module {
	t.Helper()
	spec.Name = name
	if spec.Limits.Faults == 0 {
		spec.Limits.Faults = engine.Unlimited // Most tests have many calls fail.
	}
	m, err := newEngine(t, engine.Options{}).Load(t.Context(), wasm, spec)
	require.NoError(t, err)
	return m
}

// loadFails loads a fixture that must not load, and returns why.
func loadFails(t testing.TB, name string, spec engine.Spec) error {
	t.Helper()
	spec.Name = name
	m, err := newEngine(t, engine.Options{}).Load(t.Context(), fixture(t, name), spec)
	require.Error(t, err)
	require.Nil(t, m)
	return err
}

// call calls an export that must not fail.
func call(t testing.TB, m *engine.Module, export, input string) engine.Result {
	t.Helper()
	result, err := m.Call(t.Context(), engine.Call{Export: export, Input: []byte(input)})
	require.NoError(t, err)
	return result
}

// callFails calls an export that must fail, and returns how.
func callFails(t testing.TB, m *engine.Module, c engine.Call) error {
	t.Helper()
	_, err := m.Call(t.Context(), c)
	require.Error(t, err)
	return err
}

var goGuestOnce struct {
	sync.Once
	wasm []byte
	err  error
	text []byte
}

// goGuest builds testdata/go-guest, once for all tests.
func goGuest(t testing.TB) []byte {
	t.Helper()
	tool := testneed.Tool(t, "go", "https://go.dev/dl")
	g := &goGuestOnce
	g.Do(func() {
		dir, err := os.MkdirTemp("", "go-guest")
		if err != nil {
			g.err = err
			return
		}
		defer os.RemoveAll(dir)
		out := filepath.Join(dir, "guest.wasm")
		cmd := exec.Command(tool, "build", "-buildmode=c-shared", "-ldflags=-s -w", "-trimpath", "-o", out, ".")
		cmd.Dir = filepath.Join("testdata", "go-guest")
		cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "GOWORK=off", "GOFLAGS=")
		if g.text, g.err = cmd.CombinedOutput(); g.err == nil {
			g.wasm, g.err = os.ReadFile(out)
		}
	})
	require.NoError(t, g.err, "%s", g.text)
	return g.wasm
}
