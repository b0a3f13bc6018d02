package engine_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host/wasm/engine"
	"github.com/weft-run/weft/internal/wat"
)

func TestFilesThatStayOpenAreOfNoLaterCall(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "f"), []byte("abc"), 0o600))
	spec := engine.Spec{Mounts: []engine.Mount{{Host: dir, Guest: "/d"}}}
	m := load(t, "keeps-files-open", spec)
	for range 3 {
		require.Zero(t, call(t, m, "opens_and_hides_it", "").Code)
		require.EqualValues(t, -1, call(t, m, "reads_a_byte", "").Code, "no file is open")
	}

	// One that _initialize opened has an offset that calls move.
	m = load(t, "opens-a-file-at-start", spec)
	first := call(t, m, "reads_a_byte", "").Code
	require.Equal(t, first, call(t, m, "reads_a_byte", "").Code)
}

func TestEachInstanceBeginsTheSame(t *testing.T) {
	// Of a module with shadows each instance has an init of its own.
	m := load(t, "leaves-things-with-the-host", engine.Spec{Init: &engine.Init{Export: "init", Input: []byte("of init")}})
	for range 3 {
		result := call(t, m, "before_run", "input")
		require.Empty(t, result.Output)
		require.Empty(t, result.Error)
		require.Zero(t, result.Code, "no var is set")
		callFails(t, m, engine.Call{Export: "traps"})
	}
	require.Equal(t, 3, m.Stats().Created)

	// A start function runs for each instance, also where that gets the state of another one then.
	m = load(t, "leaves-things-at-start", engine.Spec{})
	for range 3 {
		result := call(t, m, "before_run", "input")
		require.Empty(t, result.Error)
		require.Zero(t, result.Code, "no var is set")
		callFails(t, m, engine.Call{Export: "traps"})
	}
}

func TestWhatIsAskedForAtOnceIsPaidForAsIfItWereNot(t *testing.T) {
	m := load(t, "asks-much-at-once", engine.Spec{})
	for _, export := range []string{"writes", "polls"} {
		// By the clock this ends, too, but then for another reason.
		err := callFails(t, m, engine.Call{Export: export, Fuel: 40_000_000, Timeout: 10 * time.Second})
		require.ErrorIs(t, err, engine.ErrFuel, export)
	}
	result, err := m.Call(t.Context(), engine.Call{Export: "asks_for_memory", Timeout: time.Minute})
	require.NoError(t, err)
	require.EqualValues(t, math.MaxInt64, result.Usage.Fuel, "it does not wrap around")
}

func TestAFaultOfAnotherModuleRestsNobodyElse(t *testing.T) {
	bad := load(t, "traps", engine.Spec{})
	good := load(t, "calls-the-host", engine.Spec{
		Limits: engine.Limits{Faults: 2},
		Functions: map[string]engine.Function{
			"ask": func(ctx context.Context, input []byte) ([]byte, error) {
				if string(input) != "" {
					return nil, errors.New(string(input))
				}
				_, err := bad.Call(ctx, engine.Call{Export: "unreachable"})
				return nil, err
			},
		},
	})
	for range 5 {
		err := callFails(t, good, engine.Call{Export: "before_run"})
		require.ErrorIs(t, err, engine.ErrTrap)
		require.NotErrorIs(t, err, engine.ErrResting)
	}
	err := callFails(t, good, engine.Call{Export: "before_run", Input: []byte("stack overflow, says the database")})
	require.EqualError(t, err, "stack overflow, says the database")
}

func TestAGuestIsNotToBlameForTheMemoryOfTheEngine(t *testing.T) {
	e := newEngine(t, engine.Options{Memory: 3 << 20})
	m, err := e.Load(t.Context(), fixture(t, "grows-or-traps"), engine.Spec{Name: "grows", Limits: engine.Limits{Faults: 2}})
	require.NoError(t, err)
	for range 5 {
		err = callFails(t, m, engine.Call{Export: "before_run"})
		require.ErrorIs(t, err, engine.ErrBusy)
		require.NotErrorIs(t, err, engine.ErrResting)
	}
	require.EqualError(t, err, "grows: before_run needs more memory, and all instances of the engine together may hold 3 MiB: "+
		"try again later, lower limits.instances so that fewer are at work, or raise Options.Memory")

	m, err = newEngine(t, engine.Options{}).Load(t.Context(), fixture(t, "grows-or-traps"), engine.Spec{
		Name: "grows", Limits: engine.Limits{Memory: 3 << 20},
	})
	require.NoError(t, err)
	require.ErrorIs(t, callFails(t, m, engine.Call{Export: "before_run"}), engine.ErrMemoryLimit)
}

func TestALargeRequestIsNotTakenApart(t *testing.T) {
	m := load(t, "fetches", engine.Spec{HTTP: http.DefaultClient})
	err := callFails(t, m, engine.Call{Export: "fetch", Input: []byte(`{"url": "` + strings.Repeat("x", 1<<20) + `"}`)})
	require.EqualError(t, err, "fetches: fetch trapped: http_request: the request has 1.0 MiB, and may have 64 KiB beside its body")
	err = callFails(t, m, engine.Call{Export: "fetch", Input: []byte(`{"url": "` + strings.Repeat(`\u0001`, 10_000) + `"}`)})
	require.ErrorIs(t, err, engine.ErrTrap)
	require.Less(t, len(err.Error()), 2000, "what a guest passed does not fill the host's log")
}

func TestWhatIsReadOfAFileIsPaidFor(t *testing.T) {
	fuel := func(size int) int64 {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, "f"), make([]byte, size), 0o600))
		m := load(t, "reads-a-file", engine.Spec{Mounts: []engine.Mount{{Host: dir, Guest: "/d"}}})
		return call(t, m, "before_run", "").Usage.Fuel
	}
	require.GreaterOrEqual(t, fuel(32_000)-fuel(0), int64(32_000/8))
}

// bomb is a module with one function, whose body is made of parts.
func bomb(t *testing.T, before string, parts ...string) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "bomb.wat")
	text := "(module " + before + "(memory 1) (func $f (export \"before_run\") (result i32) " + strings.Join(parts, "") + "))"
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return wat.Assemble(t, path)
}

func TestManyWaysThatMeetUnderManyLocalsAreABomb(t *testing.T) {
	const locals, meetings = 1000, 4000
	var sum strings.Builder
	for n := range locals {
		fmt.Fprintf(&sum, "(local.get %d) i32.add ", n)
	}
	wasm := bomb(t, "", "(local", strings.Repeat(" i32", locals), ")",
		strings.Repeat("(block (br_if 0 (i32.load (i32.const 0))))", meetings), "(i32.const 0) ", sum.String())
	_, err := newEngine(t, engine.Options{}).Load(t.Context(), wasm, engine.Spec{Name: "bomb"})
	require.ErrorContains(t, err, "function 0: 6,267,000 branches times locals, want at most 333,333: split the function")

	// So do values that blocks hand on.
	types := strings.Repeat(" i32", 500)
	wasm = bomb(t, "(type $t (func (param"+types+") (result"+types+")))", strings.Repeat("(i32.const 0)", 500),
		strings.Repeat("(block (type $t) (br_if 0 (i32.load (i32.const 0))))", 1000), strings.Repeat("(drop)", 499))
	_, err = newEngine(t, engine.Options{}).Load(t.Context(), wasm, engine.Spec{Name: "bomb"})
	require.ErrorContains(t, err, "branches times locals, want at most 333,333")
}

func TestElementsOfSegmentsAreCounted(t *testing.T) {
	for name, segment := range map[string]string{
		"functions": "(elem func " + strings.Repeat(" $f", 200_000) + ")",
		"nulls":     "(elem funcref " + strings.Repeat(" (ref.null func)", 200_000) + ")",
		"segments":  strings.Repeat("(elem func)", 200_000),
	} {
		err := newEngine(t, engine.Options{}).Check(bomb(t, segment, "(i32.const 0)"), engine.Spec{})
		require.ErrorContains(t, err, "elements of segments: ", name)
	}
}

func TestTheDeadlineOfTheOuterCallIsNotTheInnerOnes(t *testing.T) {
	for _, options := range []engine.Options{{}, {CloseOnContextDone: true}} {
		e := newEngine(t, options)
		inner, err := e.Load(t.Context(), fixture(t, "loops-forever"), engine.Spec{Name: "inner", Limits: engine.Limits{Faults: 1}})
		require.NoError(t, err)
		var within error
		outer, err := e.Load(t.Context(), fixture(t, "calls-the-host"), engine.Spec{Name: "outer", Functions: map[string]engine.Function{
			"ask": func(ctx context.Context, _ []byte) ([]byte, error) {
				ctx, cancel := context.WithTimeout(ctx, time.Second) // for metered guests, whose time stands still here
				defer cancel()
				_, within = inner.Call(ctx, engine.Call{Export: "before_run", Timeout: time.Hour})
				return nil, within
			},
		}})
		require.NoError(t, err)
		callFails(t, outer, engine.Call{Export: "before_run", Timeout: 50 * time.Millisecond})
		require.Equal(t, context.DeadlineExceeded, within)
		require.False(t, inner.Stats().Resting)
	}
}

func TestLongNamesDoNotFillTheStackOfATrap(t *testing.T) {
	name := strings.Repeat("n", 1<<20)
	m := loadBytes(t, named(fixture(t, "recurses-and-traps"), name), "long", engine.Spec{})
	before, after := new(runtime.MemStats), new(runtime.MemStats)
	runtime.ReadMemStats(before)
	var trap *engine.TrapError
	require.ErrorAs(t, callFails(t, m, engine.Call{Export: "before_run"}), &trap)
	runtime.ReadMemStats(after)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(8<<20))

	m = loadBytes(t, named(fixture(t, "recurses-and-traps"), "nests"), "short", engine.Spec{})
	require.ErrorAs(t, callFails(t, m, engine.Call{Export: "before_run"}), &trap)
	require.Contains(t, trap.Stack, "nests")
}

// named returns a module with a name section that names its first function.
func named(wasm []byte, name string) []byte {
	sized := func(content []byte) []byte {
		return append(binary.AppendUvarint(nil, uint64(len(content))), content...)
	}
	names := append([]byte{1, 0}, sized([]byte(name))...)
	section := slices.Concat([]byte("\x04name\x01"), sized(names))
	return slices.Concat(wasm, []byte{0}, sized(section))
}

func TestGlobalsCountAsMemory(t *testing.T) {
	wasm := bomb(t, strings.Repeat("(global (mut i64) (i64.const 1))", 50_000), "(i32.const 0)")
	e := newEngine(t, engine.Options{})
	m, err := e.Load(t.Context(), wasm, engine.Spec{Name: "globals"})
	require.NoError(t, err)
	require.Greater(t, call(t, m, "before_run", "").Usage.Memory, int64(50_000*100))
	_, err = e.Load(t.Context(), wasm, engine.Spec{Name: "globals", Limits: engine.Limits{Memory: 2 << 20}})
	require.ErrorIs(t, err, engine.ErrMemoryLimit)
	require.NoError(t, m.Close(context.Background()))
	require.Zero(t, e.MemoryInUse())
}
