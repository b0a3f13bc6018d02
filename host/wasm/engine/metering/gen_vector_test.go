package metering_test

import (
	"slices"

	"github.com/weft-run/weft/host/wasm/engine/bytecode"
)

// Vector instructions by what they take and make, by the number after the prefix.
var (
	vectorUnary = slices.Concat([]byte{77, 96, 97, 98, 192, 193, 128, 129, 160, 161}, span(124, 127), span(135, 138), span(167, 170),
		span(199, 202), []byte{248, 249, 252, 253, 224, 225, 236, 237})
	vectorUnaryFloat32 = []byte{103, 104, 105, 106, 227, 94, 250, 251}
	vectorUnaryFloat64 = []byte{116, 117, 122, 148, 239, 95, 254, 255}
	vectorBinary       = slices.Concat([]byte{14}, span(35, 76), span(78, 81), []byte{101, 102}, span(110, 115), span(118, 121), []byte{123, 130, 133, 134},
		span(142, 147), []byte{149}, span(150, 153), []byte{155}, span(156, 159), []byte{174, 177, 181}, span(182, 186), span(188, 191),
		[]byte{206, 209, 213}, span(214, 223))
	vectorBinaryFloat32 = span(228, 235)
	vectorBinaryFloat64 = span(240, 247)
	vectorShift         = slices.Concat(span(107, 109), span(139, 141), span(171, 173), span(203, 205))
	vectorTest          = []byte{83, 99, 131, 163, 195, 100, 132, 164, 196}
	// vectorSplat and the others below are by the type that they take or make.
	vectorSplat = map[bytecode.ValueType][]byte{bytecode.I32: {15, 16, 17}, bytecode.I64: {18}, bytecode.F32: {19}, bytecode.F64: {20}}
	// vectorExtract and vectorReplace hold pairs of an instruction and how many lanes there are.
	vectorExtract = map[bytecode.ValueType][][2]byte{
		bytecode.I32: {{21, 16}, {22, 16}, {24, 8}, {25, 8}, {27, 4}}, bytecode.I64: {{29, 2}}, bytecode.F32: {{31, 4}}, bytecode.F64: {{33, 2}},
	}
	vectorReplace = map[bytecode.ValueType][][2]byte{
		bytecode.I32: {{23, 16}, {26, 8}, {28, 4}}, bytecode.I64: {{30, 2}}, bytecode.F32: {{32, 4}}, bytecode.F64: {{34, 2}},
	}
	vectorLoad = slices.Concat(span(0, 10), []byte{92, 93})
	lanes      = []byte{16, 8, 4, 2}
)

// simd writes a vector instruction.
func (f *function) simd(op byte, immediates ...byte) {
	f.op(append(bytecode.AppendU32([]byte{0xfd}, uint32(op)), immediates...)...)
}

func (f *function) pick(list []byte) byte { return list[f.n(len(list))] }

// vector writes instructions that make a vector.
func (f *function) vector(depth int) {
	vectors := func(n int) {
		for range n {
			f.value(bytecode.V128, depth-1)
		}
	}
	switch f.n(13) {
	case 0:
		vectors(1)
		f.simd(f.pick(vectorUnary))
	case 1:
		vectors(1)
		f.simd(f.pick(vectorUnaryFloat32))
		f.canonicalVector(bytecode.F32)
	case 2:
		vectors(1)
		f.simd(f.pick(vectorUnaryFloat64))
		f.canonicalVector(bytecode.F64)
	case 3, 4:
		vectors(2)
		f.simd(f.pick(vectorBinary))
	case 5:
		vectors(2)
		f.simd(f.pick(vectorBinaryFloat32))
		f.canonicalVector(bytecode.F32)
	case 6:
		vectors(2)
		f.simd(f.pick(vectorBinaryFloat64))
		f.canonicalVector(bytecode.F64)
	case 7:
		vectors(1)
		f.value(bytecode.I32, depth-1)
		f.simd(f.pick(vectorShift))
	case 8:
		vectors(3)
		f.simd(82)
	case 9:
		t := valueTypes[f.n(4)]
		f.value(t, depth-1)
		f.simd(f.pick(vectorSplat[t]))
	case 10:
		t := valueTypes[f.n(4)]
		vectors(1)
		f.value(t, depth-1)
		op := vectorReplace[t][f.n(len(vectorReplace[t]))]
		f.simd(op[0], byte(f.n(int(op[1]))))
	case 11:
		f.loadVector(depth)
	case 12:
		vectors(2)
		f.simd(13)
		for range 16 {
			f.op(byte(f.n(32)))
		}
	}
}

func (f *function) loadVector(depth int) {
	f.address(depth)
	if f.n(3) > 0 {
		f.simd(f.pick(vectorLoad))
		f.at()
		return
	}
	f.value(bytecode.V128, depth-1)
	size := f.n(4)
	f.simd(byte(84 + size))
	f.at()
	f.op(byte(f.n(int(lanes[size]))))
}

func (f *function) storeVector() {
	size := f.n(5)
	if size == 4 {
		f.simd(11)
		f.at()
		return
	}
	f.simd(byte(88 + size))
	f.at()
	f.op(byte(f.n(int(lanes[size]))))
}

func (f *function) testVector(depth int) {
	f.value(bytecode.V128, depth-1)
	f.simd(f.pick(vectorTest))
}

// fromVector writes instructions that take a value out of a vector.
func (f *function) fromVector(t bytecode.ValueType, depth int) {
	f.value(bytecode.V128, depth-1)
	op := vectorExtract[t][f.n(len(vectorExtract[t]))]
	f.simd(op[0], byte(f.n(int(op[1]))))
}

// canonicalVector is canonical for the lanes of a vector.
func (f *function) canonicalVector(t bytecode.ValueType) {
	temp := f.temp(bytecode.V128)
	f.with(bytecode.OpLocalTee, temp)
	splat, nan, equal := byte(19), uint64(0x7fc00000), byte(65)
	if t == bytecode.F64 {
		splat, nan, equal = 20, 0x7ff8000000000000, 71
	}
	f.op(appendConst(nil, t, nan)...)
	f.simd(splat)
	f.with(bytecode.OpLocalGet, temp)
	f.with(bytecode.OpLocalGet, temp)
	f.simd(equal)
	f.simd(82)
}
