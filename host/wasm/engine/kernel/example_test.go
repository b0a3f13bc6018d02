package kernel_test

import (
	"context"
	"fmt"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/weft-run/weft/host/wasm/engine/kernel"
)

// A host gives the functions of weft:host, makes a kernel for each instance of a guest, and then begins a call, runs it,
// reads what it put out and resets. Here the example itself does what the guest would do.
func Example() {
	ctx := context.Background()
	runtime := wazero.NewRuntime(ctx)
	defer runtime.Close(ctx)
	host := runtime.NewHostModuleBuilder(kernel.ModuleHost)
	for _, f := range kernel.HostFunctions() {
		host.NewFunctionBuilder().
			WithGoModuleFunction(api.GoModuleFunc(func(context.Context, api.Module, []uint64) {}), f.Params, f.Results).
			Export(f.Name)
	}
	if _, err := host.Instantiate(ctx); err != nil {
		fmt.Println(err)
		return
	}
	mod, err := runtime.InstantiateWithConfig(ctx, kernel.Module(), wazero.NewModuleConfig().WithName(""))
	if err != nil {
		fmt.Println(err)
		return
	}
	k, err := kernel.Bind(mod)
	if err != nil {
		fmt.Println(err)
		return
	}

	guest := func(function string, params ...uint64) uint64 {
		results, err := mod.ExportedFunction(function).Call(ctx, params...)
		if err != nil {
			fault, _ := k.Fault()
			fmt.Println(fault.Function, "of", fault.Length, "bytes at", fault.Offset)
			return 0
		}
		return append(results, 0)[0]
	}

	k.Begin([]byte("hello, kernel"), 100)
	guest("output_set", guest("input_offset")+7, 6)
	output, _ := k.Output()
	fmt.Printf("%s\n", output)
	guest("load_u64", 1<<40)
	k.Reset()
	// Output:
	// kernel
	// load_u64 of 8 bytes at 1099511627776
}
