package engine_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host/wasm/engine"
)

func TestLoadNamesAllFaultsAtOnce(t *testing.T) {
	err := loadFails(t, "unknown-import", engine.Spec{
		Init:   &engine.Init{Export: "before_run"},
		Mounts: []engine.Mount{{Host: filepath.Join(t.TempDir(), "gone"), Guest: "/docs"}, {Host: ".", Guest: "docs"}},
	})
	var load *engine.LoadError
	require.ErrorAs(t, err, &load)
	require.Equal(t, "unknown-import", load.Name)
	var what []string
	for _, f := range load.Faults {
		what = append(what, f.What)
		require.NotEmpty(t, f.Remedy, f.What)
	}
	require.Len(t, what, 8)
	require.Equal(t, []string{
		"unknown import env.abort",
		"unknown import wasi:cli/environment@0.2.0.get-environment",
		"import extism:host/env.alloc",
		"host function extism:host/user.kv_get",
		"unknown import wasi_snapshot_preview1.fd_teleport",
		"import env.memory",
	}, what[:6])
	require.Contains(t, what[6], "gone at /docs")
	require.Contains(t, err.Error(), "unknown-import: 8 faults\n\t")
	require.Contains(t, err.Error(), "import extism:host/env.alloc: func (i32) -> i32, want func (i64) -> i64: ")
}

func TestLoadRefusesWhatIsNoCoreModule(t *testing.T) {
	head := "\x00asm\x01\x00\x00\x00"
	for name, test := range map[string]struct{ wasm, want string }{
		"empty":       {"", "the file is empty"},
		"page":        {"\n <!DOCTYPE html><html>", "looks like an HTML page"},
		"gzip":        {"\x1f\x8b\x08\x00", "looks like gzip"},
		"zip":         {"PK\x03\x04", "looks like a zip archive"},
		"program":     {"\x7fELF\x02", "looks like a native program"},
		"wat":         {"(module)", "looks like WebAssembly text"},
		"text":        {"hello, world\n", "looks like text"},
		"bytes":       {"\x01\x02\x03\x04\x05", "begins with 01 02 03 04"},
		"short":       {"\x00asm\x01", "cut short"},
		"component":   {"\x00asm\x0d\x00\x01\x00\x00", "component model not supported"},
		"version":     {"\x00asm\x02\x00\x00\x00", "WebAssembly version: 2, want 1"},
		"section":     {head + "\x01\xff\xff\xff\x7f", "malformed module"},
		"endless":     {head + "\x01\x80\x80\x80\x80\x80\x80", "malformed module"},
		"id":          {head + "\x63\x00", "unknown section id 99"},
		"order":       {head + "\x03\x01\x00\x01\x01\x00", "twice or out of order"},
		"twice":       {head + "\x01\x01\x00\x01\x01\x00", "twice or out of order"},
		"count":       {head + "\x01\x05\xff\xff\xff\xff\x0f", "claims 4,294,967,295 elements"},
		"type":        {head + "\x01\x03\x01\x60\x05", "malformed type section"},
		"gc":          {head + "\x01\x03\x01\x5f\x00", "garbage-collected types not supported"},
		"memory64":    {head + "\x05\x03\x01\x04\x01", "memory64 not supported"},
		"threads":     {head + "\x05\x04\x01\x03\x01\x02", "threads (shared memory) not supported"},
		"memories":    {head + "\x05\x05\x02\x00\x01\x00\x01", "more than one memory not supported"},
		"exceptions":  {head + "\x0d\x03\x01\x00\x00", "exception handling not supported"},
		"bodies":      {head + "\x01\x04\x01\x60\x00\x00\x03\x02\x01\x00", "0 bodies for 1 functions"},
		"atomics":     {head + "\x01\x04\x01\x60\x00\x00\x03\x02\x01\x00\x0a\x07\x01\x05\x00\xfe\x03\x00\x0b", "threads"},
		"instruction": {head + "\x01\x04\x01\x60\x00\x00\x03\x02\x01\x00\x0a\x05\x01\x03\x00\xff\x0b", "unknown instruction 0xff"},
		"invalid":     {head + "\x01\x04\x01\x60\x00\x00\x03\x02\x01\x00\x0a\x05\x01\x03\x00\x6a\x0b", "invalid module"},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := newEngine(t, engine.Options{}).Load(t.Context(), []byte(test.wasm), engine.Spec{Name: "clock"})
			require.Nil(t, m)
			require.ErrorContains(t, err, "clock: ")
			require.ErrorContains(t, err, test.want)
			var load *engine.LoadError
			require.ErrorAs(t, err, &load)
		})
	}
}

func TestModuleThatIsTooLargeIsNotRead(t *testing.T) {
	e := newEngine(t, engine.Options{})
	_, err := e.Load(t.Context(), make([]byte, 33<<20), engine.Spec{Name: "big"})
	require.ErrorIs(t, err, engine.ErrModuleTooLarge)
	require.EqualError(t, err, "big: module: 33 MiB, want at most 32 MiB: "+
		"build it without debug information, or raise limits.module")

	// A custom section of 11 MiB: fine for a Go guest, and this is none.
	wasm := append([]byte("\x00asm\x01\x00\x00\x00\x00\x80\x80\xc0\x05\x01x"), make([]byte, 11<<20-2)...)
	_, err = e.Load(t.Context(), wasm, engine.Spec{Name: "big"})
	require.ErrorIs(t, err, engine.ErrModuleTooLarge)
	require.ErrorContains(t, err, "want at most 10 MiB")
	m, err := e.Load(t.Context(), wasm, engine.Spec{Name: "big", Limits: engine.Limits{Module: engine.Unlimited}})
	require.NoError(t, err)
	require.Equal(t, len(wasm), m.Info().Size)
}

func TestMinimumMemoryAboveTheLimit(t *testing.T) {
	err := loadFails(t, "minimum-memory-too-large", engine.Spec{})
	require.ErrorIs(t, err, engine.ErrMemoryLimit)
	require.EqualError(t, err, "minimum-memory-too-large: minimum memory: 62.5 MiB, want at most 32 MiB: "+
		"build it with a smaller stack and smaller static data, or raise limits.memory")
	load(t, "minimum-memory-too-large", engine.Spec{Limits: engine.Limits{Memory: 64 << 20}})
}

func TestBombsForTheCompiler(t *testing.T) {
	for name, test := range map[string]struct {
		limits engine.Limits
		want   string
	}{
		"functions": {engine.Limits{Functions: 2}, "functions: 4, want at most 2"},
		"body":      {engine.Limits{Body: 10}, "want at most 10 bytes"},
		"locals":    {engine.Limits{Locals: 2}, "locals: 3, want at most 2"},
	} {
		t.Run(name, func(t *testing.T) {
			require.ErrorContains(t, loadFails(t, "echoes", engine.Spec{Limits: test.limits}), test.want)
		})
	}
	require.ErrorContains(t, loadFails(t, "huge-table", engine.Spec{}), "table elements: 100,000,000, want at most 100,000")
	require.ErrorContains(t, loadFails(t, "grows-its-table", engine.Spec{}), "table elements: 2,147,483,647, want at most 100,000")
	require.ErrorContains(t, loadFails(t, "branches-everywhere", engine.Spec{Limits: engine.Limits{Branches: 4, Complexity: 40}}),
		"branches-everywhere: 2 faults\n\tbranches of one function: 8, want at most 4: raise limits.branches if the module is known "+
			"to be good\n\tcomplexity: 64, want at most 40")
	load(t, "branches-everywhere", engine.Spec{})
}

func TestStartThatDoesNotEnd(t *testing.T) {
	for _, name := range []string{"loops-at-start", "loops-in-initialize"} {
		err := loadFails(t, name, engine.Spec{Limits: engine.Limits{Start: 20 * time.Millisecond}})
		require.ErrorIs(t, err, engine.ErrTimeout)
		require.EqualError(t, err, name+" took longer than 20ms to start: raise limits.start, or move the work into init")
	}
}

func TestStartThatRecurses(t *testing.T) {
	m := load(t, "recurses-at-start", engine.Spec{})
	require.EqualValues(t, 1000, call(t, m, "depth", "").Code)
	err := loadFails(t, "recurses-at-start-without-end", engine.Spec{})
	require.ErrorIs(t, err, engine.ErrStackLimit)
}

func TestStartThatFails(t *testing.T) {
	err := loadFails(t, "traps-at-start", engine.Spec{})
	require.ErrorIs(t, err, engine.ErrTrap)
	require.EqualError(t, err, "traps-at-start: start trapped: unreachable")
	require.ErrorIs(t, loadFails(t, "exits-at-start", engine.Spec{}), engine.ErrExit)
}

func TestLoadHonoursItsContext(t *testing.T) {
	e := newEngine(t, engine.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := e.Load(ctx, fixture(t, "echoes"), engine.Spec{})
	require.ErrorIs(t, err, context.Canceled)
}

func TestClosedEngineLoadsNothing(t *testing.T) {
	e := engine.New(engine.Options{})
	m, err := e.Load(t.Context(), fixture(t, "echoes"), engine.Spec{Name: "echoes"})
	require.NoError(t, err)
	require.NoError(t, e.Close(t.Context()))
	_, err = e.Load(t.Context(), fixture(t, "echoes"), engine.Spec{})
	require.ErrorIs(t, err, engine.ErrClosed)
	require.ErrorIs(t, callFails(t, m, engine.Call{Export: "echo"}), engine.ErrClosed)
}

func TestMemoryOfAllInstances(t *testing.T) {
	e := newEngine(t, engine.Options{Memory: 1 << 20})
	wasm := fixture(t, "counts-calls") // 128 KiB for each instance
	var modules []*engine.Module
	for {
		m, err := e.Load(t.Context(), wasm, engine.Spec{Name: "counts", Limits: engine.Limits{Memory: 8 << 20}})
		if err != nil {
			t.Fatal(err)
		}
		modules = append(modules, m)
		if len(modules) == 12 {
			break // more than would fit: idle instances of others made room
		}
	}
	for _, m := range modules {
		require.EqualValues(t, 1, call(t, m, "in_memory", "").Code)
	}
	_, err := e.Load(t.Context(), fixture(t, "minimum-memory-too-large"), engine.Spec{
		Name: "large", Limits: engine.Limits{Memory: engine.Unlimited},
	})
	require.ErrorIs(t, err, engine.ErrBusy)
	require.ErrorContains(t, err, "large needs 62.6 MiB for another instance, and all instances of the engine together may hold 1 MiB")
}

func TestInspect(t *testing.T) {
	wasm := fixture(t, "counts-calls")
	info, err := engine.Inspect(wasm)
	require.NoError(t, err)
	require.Equal(t, len(wasm), info.Size)
	require.Len(t, info.SHA256, 64)
	require.Equal(t, engine.MemoryInfo{Present: true, Pages: engine.Range{Min: 2}}, info.Memory)
	require.Equal(t, 8, info.Functions)
	require.False(t, info.GoGuest)
	require.Equal(t, engine.Import{
		Module: "extism:host/env", Name: "alloc", Kind: "func", Params: []string{"i64"}, Results: []string{"i64"},
	}, info.Imports[0])
	require.True(t, info.Callable("in_memory"))
	require.False(t, info.Callable("large"), "a global")
	large, ok := info.Export("large")
	require.True(t, ok)
	require.Equal(t, "global", large.Kind)

	info, err = engine.Inspect([]byte("hello"))
	var load *engine.LoadError
	require.True(t, errors.As(err, &load))
	require.Equal(t, 5, info.Size)
	require.EqualError(t, err, "not a WebAssembly module: looks like text: a module begins with \"\\0asm\"; check which file this is")

	info, err = engine.Inspect(fixture(t, "unknown-import"))
	require.NoError(t, err, "what it wants is no business of Inspect")
	require.Equal(t, "memory", info.Imports[5].Kind)
}

func FuzzInspect(f *testing.F) {
	paths, err := filepath.Glob("testdata/*.wat")
	require.NoError(f, err)
	for _, path := range paths {
		f.Add(fixture(f, strings.TrimSuffix(filepath.Base(path), ".wat")))
	}
	f.Add([]byte("\x00asm\x0d\x00\x01\x00"))
	f.Add([]byte("\x00asm\x01\x00\x00\x00\x01\x05\xff\xff\xff\xff\x0f"))
	e := engine.New(engine.Options{})
	f.Cleanup(func() { _ = e.Close(context.Background()) })
	f.Fuzz(func(t *testing.T, wasm []byte) {
		info, err := engine.Inspect(wasm)
		require.NotNil(t, info)
		if err != nil {
			require.NotEmpty(t, err.Error())
		}
		// What passes the checks is compiled, and must neither panic nor run away.
		m, err := e.Load(t.Context(), wasm, engine.Spec{Limits: engine.Limits{
			Module: 1 << 16, Memory: 1 << 20, Start: 50 * time.Millisecond, Functions: 100, Locals: 1000, Table: 1000,
		}})
		if err == nil {
			require.NoError(t, m.Close(t.Context()))
		}
	})
}
