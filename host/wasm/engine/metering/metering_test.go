package metering_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host/wasm/engine/bytecode"
	"github.com/weft-run/weft/host/wasm/engine/metering"
)

func TestWhatThingsCost(t *testing.T) {
	for name, test := range map[string]struct {
		text string
		want int64
	}{
		"nothing":            {`(func (export "f"))`, 0},
		"leaf":               {`(func (export "f")` + repeat(16, "(nop)") + `)`, 0},
		"no leaf any more":   {`(func (export "f")` + repeat(17, "(nop)") + `)`, 17},
		"up to 256":          {`(func (export "f")` + repeat(256, "(nop)") + `)`, 256},
		"beyond it":          {`(func (export "f")` + repeat(256+4*3+3, "(nop)") + `)`, 259},
		"a call of a leaf":   {`(func $leaf (nop) (nop)) (func (export "f") (call $leaf) (call $leaf))`, 2 + 2*2},
		"a call":             {`(func $g` + repeat(20, "(nop)") + `) (func (export "f") (call $g))`, 21},
		"a call of the host": {`(import "env" "note" (func $note (param i64) (result i64))) (func (export "f") (drop (call $note (i64.const 1))))`, 3},
		"an indirect call": {`(table funcref (elem $a $b $c)) (type $t (func)) (func $a (nop)) (func $b (nop) (nop) (nop)) (func $c` + repeat(20, "(nop)") + `)
			(func (export "f") (call_indirect (type $t) (i32.const 0)))`, 2 + 3},
		"an indirect call of another type": {`(table funcref (elem $a $b)) (func $a (nop)) (func $b (param i32) (nop) (nop) (nop))
			(func (export "f") (call_indirect (i32.const 0)))`, 2 + 1},
		"a tail call": {`(func $g` + repeat(20, "(nop)") + `) (func (export "f") (return_call $g))`, 21},
		"a loop": {
			`(func (export "f") (local i32) (call $no) (loop (br_if 0 (i32.lt_u (local.tee 0 (i32.add (local.get 0) (i32.const 1))) (i32.const 10))))) (func $no)`,
			2 + 7*10,
		},
		"a loop that comes first": {
			`(func (export "f") (local i32) (local.set 0 (i32.const 0)) (loop (br_if 0 (i32.lt_u (local.tee 0 (i32.add (local.get 0) (i32.const 1))) (i32.const 10)))))`,
			(3 + 7) * 10,
		},
		"loops in a loop": {
			`(func (export "f") (local i32 i32) (call $no)
			(loop $outer (local.set 1 (i32.const 0))
				(loop $inner (br_if $inner (i32.lt_u (local.tee 1 (i32.add (local.get 1) (i32.const 1))) (i32.const 5))))
				(br_if $outer (i32.lt_u (local.tee 0 (i32.add (local.get 0) (i32.const 1))) (i32.const 3))))) (func $no)`,
			2 + 3*10 + 3*5*7,
		},
		"a loop that calls": {
			`(func (export "f") (local i32) (loop (call $no) (br_if 0 (i32.lt_u (local.tee 0 (i32.add (local.get 0) (i32.const 1))) (i32.const 10))))) (func $no)`,
			(1 + 8) * 10,
		},
		"memory.fill":            {`(memory 1) (func (export "f") (memory.fill (i32.const 0) (i32.const 0) (i32.const 1600)))`, 4 + 100},
		"memory.fill of a few":   {`(memory 1) (func (export "f") (memory.fill (i32.const 0) (i32.const 0) (i32.const 15)))`, 4},
		"memory.copy":            {`(memory 1) (func (export "f") (memory.copy (i32.const 0) (i32.const 0) (i32.const 160)))`, 4 + 10},
		"memory.init":            {`(memory 1) (data "` + repeat(32, "x") + `") (func (export "f") (memory.init 0 (i32.const 0) (i32.const 0) (i32.const 32)))`, 4 + 2},
		"memory.grow":            {`(memory 1) (func (export "f") (drop (memory.grow (i32.const 2))))`, 3 + 2*4096},
		"memory.grow that fails": {`(memory 1 2) (func (export "f") (drop (memory.grow (i32.const 5))))`, 3 + 5*4096},
		"table.fill":             {`(table 20 funcref) (func (export "f") (table.fill 0 (i32.const 0) (ref.null func) (i32.const 20)))`, 4 + 20},
		"table.grow":             {`(table 1 funcref) (func (export "f") (drop (table.grow 0 (ref.null func) (i32.const 9))))`, 4 + 9},
		"table.copy":             {`(table 9 funcref) (func (export "f") (table.copy 0 0 (i32.const 0) (i32.const 0) (i32.const 9)))`, 4 + 9},
		"table.init":             {`(table 9 funcref) (elem func 0 0 0) (func (export "f") (table.init 0 0 (i32.const 0) (i32.const 0) (i32.const 3)))`, 4 + 3},
	} {
		t.Run(name, func(t *testing.T) {
			both(t, func(t *testing.T, m *machine) {
				m.slice = 1 << 40
				instance := m.metered(t, "(module "+test.text+")", 1<<20)
				_, end := call(instance, "f")
				require.Empty(t, end)
				require.Equal(t, test.want, m.used(instance))
				require.EqualValues(t, 1<<20, get(instance, metering.Stack), "all of it was given back")
			})
		})
	}
}

func TestHugeLengthsDoNotOverflow(t *testing.T) {
	both(t, func(t *testing.T, m *machine) {
		instance := m.metered(t, `(module (memory 1) (func (export "f") (result i32) (memory.grow (i32.const -1))))`, 0)
		results, end := call(instance, "f")
		require.Empty(t, end)
		require.EqualValues(t, []uint64{0xffffffff}, results)
		require.Equal(t, []int64{1000 - 2 - (1<<32-1)*4096}, m.ticks)
	})
}

func TestLoopsEnd(t *testing.T) {
	for name, text := range map[string]string{
		"tight":           `(loop (br 0))`,
		"with a call":     `(loop (call $leaf) (br 0))`,
		"in a loop":       `(loop (loop (br 1)))`,
		"by br_table":     `(block (loop (br_table 0 0 0 (i32.const 1))))`,
		"with parameters": `(i32.const 1) (loop (param i32) (br 0 (i32.const 2)))`,
		"tight around one with parameters": `(local i32) (loop $outer (local.set 0 (i32.const 100)) (local.get 0)
			(loop $inner (param i32) (local.set 0) (local.tee 0 (i32.sub (local.get 0) (i32.const 1))) (br_if $inner (local.get 0)) (drop)) (br $outer))`,
		"recursion by tail calls": `(return_call $f)`,
		"indirect tail calls":     `(return_call_indirect (i32.const 0))`,
	} {
		t.Run(name, func(t *testing.T) {
			both(t, func(t *testing.T, m *machine) {
				m.slices = 100
				instance := m.metered(t, `(module (table funcref (elem $f)) (func $leaf (nop)) (func $f (export "f") `+text+`))`, 1000)
				_, end := call(instance, "f")
				require.Equal(t, errFuel.Error(), end)
				require.Len(t, m.ticks, 100)
				for _, left := range m.ticks {
					require.Less(t, left, int64(0))
					require.Greater(t, left, int64(-300))
				}
			})
		})
	}
}

// A slice that is smaller than what one turn costs must not keep the guest from going on.
func TestSmallSlicesStillGetOn(t *testing.T) {
	both(t, func(t *testing.T, m *machine) {
		m.slice, m.slices = 1, 1<<20
		instance := m.metered(t, `(module (func (export "f") (result i32) (local i32)
			(loop `+repeat(300, "(nop)")+` (br_if 0 (i32.lt_u (local.tee 0 (i32.add (local.get 0) (i32.const 1))) (i32.const 50)))) (local.get 0)))`, 0)
		results, end := call(instance, "f")
		require.Empty(t, end)
		require.Equal(t, []uint64{50}, results)
		require.Len(t, m.ticks, 49)
	})
}

func TestRecursionUsesTheStack(t *testing.T) {
	const frame = 64 + 8
	for name, test := range map[string]struct {
		text string
		want string
	}{
		"direct":   {`(func $f (export "f") (param i32) (if (local.get 0) (then (call $f (i32.sub (local.get 0) (i32.const 1))))))`, "stack used up"},
		"mutual":   {`(func $f (export "f") (param i32) (call $g (local.get 0))) (func $g (param i32) (if (local.get 0) (then (call $f (i32.sub (local.get 0) (i32.const 1))))))`, "stack used up"},
		"indirect": {`(table funcref (elem $f)) (func $f (export "f") (param i32) (if (local.get 0) (then (call_indirect (param i32) (i32.sub (local.get 0) (i32.const 1)) (i32.const 0)))))`, "stack used up"},
		"by a reference in the code": {`(table 1 funcref) (elem declare func $f) (func $f (export "f") (param i32)
			(table.set 0 (i32.const 0) (ref.func $f)) (if (local.get 0) (then (call_indirect (param i32) (i32.sub (local.get 0) (i32.const 1)) (i32.const 0)))))`, "stack used up"},
		"tail":          {`(func $f (export "f") (param i32) (if (local.get 0) (then (return_call $f (i32.sub (local.get 0) (i32.const 1))))))`, ""},
		"indirect tail": {`(table funcref (elem $f)) (func $f (export "f") (param i32) (if (local.get 0) (then (return_call_indirect (param i32) (i32.sub (local.get 0) (i32.const 1)) (i32.const 0)))))`, ""},
		"tail with many parameters": {`(func (export "f") (param i32) (call $f (local.get 0) (i64.const 0) (i64.const 0) (i64.const 0) (i64.const 0) (i64.const 0) (i64.const 0) (i64.const 0)))
			(func $f (param i32 i64 i64 i64 i64 i64 i64 i64) (if (local.get 0) (then (return_call $f (i32.sub (local.get 0) (i32.const 1))
				(i64.const 0) (i64.const 0) (i64.const 0) (i64.const 0) (i64.const 0) (i64.const 0) (i64.const 0)))))`, "stack used up"},
		"none": {`(func (export "f") (param i32) (call $g)) (func $g)`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			both(t, func(t *testing.T, m *machine) {
				instance := m.metered(t, "(module "+test.text+")", 400*frame)
				_, end := call(instance, "f", 10_000)
				require.Equal(t, test.want, end)
				set(instance, metering.Stack, 400*frame)
				_, end = call(instance, "f", 20)
				require.Empty(t, end)
				require.EqualValues(t, 400*frame, get(instance, metering.Stack))
			})
		})
	}
}

func TestEachFunctionOfACycleTakesAFrame(t *testing.T) {
	next := func(name, callee string) string {
		return "(func $" + name + ` (param i32) (if (local.get 0) (then (call $` + callee + ` (i32.sub (local.get 0) (i32.const 1))))))`
	}
	text := `(module (export "f" (func $a)) ` + next("a", "b") + next("b", "c") + next("c", "d") + next("d", "a") + ")"
	both(t, func(t *testing.T, m *machine) {
		instance := m.metered(t, text, 100*(64+8+6)) // a parameter, and six instructions
		_, end := call(instance, "f", 99)
		require.Empty(t, end)
		_, end = call(instance, "f", 100)
		require.Equal(t, errDepth.Error(), end)
	})
}

func TestEachWayOutGivesTheFrameBack(t *testing.T) {
	both(t, func(t *testing.T, m *machine) {
		instance := m.metered(t, `(module (func $f (export "f") (param i32) (result i32 f64 v128) (local v128)
			(if (i32.const 0) (then (return (call $f (i32.const 1)))))
			(loop $l (block $b
				(if (i32.eq (local.get 0) (i32.const 0)) (then (return (i32.const 10) (f64.const 1) (local.get 1))))
				(if (i32.eq (local.get 0) (i32.const 1)) (then (br 3 (i32.const 11) (f64.const 1) (local.get 1))))
				(block (result i32 f64 v128) (br_table 3 3 (i32.const 12) (f64.const 1) (local.get 1) (i32.eqz (i32.eq (local.get 0) (i32.const 2))))) (drop) (drop) (drop)
			))
			(i32.const 13) (f64.const 1) (local.get 1)))`, 1000)
		for i, want := range []uint64{10, 11, 12, 12} {
			results, end := call(instance, "f", uint64(i))
			require.Empty(t, end)
			require.Equal(t, want, results[0])
			require.EqualValues(t, 1000, get(instance, metering.Stack))
		}
	})
}

func TestWhatIsExported(t *testing.T) {
	result, err := meter(assemble(t, `(module (import "env" "note" (func (param i64) (result i64)))
		(global i32 (i32.const 1)) (global (mut i32) (i32.const 2)) (global (export "mine") (mut i64) (i64.const 3)) (func $f (export "f")) (start $f))`))
	require.NoError(t, err)
	require.Equal(t, []string{"__weft_g1", "mine"}, result.Globals)
	both(t, func(t *testing.T, m *machine) {
		instance := m.instantiate(t, result.Wasm)
		require.EqualValues(t, 2, get(instance, "__weft_g1"))
		require.EqualValues(t, 3, get(instance, "mine"))
		require.Zero(t, get(instance, metering.Fuel))
		require.EqualValues(t, metering.StackAtStart, get(instance, metering.Stack))
	})
}

func TestNamesThatAreKeptForTheHost(t *testing.T) {
	for _, text := range []string{
		`(module (func (export "__weft_fuel")))`, `(module (global (export "__weft_g0") (mut i32) (i32.const 1)))`,
		`(module (import "weft:meter" "tick" (func (param i64) (result i64))))`, `(module (import "weft:meter" "other" (func)))`,
	} {
		_, err := meter(assemble(t, text))
		require.ErrorContains(t, err, "kept for the host", text)
	}
}

// A stack names functions as it would have without metering, whether they have names or not.
func TestStackOfATrap(t *testing.T) {
	const text = `(module (import "env" "note" (func (param i64) (result i64)))
		(func $inner unreachable) (func (call $inner)) (func (export "f") (call 2)))`
	both(t, func(t *testing.T, m *machine) {
		wasm := assemble(t, text)
		_, plain := m.instantiate(t, wasm).ExportedFunction("f").Call(t.Context())
		result, err := meter(wasm)
		require.NoError(t, err)
		_, metered := m.instantiate(t, result.Wasm).ExportedFunction("f").Call(t.Context())
		require.ErrorContains(t, plain, ".inner()\n\t.$2()\n\t.$3()")
		require.EqualError(t, metered, plain.Error())
	})
}

func TestCustomSectionsAreLeftOutButForNames(t *testing.T) {
	wasm := bytecode.AppendCustom(assemble(t, `(module $m (func $f))`), ".debug_info", make([]byte, 1000))
	result, err := meter(wasm)
	require.NoError(t, err)
	m, faults := bytecode.Decode(result.Wasm)
	require.Empty(t, faults)
	require.Len(t, m.Customs, 1)
	require.Equal(t, "m", m.ModuleName())
	names := map[uint32]string{}
	for f, name := range m.FuncNames() {
		names[f] = name
	}
	require.Equal(t, map[uint32]string{2: "f", 3: "weft.refill"}, names)
}

func TestGuestCannotTellThatItIsMetered(t *testing.T) {
	const text = `(module (import "env" "note" (func $note (param i64) (result i64)))
		(memory 1) (table 3 funcref) (type $t (func (result i64)))
		(global $g (mut i64) (i64.const 5)) (global $r funcref (ref.func $b))
		(elem (i32.const 0) $a) (elem $passive funcref (ref.func $b) (ref.null func)) (elem declare func $c)
		(func $a (type $t) (call $note (i64.const 1))) (func $b (type $t) (i64.const 2)) (func $c (type $t) (global.set $g (i64.const 9)) (global.get $g))
		(func (export "f") (param i32) (result i64)
			(table.init $passive (i32.const 1) (i32.const 0) (i32.const 1))
			(table.set 0 (i32.const 2) (ref.func $c))
			(call_indirect (type $t) (local.get 0))))`
	both(t, func(t *testing.T, m *machine) {
		plain, metered := m.instantiate(t, assemble(t, text)), m.metered(t, text, 1<<20)
		for i := range uint64(5) {
			want, wantEnd := call(plain, "f", i)
			have, end := call(metered, "f", i)
			require.Equal(t, want, have)
			require.Equal(t, wantEnd, end, fmt.Sprint(i))
		}
		require.Equal(t, []uint64{1, 1}, m.trace)
	})
}
