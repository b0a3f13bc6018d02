package metering_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// What a guest does between two ticks is bounded, however it arranges its code. Each guest here counts its own work in
// the global $work: instructions, or the cost of bulk operations in what an instruction costs.
func TestWorkBetweenTicksIsBounded(t *testing.T) {
	const slice = 1000
	// work is code of n instructions that adds n to the count.
	work := func(n int) string {
		return fmt.Sprintf("(global.set $work (i64.add (global.get $work) (i64.const %d)))", n) + repeat(n-4, "(nop)")
	}
	for name, test := range map[string]struct {
		text string
		// most is the work for one of fuel.
		most int64
	}{
		"small loop":           {`(func (export "f") (loop ` + work(9) + ` (br 0)))`, 1},
		"huge loop":            {`(func (export "f") (loop ` + work(100_000) + ` (br 0)))`, 64},
		"huge loop that calls": {`(func (export "f") (loop ` + work(100_000) + ` (call $leaf) (br 0))) (func $leaf)`, 64},
		"huge function":        {`(func $f` + work(50_000) + `) (func (export "f") (loop (call $f) (br 0)))`, 64},
		"recursion":            {`(func $f (export "f") (loop ` + work(5000) + ` (call $f) (br 0)))`, 64},
		"leaves":               {`(func $leaf` + work(16) + `) (func (export "f") (loop` + repeat(10, "(call $leaf)") + `(br 0)))`, 1},
		"many leaves":          {`(func $leaf` + work(16) + `) (func (export "f") (loop` + repeat(5000, "(call $leaf)") + `(br 0)))`, 64},
		"indirect leaves":      {`(table funcref (elem $leaf)) (func $leaf` + work(16) + `) (func (export "f") (loop` + repeat(5000, "(call_indirect (i32.const 0))") + `(br 0)))`, 64},
		"tail calls":           {`(func $f (export "f")` + work(20) + `(return_call $f))`, 1},
		"tail calls of leaves": {`(func $leaf` + work(16) + `) (func $f (return_call $leaf)) (func (export "f") (loop (call $f) (br 0)))`, 8},
		"loop in a tight loop": {`(func (export "f") (local i32) (loop $outer (local.set 0 (i32.const 50)) (local.get 0) (loop $inner (param i32) (drop)` + work(9) + `
			(local.tee 0 (i32.sub (local.get 0) (i32.const 1))) (br_if $inner (local.get 0)) (drop)) (br $outer)))`, 1},
		"loop that never turns": {`(func (export "f") (loop (loop ` + work(5000) + `) (br 0)))`, 64},
		// What these do besides counts for nothing beside it.
		"filling": {`(memory 16) (func (export "f") (loop (memory.fill (i32.const 0) (i32.const 0) (i32.const 1048576))
			(global.set $work (i64.add (global.get $work) (i64.const 65536))) (br 0)))`, 1},
		"filling a little": {`(memory 16) (func (export "f") (loop (memory.fill (i32.const 0) (i32.const 0) (i32.const 1600))
			(global.set $work (i64.add (global.get $work) (i64.const 100))) (br 0)))`, 1},
		"growing": {`(memory 1) (func (export "f") (loop (drop (memory.grow (i32.const 1)))
			(global.set $work (i64.add (global.get $work) (i64.const 4096))) (br 0)))`, 1},
		"filling a table": {`(table 1000 funcref) (func (export "f") (loop (table.fill 0 (i32.const 0) (ref.null func) (i32.const 1000))
			(global.set $work (i64.add (global.get $work) (i64.const 1000))) (br 0)))`, 1},
	} {
		t.Run(name, func(t *testing.T) {
			both(t, func(t *testing.T, m *machine) {
				m.slice, m.slices = slice, 200
				instance := m.metered(t, `(module (global $work (export "work") (mut i64) (i64.const 0)) `+test.text+`)`, 40_000)
				last, largest := int64(0), int64(0)
				m.onTick = func() {
					now := get(instance, "work")
					// What is before the first tick has the rest of the call's first slice, and what comes after a debt has a
					// slice as well: the debt was paid.
					fuel := slice - m.ticks[len(m.ticks)-1]
					largest = max(largest, (now-last+fuel-1)/fuel)
					last = now
				}
				_, end := call(instance, "f")
				require.NotEmpty(t, end)
				require.NotEmpty(t, m.ticks)
				require.LessOrEqual(t, largest, test.most)
			})
		})
	}
}
