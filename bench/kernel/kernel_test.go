package kernel_test

import (
	"context"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/weft-run/weft/host/wasm/engine/kernel"
)

// guest calls the functions of a kernel as a guest would.
type guest struct {
	t   *testing.T
	mod api.Module
	// begin gives the kernel an input.
	begin func(input []byte)
}

func (g *guest) try(name string, params ...uint64) (uint64, error) {
	f := g.mod.ExportedFunction(name)
	results, err := f.Call(context.Background(), params...)
	result := append(results, 0)[0]
	if types := f.Definition().ResultTypes(); len(types) > 0 && types[0] == api.ValueTypeI32 {
		result = uint64(uint32(result)) // the upper half is left as it was
	}
	return result, err
}

func (g *guest) call(name string, params ...uint64) uint64 {
	g.t.Helper()
	result, err := g.try(name, params...)
	require.NoError(g.t, err, "%s %v", name, params)
	return result
}

func (g *guest) write(offset uint64, data []byte) {
	for n, b := range data {
		g.call("store_u8", offset+uint64(n), uint64(b))
	}
}

func (g *guest) read(offset, length uint64) string {
	var text strings.Builder
	for n := range length {
		text.WriteByte(byte(g.call("load_u8", offset+n)))
	}
	return text.String()
}

// theirs is Extism's kernel.
func theirs(t *testing.T) *guest {
	wasm, err := os.ReadFile(filepath.Join(sdk(t), "extism-runtime.wasm"))
	require.NoError(t, err)
	r := wazero.NewRuntime(t.Context())
	t.Cleanup(func() { require.NoError(t, r.Close(context.Background())) })
	mod, err := r.Instantiate(t.Context(), wasm)
	require.NoError(t, err)
	g := &guest{t: t, mod: mod}
	g.begin = func(input []byte) {
		g.call("reset")
		offset := g.call("alloc", uint64(len(input)))
		g.write(offset, input)
		g.call("input_set", offset, uint64(len(input)))
	}
	return g
}

// ours is the engine's.
func ours(t *testing.T) *guest {
	r := wazero.NewRuntime(t.Context())
	t.Cleanup(func() { require.NoError(t, r.Close(context.Background())) })
	host := r.NewHostModuleBuilder(kernel.ModuleHost)
	for _, f := range kernel.HostFunctions() {
		host.NewFunctionBuilder().
			WithGoModuleFunction(api.GoModuleFunc(func(context.Context, api.Module, []uint64) {}), f.Params, f.Results).Export(f.Name)
	}
	_, err := host.Instantiate(t.Context())
	require.NoError(t, err)
	mod, err := r.InstantiateWithConfig(t.Context(), kernel.Module(), wazero.NewModuleConfig().WithName(""))
	require.NoError(t, err)
	k, err := kernel.Bind(mod)
	require.NoError(t, err)
	return &guest{t: t, mod: mod, begin: func(input []byte) {
		k.Reset()
		require.True(t, k.Begin(input, -1))
	}}
}

// TestSameCallsSameAnswers does what a guest without faults does, in any order. The two kernels may put blocks where they
// like; all else has to be the same.
func TestSameCallsSameAnswers(t *testing.T) {
	a, b := ours(t), theirs(t)
	for seed := range uint64(40) {
		random := rand.New(rand.NewPCG(seed, 3))
		input := make([]byte, random.IntN(200))
		for n := range input {
			input[n] = byte(random.Uint32())
		}
		a.begin(input)
		b.begin(input)
		both := func(name string, at func(pair [2]uint64) []uint64, pair [2]uint64) uint64 {
			x, y := a.call(name, at([2]uint64{pair[0]})...), b.call(name, at([2]uint64{pair[1]})...)
			require.Equal(t, x, y, "%s of seed %d", name, seed)
			return x
		}
		none := func([2]uint64) []uint64 { return nil }
		first := func(pair [2]uint64) []uint64 { return []uint64{pair[0]} }

		var blocks [][2]uint64
		sizes := map[[2]uint64]uint64{}
		require.Equal(t, both("input_length", none, [2]uint64{}), uint64(len(input)))
		for at := range input {
			same := [2]uint64{uint64(at), uint64(at)}
			both("input_load_u8", first, same)
			if at+8 <= len(input) {
				both("input_load_u64", first, same)
			}
		}
		for range 300 {
			if len(blocks) == 0 || random.IntN(3) == 0 {
				n := uint64(random.IntN(300))
				pair := [2]uint64{a.call("alloc", n), b.call("alloc", n)}
				require.Equal(t, pair[0] == 0, pair[1] == 0)
				if n > 0 {
					blocks, sizes[pair] = append(blocks, pair), n
				}
				continue
			}
			pick := random.IntN(len(blocks))
			pair := blocks[pick]
			n := sizes[pair]
			switch random.IntN(8) {
			case 0:
				a.call("free", pair[0])
				b.call("free", pair[1])
				blocks = append(blocks[:pick], blocks[pick+1:]...)
				both("length", first, pair)
				both("length_unsafe", first, pair)
			case 1, 2:
				at, value := random.Uint64N(n), uint64(byte(random.Uint32()))
				both("store_u8", func(p [2]uint64) []uint64 { return []uint64{p[0] + at, value} }, pair)
				both("load_u8", func(p [2]uint64) []uint64 { return []uint64{p[0] + at} }, pair)
			case 3, 4:
				if n < 8 {
					continue
				}
				at, value := random.Uint64N(n-7), random.Uint64()
				both("store_u64", func(p [2]uint64) []uint64 { return []uint64{p[0] + at, value} }, pair)
				both("load_u64", func(p [2]uint64) []uint64 { return []uint64{p[0] + at} }, pair)
			case 5:
				require.Equal(t, n, both("length", first, pair))
				require.Equal(t, n, both("length_unsafe", first, pair))
			case 6:
				at := random.Uint64N(n)
				both("output_set", func(p [2]uint64) []uint64 { return []uint64{p[0] + at, n - at} }, pair)
				require.Equal(t, n-at, both("output_length", none, pair))
				require.Equal(t, pair[0]+at, a.call("output_offset"))
				require.Equal(t, pair[1]+at, b.call("output_offset"))
				// Theirs may give the block away once it is freed, and ours not: see below.
				blocks = append(blocks[:pick], blocks[pick+1:]...)
			case 7:
				both("error_set", first, pair)
				require.Equal(t, pair[0], a.call("error_get"))
				require.Equal(t, pair[1], b.call("error_get"))
				both("error_set", func([2]uint64) []uint64 { return []uint64{0} }, pair)
				require.Zero(t, both("error_get", none, pair))
			}
		}
		a.call("free", a.call("input_offset"))
		b.call("free", b.call("input_offset"))
		require.Zero(t, both("input_length", none, [2]uint64{}), "freed")
		a.call("reset")
		b.call("reset")
		for _, name := range []string{"input_length", "output_length", "error_get"} {
			require.Zero(t, both(name, none, [2]uint64{}), name)
		}
	}
}

// TestDifferences says where the two part, each on purpose.
func TestDifferences(t *testing.T) {
	fresh := func() (*guest, *guest) {
		a, b := ours(t), theirs(t)
		a.begin([]byte("the input"))
		b.begin([]byte("the input"))
		return a, b
	}
	t.Run("an access outside traps, and theirs reads 0 or writes nothing", func(t *testing.T) {
		for name, params := range map[string][]uint64{
			"load_u8": {1 << 40}, "load_u64": {1 << 40}, "store_u8": {1 << 40, 1}, "store_u64": {1 << 40, 1},
			"input_load_u8": {9}, "input_load_u64": {2}, "output_set": {1 << 40, 1}, "input_set": {1 << 40, 1}, "error_set": {1 << 40},
		} {
			a, b := fresh()
			_, err := a.try(name, params...)
			require.Error(t, err, name)
			result, err := b.try(name, params...)
			require.NoError(t, err, name)
			require.Zero(t, result, name)
		}
	})
	t.Run("memory that was never given out cannot be reached, and theirs can up to its last page", func(t *testing.T) {
		a, b := fresh()
		_, err := a.try("store_u8", 60_000, 1)
		require.Error(t, err)
		b.call("store_u8", 60_000, 1)
		require.EqualValues(t, 1, b.call("load_u8", 60_000))
	})
	t.Run("output of no bytes", func(t *testing.T) {
		a, b := fresh()
		for _, g := range []*guest{a, b} {
			block := g.call("alloc", 5)
			g.call("output_set", block, 5)
			g.call("output_set", 0, 0)
		}
		require.Zero(t, a.call("output_length"), "takes it back")
		require.EqualValues(t, 5, b.call("output_length"), "is passed over")
	})
	t.Run("output stays as it is when it is freed, and theirs is given to the next", func(t *testing.T) {
		text := map[string]string{}
		a, b := fresh()
		for name, g := range map[string]*guest{"ours": a, "theirs": b} {
			block := g.call("alloc", 6)
			g.write(block, []byte("output"))
			g.call("output_set", block, 6)
			g.call("free", block)
			for range 4000 { // more than what theirs has before it looks for freed blocks
				g.write(g.call("alloc", 6), []byte("other!"))
			}
			text[name] = g.read(g.call("output_offset"), g.call("output_length"))
		}
		require.Equal(t, map[string]string{"ours": "output", "theirs": "other!"}, text)
	})
	t.Run("too much is not to be had, and theirs counts it in 32 bits", func(t *testing.T) {
		a, b := fresh()
		require.Zero(t, a.call("alloc", math.MaxUint64))
		require.NotZero(t, b.call("alloc", math.MaxUint64))
	})
	t.Run("the size of the memory is all of it, and theirs without what it keeps for itself", func(t *testing.T) {
		a, b := fresh()
		require.EqualValues(t, 65536, a.call("memory_bytes"))
		require.EqualValues(t, 65536-64, b.call("memory_bytes"))
	})
	t.Run("blocks are aligned", func(t *testing.T) {
		a, b := fresh()
		aligned := true
		for n := range uint64(20) {
			require.Zero(t, a.call("alloc", n+1)%16)
			aligned = aligned && b.call("alloc", n+1)%8 == 0
		}
		require.False(t, aligned)
	})
}
