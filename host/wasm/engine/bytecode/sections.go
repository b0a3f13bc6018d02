package bytecode

import (
	"errors"
	"fmt"
	"math"
)

func (m *Module) decodeType(r *reader) error {
	form, err := r.byte()
	if err != nil {
		return err
	}
	if form != 0x60 {
		r.pos = r.end
		return errGC
	}
	var t FuncType
	if t.Params, err = decodeValueTypes(r); err != nil {
		return err
	}
	if t.Results, err = decodeValueTypes(r); err != nil {
		return err
	}
	m.Types = append(m.Types, t)
	return nil
}

func decodeValueTypes(r *reader) ([]ValueType, error) {
	var types []ValueType
	err := r.vector(mostParams, func() error {
		t, err := decodeValueType(r)
		types = append(types, t)
		return err
	})
	return types, err
}

func decodeValueType(r *reader) (ValueType, error) {
	b, err := r.byte()
	if err == nil && !ValueType(b).known() {
		err = typeFault(b)
	}
	return ValueType(b), err
}

func decodeReferenceType(r *reader) (ValueType, error) {
	b, err := r.byte()
	switch {
	case err != nil:
		return 0, err
	case b == 0x63 || b == 0x64:
		return 0, errFuncTypes
	case !ValueType(b).reference():
		return 0, errGC
	}
	return ValueType(b), nil
}

func (m *Module) decodeImport(r *reader) error {
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
	i.Kind = Kind(kind)
	switch i.Kind {
	case KindFunc:
		i.Type, err = m.index(r, "type", len(m.Types))
		m.ImportedFuncs++
	case KindTable:
		err = m.decodeTable(r)
	case KindMemory:
		err = m.decodeMemory(r, true)
	case KindGlobal:
		_, err = decodeGlobalType(r)
		m.ImportedGlobals++
	case KindTag: // It is named beside the other imports that nobody offers.
		m.partial = true
		if _, err = r.byte(); err == nil {
			_, err = r.u32()
		}
	default:
		return fmt.Errorf("unknown kind of import 0x%02x", kind)
	}
	m.Imports = append(m.Imports, i)
	return err
}

func (m *Module) decodeTable(r *reader) error {
	element, err := decodeReferenceType(r)
	if err != nil {
		return err
	}
	lowest, highest, flags, err := decodeLimits(r)
	switch {
	case err != nil:
		return err
	case flags&^3 != 0:
		return errMemory64
	case flags&2 != 0:
		return errThreads
	case flags == 0:
		highest = math.MaxUint32
	}
	m.Tables = append(m.Tables, Table{Type: element, Min: lowest, Max: highest})
	return nil
}

func (m *Module) decodeMemory(r *reader, imported bool) error {
	lowest, highest, flags, err := decodeLimits(r)
	if err != nil {
		return err
	}
	m.memories++
	m.Memory = Memory{Present: true, Imported: imported, Min: lowest, Max: highest, HasMax: flags&1 != 0}
	switch {
	case flags&4 != 0:
		return errMemory64
	case flags&2 != 0:
		return errThreads
	case flags&8 != 0:
		return errPageSizes
	case m.memories > 1:
		return errMemories
	}
	return nil
}

// decodeLimits reads a minimum and, where there is one, a maximum. The numbers have 64 bits in the proposals that are
// refused, and are read as such there, so that the refusal can name the proposal.
func decodeLimits(r *reader) (lowest, highest uint64, flags byte, err error) {
	if flags, err = r.byte(); err != nil {
		return 0, 0, 0, err
	}
	if flags > 15 {
		return 0, 0, 0, fmt.Errorf("unknown flags 0x%02x", flags)
	}
	number := func() (uint64, error) {
		if flags > 1 {
			return r.leb(10)
		}
		n, err := r.u32()
		return uint64(n), err
	}
	if lowest, err = number(); err != nil {
		return 0, 0, 0, err
	}
	if flags&1 != 0 {
		if highest, err = number(); err != nil {
			return 0, 0, 0, err
		}
	}
	if flags&8 != 0 {
		_, err = r.u32()
	}
	return lowest, highest, flags, err
}

func decodeGlobalType(r *reader) (Global, error) {
	value, err := decodeValueType(r)
	if err != nil {
		return Global{}, err
	}
	mutable, err := r.byte()
	if err != nil {
		return Global{}, err
	}
	if mutable&2 != 0 {
		return Global{}, errThreads
	}
	if mutable > 1 {
		return Global{}, fmt.Errorf("unknown mutability 0x%02x", mutable)
	}
	return Global{Type: value, Mutable: mutable == 1}, nil
}

func (m *Module) decodeGlobal(r *reader) error {
	g, err := decodeGlobalType(r)
	if err != nil {
		return err
	}
	m.Globals = append(m.Globals, g)
	return m.decodeConstant(r, true)
}

func (m *Module) decodeExport(r *reader) error {
	var e Export
	var err error
	if e.Name, err = r.name(); err != nil {
		return err
	}
	kind, err := r.byte()
	if err != nil {
		return err
	}
	e.Kind = Kind(kind)
	switch e.Kind {
	case KindFunc:
		e.Index, err = m.index(r, "function", m.FuncCount())
	case KindTable:
		e.Index, err = m.index(r, "table", len(m.Tables))
	case KindMemory:
		e.Index, err = m.index(r, "memory", m.memories)
	case KindGlobal:
		e.Index, err = m.index(r, "global", m.GlobalCount())
	case KindTag:
		return errExceptions
	default:
		return fmt.Errorf("unknown kind of export 0x%02x", kind)
	}
	if err != nil {
		return err
	}
	m.Exports = append(m.Exports, e)
	return nil
}

// decodeElements reads a segment of elements. Its first number is made of three bits: whether it is passive or
// declarative, whether it names a table or (where it is one of those) is declarative, and whether its elements are
// expressions.
func (m *Module) decodeElements(r *reader) error {
	m.Elements++
	flags, err := r.u32()
	if err != nil {
		return err
	}
	if flags > 7 {
		return fmt.Errorf("unknown flags 0x%02x", flags)
	}
	active, expressions := flags&1 == 0, flags&4 != 0
	if active {
		table := uint32(0)
		if flags&2 != 0 {
			table, err = r.u32()
		}
		if err == nil && !m.partial && int64(table) >= int64(len(m.Tables)) {
			err = outOfRange("table", table, len(m.Tables))
		}
		if err == nil {
			err = m.decodeConstant(r, false)
		}
		if err != nil {
			return err
		}
	}
	if flags&3 != 0 { // what the elements are
		if expressions {
			_, err = decodeReferenceType(r)
		} else {
			err = decodeElementKind(r)
		}
		if err != nil {
			return err
		}
	}
	return r.vector(mostElements, func() error {
		if expressions {
			return m.decodeConstant(r, true)
		}
		return m.decodeFuncRef(r)
	})
}

func decodeElementKind(r *reader) error {
	kind, err := r.byte()
	if err == nil && kind != 0 {
		err = fmt.Errorf("unknown kind of element 0x%02x", kind)
	}
	return err
}

func (m *Module) decodeFuncRef(r *reader) error {
	at := r.pos
	f, err := m.index(r, "function", m.FuncCount())
	m.FuncRefs = append(m.FuncRefs, FuncRef{At: uint32(at), Func: f})
	return err
}

func (m *Module) decodeData(r *reader) error {
	m.Data++
	flags, err := r.u32()
	if err != nil {
		return err
	}
	switch flags {
	case 0, 2:
		if flags == 2 {
			memory, err := r.u32()
			if err != nil {
				return err
			}
			if memory != 0 {
				return errMemories
			}
		}
		if err := m.decodeConstant(r, false); err != nil {
			return err
		}
	case 1:
	default:
		return fmt.Errorf("unknown flags 0x%02x", flags)
	}
	n, err := r.u32()
	if err != nil {
		return err
	}
	return r.skip(uint64(n))
}

// decodeConstant reads the expression that makes a first value, or an offset. Only a value may be a function.
func (m *Module) decodeConstant(r *reader, value bool) error {
	for {
		op, err := r.byte()
		if err != nil {
			return err
		}
		switch op {
		case opEnd:
			return nil
		case opI32Const:
			_, err = r.leb(5)
		case opI64Const:
			_, err = r.leb(10)
		case opF32Const:
			err = r.skip(4)
		case opF64Const:
			err = r.skip(8)
		case opGlobalGet:
			_, err = m.index(r, "global", m.GlobalCount())
		case opRefNull:
			_, err = decodeReferenceType(r)
		case opRefFunc:
			if !value {
				return errors.New("function as an offset")
			}
			err = m.decodeFuncRef(r)
		case opPrefixSIMD:
			if op, err = r.byte(); err == nil && op != simdConst {
				err = fmt.Errorf("instruction 0xfd 0x%02x in a constant expression", op)
			} else if err == nil {
				err = r.skip(16)
			}
		case 0x6a, 0x6b, 0x6c, 0x7c, 0x7d, 0x7e: // add, sub and mul, of i32 and of i64
		case opPrefixGC:
			return errGC
		default:
			return fmt.Errorf("instruction 0x%02x in a constant expression", op)
		}
		if err != nil {
			return err
		}
	}
}
