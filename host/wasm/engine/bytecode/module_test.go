package bytecode_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host/wasm/engine/bytecode"
	"github.com/weft-run/weft/internal/testneed"
)

// assemble returns the module that a text describes, which need not be valid.
func assemble(t testing.TB, text string) []byte {
	t.Helper()
	tool := testneed.Tool(t, "wat2wasm", "Debian: apt-get install wabt")
	from, to := filepath.Join(t.TempDir(), "test.wat"), filepath.Join(t.TempDir(), "test.wasm")
	require.NoError(t, os.WriteFile(from, []byte(text), 0o600))
	out, err := exec.Command(tool, "--no-check", "--enable-tail-call", "--enable-extended-const", "--output="+to, from).CombinedOutput()
	require.NoError(t, err, "%s", out)
	wasm, err := os.ReadFile(to)
	require.NoError(t, err)
	return wasm
}

// read decodes a module and scans its code, and returns what is wrong.
func read(wasm []byte) (*bytecode.Module, *bytecode.Code, []*bytecode.Fault) {
	m, faults := bytecode.Decode(wasm)
	if len(faults) > 0 {
		return m, nil, faults
	}
	code, fault := m.Scan()
	if fault != nil {
		faults = append(faults, fault)
	}
	return m, code, faults
}

// mustRead is read for a module that nothing is wrong with.
func mustRead(t testing.TB, text string) (*bytecode.Module, *bytecode.Code) {
	t.Helper()
	m, code, faults := read(assemble(t, text))
	require.Empty(t, faults)
	return m, code
}

func TestDecodeKeepsWhatTheModuleHas(t *testing.T) {
	m, _ := mustRead(t, `(module $clock
		(import "a" "f" (func (param i32) (result i64)))
		(import "a" "g" (global i32))
		(table 2 5 funcref) (table 1 externref)
		(memory 1 3)
		(global (mut v128) (v128.const i32x4 0 0 0 0)) (global i32 (i32.add (i32.const 1) (i32.const 2)))
		(global funcref (ref.func $named))
		(func $named (export "run")) (func (param f32 f64) (result externref) (ref.null extern))
		(start $named) (elem (i32.const 0) $named) (elem funcref (ref.func 2) (ref.null func))
		(data (i32.const 0) "x") (data "y"))`)
	require.Equal(t, 1, m.ImportedFuncs)
	require.Equal(t, 1, m.ImportedGlobals)
	require.Equal(t, 3, m.FuncCount())
	require.Equal(t, 4, m.GlobalCount())
	require.Equal(t, []bytecode.Global{{bytecode.V128, true}, {bytecode.I32, false}, {bytecode.Funcref, false}}, m.Globals)
	require.Equal(t, []bytecode.Table{{bytecode.Funcref, 2, 5}, {bytecode.Externref, 1, 1<<32 - 1}}, m.Tables)
	require.Equal(t, bytecode.Memory{Present: true, Min: 1, Max: 3, HasMax: true}, m.Memory)
	require.Equal(t, []bytecode.Export{{Name: "run", Kind: bytecode.KindFunc, Index: 1}}, m.Exports)
	require.True(t, m.HasStart)
	require.EqualValues(t, 1, m.Start)
	var refs []uint32
	for _, r := range m.FuncRefs {
		refs = append(refs, r.Func)
	}
	require.Equal(t, []uint32{1, 1, 2}, refs)
	require.Equal(t, []int{2, 2}, []int{m.Elements, m.Data})
	require.Equal(t, []uint32{0, 1, 2}, m.FuncTypes())
	require.Equal(t, []bytecode.ValueType{bytecode.F32, bytecode.F64}, m.Types[2].Params)
	require.Equal(t, "externref", m.Types[2].Results[0].String())
}

func TestNames(t *testing.T) {
	part := func(id byte, content ...byte) []byte { return append([]byte{id, byte(len(content))}, content...) }
	with := func(content []byte) []byte {
		return bytecode.AppendCustom(bytecode.Header(), bytecode.CustomName, content)
	}
	m, faults := bytecode.Decode(with(append(append(part(0, 1, 'm'), part(1, 2, 0, 1, 'a', 9, 2, 'b', 'c')...), part(9, 1, 2, 3)...)))
	require.Empty(t, faults)
	require.Equal(t, "m", m.ModuleName())
	names := map[uint32]string{}
	for f, name := range m.FuncNames() {
		names[f] = name
	}
	require.Equal(t, map[uint32]string{0: "a", 9: "bc"}, names)

	for want, content := range map[string][]byte{
		"ends too early in the names":                  {1},
		"name that is not UTF-8 in the names":          part(0, 1, 0xff),
		"1 byte more than it should have in the names": part(0, 1, 'm', 0),
		"claims 99,999,999 elements":                   part(1, 0xff, 0xc1, 0xd7, 0x2f),
		"ends too early in the names at byte 20":       part(2, 1, 0, 1),
	} {
		_, faults := bytecode.Decode(with(content))
		require.Len(t, faults, 1, want)
		require.ErrorContains(t, faults[0], want)
	}
	_, faults = bytecode.Decode(bytecode.AppendCustom(with(nil), bytecode.CustomName, nil))
	require.Len(t, faults, 1)
	require.ErrorContains(t, faults[0], "name section twice")
}

func TestProducers(t *testing.T) {
	content := []byte{1, 8}
	content = append(append(content, "language"...), 1, 2)
	content = append(append(content, "Go"...), 6)
	content = append(content, "go1.26"...)
	m, faults := bytecode.Decode(bytecode.AppendCustom(bytecode.Header(), "producers", content))
	require.Empty(t, faults)
	require.Equal(t, []bytecode.Producer{{"language", "Go", "go1.26"}}, m.Producers())

	m, faults = bytecode.Decode(bytecode.AppendCustom(bytecode.Header(), "producers", content[:20]))
	require.Empty(t, faults, "a module may say there what it likes")
	require.Empty(t, m.Producers())
}

func TestNumbers(t *testing.T) {
	for _, n := range []int64{0, 1, -1, 63, 64, -64, -65, 127, 128, 1 << 31, -1 << 31, 1<<63 - 1, -1 << 63} {
		b := bytecode.AppendS64(nil, n)
		var back int64
		for i, x := range b {
			back |= int64(x&0x7f) << (7 * i)
		}
		if bits := 7 * len(b); bits < 64 {
			back = back << (64 - bits) >> (64 - bits)
		}
		require.Equal(t, n, back)
	}
	for n, b := range map[int64][]byte{
		-64: {0x40}, -1: {0x7f}, 63: {0x3f}, 64: {0xc0, 0}, -17: {0xef, 0xff, 0xff, 0xff, 0x7f}, 1<<32 - 1: {0xff, 0xff, 0xff, 0xff, 0x0f},
	} {
		require.Equal(t, n, bytecode.BlockType(b))
	}
	require.EqualValues(t, 300, bytecode.Number(bytecode.AppendU32(nil, 300)))
}
