package metering_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/weft-run/weft/host/wasm/engine/bytecode"
	"github.com/weft-run/weft/host/wasm/engine/metering"
)

// endless is a module that exports run, a loop that does not end.
func endless() []byte {
	wasm := bytecode.AppendSection(bytecode.Header(), bytecode.SectionType, []byte{1, 0x60, 0, 0})
	wasm = bytecode.AppendSection(wasm, bytecode.SectionFunction, []byte{1, 0})
	wasm = bytecode.AppendSection(wasm, bytecode.SectionExport, bytecode.AppendExports(nil, []bytecode.Export{{Name: "run"}}))
	code := []byte{0, bytecode.OpLoop, bytecode.BlockEmpty, bytecode.OpBranch, 0, bytecode.OpEnd, bytecode.OpEnd}
	return bytecode.AppendSection(wasm, bytecode.SectionCode, append([]byte{1, byte(len(code))}, code...))
}

func ExampleInstrument() {
	m, faults := bytecode.Decode(endless())
	if len(faults) > 0 {
		fmt.Println(faults[0])
		return
	}
	code, fault := m.Scan()
	if fault != nil {
		fmt.Println(fault)
		return
	}
	metered, err := metering.Instrument(m, code)
	if err != nil {
		fmt.Println(err)
		return
	}

	ctx := context.Background()
	r := wazero.NewRuntime(ctx)
	defer r.Close(ctx)
	errBudget := errors.New("budget used up")
	budget := int64(5_000)
	_, err = r.NewHostModuleBuilder(metering.Module).
		NewFunctionBuilder().WithFunc(func(left int64) int64 {
		if budget -= 1_000 - left; budget <= 0 {
			panic(errBudget)
		}
		return 1_000
	}).Export(metering.Tick).
		NewFunctionBuilder().WithFunc(func() { panic(errors.New("stack used up")) }).Export(metering.Overflow).
		Instantiate(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	instance, err := r.Instantiate(ctx, metered.Wasm)
	if err != nil {
		fmt.Println(err)
		return
	}
	instance.ExportedGlobal(metering.Fuel).(api.MutableGlobal).Set(1_000)
	instance.ExportedGlobal(metering.Stack).(api.MutableGlobal).Set(1 << 20)
	_, err = instance.ExportedFunction("run").Call(ctx)
	fmt.Println(errors.Is(err, errBudget))
	// Output: true
}
