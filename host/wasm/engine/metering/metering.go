package metering

import (
	"fmt"
	"slices"
	"strings"

	"github.com/weft-run/weft/host/wasm/engine/bytecode"
)

// What a metered module imports from its host, and exports to it.
const (
	// Module is where a metered module imports Tick and Overflow from.
	Module = "weft:meter"
	// Tick is (i64) -> (i64). It is called when the fuel is used up, with what is left, which is negative, and returns the
	// fuel of the next slice, or does not return.
	Tick = "tick"
	// Overflow is () -> (). It is called when the stack budget is used up, and must not return.
	Overflow = "overflow"
	// Fuel and Stack are mutable globals of type i64. The host sets them before it calls the module.
	Fuel  = Reserved + "fuel"
	Stack = Reserved + "stack"
	// StackAtStart is what Stack begins with, in bytes. A start function runs before a host can reach the globals. Fuel
	// begins at zero, and so a start function asks for it.
	StackAtStart = 4 << 20
	// Reserved begins the names of all exports that are added. A module that has such exports of its own is refused.
	Reserved = "__weft_"
)

// Result is a module that was metered.
type Result struct {
	// Wasm is the new module.
	Wasm []byte
	// Globals holds the names under which the mutable globals of the module are exported, in their order: the module's own
	// where there is one, __weft_gN otherwise, where N is the index of the global. Fuel and Stack are not among them.
	Globals []string
}

// Instrument returns the module with metering in it. The code must be what the module's Scan returned. The error says
// that the module uses a name that is kept for the host.
func Instrument(m *bytecode.Module, code *bytecode.Code) (*Result, error) {
	for _, e := range m.Exports {
		if strings.HasPrefix(e.Name, Reserved) {
			return nil, fmt.Errorf("export %q: names that begin with %s are kept for the host", e.Name, Reserved)
		}
	}
	for _, i := range m.Imports {
		if i.Module == Module {
			return nil, fmt.Errorf("import %q of %s, which is kept for the host", i.Name, Module)
		}
	}
	p := newPlan(m, code)
	return &Result{Wasm: p.encode(), Globals: p.globals}, nil
}

// plan says where everything goes in the new module.
type plan struct {
	m     *bytecode.Module
	code  *bytecode.Code
	types []uint32 // of all functions of the old module
	// addedTypes come after the module's own.
	addedTypes []bytecode.FuncType
	// blockType holds, for each type of the module, how the type of a block with its results is written.
	blockType map[uint32][]byte
	// helpers holds the indices of the functions that are added.
	helpers [helperCount]uint32
	exports []bytecode.Export
	globals []string

	// Sequences that are written often.
	getFuel, setFuel, refillIf, setAndCheckFuel, getStack, setStack []byte
}

// The types that are added to every module, in this order.
const (
	typeTick = iota
	typeOverflow
	typeLength
)

// added is how many functions are imported beyond those that the module imports.
const added = 2

func newPlan(m *bytecode.Module, code *bytecode.Code) *plan {
	p := &plan{m: m, code: code, types: m.FuncTypes(), blockType: map[uint32][]byte{}}
	i32, i64 := []bytecode.ValueType{bytecode.I32}, []bytecode.ValueType{bytecode.I64}
	p.addedTypes = []bytecode.FuncType{typeTick: {Params: i64, Results: i64}, typeOverflow: {}, typeLength: {Params: i32, Results: i32}}
	p.planBlocks()
	p.planHelpers()
	p.planExports()
	fuel, stack := uint32(m.GlobalCount()), uint32(m.GlobalCount()+1)
	global := func(op byte, index uint32) []byte { return bytecode.AppendU32([]byte{op}, index) }
	p.getFuel, p.setFuel = global(bytecode.OpGlobalGet, fuel), global(bytecode.OpGlobalSet, fuel)
	p.getStack, p.setStack = global(bytecode.OpGlobalGet, stack), global(bytecode.OpGlobalSet, stack)
	// What is cold comes second: the compiler keeps values in registers as the first way leaves them.
	p.refillIf = bytecode.AppendU32([]byte{
		bytecode.OpI64Const, 0, bytecode.OpI64NotLessSigned, bytecode.OpIf, bytecode.BlockEmpty, bytecode.OpElse,
		bytecode.OpCall,
	}, p.helpers[refill])
	p.refillIf = append(p.refillIf, bytecode.OpEnd)
	p.setAndCheckFuel = slices.Concat(p.setFuel, p.getFuel, p.refillIf)
	return p
}

// funcIndex returns the new index of a function.
func (p *plan) funcIndex(f uint32) uint32 {
	if int64(f) >= int64(p.m.ImportedFuncs) {
		f += added
	}
	return f
}

// planBlocks finds the type of the block that the body of a function is wrapped into. Results of more than one value
// need a type of their own.
func (p *plan) planBlocks() {
	known := map[string]uint32{}
	for _, t := range p.m.Funcs {
		if p.blockType[t] != nil {
			continue
		}
		results := p.m.Types[t].Results
		switch len(results) {
		case 0:
			p.blockType[t] = []byte{bytecode.BlockEmpty}
		case 1:
			p.blockType[t] = []byte{byte(results[0])}
		default:
			key := string(results)
			index, ok := known[key]
			if !ok {
				index = uint32(len(p.m.Types) + len(p.addedTypes))
				known[key] = index
				p.addedTypes = append(p.addedTypes, bytecode.FuncType{Results: results})
			}
			p.blockType[t] = bytecode.AppendS64(nil, int64(index))
		}
	}
}

// planExports adds the mutable globals to the exports.
func (p *plan) planExports() {
	known := map[uint32]string{}
	for _, e := range p.m.Exports {
		switch e.Kind {
		case bytecode.KindFunc:
			e.Index = p.funcIndex(e.Index)
		case bytecode.KindGlobal:
			known[e.Index] = e.Name
		}
		p.exports = append(p.exports, e)
	}
	add := func(name string, index int) {
		p.exports = append(p.exports, bytecode.Export{Name: name, Kind: bytecode.KindGlobal, Index: uint32(index)})
	}
	for i, g := range p.m.Globals {
		if !g.Mutable {
			continue
		}
		index := p.m.ImportedGlobals + i
		name, ok := known[uint32(index)]
		if !ok {
			name = fmt.Sprintf("%sg%d", Reserved, index)
			add(name, index)
		}
		p.globals = append(p.globals, name)
	}
	add(Fuel, p.m.GlobalCount())
	add(Stack, p.m.GlobalCount()+1)
}
