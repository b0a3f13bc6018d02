package metering_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/weft-run/weft/host/wasm/engine/bytecode"
	"github.com/weft-run/weft/host/wasm/engine/metering"
	"github.com/weft-run/weft/internal/testneed"
)

// features is the part of WebAssembly that is accepted.
const features = api.CoreFeaturesV2 | experimental.CoreFeaturesTailCall | experimental.CoreFeaturesExtendedConst

// What ends a guest.
var (
	errFuel  = errors.New("fuel used up")
	errDepth = errors.New("stack used up")
)

// assemble returns the module that a text describes.
func assemble(t testing.TB, text string) []byte {
	t.Helper()
	tool := testneed.Tool(t, "wat2wasm", "Debian: apt-get install wabt")
	from, to := filepath.Join(t.TempDir(), "test.wat"), filepath.Join(t.TempDir(), "test.wasm")
	require.NoError(t, os.WriteFile(from, []byte(text), 0o600))
	out, err := exec.Command(tool, "--debug-names", "--enable-tail-call", "--output="+to, from).CombinedOutput()
	require.NoError(t, err, "%s", out)
	wasm, err := os.ReadFile(to)
	require.NoError(t, err)
	return wasm
}

// meter returns the module with metering in it, or what is wrong with it.
func meter(wasm []byte) (*metering.Result, error) {
	m, faults := bytecode.Decode(wasm)
	if len(faults) > 0 {
		return nil, faults[0]
	}
	code, fault := m.Scan()
	if fault != nil {
		return nil, fault
	}
	return metering.Instrument(m, code)
}

// machine runs modules, and is the host of their meters.
type machine struct {
	runtime wazero.Runtime
	// slice is the fuel of a slice, and slices how many there are.
	slice  int64
	slices int
	// ticks holds what each tick was told, and trace what the guest told the function env.note, which returns it changed.
	ticks []int64
	trace []uint64
	// onTick, where it is not nil, is called by each tick.
	onTick func()
}

func newMachine(t testing.TB, config wazero.RuntimeConfig) *machine {
	t.Helper()
	ctx := context.Background()
	m := &machine{runtime: wazero.NewRuntimeWithConfig(ctx, config.WithCoreFeatures(features)), slice: 1000, slices: 1000}
	t.Cleanup(func() { _ = m.runtime.Close(ctx) })
	_, err := m.runtime.NewHostModuleBuilder(metering.Module).
		NewFunctionBuilder().WithFunc(m.tick).Export(metering.Tick).
		NewFunctionBuilder().WithFunc(func() { panic(errDepth) }).Export(metering.Overflow).
		Instantiate(ctx)
	require.NoError(t, err)
	_, err = m.runtime.NewHostModuleBuilder("env").
		NewFunctionBuilder().WithFunc(func(v uint64) uint64 {
		m.trace = append(m.trace, v)
		return v*31 + 7
	}).Export("note").Instantiate(ctx)
	require.NoError(t, err)
	return m
}

func (m *machine) tick(left int64) int64 {
	m.ticks = append(m.ticks, left)
	if m.onTick != nil {
		m.onTick()
	}
	if len(m.ticks) >= m.slices {
		panic(errFuel)
	}
	return m.slice
}

// instantiate makes an instance of a module, metered or not.
func (m *machine) instantiate(t testing.TB, wasm []byte) api.Module {
	t.Helper()
	instance, err := m.runtime.InstantiateWithConfig(t.Context(), wasm, wazero.NewModuleConfig().WithName("").WithStartFunctions())
	require.NoError(t, err)
	return instance
}

// metered makes an instance of the metered form of a module, with a slice of fuel and that much stack.
func (m *machine) metered(t testing.TB, text string, stack uint64) api.Module {
	t.Helper()
	result, err := meter(assemble(t, text))
	require.NoError(t, err)
	instance := m.instantiate(t, result.Wasm)
	set(instance, metering.Fuel, uint64(m.slice))
	set(instance, metering.Stack, stack)
	return instance
}

func set(instance api.Module, name string, value uint64) {
	instance.ExportedGlobal(name).(api.MutableGlobal).Set(value)
}

func get(instance api.Module, name string) int64 { return int64(instance.ExportedGlobal(name).Get()) }

// used is what the guest used: of each slice that is over, and of the one that it has.
func (m *machine) used(instance api.Module) (total int64) {
	for _, left := range m.ticks {
		total += m.slice - left
	}
	return total + m.slice - get(instance, metering.Fuel)
}

// both runs a test with the compiler and with the interpreter.
func both(t *testing.T, test func(t *testing.T, m *machine)) {
	t.Run("compiler", func(t *testing.T) { test(t, newMachine(t, wazero.NewRuntimeConfigCompiler())) })
	t.Run("interpreter", func(t *testing.T) { test(t, newMachine(t, wazero.NewRuntimeConfigInterpreter())) })
}

// kind is what ended a call, without the stack.
func kind(err error) string {
	switch {
	case err == nil:
		return ""
	case errors.Is(err, errFuel):
		return errFuel.Error()
	case errors.Is(err, errDepth):
		return errDepth.Error()
	}
	line, _, _ := strings.Cut(err.Error(), "\n")
	if _, after, ok := strings.Cut(line, " failed: "); ok { // The start function is named by its index, which is another one.
		return after
	}
	return line
}

// call calls a function, and returns what it returned and what ended it.
func call(instance api.Module, name string, args ...uint64) ([]uint64, string) {
	results, err := instance.ExportedFunction(name).Call(context.Background(), args...)
	return results, kind(err)
}

func repeat(n int, text string) string { return strings.Repeat(text, n) }
