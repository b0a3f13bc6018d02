package metering_test

import (
	"encoding/binary"
	"slices"

	"github.com/weft-run/weft/host/wasm/engine/bytecode"
)

// source turns bytes into decisions. It returns zeros when they are used up, and the generator takes the way that ends
// soonest for a zero.
type source struct{ data []byte }

func (s *source) byte() byte {
	if len(s.data) == 0 {
		return 0
	}
	b := s.data[0]
	s.data = s.data[1:]
	return b
}

// n returns a number below k.
func (s *source) n(k int) int { return int(s.byte()) % k }

func (s *source) bits() uint64 {
	var b [8]byte
	for i := range 1 + s.n(8) {
		b[i] = s.byte()
	}
	if s.n(4) == 0 { // one of the numbers at an edge
		return []uint64{0, 1, 1<<63 - 1, 1 << 63, ^uint64(0), 1<<31 - 1, 1 << 31, 0x7fc00000, 0x7ff8000000000000, 0x3ff0000000000000, 0x3f800000, 64}[s.n(12)]
	}
	return binary.LittleEndian.Uint64(b[:])
}

type types = []bytecode.ValueType

var valueTypes = types{bytecode.I32, bytecode.I64, bytecode.F32, bytecode.F64, bytecode.V128, bytecode.Funcref, bytecode.Externref}

// Every module has these tables, and these segments of elements and data.
const (
	tableFuncs, tableFuncs2, tableExtern = 0, 1, 2
	dataActive, dataPassive              = 0, 1
	elemActive, elemPassive              = 0, 1
)

// program is a valid module that is being made.
type program struct {
	source
	types   []bytecode.FuncType
	funcs   []int // the type of each function that it defines, as an index into types
	globals []bytecode.Global
	start   int // or -1
	left    int // how many more instructions there may be, about
}

// generate makes a module of bytes, and what to call in it.
func generate(data []byte) (wasm []byte, p *program) {
	p = &program{source: source{data}, start: -1, left: 400}
	p.typeOf(types{bytecode.I64}, types{bytecode.I64}) // env.note, which is the only import
	for range 1 + p.n(5) {
		p.funcs = append(p.funcs, p.typeOf(p.list(4), p.list(3)))
	}
	for range 1 + p.n(6) {
		p.globals = append(p.globals, bytecode.Global{Type: valueTypes[p.n(5)], Mutable: p.n(4) > 0})
	}
	if p.n(6) == 1 {
		p.start = len(p.funcs)
		p.funcs = append(p.funcs, p.typeOf(nil, nil))
	}
	bodies := bytecode.AppendU32(nil, uint32(len(p.funcs)))
	for _, t := range p.funcs {
		f := &function{program: p, params: p.types[t].Params, results: p.types[t].Results}
		body := f.generate()
		bodies = append(bytecode.AppendU32(bodies, uint32(len(body))), body...)
	}
	return p.encode(bodies), p
}

// list returns some types of values.
func (p *program) list(most int) (list types) {
	for range p.n(most) {
		list = append(list, valueTypes[p.n(len(valueTypes))])
	}
	return list
}

// typeOf returns the index of a signature.
func (p *program) typeOf(params, results types) int {
	at := slices.IndexFunc(p.types, func(t bytecode.FuncType) bool {
		return slices.Equal(t.Params, params) && slices.Equal(t.Results, results)
	})
	if at < 0 {
		at = len(p.types)
		p.types = append(p.types, bytecode.FuncType{Params: params, Results: results})
	}
	return at
}

// signature returns the type of a function, the imported one included.
func (p *program) signature(f int) bytecode.FuncType {
	if f == 0 {
		return p.types[0]
	}
	return p.types[p.funcs[f-1]]
}

func (p *program) encode(bodies []byte) []byte {
	u32, s64 := bytecode.AppendU32, bytecode.AppendS64
	vector := func(n int, each func(out []byte, i int) []byte) []byte {
		out := u32(nil, uint32(n))
		for i := range n {
			out = each(out, i)
		}
		return out
	}
	wasm := bytecode.AppendSection(bytecode.Header(), bytecode.SectionType, vector(len(p.types), func(out []byte, i int) []byte {
		out = append(out, 0x60)
		for _, list := range []types{p.types[i].Params, p.types[i].Results} {
			out = u32(out, uint32(len(list)))
			for _, v := range list {
				out = append(out, byte(v))
			}
		}
		return out
	}))
	imports := bytecode.AppendName(bytecode.AppendName([]byte{1}, "env"), "note")
	wasm = bytecode.AppendSection(wasm, bytecode.SectionImport, append(imports, 0, 0))
	wasm = bytecode.AppendSection(wasm, bytecode.SectionFunction, vector(len(p.funcs), func(out []byte, i int) []byte {
		return u32(out, uint32(p.funcs[i]))
	}))
	wasm = bytecode.AppendSection(wasm, bytecode.SectionTable, []byte{3, 0x70, 1, 8, 16, 0x70, 1, 4, 8, 0x6f, 1, 4, 8})
	wasm = bytecode.AppendSection(wasm, bytecode.SectionMemory, []byte{1, 1, 1, 3})
	wasm = bytecode.AppendSection(wasm, bytecode.SectionGlobal, vector(len(p.globals), func(out []byte, i int) []byte {
		g := p.globals[i]
		out = append(out, byte(g.Type), map[bool]byte{true: 1}[g.Mutable])
		return append(appendConst(out, g.Type, uint64(i)*0x3ff00001), bytecode.OpEnd)
	}))
	var exports []bytecode.Export
	for i := range p.funcs {
		exports = append(exports, bytecode.Export{Name: "f" + string(rune('0'+i)), Kind: bytecode.KindFunc, Index: uint32(i + 1)})
	}
	for i := range p.globals {
		exports = append(exports, bytecode.Export{Name: "g" + string(rune('0'+i)), Kind: bytecode.KindGlobal, Index: uint32(i)})
	}
	exports = append(exports, bytecode.Export{Name: "memory", Kind: bytecode.KindMemory})
	wasm = bytecode.AppendSection(wasm, bytecode.SectionExport, bytecode.AppendExports(nil, exports))
	if p.start >= 0 {
		wasm = bytecode.AppendSection(wasm, bytecode.SectionStart, []byte{byte(p.start + 1)})
	}
	n := len(p.funcs)
	elements := []byte{3, 0, 0x41, 1, bytecode.OpEnd} // active, from 1 on
	elements = append(elements, vector(min(n, 7), func(out []byte, i int) []byte { return u32(out, uint32(i+1)) })...)
	elements = append(elements, 5, 0x70) // passive, expressions
	elements = append(elements, vector(n+1, func(out []byte, i int) []byte {
		if i == n {
			return append(out, 0xd0, 0x70, bytecode.OpEnd)
		}
		return append(u32(append(out, bytecode.OpRefFunc), uint32(i)), bytecode.OpEnd)
	})...)
	elements = append(elements, 3, 0) // declarative
	elements = append(elements, vector(n+1, func(out []byte, i int) []byte { return u32(out, uint32(i)) })...)
	wasm = bytecode.AppendSection(wasm, bytecode.SectionElement, elements)
	wasm = bytecode.AppendSection(wasm, bytecode.SectionDataCount, []byte{2})
	wasm = bytecode.AppendSection(wasm, bytecode.SectionCode, bodies)
	data := append(s64([]byte{2, 0, 0x41}, 100), bytecode.OpEnd, 6)
	return bytecode.AppendSection(wasm, bytecode.SectionData, append(append(data, "active"...), append([]byte{1, 7}, "passive"...)...))
}

// appendConst appends an instruction that makes a value of those bits.
func appendConst(out []byte, t bytecode.ValueType, bits uint64) []byte {
	switch t {
	case bytecode.I32:
		return bytecode.AppendS64(append(out, 0x41), int64(int32(bits)))
	case bytecode.I64:
		return bytecode.AppendS64(append(out, 0x42), int64(bits))
	case bytecode.F32:
		return binary.LittleEndian.AppendUint32(append(out, 0x43), uint32(bits))
	case bytecode.F64:
		return binary.LittleEndian.AppendUint64(append(out, 0x44), bits)
	case bytecode.V128:
		out = binary.LittleEndian.AppendUint64(append(out, 0xfd, 12), bits)
		return binary.LittleEndian.AppendUint64(out, bits*0x9e3779b97f4a7c15)
	}
	return append(out, 0xd0, byte(t))
}
