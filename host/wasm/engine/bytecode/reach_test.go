package bytecode_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host/wasm/engine/bytecode"
)

// function returns a module with one function, () -> (), of those instructions and an end.
func function(code ...byte) []byte {
	body := append(append([]byte{0}, code...), bytecode.OpEnd)
	wasm := bytecode.AppendSection(bytecode.Header(), bytecode.SectionType, []byte{1, 0x60, 0, 0})
	wasm = bytecode.AppendSection(wasm, bytecode.SectionFunction, []byte{1, 0})
	return bytecode.AppendSection(wasm, bytecode.SectionCode, append(bytecode.AppendU32([]byte{1}, uint32(len(body))), body...))
}

// Metering appends functions, globals and types to a module. A guest that names one of them before they are there must be
// found out: afterwards it would be a module without a fault.
func TestGuestThatReachesForTheMeter(t *testing.T) {
	// What every case has: functions 0 to 2, types 0 to 2, globals 0 and 1, table 0, segments 0, a memory.
	const base = `(type (func (param i32))) (type (func)) (type (func (result i32)))
		(import "a" "f" (func (type 0))) (func (type 1)) (func (type 2) (i32.const 1))
		(global (mut i64) (i64.const 1)) (global i64 (i64.const 2)) (table 1 funcref) (memory 1)`
	for text, want := range map[string]string{
		`(func (type 1) (call 4))`:                                                   "function 4, and there are 4",
		`(func (type 1) (return_call 4))`:                                            "function 4, and there are 4",
		`(func (type 1) (drop (ref.func 4)))`:                                        "function 4, and there are 4",
		`(func (type 1) (drop (global.get 2)))`:                                      "global 2, and there are 2",
		`(func (type 1) (global.set 2 (i64.const 9)))`:                               "global 2, and there are 2",
		`(func (type 1) (call_indirect (type 3) (i32.const 0)))`:                     "type 3, and there are 3",
		`(func (type 1) (call_indirect 1 (type 1) (i32.const 0)))`:                   "table 1, and there are 1",
		`(func (type 1) (return_call_indirect (type 3) (i32.const 0)))`:              "type 3, and there are 3",
		`(func (type 1) (local i64) (local.set 1 (i64.const 9)))`:                    "local 1, and there are 1",
		`(func (type 0) (drop (local.get 1)))`:                                       "local 1, and there are 1",
		`(func (type 1) (br 1))`:                                                     "label 1, and there are 1",
		`(func (type 1) (loop (br_if 2 (i32.const 1))))`:                             "label 2, and there are 2",
		`(func (type 1) (block (br_table 0 2 1 (i32.const 1))))`:                     "label 2, and there are 2",
		`(func (type 1) (table.set 1 (i32.const 0) (ref.null func)))`:                "table 1, and there are 1",
		`(func (type 1) (drop (table.get 1 (i32.const 0))))`:                         "table 1, and there are 1",
		`(func (type 1) (drop (table.grow 1 (ref.null func) (i32.const 0))))`:        "table 1, and there are 1",
		`(func (type 1) (table.copy 1 0 (i32.const 0) (i32.const 0) (i32.const 0)))`: "table 1, and there are 1",
		`(func (type 1) (table.init 0 0 (i32.const 0) (i32.const 0) (i32.const 0)))`: "element segment 0, and there are 0",
		`(func (type 1) (elem.drop 0))`:                                              "element segment 0, and there are 0",
		`(func (type 1) (data.drop 0))`:                                              "data segment 0, and there are 0",
		`(func (type 1) (memory.init 0 (i32.const 0) (i32.const 0) (i32.const 0)))`:  "data segment 0, and there are 0",
		`(func (type 3))`:                                            "type 3, and there are 3",
		`(import "a" "g" (func (type 3)))`:                           "type 3, and there are 3",
		`(export "f" (func 3))`:                                      "function 3, and there are 3",
		`(export "g" (global 2))`:                                    "global 2, and there are 2",
		`(export "t" (table 1))`:                                     "table 1, and there are 1",
		`(export "m" (memory 1))`:                                    "memory 1, and there are 1",
		`(start 3)`:                                                  "function 3, and there are 3",
		`(elem (i32.const 0) func 3)`:                                "function 3, and there are 3",
		`(elem func 3)`:                                              "function 3, and there are 3",
		`(elem declare func 3)`:                                      "function 3, and there are 3",
		`(elem (table 1) (i32.const 0) func 1)`:                      "table 1, and there are 1",
		`(elem (i32.const 0) funcref (ref.func 3))`:                  "function 3, and there are 3",
		`(elem funcref (item (ref.func 3)))`:                         "function 3, and there are 3",
		`(elem (global.get 2) func 1)`:                               "global 2, and there are 2",
		`(elem funcref (item (global.get 2)))`:                       "global 2, and there are 2",
		`(elem (offset (ref.func 1)) func 1)`:                        "function as an offset",
		`(data (global.get 2) "x")`:                                  "global 2, and there are 2",
		`(data (offset (i32.add (i32.const 1) (global.get 2))) "x")`: "global 2, and there are 2",
		`(global funcref (ref.func 3))`:                              "function 3, and there are 3",
		`(global i64 (global.get 3))`:                                "global 3, and there are 3",
	} {
		order := "(module " + base + text + ")"
		if text[1] == 'i' { // imports come first
			order = `(module (type (func (param i32))) (type (func)) (type (func (result i32)))` + text + ")"
		}
		_, _, faults := read(assemble(t, order))
		require.Len(t, faults, 1, text)
		require.ErrorContains(t, faults[0], want, text)
		require.Contains(t, faults[0].What, "malformed", text)
		require.False(t, faults[0].Unsupported)
	}
	// The assembler writes no block of a type that is not there.
	for _, op := range []byte{bytecode.OpBlock, bytecode.OpLoop, bytecode.OpIf} {
		_, _, faults := read(function(0x00, op, 1, bytecode.OpEnd))
		require.Len(t, faults, 1)
		require.ErrorContains(t, faults[0], "type 1, and there are 1")
	}
	for _, text := range []string{
		`(func (type 1) (call 3))`, `(func (type 1) (drop (global.get 1)))`, `(func (type 1) (block (type 1)))`,
		`(func (type 1) (br 0))`, `(func (type 0) (drop (local.get 0)))`, `(elem func 2)`, `(global funcref (ref.func 2))`,
		`(table 1 funcref) (elem (table 1) (i32.const 0) func 2)`, `(table 1 funcref) (elem (table 1) (i32.const 0) funcref (ref.func 2))`,
	} {
		mustRead(t, "(module "+base+text+")")
	}
}
