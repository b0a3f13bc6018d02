package metering_test

import (
	"slices"

	"github.com/weft-run/weft/host/wasm/engine/bytecode"
)

// function makes the code of one function.
type function struct {
	*program
	params, results types
	locals          types // parameters first
	labels          []types
	out             []byte
	counters        int // locals that count the turns of loops and that are in use
}

// The locals that come after the parameters: two of each type to work with, one of each to keep a value for a moment, and
// those that count turns.
const countersMost = 4

func (f *function) generate() []byte {
	f.locals = slices.Clone(f.params)
	for _, t := range valueTypes {
		f.locals = append(f.locals, t, t)
	}
	f.labels = []types{f.results}
	for range 1 + f.n(6) {
		f.statement(4)
	}
	f.values(f.results, 2)
	f.op(bytecode.OpEnd)

	body := bytecode.AppendU32(nil, uint32(len(valueTypes)*2+1))
	for _, n := range []byte{2, 1} {
		for _, t := range valueTypes {
			body = append(body, n, byte(t))
		}
	}
	return append(append(body, countersMost, byte(bytecode.I32)), f.out...)
}

func (f *function) op(bytes ...byte) {
	f.out = append(f.out, bytes...)
	f.left--
}

// with writes an instruction and an index.
func (f *function) with(op byte, index int) { f.op(bytecode.AppendU32([]byte{op}, uint32(index))...) }

// temp is the local that keeps a value of that type for a moment.
func (f *function) temp(t bytecode.ValueType) int { return len(f.locals) + slices.Index(valueTypes, t) }

func (f *function) counter() int { return len(f.locals) + len(valueTypes) + f.counters }

// local returns a local of that type to work with.
func (f *function) local(t bytecode.ValueType) int {
	var fit []int
	for i, have := range f.locals {
		if have == t {
			fit = append(fit, i)
		}
	}
	return fit[f.n(len(fit))]
}

func (f *function) values(list types, depth int) {
	for _, t := range list {
		f.value(t, depth)
	}
}

// put takes values off the stack.
func (f *function) put(list types) {
	for _, t := range slices.Backward(list) {
		if f.n(4) == 3 {
			f.op(0x1a)
		} else {
			f.with(bytecode.OpLocalSet, f.local(t))
		}
	}
}

// statement writes instructions that leave the stack as it was, or that nothing comes back from.
func (f *function) statement(depth int) {
	if depth == 0 || f.left <= 0 {
		f.op(0x01)
		return
	}
	switch f.n(26) {
	case 0:
		f.op(0x01)
	case 1, 2:
		t := valueTypes[f.n(len(valueTypes))]
		f.value(t, depth-1)
		f.with(bytecode.OpLocalSet, f.local(t))
	case 3:
		f.setGlobal(depth)
	case 4, 5:
		f.store(depth)
	case 6:
		f.value(valueTypes[f.n(len(valueTypes))], depth-1)
		f.op(0x1a)
	case 7, 8:
		f.call(depth, false)
	case 9:
		f.call(depth, true)
	case 10, 11:
		f.block(depth, bytecode.OpBlock)
	case 12:
		f.block(depth, bytecode.OpLoop)
	case 13, 14, 15:
		f.countedLoop(depth)
	case 16, 17:
		f.block(depth, bytecode.OpIf)
	case 18, 19, 20:
		f.branch(depth)
	case 21:
		f.bulk(depth)
	case 22:
		f.tables(depth)
	case 23:
		f.value(bytecode.I64, depth-1)
		f.with(bytecode.OpCall, 0)
		f.op(0x1a)
	case 24:
		f.leave(depth)
	case 25:
		f.statement(depth - 1)
		f.statement(depth - 1)
	}
}

func (f *function) setGlobal(depth int) {
	at := f.n(len(f.globals))
	if !f.globals[at].Mutable {
		f.op(0x01)
		return
	}
	f.value(f.globals[at].Type, depth-1)
	f.with(bytecode.OpGlobalSet, at)
}

// leave writes what ends the function.
func (f *function) leave(depth int) {
	if f.n(8) == 7 {
		f.op(bytecode.OpUnreachable)
		return
	}
	for i := range len(f.funcs) + 1 {
		s := f.signature(i)
		if slices.Equal(s.Results, f.results) && f.n(2) == 1 {
			f.values(s.Params, depth-1)
			if f.n(2) == 1 {
				f.value(bytecode.I32, 0)
				f.with(bytecode.OpReturnCallIndirect, f.typeOf(s.Params, s.Results))
				f.op(byte(f.n(2)))
			} else {
				f.with(bytecode.OpReturnCall, i)
			}
			return
		}
	}
	f.values(f.results, depth-1)
	f.op(bytecode.OpReturn)
}

func (f *function) call(depth int, indirect bool) {
	callee := f.n(len(f.funcs) + 1)
	s := f.signature(callee)
	f.values(s.Params, depth-1)
	if indirect {
		if f.n(4) == 3 {
			f.value(bytecode.I32, depth-1)
		} else {
			f.op(appendConst(nil, bytecode.I32, uint64(callee))...)
		}
		f.with(bytecode.OpCallIndirect, f.typeOf(s.Params, s.Results))
		f.op(byte(f.n(2)))
	} else {
		f.with(bytecode.OpCall, callee)
	}
	f.put(s.Results)
}

// blockType writes the type of a block.
func (f *function) blockType(params, results types) {
	switch {
	case len(params) == 0 && len(results) == 0:
		f.op(bytecode.BlockEmpty)
	case len(params) == 0 && len(results) == 1 && f.n(2) == 0:
		f.op(byte(results[0]))
	default:
		f.op(bytecode.AppendS64(nil, int64(f.typeOf(params, results)))...)
	}
}

// block writes a block, a loop or an if, which may have parameters and results.
func (f *function) block(depth int, kind byte) {
	var params, results types
	if f.n(3) == 1 {
		params = f.list(3)
	}
	if f.n(3) == 1 {
		results = f.list(3)
	}
	f.values(params, depth-1)
	if kind == bytecode.OpIf {
		f.value(bytecode.I32, depth-1)
	}
	f.op(kind)
	f.blockType(params, results)
	label := results
	if kind == bytecode.OpLoop {
		label = params
	}
	f.labels = append(f.labels, label)
	f.inside(params, results, depth)
	if kind == bytecode.OpIf && (f.n(2) == 1 || !slices.Equal(params, results)) {
		f.op(bytecode.OpElse)
		f.inside(params, results, depth)
	}
	f.op(bytecode.OpEnd)
	f.labels = f.labels[:len(f.labels)-1]
	f.put(results)
}

func (f *function) inside(params, results types, depth int) {
	f.put(params)
	for range f.n(4) {
		f.statement(depth - 1)
	}
	f.values(results, depth-1)
}

// countedLoop writes a loop that ends, if it is not left in another way or begun anew.
func (f *function) countedLoop(depth int) {
	if f.counters == countersMost {
		f.op(0x01)
		return
	}
	counter := f.counter()
	f.counters++
	f.op(appendConst(nil, bytecode.I32, uint64(1+f.n(12)))...)
	f.with(bytecode.OpLocalSet, counter)
	f.op(bytecode.OpLoop, bytecode.BlockEmpty)
	f.labels = append(f.labels, nil)
	for range 1 + f.n(3) {
		f.statement(depth - 1)
	}
	f.with(bytecode.OpLocalGet, counter)
	f.op(0x41, 1, 0x6b)
	f.with(bytecode.OpLocalTee, counter)
	f.op(bytecode.OpBranchIf, 0, bytecode.OpEnd)
	f.labels = f.labels[:len(f.labels)-1]
	f.counters--
}

func (f *function) branch(depth int) {
	at := f.n(len(f.labels))
	label := f.labels[len(f.labels)-1-at]
	f.values(label, depth-1)
	switch f.n(4) {
	case 0, 1:
		f.value(bytecode.I32, depth-1)
		f.with(bytecode.OpBranchIf, at)
		f.put(label)
	case 2:
		f.with(bytecode.OpBranch, at)
	case 3:
		f.value(bytecode.I32, depth-1)
		targets := []int{at}
		for i := range f.labels {
			if slices.Equal(f.labels[len(f.labels)-1-i], label) && f.n(2) == 1 {
				targets = append(targets, i)
			}
		}
		f.with(bytecode.OpBranchTable, len(targets)-1)
		for _, t := range targets {
			f.op(bytecode.AppendU32(nil, uint32(t))...)
		}
	}
}
