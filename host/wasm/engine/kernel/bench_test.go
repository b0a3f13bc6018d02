package kernel_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/weft-run/weft/host/wasm/engine/kernel"
	"github.com/weft-run/weft/internal/wat"
)

// goEnv is extism:host/env in Go: what the kernel is compared with. It does no more than it must for the echo.
type goEnv struct {
	memory           []byte
	input, top       uint64
	output, outputTo uint64
}

type goEnvKey struct{}

func (e *goEnv) slice(offset, length uint64) []byte {
	if offset < 16 || offset > e.top || length > e.top-offset {
		panic("outside")
	}
	return e.memory[offset : offset+length]
}

func (e *goEnv) alloc(n uint64) uint64 {
	at := e.top
	if e.top += (n + 7) &^ 7; e.top > uint64(len(e.memory)) {
		larger := make([]byte, 2*e.top)
		copy(larger, e.memory)
		e.memory = larger
	}
	return at
}

// instantiateGoEnv gives the functions that testdata/echoes.wat imports.
func instantiateGoEnv(b *testing.B, r wazero.Runtime) {
	const i32, i64 = api.ValueTypeI32, api.ValueTypeI64
	builder := r.NewHostModuleBuilder(kernel.ModuleEnv)
	function := func(name string, f func(*goEnv, []uint64), params []api.ValueType, results ...api.ValueType) {
		builder.NewFunctionBuilder().WithGoModuleFunction(api.GoModuleFunc(func(ctx context.Context, _ api.Module, stack []uint64) {
			f(ctx.Value(goEnvKey{}).(*goEnv), stack)
		}), params, results).Export(name)
	}
	one, two := []api.ValueType{i64}, []api.ValueType{i64, i64}
	function("input_offset", func(_ *goEnv, s []uint64) { s[0] = 16 }, nil, i64)
	function("input_length", func(e *goEnv, s []uint64) { s[0] = e.input }, nil, i64)
	function("input_load_u64", func(e *goEnv, s []uint64) { s[0] = binary.LittleEndian.Uint64(e.slice(16+s[0], 8)) }, one, i64)
	function("input_load_u8", func(e *goEnv, s []uint64) { s[0] = uint64(e.slice(16+s[0], 1)[0]) }, one, i32)
	function("load_u64", func(e *goEnv, s []uint64) { s[0] = binary.LittleEndian.Uint64(e.slice(s[0], 8)) }, one, i64)
	function("load_u8", func(e *goEnv, s []uint64) { s[0] = uint64(e.slice(s[0], 1)[0]) }, one, i32)
	function("store_u64", func(e *goEnv, s []uint64) { binary.LittleEndian.PutUint64(e.slice(s[0], 8), s[1]) }, two)
	function("store_u8", func(e *goEnv, s []uint64) { e.slice(s[0], 1)[0] = byte(s[1]) }, []api.ValueType{i64, i32})
	function("alloc", func(e *goEnv, s []uint64) { s[0] = e.alloc(s[0]) }, one, i64)
	function("free", func(*goEnv, []uint64) {}, one)
	function("output_set", func(e *goEnv, s []uint64) { e.slice(s[0], s[1]); e.output, e.outputTo = s[0], s[0]+s[1] }, two)
	_, err := builder.Instantiate(b.Context())
	require.NoError(b, err)
}

// BenchmarkEcho has a guest read its input and write it to a block, 8 bytes at a time, as PDKs do: with the kernel, and
// with host functions in Go that do the same.
func BenchmarkEcho(b *testing.B) {
	m := newMachine(b, 1024)
	i := m.instance(b)
	echo := m.guest(b, i.Kernel, "echoes").ExportedFunction("echo")
	nothing := m.guest(b, i.Kernel, "echoes").ExportedFunction("nothing")

	r := wazero.NewRuntime(b.Context())
	defer r.Close(context.Background())
	instantiateGoEnv(b, r)
	guest, err := r.InstantiateWithConfig(b.Context(), wat.Assemble(b, "testdata/echoes.wat"), wazero.NewModuleConfig().WithName(""))
	require.NoError(b, err)
	goEcho := guest.ExportedFunction("echo")
	env := &goEnv{memory: make([]byte, 4<<20)}
	ctx := context.WithValue(b.Context(), goEnvKey{}, env)
	stack := make([]uint64, 1)

	b.Run("nothing/kernel", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			i.Begin(nil, -1)
			if err := nothing.CallWithStack(b.Context(), stack); err != nil {
				b.Fatal(err)
			}
			i.Output()
			i.Reset()
		}
	})
	for _, size := range []int{1 << 10, 64 << 10, 1 << 20} {
		input := make([]byte, size)
		perAccess := func(b *testing.B) {
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(size/4), "ns/access")
		}
		b.Run(fmt.Sprintf("%dKiB/kernel", size>>10), func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(size))
			for b.Loop() {
				i.Begin(input, -1)
				if err := echo.CallWithStack(b.Context(), stack); err != nil {
					b.Fatal(err)
				}
				if output, _ := i.Output(); len(output) != size {
					b.Fatal(len(output))
				}
				i.Reset()
			}
			perAccess(b)
		})
		b.Run(fmt.Sprintf("%dKiB/go", size>>10), func(b *testing.B) {
			b.SetBytes(int64(size))
			for b.Loop() {
				env.top, env.input = 16, uint64(size)
				env.alloc(uint64(size))
				copy(env.memory[16:], input)
				if err := goEcho.CallWithStack(ctx, stack); err != nil {
					b.Fatal(err)
				}
				if env.outputTo-env.output != uint64(size) {
					b.Fatal(env.output)
				}
				clear(env.memory[:env.top])
			}
			perAccess(b)
		})
	}
}

func BenchmarkHost(b *testing.B) {
	i := newInstance(b)
	data := make([]byte, 100)
	b.Run("begin and reset", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			i.Begin(data, -1)
			i.Reset()
		}
	})
	i.Begin(nil, -1)
	b.Run("put and free", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			offset, _ := i.Put(data)
			i.call("free", offset)
		}
	})
	first, _ := i.Put(data)
	i.Put(data)
	b.Run("put into a freed block", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			i.call("free", first)
			i.Put(data)
		}
	})
	b.Run("block", func(b *testing.B) {
		for b.Loop() {
			i.Block(first)
		}
	})
}
