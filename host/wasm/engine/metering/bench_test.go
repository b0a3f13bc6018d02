package metering_test

import (
	"context"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"

	"github.com/weft-run/weft/host/wasm/engine/bytecode"
	"github.com/weft-run/weft/host/wasm/engine/metering"
	"github.com/weft-run/weft/internal/testneed"
)

// env is enough of extism:host/env for the Go guest, with an input to read.
const env = `(module (memory 20)
	(data (i32.const 0) "{\22messages\22:[{\22text\22:\22hello there, how are you doing today\22},{\22text\22:\22fine, and yourself\22}],\22more\22:[1,2,3]}")
	(func (export "input_length") (result i64) (i64.const 107))
	(func (export "input_load_u8") (param i64) (result i32) (i32.load8_u (i32.wrap_i64 (local.get 0))))
	(func (export "input_load_u64") (param i64) (result i64) (i64.load (i32.wrap_i64 (local.get 0))))
	(func (export "alloc") (param i64) (result i64) (i64.const 65536))
	(func (export "store_u8") (param i64 i32) (i32.store8 (i32.wrap_i64 (local.get 0)) (local.get 1)))
	(func (export "output_set") (param i64 i64)))`

// guests are programs in the style of what compilers make.
var guests = map[string]string{
	"hash": `(module (memory 2) (func (export "run") (local $i i32) (local $h i32)
		(loop $l
			(local.set $h (i32.mul (i32.xor (local.get $h) (i32.load8_u (local.get $i))) (i32.const 16777619)))
			(br_if $l (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (i32.const 65536))))
		(i32.store (i32.const 65536) (local.get $h))))`,
	"sieve": `(module (memory 1) (func (export "run") (local $i i32) (local $k i32)
		(memory.fill (i32.const 0) (i32.const 1) (i32.const 65536))
		(local.set $i (i32.const 2))
		(loop $outer
			(if (i32.load8_u (local.get $i)) (then
				(local.set $k (i32.add (local.get $i) (local.get $i)))
				(block $done (br_if $done (i32.ge_u (local.get $k) (i32.const 65536)))
					(loop $inner (i32.store8 (local.get $k) (i32.const 0))
						(br_if $inner (i32.lt_u (local.tee $k (i32.add (local.get $k) (local.get $i))) (i32.const 65536)))))))
			(br_if $outer (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (i32.const 65536))))))`,
	"words": `(module (memory 1) (data (i32.const 0) "some words, and  then some more of them")
		(func (export "run") (local $p i32) (local $n i32) (local $in i32) (local $c i32)
		(loop $l
			(local.set $c (i32.load8_u (i32.and (local.get $p) (i32.const 31))))
			(if (i32.le_u (local.get $c) (i32.const 32)) (then (local.set $in (i32.const 0)))
				(else (if (i32.eqz (local.get $in)) (then (local.set $in (i32.const 1)) (local.set $n (i32.add (local.get $n) (i32.const 1)))))))
			(br_if $l (i32.lt_u (local.tee $p (i32.add (local.get $p) (i32.const 1))) (i32.const 65536))))
		(i32.store (i32.const 1024) (local.get $n))))`,
	"small calls": `(module (memory 1)
		(func $get (param i32) (result i32) (i32.load (i32.shl (i32.and (local.get 0) (i32.const 1023)) (i32.const 2))))
		(func $put (param i32 i32) (if (i32.lt_u (local.get 0) (i32.const 1024)) (then (call $grow (local.get 0) (local.get 1)))))
		(func $grow (param i32 i32) (i32.store (i32.shl (local.get 0) (i32.const 2)) (i32.add (call $get (local.get 1)) (i32.const 1))) (call $note (local.get 1)))
		(func $note (param i32) (local i32) (local.set 1 (i32.rotl (local.get 0) (i32.const 7))) (i32.store (i32.const 8192) (i32.xor (local.get 1) (i32.load (i32.const 8192))))
			(i32.store (i32.const 8196) (i32.add (local.get 1) (i32.load (i32.const 8196)))))
		(func (export "run") (local $i i32) (loop $l
			(call $put (i32.and (local.get $i) (i32.const 1023)) (call $get (local.get $i)))
			(br_if $l (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (i32.const 10000))))))`,
	"recursion": `(module (func $fib (param i32) (result i32) (if (result i32) (i32.lt_s (local.get 0) (i32.const 2)) (then (local.get 0))
			(else (i32.add (call $fib (i32.sub (local.get 0) (i32.const 1))) (call $fib (i32.sub (local.get 0) (i32.const 2)))))))
		(func (export "run") (drop (call $fib (i32.const 18)))))`,
}

// BenchmarkMetering runs each guest as it is, metered, and with a runtime that looks at its context in each turn of a
// loop, in turns. It reports the time of the first, and what the others take of it, by the median of the rounds.
func BenchmarkMetering(b *testing.B) {
	for name, text := range guests {
		b.Run(name, func(b *testing.B) { compare(b, assemble(b, text), "run") })
	}
	b.Run("go", func(b *testing.B) { compare(b, goGuest(b), "before_run") })
}

func compare(b *testing.B, wasm []byte, export string) {
	result, err := meter(wasm)
	require.NoError(b, err)
	plain := start(b, wasm, false).ExportedFunction(export)
	metered := start(b, result.Wasm, false).ExportedFunction(export)
	closing := start(b, wasm, true).ExportedFunction(export)
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	var fastest time.Duration = math.MaxInt64
	var with, closed []float64
	time := func(f api.Function) time.Duration {
		from := time.Now()
		for range 10 {
			if _, err := f.Call(ctx); err != nil {
				b.Fatal(err)
			}
		}
		return time.Since(from) / 10
	}
	for b.Loop() {
		base := time(plain)
		fastest = min(fastest, base)
		with = append(with, float64(time(metered))/float64(base))
		closed = append(closed, float64(time(closing))/float64(base))
	}
	slices.Sort(with)
	slices.Sort(closed)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(fastest.Nanoseconds())/1000, "µs")
	b.ReportMetric(with[len(with)/2], "x-metered")
	b.ReportMetric(closed[len(closed)/2], "x-closing")
}

// start makes an instance in a runtime of its own.
func start(b *testing.B, wasm []byte, closing bool) api.Module {
	m := newMachine(b, wazero.NewRuntimeConfigCompiler().WithCloseOnContextDone(closing))
	m.slice, m.slices = 1_000_000, math.MaxInt
	m.onTick = func() { m.ticks = m.ticks[:0] }
	wasi_snapshot_preview1.MustInstantiate(b.Context(), m.runtime)
	_, err := m.runtime.InstantiateWithConfig(b.Context(), assemble(b, env), wazero.NewModuleConfig().WithName("extism:host/env"))
	require.NoError(b, err)
	instance, err := m.runtime.InstantiateWithConfig(b.Context(), wasm,
		wazero.NewModuleConfig().WithName("").WithStartFunctions().WithSysNanotime().WithSysWalltime())
	require.NoError(b, err)
	if instance.ExportedGlobal(metering.Stack) != nil {
		set(instance, metering.Stack, 1<<20)
	}
	if initialize := instance.ExportedFunction("_initialize"); initialize != nil {
		_, err := initialize.Call(b.Context())
		require.NoError(b, err)
	}
	return instance
}

// goGuest builds the Go guest of package engine.
func goGuest(b *testing.B) []byte {
	b.Helper()
	tool := testneed.Tool(b, "go", "https://go.dev/dl")
	out := filepath.Join(b.TempDir(), "guest.wasm")
	cmd := exec.Command(tool, "build", "-buildmode=c-shared", "-ldflags=-s -w", "-trimpath", "-o", out, ".")
	cmd.Dir = filepath.Join("..", "testdata", "go-guest")
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "GOWORK=off", "GOFLAGS=")
	text, err := cmd.CombinedOutput()
	require.NoError(b, err, "%s", text)
	wasm, err := os.ReadFile(out)
	require.NoError(b, err)
	return wasm
}

// BenchmarkInstrument takes the Go guest, which has 3.3 MB, to pieces and puts it together.
func BenchmarkInstrument(b *testing.B) {
	wasm := goGuest(b)
	m, _ := bytecode.Decode(wasm)
	code, _ := m.Scan()
	b.Run("decode", func(b *testing.B) {
		for b.Loop() {
			bytecode.Decode(wasm)
		}
	})
	b.Run("scan", func(b *testing.B) {
		for b.Loop() {
			_, _ = m.Scan()
		}
	})
	b.Run("instrument", func(b *testing.B) {
		for b.Loop() {
			_, _ = metering.Instrument(m, code)
		}
	})
}
