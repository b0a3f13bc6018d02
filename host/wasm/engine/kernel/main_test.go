package kernel_test

import (
	"context"
	"flag"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/weft-run/weft/host/wasm/engine/kernel"
	"github.com/weft-run/weft/internal/wat"
)

var update = flag.Bool("update", false, "write kernel.wasm from kernel.wat")

func TestBytesAreThoseOfTheSource(t *testing.T) {
	assembled := wat.Assemble(t, "kernel.wat")
	if *update {
		require.NoError(t, os.WriteFile("kernel.wasm", assembled, 0o644))
		return
	}
	require.Equal(t, assembled, kernel.Module(), "kernel.wat has changed: run with -update")
}

// machine is a runtime with the module in it, and a host whose functions do what a test says.
type machine struct {
	runtime  wazero.Runtime
	compiled wazero.CompiledModule
	// host is called by the functions of the host.
	host func(name string, stack []uint64)
}

// newMachine makes one where a memory may have that many pages.
func newMachine(t testing.TB, pages uint32) *machine {
	t.Helper()
	ctx := context.Background()
	m := &machine{runtime: wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfig().WithMemoryLimitPages(pages))}
	t.Cleanup(func() { require.NoError(t, m.runtime.Close(ctx)) })
	builder := m.runtime.NewHostModuleBuilder(kernel.ModuleHost)
	for _, f := range kernel.HostFunctions() {
		builder.NewFunctionBuilder().WithGoModuleFunction(api.GoModuleFunc(func(_ context.Context, _ api.Module, stack []uint64) {
			m.host(f.Name, stack)
		}), f.Params, f.Results).Export(f.Name)
	}
	_, err := builder.Instantiate(ctx)
	require.NoError(t, err)
	m.compiled, err = m.runtime.CompileModule(ctx, kernel.Module())
	require.NoError(t, err)
	return m
}

// instance is a kernel whose functions a test calls as a guest would.
type instance struct {
	*kernel.Kernel
	t         testing.TB
	mod       api.Module
	functions map[string]api.Function
	stack     []uint64
}

func (m *machine) instance(t testing.TB) *instance {
	t.Helper()
	mod, err := m.runtime.InstantiateModule(t.Context(), m.compiled, wazero.NewModuleConfig().WithName(""))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, mod.Close(context.Background())) })
	k, err := kernel.Bind(mod)
	require.NoError(t, err)
	return &instance{Kernel: k, t: t, mod: mod, functions: map[string]api.Function{}, stack: make([]uint64, 2)}
}

func newInstance(t testing.TB) *instance {
	t.Helper()
	return newMachine(t, 1024).instance(t)
}

// try calls a function that may trap.
func (i *instance) try(name string, params ...uint64) (uint64, error) {
	i.t.Helper()
	f, ok := i.functions[name]
	if !ok {
		f = i.mod.ExportedFunction(name)
		require.NotNil(i.t, f, name)
		i.functions[name] = f
	}
	clear(i.stack)
	copy(i.stack, params)
	err := f.CallWithStack(context.Background(), i.stack)
	return i.stack[0], err
}

// call calls a function that must not trap.
func (i *instance) call(name string, params ...uint64) uint64 {
	i.t.Helper()
	result, err := i.try(name, params...)
	require.NoError(i.t, err, "%s %v", name, params)
	return result
}

// guest instantiates testdata/name.wat, linked to the kernel.
func (m *machine) guest(t testing.TB, k *kernel.Kernel, name string) api.Module {
	t.Helper()
	ctx := experimental.WithImportResolver(t.Context(), k.Resolve)
	guest, err := m.runtime.InstantiateWithConfig(ctx, wat.Assemble(t, "testdata/"+name+".wat"),
		wazero.NewModuleConfig().WithName(""))
	require.NoError(t, err)
	return guest
}
