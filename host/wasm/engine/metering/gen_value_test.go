package metering_test

import (
	"github.com/weft-run/weft/host/wasm/engine/bytecode"
)

// Instructions by what they take and make.
var (
	i32Binary  = span(0x6a, 0x78)
	i64Binary  = span(0x7c, 0x8a)
	f32Binary  = span(0x92, 0x98)
	f64Binary  = span(0xa0, 0xa6)
	i32Unary   = append(span(0x67, 0x69), 0x45, 0xc0, 0xc1)
	i64Unary   = append(span(0x79, 0x7b), 0xc2, 0xc3, 0xc4)
	f32Unary   = span(0x8b, 0x91)
	f64Unary   = span(0x99, 0x9f)
	comparison = map[bytecode.ValueType][]byte{
		bytecode.I32: span(0x46, 0x4f), bytecode.I64: span(0x51, 0x5a), bytecode.F32: span(0x5b, 0x60), bytecode.F64: span(0x61, 0x66),
	}
	// conversions holds, by what is made and what is taken, instructions. Those of a misc prefix come as 0xfc00 and the number.
	conversions = map[bytecode.ValueType]map[bytecode.ValueType][]int{
		bytecode.I32: {bytecode.I64: {0xa7, 0x50}, bytecode.F32: {0xa8, 0xa9, 0xbc, 0xfc00, 0xfc01}, bytecode.F64: {0xaa, 0xab, 0xfc02, 0xfc03}},
		bytecode.I64: {bytecode.I32: {0xac, 0xad}, bytecode.F32: {0xae, 0xaf, 0xfc04, 0xfc05}, bytecode.F64: {0xb0, 0xb1, 0xbd, 0xfc06, 0xfc07}},
		bytecode.F32: {bytecode.I32: {0xb2, 0xb3, 0xbe}, bytecode.I64: {0xb4, 0xb5}, bytecode.F64: {0xb6}},
		bytecode.F64: {bytecode.I32: {0xb7, 0xb8}, bytecode.I64: {0xb9, 0xba, 0xbf}, bytecode.F32: {0xbb}},
	}
	loads = map[bytecode.ValueType][]byte{
		bytecode.I32: {0x28, 0x2c, 0x2d, 0x2e, 0x2f}, bytecode.I64: {0x29, 0x30, 0x31, 0x32, 0x33, 0x34, 0x35},
		bytecode.F32: {0x2a}, bytecode.F64: {0x2b},
	}
	stores = map[bytecode.ValueType][]byte{
		bytecode.I32: {0x36, 0x3a, 0x3b}, bytecode.I64: {0x37, 0x3c, 0x3d, 0x3e}, bytecode.F32: {0x38}, bytecode.F64: {0x39},
	}
)

func span(from, to int) (all []byte) {
	for op := from; op <= to; op++ {
		all = append(all, byte(op))
	}
	return all
}

// value writes instructions that leave one value of that type.
func (f *function) value(t bytecode.ValueType, depth int) {
	if depth <= 0 || f.left <= 0 {
		if f.n(3) == 2 {
			f.with(bytecode.OpLocalGet, f.local(t))
		} else {
			f.op(appendConst(nil, t, f.bits())...)
		}
		return
	}
	switch f.n(10) {
	case 0:
		f.op(appendConst(nil, t, f.bits())...)
	case 1:
		f.with(bytecode.OpLocalGet, f.local(t))
	case 2:
		at := f.n(len(f.globals))
		if f.globals[at].Type != t {
			f.value(t, 0)
			return
		}
		f.with(bytecode.OpGlobalGet, at)
	case 3:
		f.value(t, depth-1)
		f.with(bytecode.OpLocalTee, f.local(t))
	case 4:
		f.value(t, depth-1)
		f.value(t, depth-1)
		f.value(bytecode.I32, depth-1)
		if t == bytecode.Funcref || t == bytecode.Externref || f.n(2) == 1 {
			f.op(0x1c, 1, byte(t))
		} else {
			f.op(0x1b)
		}
	case 5:
		f.valueOfBlock(t, depth)
	case 6:
		f.valueOfCall(t, depth)
	default:
		f.compute(t, depth)
	}
}

func (f *function) valueOfBlock(t bytecode.ValueType, depth int) {
	f.op(bytecode.OpBlock)
	f.blockType(nil, types{t})
	f.labels = append(f.labels, types{t})
	f.inside(nil, types{t}, depth)
	f.op(bytecode.OpEnd)
	f.labels = f.labels[:len(f.labels)-1]
}

func (f *function) valueOfCall(t bytecode.ValueType, depth int) {
	for i := range len(f.funcs) + 1 {
		if s := f.signature(i); len(s.Results) == 1 && s.Results[0] == t {
			f.values(s.Params, depth-1)
			f.with(bytecode.OpCall, i)
			return
		}
	}
	f.value(t, 0)
}

// address writes an address, which is in memory most of the time.
func (f *function) address(depth int) {
	f.value(bytecode.I32, depth-1)
	if f.n(8) < 7 {
		f.op(append(bytecode.AppendS64([]byte{0x41}, 0xffff), 0x71)...)
	}
}

// at writes how an address is aligned, and an offset.
func (f *function) at() { f.op(bytecode.AppendU32([]byte{0}, uint32(f.n(200)))...) }

func (f *function) load(t bytecode.ValueType, depth int) {
	f.address(depth)
	f.op(loads[t][f.n(len(loads[t]))])
	f.at()
}

func (f *function) store(depth int) {
	t := valueTypes[f.n(5)]
	f.address(depth)
	f.value(t, depth-1)
	if t == bytecode.V128 {
		f.storeVector()
		return
	}
	f.op(stores[t][f.n(len(stores[t]))])
	f.at()
}

// compute writes an instruction that makes a value of that type of others.
func (f *function) compute(t bytecode.ValueType, depth int) {
	switch t {
	case bytecode.I32:
		f.computeI32(depth)
	case bytecode.I64:
		f.number(t, depth, i64Unary, i64Binary)
	case bytecode.F32:
		f.number(t, depth, f32Unary, f32Binary)
	case bytecode.F64:
		f.number(t, depth, f64Unary, f64Binary)
	case bytecode.V128:
		f.vector(depth)
	case bytecode.Funcref:
		if f.n(2) == 1 {
			f.with(bytecode.OpRefFunc, f.n(len(f.funcs)+1))
		} else {
			f.value(bytecode.I32, depth-1)
			f.op(0x41, 7, 0x71, 0x25, byte(f.n(2))) // table.get of one of the first 8
		}
	case bytecode.Externref:
		f.value(bytecode.I32, depth-1)
		f.op(0x41, 3, 0x71, 0x25, tableExtern)
	}
}

func (f *function) number(t bytecode.ValueType, depth int, unary, binary []byte) {
	float := t == bytecode.F32 || t == bytecode.F64
	switch f.n(5) {
	case 0, 1:
		f.value(t, depth-1)
		f.value(t, depth-1)
		f.op(binary[f.n(len(binary))])
	case 2:
		f.value(t, depth-1)
		f.op(unary[f.n(len(unary))])
	case 3:
		f.load(t, depth)
		return
	case 4:
		if f.n(3) == 1 {
			f.fromVector(t, depth)
		} else {
			f.convert(t, depth)
		}
	}
	if float {
		f.canonical(t)
	}
}

func (f *function) convert(t bytecode.ValueType, depth int) {
	from := valueTypes[f.n(4)]
	list := conversions[t][from]
	if len(list) == 0 {
		f.value(t, depth-1)
		return
	}
	f.value(from, depth-1)
	if op := list[f.n(len(list))]; op >= 0xfc00 {
		f.op(bytecode.OpMisc, byte(op))
	} else {
		f.op(byte(op))
	}
}

// canonical makes all that is not a number the same: which bits it has is left open.
func (f *function) canonical(t bytecode.ValueType) {
	temp := f.temp(t)
	f.with(bytecode.OpLocalTee, temp)
	nan, equal := uint64(0x7fc00000), byte(0x5b)
	if t == bytecode.F64 {
		nan, equal = 0x7ff8000000000000, 0x61
	}
	f.op(appendConst(nil, t, nan)...)
	f.with(bytecode.OpLocalGet, temp)
	f.with(bytecode.OpLocalGet, temp)
	f.op(equal, 0x1b)
}

func (f *function) computeI32(depth int) {
	switch f.n(12) {
	case 0:
		t := valueTypes[f.n(4)]
		f.value(t, depth-1)
		f.value(t, depth-1)
		f.op(comparison[t][f.n(len(comparison[t]))])
	case 1:
		f.op(0x3f, 0)
	case 2:
		f.op(append(appendConst(nil, bytecode.I32, uint64(f.n(4))), bytecode.OpMemoryGrow, 0)...)
	case 3:
		f.op(bytecode.OpMisc, 16, byte(f.n(3))) // table.size
	case 4:
		table := f.n(3)
		f.value(tableType(table), depth-1)
		f.op(append(appendConst(nil, bytecode.I32, uint64(f.n(5))), bytecode.OpMisc, bytecode.MiscTableGrow, byte(table))...)
	case 5:
		f.value([]bytecode.ValueType{bytecode.Funcref, bytecode.Externref}[f.n(2)], depth-1)
		f.op(0xd1)
	case 6:
		f.testVector(depth)
	default:
		f.number(bytecode.I32, depth, i32Unary, i32Binary)
	}
}

func tableType(table int) bytecode.ValueType {
	if table == tableExtern {
		return bytecode.Externref
	}
	return bytecode.Funcref
}

// few writes a number that is small most of the time.
func (f *function) few(depth, most int) {
	if f.n(8) == 7 {
		f.value(bytecode.I32, depth-1)
		return
	}
	f.op(appendConst(nil, bytecode.I32, uint64(f.n(most)))...)
}

func (f *function) bulk(depth int) {
	switch f.n(4) {
	case 0:
		f.address(depth)
		f.value(bytecode.I32, depth-1)
		f.few(depth, 200)
		f.op(bytecode.OpMisc, bytecode.MiscMemoryFill, 0)
	case 1:
		f.address(depth)
		f.address(depth)
		f.few(depth, 200)
		f.op(bytecode.OpMisc, bytecode.MiscMemoryCopy, 0, 0)
	case 2:
		f.address(depth)
		f.few(depth, 9)
		f.few(depth, 9)
		f.op(bytecode.OpMisc, bytecode.MiscMemoryInit, byte(f.n(2)), 0)
	case 3:
		f.op(bytecode.OpMisc, 9, byte(f.n(2)))
	}
}

func (f *function) tables(depth int) {
	table := f.n(3)
	switch f.n(5) {
	case 0:
		f.few(depth, 8)
		f.value(tableType(table), depth-1)
		f.op(0x26, byte(table))
	case 1:
		f.few(depth, 8)
		f.value(tableType(table), depth-1)
		f.few(depth, 5)
		f.op(bytecode.OpMisc, bytecode.MiscTableFill, byte(table))
	case 2:
		other := table
		if table != tableExtern {
			other = f.n(2)
		}
		f.few(depth, 8)
		f.few(depth, 8)
		f.few(depth, 5)
		f.op(bytecode.OpMisc, bytecode.MiscTableCopy, byte(table), byte(other))
	case 3:
		f.few(depth, 8)
		f.few(depth, 5)
		f.few(depth, 5)
		f.op(bytecode.OpMisc, bytecode.MiscTableInit, byte(f.n(2)), byte(f.n(2)))
	case 4:
		f.op(bytecode.OpMisc, 13, byte(f.n(2)))
	}
}
