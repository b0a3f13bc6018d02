package engine

import (
	"errors"
	"fmt"
	"math"
)

// The kinds of imports and exports.
const (
	kindFunc   = 0
	kindTable  = 1
	kindMemory = 2
	kindGlobal = 3
	kindTag    = 4
)

var kindName = map[byte]string{
	kindFunc: "func", kindTable: "table", kindMemory: "memory", kindGlobal: "global", kindTag: "tag",
}

// The value types.
const (
	typeI32       = 0x7f
	typeI64       = 0x7e
	typeF32       = 0x7d
	typeF64       = 0x7c
	typeV128      = 0x7b
	typeFuncref   = 0x70
	typeExternref = 0x6f
)

var typeName = map[byte]string{
	typeI32: "i32", typeI64: "i64", typeF32: "f32", typeF64: "f64", typeV128: "v128", typeFuncref: "funcref",
	typeExternref: "externref",
}

var (
	errGC         = &unsupported{"garbage-collected types", "build for wasm32 without the GC proposal"}
	errMemory64   = &unsupported{"memory64", "build for wasm32, not wasm64"}
	errThreads    = &unsupported{"threads (shared memory)", "build without threads and without the atomics feature"}
	errPageSizes  = &unsupported{"custom page sizes", "build without the custom-page-sizes feature"}
	errMemories   = &unsupported{"more than one memory", "build without the multi-memory feature"}
	errExceptions = &unsupported{"exception handling", "build without WebAssembly exceptions"}
)

// The most that a section may hold. They are far above what toolchains make, and bound what a hostile module can make
// the decoder keep.
const (
	mostTypes   = 100_000
	mostImports = 10_000
	mostExports = 100_000
	mostGlobals = 100_000
	mostTables  = 1_000
	mostFuncs   = 1_000_000
	mostParams  = 1_000
	mostCustoms = 16 // of those that are looked into
)

func (p *parsed) decode(id byte, r *reader) error {
	switch id {
	case sectionCustom:
		name, err := r.name()
		if err != nil {
			return err
		}
		if (name == customBuildID || name == customProducers) && len(p.customs) < mostCustoms {
			p.customs = append(p.customs, customSection{name: name, data: r.data[r.pos:r.end]})
		}
		return nil
	case sectionType:
		return r.vector(mostTypes, func() error { return p.decodeType(r) })
	case sectionImport:
		return r.vector(mostImports, func() error { return p.decodeImport(r) })
	case sectionFunction:
		return r.vector(mostFuncs, func() error {
			index, err := r.u32()
			p.funcs = append(p.funcs, index)
			return err
		})
	case sectionTable:
		return r.vector(mostTables, func() error { return p.decodeTable(r) })
	case sectionMemory:
		return r.vector(mostGlobals, func() error { return p.decodeMemory(r, false) })
	case sectionGlobal:
		return r.vector(mostGlobals, func() error { return p.decodeGlobal(r) })
	case sectionExport:
		return r.vector(mostExports, func() error { return p.decodeExport(r) })
	case sectionStart:
		p.start = true
		_, err := r.u32()
		return err
	case sectionCode:
		return r.vector(mostFuncs, func() error { return p.decodeBody(r) })
	case sectionDataCount:
		_, err := r.u32()
		return err
	case sectionTag:
		r.pos = r.end
		return errExceptions
	default: // Elements and data are for the compiler to judge; nothing here depends on them.
		return nil
	}
}

func (p *parsed) decodeType(r *reader) error {
	form, err := r.byte()
	if err != nil {
		return err
	}
	if form != 0x60 {
		r.pos = r.end
		return errGC
	}
	var t funcType
	if t.params, err = decodeValueTypes(r); err != nil {
		return err
	}
	if t.results, err = decodeValueTypes(r); err != nil {
		return err
	}
	p.types = append(p.types, t)
	return nil
}

func decodeValueTypes(r *reader) ([]string, error) {
	var names []string
	err := r.vector(mostParams, func() error {
		t, err := r.byte()
		if err == nil && typeName[t] == "" {
			err = fmt.Errorf("unknown value type 0x%02x", t)
		}
		names = append(names, typeName[t])
		return err
	})
	return names, err
}

func (p *parsed) decodeImport(r *reader) error {
	var i Import
	var err error
	if i.Module, err = r.name(); err != nil {
		return err
	}
	if i.Name, err = r.name(); err != nil {
		return err
	}
	kind, err := r.byte()
	if err != nil {
		return err
	}
	i.Kind = kindName[kind]
	switch kind {
	case kindFunc:
		index, err := r.u32()
		if err != nil {
			return err
		}
		if uint64(index) >= uint64(len(p.types)) {
			return fmt.Errorf("type %d of %d", index, len(p.types))
		}
		i.Params, i.Results = p.types[index].params, p.types[index].results
		p.importedF++
	case kindTable:
		err = p.decodeTable(r)
	case kindMemory:
		err = p.decodeMemory(r, true)
	case kindGlobal:
		_, err = decodeGlobalType(r)
		p.importedG++
	case kindTag:
		_, err = r.byte()
		if err == nil {
			_, err = r.u32()
		}
	default:
		return fmt.Errorf("unknown kind of import 0x%02x", kind)
	}
	p.imports = append(p.imports, i)
	return err
}

func (p *parsed) decodeTable(r *reader) error {
	element, err := r.byte()
	if err != nil {
		return err
	}
	if element != typeFuncref && element != typeExternref {
		r.pos = r.end
		return errGC
	}
	lowest, highest, flags, err := decodeLimits(r)
	if err != nil {
		return err
	}
	if flags > 1 {
		return errMemory64
	}
	if flags == 0 {
		highest = math.MaxUint32
	}
	p.tables = append(p.tables, Range{Min: lowest, Max: highest})
	return nil
}

func (p *parsed) decodeMemory(r *reader, imported bool) error {
	lowest, highest, flags, err := decodeLimits(r)
	if err != nil {
		return err
	}
	p.memories++
	p.memory = MemoryInfo{Present: true, Imported: imported, Pages: Range{Min: lowest, Max: highest}}
	switch {
	case flags&4 != 0:
		return errMemory64
	case flags&2 != 0:
		return errThreads
	case flags&8 != 0:
		return errPageSizes
	case p.memories > 1:
		return errMemories
	}
	return nil
}

// decodeLimits reads a minimum and, where there is one, a maximum. The numbers have 64 bits in the proposals that are
// refused, and are read as such, so that the refusal can name the proposal.
func decodeLimits(r *reader) (lowest, highest uint64, flags byte, err error) {
	if flags, err = r.byte(); err != nil {
		return 0, 0, 0, err
	}
	if flags > 15 {
		return 0, 0, 0, fmt.Errorf("unknown flags 0x%02x", flags)
	}
	if lowest, err = r.leb(10); err != nil {
		return 0, 0, 0, err
	}
	if flags&1 != 0 {
		if highest, err = r.leb(10); err != nil {
			return 0, 0, 0, err
		}
	}
	if flags&8 != 0 {
		_, err = r.u32()
	}
	return lowest, highest, flags, err
}

func decodeGlobalType(r *reader) (globalType, error) {
	value, err := r.byte()
	if err != nil {
		return globalType{}, err
	}
	if typeName[value] == "" {
		r.pos = r.end
		return globalType{}, errGC
	}
	mutable, err := r.byte()
	if err != nil {
		return globalType{}, err
	}
	if mutable&2 != 0 {
		return globalType{}, errThreads
	}
	if mutable > 1 {
		return globalType{}, fmt.Errorf("unknown mutability 0x%02x", mutable)
	}
	return globalType{value: value, mutable: mutable == 1}, nil
}

func (p *parsed) decodeGlobal(r *reader) error {
	g, err := decodeGlobalType(r)
	if err != nil {
		return err
	}
	p.globals = append(p.globals, g)
	return skipConstant(r)
}

// skipConstant passes over the expression that gives a global its first value.
func skipConstant(r *reader) error {
	for {
		op, err := r.byte()
		if err != nil {
			return err
		}
		if op == opEnd {
			return nil
		}
		if !constantOp(op) {
			return fmt.Errorf("instruction 0x%02x in a constant expression", op)
		}
		if err := skipImmediates(r, op, nil); err != nil {
			return err
		}
	}
}

func constantOp(op byte) bool {
	switch op {
	case 0x41, 0x42, 0x43, 0x44, 0x23, 0xd0, 0xd2, opPrefixSIMD, 0x6a, 0x6b, 0x6c, 0x7c, 0x7d, 0x7e:
		return true
	}
	return false
}

func (p *parsed) decodeExport(r *reader) error {
	name, err := r.name()
	if err != nil {
		return err
	}
	kind, err := r.byte()
	if err != nil {
		return err
	}
	if kindName[kind] == "" {
		return fmt.Errorf("unknown kind of export 0x%02x", kind)
	}
	index, err := r.u32()
	if err != nil {
		return err
	}
	p.exports = append(p.exports, exportEntry{name: name, kind: kind, index: index})
	return nil
}

func (p *parsed) decodeBody(r *reader) error {
	n, err := r.u32()
	if err != nil {
		return err
	}
	from := r.pos
	if err := r.skip(uint64(n)); err != nil {
		return errors.New("function body " + errTruncated.Error())
	}
	p.bodies = append(p.bodies, span{from, r.pos})
	return nil
}

// funcTypeOf returns the type of a function, imported or defined.
func (p *parsed) funcTypeOf(index uint32) (funcType, bool) {
	defined := int64(index) - int64(p.importedF)
	if defined < 0 || defined >= int64(len(p.funcs)) {
		return funcType{}, false
	}
	t := p.funcs[defined]
	if uint64(t) >= uint64(len(p.types)) {
		return funcType{}, false
	}
	return p.types[t], true
}
