package metering_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/weft-run/weft/host/wasm/engine/bytecode"
	"github.com/weft-run/weft/host/wasm/engine/metering"
	"github.com/weft-run/weft/internal/wat"
)

// outcome is all that a run of a module shows.
type outcome struct {
	Instance string // why there is none, or nothing
	Calls    []string
	Globals  []uint64 // of a vector the lower half
	Memory   string
	Trace    []uint64
	// Fuel, Stack and Ticks are those of a metered module.
	Fuel, Stack []int64
	Ticks       []int64
}

// stopped says whether the meter ended the run.
func (o *outcome) stopped() bool {
	for _, end := range append(o.Calls, o.Instance) {
		if strings.Contains(end, errFuel.Error()) || strings.Contains(end, errDepth.Error()) {
			return true
		}
	}
	return false
}

// callable says whether a host can call a function: references are nothing that it could make up.
func callable(t bytecode.FuncType) bool {
	for _, v := range append(append(types{}, t.Params...), t.Results...) {
		if v == bytecode.Funcref || v == bytecode.Externref {
			return false
		}
	}
	return true
}

// visible returns results without the upper halves of those of 32 bits, which mean nothing.
func visible(list types, results []uint64) (out []uint64) {
	at := 0
	for _, t := range list {
		switch {
		case len(results) == 0:
		case t == bytecode.I32 || t == bytecode.F32:
			out = append(out, results[at]&0xffffffff)
		case t == bytecode.V128:
			out = append(out, results[at], results[at+1])
			at++
		default:
			out = append(out, results[at])
		}
		at++
	}
	return out
}

// stackOfRun is the stack budget of a call. The interpreter has its own end after 2,000 calls.
const stackOfRun = 60_000

// run instantiates a module that was generated, and calls its functions.
func (m *machine) run(t testing.TB, p *program, wasm []byte, metered bool) (o outcome) {
	t.Helper()
	m.slice, m.slices, m.ticks, m.trace = 700, 16, nil, nil
	ctx := context.Background()
	compiled, err := m.runtime.CompileModule(ctx, wasm)
	require.NoError(t, err)
	defer compiled.Close(ctx)
	instance, err := m.runtime.InstantiateModule(ctx, compiled, wazero.NewModuleConfig().WithName("").WithStartFunctions())
	o.Instance = kind(err)
	if err == nil {
		defer instance.Close(ctx)
		m.callAll(p, instance, metered, &o)
	}
	o.Ticks, o.Trace = m.ticks, m.trace
	return o
}

func (m *machine) callAll(p *program, instance api.Module, metered bool, o *outcome) {
	for i, f := range p.funcs {
		t := p.types[f]
		if !callable(t) || i == p.start {
			continue
		}
		var args []uint64
		for k, v := range t.Params {
			bits := uint64(i*1000003+k) * 0x9e3779b97f4a7c15 >> (8 * k)
			switch v {
			case bytecode.I32, bytecode.F32:
				args = append(args, bits&0xffffffff)
			case bytecode.V128:
				args = append(args, bits, ^bits)
			default:
				args = append(args, bits)
			}
		}
		if metered {
			m.ticks = append(m.ticks, 0) // what separates calls
			set(instance, metering.Fuel, uint64(m.slice))
			set(instance, metering.Stack, stackOfRun)
		}
		results, end := call(instance, fmt.Sprint("f", i), args...)
		o.Calls = append(o.Calls, fmt.Sprintf("%x %s", visible(t.Results, results), end))
		if metered {
			o.Fuel = append(o.Fuel, get(instance, metering.Fuel))
			o.Stack = append(o.Stack, get(instance, metering.Stack))
		}
	}
	for i := range p.globals {
		o.Globals = append(o.Globals, instance.ExportedGlobal(fmt.Sprint("g", i)).Get())
	}
	memory, _ := instance.Memory().Read(0, instance.Memory().Size())
	o.Memory = string(memory)
}

// FuzzMeteredModuleMeansTheSame generates a valid module, and compares what it does with metering and without, compiled
// and interpreted.
func FuzzMeteredModuleMeansTheSame(f *testing.F) {
	random := rand.New(rand.NewPCG(1, 2))
	for n := range 200 {
		data := make([]byte, 50+n*5)
		for i := range data {
			data[i] = byte(random.Uint32())
		}
		f.Add(data)
	}
	compiler := newMachine(f, wazero.NewRuntimeConfigCompiler())
	interpreter := newMachine(f, wazero.NewRuntimeConfigInterpreter())
	f.Fuzz(func(t *testing.T, data []byte) {
		wasm, p := generate(data)
		result, err := meter(wasm)
		require.NoError(t, err)

		want := interpreter.run(t, p, result.Wasm, true)
		have := compiler.run(t, p, result.Wasm, true)
		require.Equal(t, want, have, "interpreted and compiled, metered")
		for i, left := range have.Stack {
			if strings.HasSuffix(have.Calls[i], " ") { // It returned.
				require.EqualValues(t, stackOfRun, left)
			}
		}
		if want.stopped() {
			return
		}
		want.Fuel, want.Stack, want.Ticks = nil, nil, nil
		require.Equal(t, want, interpreter.run(t, p, wasm, false), "metered and not, interpreted")
		require.Equal(t, want, compiler.run(t, p, wasm, false), "metered and not, compiled")
	})
}

// FuzzModuleStaysValid gives any bytes to Instrument. What the runtime accepts it accepts with metering too, and what it
// refuses it refuses.
func FuzzModuleStaysValid(f *testing.F) {
	paths, err := filepath.Glob("../testdata/*.wat")
	require.NoError(f, err)
	for _, path := range paths {
		f.Add(wat.Assemble(f, path))
	}
	random := rand.New(rand.NewPCG(3, 4))
	for range 50 {
		data := make([]byte, 60)
		for i := range data {
			data[i] = byte(random.Uint32())
		}
		wasm, _ := generate(data)
		f.Add(wasm)
	}
	r := wazero.NewRuntimeWithConfig(context.Background(),
		wazero.NewRuntimeConfigCompiler().WithCoreFeatures(features).WithDebugInfoEnabled(false))
	f.Cleanup(func() { _ = r.Close(context.Background()) })
	compiles := func(wasm []byte) (err error) {
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("panic: %v", p)
			}
		}()
		compiled, err := r.CompileModule(context.Background(), wasm)
		if err == nil {
			err = compiled.Close(context.Background())
		}
		return err
	}
	f.Fuzz(func(t *testing.T, wasm []byte) {
		m, faults := bytecode.Decode(wasm)
		if len(faults) > 0 {
			return
		}
		code, fault := m.Scan()
		if fault != nil || code.Locals > 10_000 || code.Branches > 1000 {
			return
		}
		result, err := metering.Instrument(m, code)
		if err != nil {
			require.ErrorContains(t, err, "kept for the host")
			return
		}
		plain, metered := compiles(wasm), compiles(result.Wasm)
		require.Equal(t, plain == nil, metered == nil, "without metering: %v\nwith: %v", plain, metered)
		if plain != nil {
			return
		}
		again, faults := bytecode.Decode(result.Wasm)
		require.Empty(t, faults)
		_, fault = again.Scan()
		require.Nil(t, fault)
	})
}
