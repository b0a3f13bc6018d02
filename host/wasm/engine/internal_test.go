package engine

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"

	"github.com/weft-run/weft/host/wasm/engine/bytecode"
	"github.com/weft-run/weft/internal/wat"
)

func TestDefaultLimits(t *testing.T) {
	require.Equal(t, Limits{
		Module: 10 << 20, Memory: 32 << 20, Fuel: Unlimited, Stack: 4 << 20, Start: 2 * time.Second, Init: 30 * time.Second,
		Input: 4 << 20, Output: 256 << 10, Vars: 1 << 20, FileWrites: 16 << 20, HTTPRequests: 8, HTTPBody: 1 << 20, HTTPTime: 10 * time.Second,
		LogLines: 64, LogLine: 4 << 10, Instances: 128, Queue: 1024, Depth: 16, Faults: 3, Rest: 30 * time.Second, Idle: 5 * time.Minute, Functions: 50_000, Body: 1 << 20,
		Branches: 10_000, Complexity: 1_000_000_000, Locals: 1_000_000, Table: 100_000,
	}, DefaultLimits(false))
	forGo := DefaultLimits(true)
	require.EqualValues(t, 32<<20, forGo.Module)
	require.EqualValues(t, 64<<20, forGo.Memory)

	// Zero means the default, Unlimited is kept, and no field is forgotten.
	require.Equal(t, forGo, Limits{}.orDefaults(true))
	mixed := Limits{Memory: Unlimited, LogLines: 3}.orDefaults(false)
	require.EqualValues(t, Unlimited, mixed.Memory)
	require.Equal(t, 3, mixed.LogLines)
}

func TestSizesForPeople(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0 bytes", 1: "1 byte", 1023: "1023 bytes", 1024: "1 KiB", 1536: "1.5 KiB", 4 << 20: "4 MiB", 3 << 30: "3 GiB",
		Unlimited: "unlimited",
	} {
		require.Equal(t, want, size(n))
	}
	require.Equal(t, "999", count(999))
	require.Equal(t, "1,000", count(1000))
	require.Equal(t, "12,345,678", count(12345678))
}

func TestSignaturesOfWASIAreThoseOfTheRuntime(t *testing.T) {
	ctx := t.Context()
	r := wazero.NewRuntime(ctx)
	defer r.Close(ctx)
	compiled, err := wasi_snapshot_preview1.NewBuilder(r).Compile(ctx)
	require.NoError(t, err)
	have := map[string]signature{}
	for name, def := range compiled.ExportedFunctions() {
		have[name] = signature{namesOf(def.ParamTypes()), namesOf(def.ResultTypes())}
	}
	require.Equal(t, have, wasiSignatures)
}

func TestRewriteExportsEachMutableGlobalOnce(t *testing.T) {
	for _, test := range []struct {
		wat   string
		names []string
	}{
		{`(module (func (export "f")))`, nil},
		{`(module (global i32 (i32.const 1)) (func (export "f")))`, nil},
		{`(module (global (mut i32) (i32.const 1)) (global i32 (i32.const 2)) (global (mut f64) (f64.const 3)))`, []string{"__weft_g0", "__weft_g2"}},
		{`(module (global (export "mine") (mut i64) (i64.const 1)))`, []string{"mine"}},
		{`(module (global (mut f32) (f32.const 1)) (global (export "mine") (mut i64) (i64.const 1)) (func (export "f")))`, []string{"__weft_g0", "mine"}},
		{`(module (memory 1) (global (mut i32) (i32.const 1)) (func $s) (start $s) (data (i32.const 0) "x"))`, []string{"__weft_g0"}},
	} {
		wasm := assemble(t, test.wat)
		c, err := check("", wasm, &Spec{})
		require.NoError(t, err)
		out, names := rewrite(wasm, c)
		require.Equal(t, test.names, names)
		if len(names) == 0 || names[0] == "mine" {
			require.Equal(t, wasm, out)
			continue
		}
		after, faults := bytecode.Decode(out)
		require.Empty(t, faults)
		require.Equal(t, c.Funcs, after.Funcs)
		require.Len(t, after.Exports, len(c.Exports)+len(names)-strings.Count(test.wat, `"mine"`))
		compiles(t, out)
	}
}

func TestRewriteGivesAPlaceToStopToFunctionsThatCallWithoutALoop(t *testing.T) {
	wasm := assemble(t, `(module
		(func $leaf (result i32) (i32.const 1))
		(func $loops (local i32 i64) (loop (drop (call $leaf))))
		(func $late (local i32) (drop (call $leaf)) (loop))
		(func $under (param i32) (if (local.get 0) (then (loop))) (drop (call $leaf)))
		(func $calls (result i32) (call $leaf)))`)
	c, err := check("", wasm, &Spec{})
	require.NoError(t, err)
	var guarded []bool
	for _, f := range c.code.Funcs {
		guarded = append(guarded, f.Unguarded)
	}
	require.Equal(t, []bool{false, false, true, true, true}, guarded)
	out, _ := rewrite(wasm, c)
	require.Len(t, out, len(wasm)+3*len(emptyLoop))
	compiles(t, out)

	again, err := check("", out, &Spec{})
	require.NoError(t, err)
	twice, _ := rewrite(out, again)
	require.Equal(t, out, twice)
}

func TestRewrittenFixturesStayValid(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.wat")
	require.NoError(t, err)
	for _, path := range paths {
		wasm := wat.Assemble(t, path)
		c, err := check("", wasm, &Spec{Limits: Limits{Memory: Unlimited, Table: Unlimited}})
		if err != nil {
			continue
		}
		out, _ := rewrite(wasm, c)
		compiles(t, out)
	}
}

func assemble(t *testing.T, text string) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "test.wat")
	require.NoError(t, writeFile(path, text))
	return wat.Assemble(t, path)
}

func compiles(t *testing.T, wasm []byte) {
	t.Helper()
	ctx := context.Background()
	r := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter())
	defer r.Close(ctx)
	_, err := r.CompileModule(ctx, wasm)
	require.NoError(t, err)
}
