package bytecode_test

import (
	"fmt"

	"github.com/weft-run/weft/host/wasm/engine/bytecode"
)

func ExampleDecode() {
	wasm := bytecode.AppendSection(bytecode.Header(), bytecode.SectionType, []byte{1, 0x60, 0, 1, byte(bytecode.I32)})
	wasm = bytecode.AppendSection(wasm, bytecode.SectionFunction, []byte{1, 0})
	wasm = bytecode.AppendSection(wasm, bytecode.SectionExport, bytecode.AppendExports(nil, []bytecode.Export{{Name: "answer"}}))
	wasm = bytecode.AppendSection(wasm, bytecode.SectionCode, []byte{1, 4, 0, 0x41, 42, bytecode.OpEnd})

	m, faults := bytecode.Decode(wasm)
	fmt.Println(len(faults), "faults")
	for _, e := range m.Exports {
		fmt.Println(e.Kind, e.Name, m.Types[m.FuncTypes()[e.Index]])
	}
	code, _ := m.Scan()
	fmt.Println(code.Funcs[0].Instructions, "instruction")

	_, faults = bytecode.Decode([]byte("(module)"))
	fmt.Println(faults[0])
	// Output:
	// 0 faults
	// func answer {[] [i32]}
	// 1 instruction
	// not a WebAssembly module: looks like WebAssembly text; assemble it first: a module begins with "\0asm"; check which file this is
}
