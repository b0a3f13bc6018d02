package bytecode_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host/wasm/engine/bytecode"
)

func TestScanCountsAndMarks(t *testing.T) {
	m, code := mustRead(t, `(module (import "a" "f" (func)) (memory 1) (table 1 funcref)
		(func (param v128 i32) (result i32) (local i64 v128)
			(block $out
				(call 0)
				(loop $turn
					(br_if $out (local.get 1))
					(loop (memory.fill (i32.const 0) (i32.const 0) (i32.const 9)) (br_table 0 $turn 2 3 (i32.const 1)))
					(return (i32.const 1)))
				(loop (br_if 0 (i32.const 0))))
			(if (i32.const 1) (then (drop (memory.grow (i32.const 1)))) (else (table.set 0 (i32.const 0) (ref.func 1))))
			(return_call_indirect (result i32) (i32.const 0)))
		(elem declare func 1))`)
	f := code.Funcs[0]
	require.EqualValues(t, 4, f.Locals)
	require.EqualValues(t, 6, f.Slots)
	type mark struct {
		op, arg, depth uint32
	}
	var marks []mark
	for _, k := range f.Marks {
		marks = append(marks, mark{uint32(m.Wasm[k.At]), k.Arg, k.Depth})
	}
	require.Equal(t, []mark{
		{bytecode.OpCall, 0, 1},
		{bytecode.OpLoop, 5, 1},
		{bytecode.OpBranchIf, 0, 2},
		{bytecode.OpLoop, 6, 2},
		{bytecode.OpMisc, 0, 3},
		{bytecode.OpBranchTable, 0, 3},
		{bytecode.OpEnd, 0, 3},
		{bytecode.OpReturn, 0, 2},
		{bytecode.OpEnd, 0, 2},
		{bytecode.OpLoop, 2, 1},
		{bytecode.OpEnd, 0, 2},
		{bytecode.OpMemoryGrow, 0, 1},
		{bytecode.OpRefFunc, 1, 1},
		{bytecode.OpReturnCallIndirect, 2, 0},
	}, marks)
	require.Equal(t, 14, f.Instructions, "block, call, two loops, const, if, const, grow, drop, const, ref, set, const, call")
	require.Equal(t, 1+3+1+4+2, code.Branches, "blocks, a br_if, a br_table of four, another br_if")
	require.EqualValues(t, code.Branches*code.Branches, code.Complexity)
	require.Equal(t, 2, code.Locals)
	require.True(t, code.ChangesTables)
	require.False(t, code.GrowsTable)
	require.True(t, f.Unguarded, "it calls before it loops")
	require.False(t, f.LoopsFirst)
}

func TestScanSaysWhereALoopComesFirst(t *testing.T) {
	for text, want := range map[string][2]bool{ // unguarded, loops first
		`(func)`:                                           {false, false},
		`(func (loop))`:                                    {false, true},
		`(func (block (loop (call 0))))`:                   {false, true},
		`(func (call 0) (loop))`:                           {true, false},
		`(func (return_call 0))`:                           {true, false},
		`(func (return) (loop) (call 0))`:                  {true, false},
		`(func (if (i32.const 1) (then (loop))) (call 0))`: {true, false},
	} {
		_, code := mustRead(t, "(module "+text+")")
		require.Equal(t, want, [2]bool{code.Funcs[0].Unguarded, code.Funcs[0].LoopsFirst}, text)
	}
}

func TestWhatIsRefusedByName(t *testing.T) {
	for name, wasm := range map[string][]byte{
		"threads (shared memory)":   function(0xfe, 3, 0),
		"exception handling":        function(0x06, 0x40, 0x0b),
		"typed function references": function(0x14, 0),
		"garbage-collected types":   function(0xfb, 0),
		"relaxed SIMD":              function(0xfd, 0x80, 0x02),
		"more than one memory":      function(0x41, 0, 0x28, 0x42, 0, 0, 0x1a),
	} {
		_, _, faults := read(wasm)
		require.Len(t, faults, 1, name)
		require.Equal(t, name+" not supported", faults[0].What)
		require.True(t, faults[0].Unsupported)
		require.NotEmpty(t, faults[0].Remedy)
	}
	// The compiler skips two bytes after a select and goes on with the third, whatever the type: here a rem_u.
	_, _, faults := read(function(0x41, 0, 0x41, 0, 0x41, 0, 0x1c, 1, 0x63, 0x70, 0x1a))
	require.Len(t, faults, 1)
	require.Equal(t, "typed function references not supported", faults[0].What)

	section := func(id bytecode.SectionID, content ...byte) []byte {
		return bytecode.AppendSection(bytecode.Header(), id, content)
	}
	for name, wasm := range map[string][]byte{
		"typed function references": section(bytecode.SectionType, 1, 0x60, 1, 0x63, 0x70, 0),
		"garbage-collected types":   section(bytecode.SectionType, 1, 0x4e, 1, 0x60, 0, 0),
		"exception handling":        section(bytecode.SectionType, 1, 0x60, 1, 0x69, 0),
		"memory64":                  section(bytecode.SectionTable, 1, 0x70, 4, 0),
		"threads (shared memory)":   section(bytecode.SectionTable, 1, 0x70, 3, 0, 1),
		"custom page sizes":         section(bytecode.SectionMemory, 1, 8, 1, 0),
		"more than one memory":      section(bytecode.SectionData, 1, 2, 1, 0x41, 0, 0x0b, 0),
	} {
		_, _, faults := read(wasm)
		require.Len(t, faults, 1, name)
		require.Equal(t, name+" not supported", faults[0].What)
	}
	// What is not understood does not make the rest look wrong.
	wasm := section(bytecode.SectionType, 2, 0x5f, 0, 0x60, 0, 0)
	wasm = bytecode.AppendSection(wasm, bytecode.SectionFunction, []byte{1, 1})
	wasm = bytecode.AppendSection(wasm, bytecode.SectionMemory, []byte{1, 4, 1})
	_, _, faults = read(wasm)
	require.Len(t, faults, 2)
	require.Equal(t, "garbage-collected types not supported", faults[0].What)
	require.Equal(t, "memory64 not supported", faults[1].What)
}

func TestWhatIsMalformed(t *testing.T) {
	for want, wasm := range map[string][]byte{
		"no end of a block":                  function(bytecode.OpBlock, bytecode.BlockEmpty),
		"instructions after the last end":    function(bytecode.OpEnd, 0x01),
		"else without an if":                 function(bytecode.OpBlock, bytecode.BlockEmpty, bytecode.OpElse, bytecode.OpEnd),
		"no end after the last instruction":  function(0x0c),
		"unknown instruction 0xff":           function(0xff),
		"unknown instruction 0xfc 18":        function(0xfc, 18),
		"unknown instruction 0xfc 136":       function(0xfc, 0x88, 0x00),
		"unknown instruction 0xfd 0x8c 0x00": function(0xfd, 0x8c, 0x00),
		"select of more than one type":       function(0x1c, 2, 0x7f, 0x7f),
		"alignment out of range":             function(0x28, 0x20, 0),
		"unknown type of a block -65":        function(bytecode.OpBlock, 0xbf, 0x7f, bytecode.OpEnd),
		"number larger than 33 bits":         function(bytecode.OpBlock, 0xc0, 0xff, 0xff, 0xff, 0x3f, bytecode.OpEnd),
		"number too long":                    function(0x41, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00, 0x1a),
		"number larger than 32 bits":         function(0x10, 0x80, 0x80, 0x80, 0x80, 0x10),
		"ends too early":                     function(0x43, 1, 2),
	} {
		if want == "no end after the last instruction" {
			wasm[len(wasm)-1] = 0x0f
		}
		_, _, faults := read(wasm)
		require.Len(t, faults, 1, want)
		require.ErrorContains(t, faults[0], "malformed code: function 0: "+want)
		require.False(t, faults[0].Unsupported)
	}
}

func TestScanDoesNotReadBeyondTheCode(t *testing.T) {
	for op := range 0x100 {
		for _, tail := range [][]byte{nil, {0xfc}, {0xfd}, {0x80}, {0x00, 0x80}, {0xff, 0xff, 0xff, 0xff}} {
			require.NotPanics(t, func() { read(function(append(tail, byte(op))...)) })
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(function(bytecode.OpLoop, bytecode.BlockEmpty, bytecode.OpBranch, 0, bytecode.OpEnd))
	f.Add(crowd([]byte{bytecode.OpCall, 3}))
	f.Add(bytecode.AppendCustom(bytecode.Header(), bytecode.CustomName, bytecode.AppendNames(nil, "m", 1, []byte{0, 1, 'f'})))
	f.Add([]byte("\x00asm\x01\x00\x00\x00\x01\x05\xff\xff\xff\xff\x0f"))
	f.Fuzz(func(t *testing.T, wasm []byte) {
		m, code, faults := read(wasm)
		for _, fault := range faults {
			require.NotEmpty(t, fault.Error())
			require.NotEmpty(t, fault.Remedy)
		}
		_ = m.ModuleName()
		_ = m.Producers()
		for range m.FuncNames() {
			continue
		}
		if len(faults) > 0 {
			return
		}
		require.Len(t, code.Funcs, len(m.Bodies))
		for i, f := range code.Funcs {
			for _, mark := range f.Marks {
				require.GreaterOrEqual(t, int(mark.At), f.Entry)
				require.Less(t, int(mark.At), m.Bodies[i].To)
			}
		}
	})
}
