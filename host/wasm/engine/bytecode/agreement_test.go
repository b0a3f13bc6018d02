package bytecode_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/weft-run/weft/host/wasm/engine/bytecode"
)

// features is the part of WebAssembly that is accepted.
const features = api.CoreFeaturesV2 | experimental.CoreFeaturesTailCall | experimental.CoreFeaturesExtendedConst

// compiler says whether the runtime accepts a module.
func compiler(t testing.TB) func(wasm []byte) error {
	r := wazero.NewRuntimeWithConfig(t.Context(), wazero.NewRuntimeConfigInterpreter().WithCoreFeatures(features))
	t.Cleanup(func() { _ = r.Close(t.Context()) })
	return func(wasm []byte) (err error) {
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("panic: %v", p)
			}
		}()
		c, err := r.CompileModule(t.Context(), wasm)
		if err == nil {
			err = c.Close(t.Context())
		}
		return err
	}
}

// crowd is a module that has a dozen of everything, with a function of those instructions. An unreachable before them
// stands for operands of any type, and a return after them takes away their results.
func crowd(code []byte) []byte {
	const n = 12
	times := func(each ...byte) []byte {
		return append([]byte{n}, slices.Concat(slices.Repeat([][]byte{each}, n)...)...)
	}
	wasm := bytecode.AppendSection(bytecode.Header(), bytecode.SectionType, times(0x60, 0, 0))
	wasm = bytecode.AppendSection(wasm, bytecode.SectionFunction, times(0))
	wasm = bytecode.AppendSection(wasm, bytecode.SectionTable, times(0x70, 0, 1))
	wasm = bytecode.AppendSection(wasm, bytecode.SectionMemory, []byte{1, 0, 1})
	wasm = bytecode.AppendSection(wasm, bytecode.SectionGlobal, times(0x7f, 1, 0x41, 0, 0x0b))
	wasm = bytecode.AppendSection(wasm, bytecode.SectionElement, times(1, 0, 1, n-1))
	wasm = bytecode.AppendSection(wasm, bytecode.SectionDataCount, []byte{n})
	body := []byte{1, n, 0x7f} // locals
	body = append(body, slices.Repeat([]byte{bytecode.OpBlock, bytecode.BlockEmpty}, n)...)
	body = append(append(append(body, bytecode.OpUnreachable), code...), bytecode.OpReturn)
	body = append(body, slices.Repeat([]byte{bytecode.OpEnd}, n+1)...)
	bodies := append([]byte{n}, slices.Repeat([]byte{2, 0, bytecode.OpEnd}, n-1)...)
	wasm = bytecode.AppendSection(wasm, bytecode.SectionCode, append(bytecode.AppendU32(bodies, uint32(len(body))), body...))
	return bytecode.AppendSection(wasm, bytecode.SectionData, times(1, 0))
}

// padded is a number of that many bytes, more than it needs.
func padded(n byte, bytes int) []byte {
	out := append([]byte{n | 0x80}, slices.Repeat([]byte{0x80}, bytes-2)...)
	return append(out, 0)
}

// immediates returns instructions with what follows them. Indices are 11: whoever takes the index for an instruction sees
// an end that is one too many.
func immediates() (all [][]byte) {
	const end = bytecode.OpEnd
	add := func(parts ...[]byte) { all = append(all, slices.Concat(parts...)) }
	b := func(bytes ...byte) []byte { return bytes }
	numbers := func(op []byte, n int, each func(pad int) []byte) {
		for _, pad := range []int{1, 2, n} {
			add(op, each(pad))
		}
	}
	index := func(pad int) []byte {
		if pad == 1 {
			return b(end)
		}
		return padded(end, pad)
	}
	for op := range 0x100 {
		o := b(byte(op))
		add(o)
		add(o, b(0))
		add(o, b(0, 0))
		add(o, b(1, 0x70), b(0x1a))
		add(o, b(0x70), b(0x1a))
		add(o, b(bytecode.BlockEmpty, end))
		add(o, b(bytecode.BlockEmpty, bytecode.OpElse, end))
		add(o, b(0xc0, 0xff, 0xff, 0xff, 0x7f, end))
		add(o, b(0xef, 0x7f, 0x00, end))
		numbers(o, 5, index)
		numbers(o, 5, func(pad int) []byte { return append(index(pad), index(pad)...) })
		numbers(o, 5, func(pad int) []byte { return append(index(pad), end) })                                 // a block
		numbers(o, 5, func(pad int) []byte { return append(b(0), index(pad)...) })                             // memory
		numbers(o, 5, func(pad int) []byte { return slices.Concat(b(2), index(pad), index(pad), index(pad)) }) // br_table
		numbers(o, 5, func(pad int) []byte { return append(padded(0, max(pad, 2)), index(pad)...) })
		add(o, slices.Repeat(b(end), 4))
		add(o, slices.Repeat(b(end), 8))
		add(o, slices.Repeat(b(0xff), 4), b(0x07))
		add(o, slices.Repeat(b(0xff), 9), b(0x7f))
	}
	for op := range 0x20 {
		o := b(bytecode.OpMisc, byte(op))
		add(o)
		add(o, b(0))
		add(o, b(0, 0))
		numbers(o, 5, index)
		numbers(o, 5, func(pad int) []byte { return append(index(pad), 0) })
		numbers(o, 5, func(pad int) []byte { return append(index(pad), index(pad)...) })
		add(b(bytecode.OpMisc), padded(byte(op), 3), b(0, 0))
	}
	for op := range 0x110 {
		o := b(0xfd, byte(op))
		if op >= 0x80 {
			o = b(0xfd, byte(op)|0x80, byte(op>>7))
		}
		add(o)
		add(o, slices.Repeat(b(end), 16))
		for lane := byte(0); lane < 17; lane++ {
			add(o, b(lane))
			add(o, b(0, end, lane))
			add(o, b(0, end|0x80, 0, lane))
		}
		numbers(o, 5, func(pad int) []byte { return append(b(0), index(pad)...) })
		add(b(0xfd), padded(byte(op&0x7f), 3), b(0, end)) // One byte of it, to the compiler, and two numbers more.
	}
	return all
}

// otherwise is why the runtime may refuse code although it found the same instructions in it.
const otherwise = `type mismatch|\w+ missing|results|memory alignment|lane index|undeclared function|unknown SIMD|overflows a`

// Where the runtime finds other instructions than Scan, a guest can hide some from the meter. If it took fewer bytes for
// an instruction, it would accept some beginning of it that Scan refuses, and if it took more, it would refuse what Scan
// accepts: the end of a block would be missing.
func TestScanFindsTheInstructionsThatTheRuntimeFinds(t *testing.T) {
	compiles := compiler(t)
	require.NoError(t, compiles(crowd(nil)))
	seen := map[string]bool{}
	accepted := map[byte]bool{}
	for _, code := range immediates() {
		for n := 1; n <= len(code); n++ {
			part := code[:n]
			if seen[string(part)] {
				continue
			}
			seen[string(part)] = true
			wasm := crowd(part)
			_, _, faults := read(wasm)
			err := compiles(wasm)
			if len(faults) == 0 {
				if err != nil {
					require.Regexp(t, otherwise, err.Error(), "% x", part)
				}
				accepted[part[0]] = true
			} else if err == nil {
				require.True(t, deliberate(part), "% x: %v", part, faults[0])
			}
		}
	}
	for op := range 0xd3 {
		_, _, faults := read(crowd([]byte{byte(op)}))
		known := len(faults) == 0 || accepted[byte(op)]
		exceptions := op >= 0x06 && op <= 0x0a || op == 0x18 || op == 0x19 || op == 0x1f
		gap := op >= 0x14 && op <= 0x17 || op == 0x1d || op == 0x1e || op == 0x27 || op >= 0xc5 && op <= 0xcf
		require.Equal(t, !exceptions && !gap && op != bytecode.OpElse, known, "%#x", op)
	}
}

// deliberate says whether code is something that the runtime accepts and Scan does not: a second number of an
// instruction that is longer than it needs to be, or a vector instruction from 128 on without the byte that ends its
// number, and types of other proposals that the runtime lets through.
func deliberate(code []byte) bool {
	for len(code) > 0 {
		switch {
		case code[0] == bytecode.OpMisc && len(code) > 1 && code[1] >= 0x80,
			code[0] == 0xfd && len(code) > 1 && code[1] >= 0x80,
			code[0] == 0xd0 && len(code) > 1 && code[1] == 0x69:
			return true
		}
		code = code[1:]
	}
	return false
}
