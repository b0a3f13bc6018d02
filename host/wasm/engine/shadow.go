package engine

import (
	"slices"

	"github.com/weft-run/weft/host/wasm/engine/bytecode"
)

// The host can read and write memory and numbers, but not tables, references and vectors. A module that changes such
// things gets a shadow of each, a table or global that it cannot name, and two functions: one that keeps what there is in
// the shadows, and one that puts it back. References belong to one instance, so that each has an init of its own there.
//
// Few modules need this: compilers write to their tables where modules are linked while they run, or make code.

// The functions that are added. The third says whether a table has another size than its shadow.
const (
	exportKeep    = reservedPrefix + "-keep"
	exportPutBack = reservedPrefix + "-put-back"
	exportDiffers = reservedPrefix + "-differs"
)

// withShadows returns the module with shadows of its tables and of those mutable globals that are no numbers, checked
// again.
func (c *checked) withShadows() ([]byte, *checked, error) {
	wasm := addShadows(c)
	decoded, wrong := bytecode.Decode(wasm)
	if len(wrong) > 0 {
		return nil, nil, wrong[0]
	}
	code, fault := decoded.Scan()
	if fault != nil {
		return nil, nil, fault
	}
	again := *c
	again.Module, again.code = decoded, code
	return wasm, &again, nil
}

func addShadows(c *checked) []byte {
	s := shadows{checked: c}
	s.plan()
	out := bytecode.Header()
	for _, id := range bytecode.SectionOrder {
		content, ok := c.Section(id)
		switch id {
		case bytecode.SectionType:
			content, ok = appended(content, len(c.Types), []byte{0x60, 0, 0}, []byte{0x60, 0, 1, byte(bytecode.I32)}), true
		case bytecode.SectionFunction:
			action, question := uint32(len(c.Types)), uint32(len(c.Types)+1)
			content, ok = appended(content, len(c.Funcs), bytecode.AppendU32(nil, action), bytecode.AppendU32(nil, action),
				bytecode.AppendU32(nil, question)), true
		case bytecode.SectionTable:
			content, ok = appended(content, len(c.Tables), s.tables...), ok || len(s.tables) > 0
		case bytecode.SectionGlobal:
			content, ok = appended(content, len(c.Globals), s.globals...), ok || len(s.globals) > 0
		case bytecode.SectionExport:
			content, ok = bytecode.AppendExports(nil, s.exports()), true
		case bytecode.SectionCode:
			content, ok = appended(content, len(c.Bodies), body(s.keep), body(s.putBack), body(s.differs)), true
		}
		if ok {
			out = bytecode.AppendSection(out, id, content)
		}
	}
	if content, ok := c.Custom(bytecode.CustomName); ok {
		out = bytecode.AppendCustom(out, bytecode.CustomName, content)
	}
	return out
}

// shadows is what is added to a module: declarations, and the code of the three functions.
type shadows struct {
	*checked
	tables, globals        [][]byte
	keep, putBack, differs []byte
}

// Instructions that nothing else here needs.
const (
	opRefNull   = 0xd0
	opI32Const  = 0x41
	opI32Sub    = 0x6b
	opI32NotEq  = 0x47
	opI32Or     = 0x72
	opDrop      = 0x1a
	opGlobalGet = 0x23
	opGlobalSet = 0x24
	opVector    = 0xfd
	opMisc      = 0xfc
	tableCopy   = 14
	tableGrow   = 15
	tableSize   = 16
)

func (s *shadows) plan() {
	s.differs = []byte{opI32Const, 0}
	for n, t := range s.Tables {
		own, shadow := uint32(n), uint32(len(s.Tables)+n)
		s.tables = append(s.tables, []byte{byte(t.Type), 0, 0}) // no elements at first, and no maximum
		misc := func(op byte, tables ...uint32) []byte {
			code := []byte{opMisc, op}
			for _, t := range tables {
				code = bytecode.AppendU32(code, t)
			}
			return code
		}
		copied := func(to, from uint32) []byte {
			return slices.Concat([]byte{opI32Const, 0, opI32Const, 0}, misc(tableSize, shadow), misc(tableCopy, to, from))
		}
		s.keep = slices.Concat(s.keep, []byte{opRefNull, byte(t.Type)}, misc(tableSize, own), misc(tableSize, shadow),
			[]byte{opI32Sub}, misc(tableGrow, shadow), []byte{opDrop}, copied(shadow, own))
		s.putBack = slices.Concat(s.putBack, copied(own, shadow))
		s.differs = slices.Concat(s.differs, misc(tableSize, own), misc(tableSize, shadow), []byte{opI32NotEq, opI32Or})
	}
	shadow := uint32(s.GlobalCount())
	for n, g := range s.Globals {
		if !g.Mutable || isNumber(g.Type) {
			continue
		}
		own := uint32(s.ImportedGlobals + n)
		s.globals = append(s.globals, append([]byte{byte(g.Type), 1}, zero(g.Type)...))
		s.keep = slices.Concat(s.keep, moved(shadow, own))
		s.putBack = slices.Concat(s.putBack, moved(own, shadow))
		shadow++
	}
}

// moved is the code that sets a global to the value of another.
func moved(to, from uint32) []byte {
	return slices.Concat(bytecode.AppendU32([]byte{opGlobalGet}, from), bytecode.AppendU32([]byte{opGlobalSet}, to))
}

// zero is the expression of the first value of a shadow.
func zero(t bytecode.ValueType) []byte {
	if t == bytecode.V128 {
		return append([]byte{opVector, 12}, append(make([]byte, 16), 0x0b)...)
	}
	return []byte{opRefNull, byte(t), 0x0b}
}

func isNumber(t bytecode.ValueType) bool {
	return t == bytecode.I32 || t == bytecode.I64 || t == bytecode.F32 || t == bytecode.F64
}

func (s *shadows) exports() []bytecode.Export {
	first := uint32(s.FuncCount())
	return append(slices.Clone(s.Exports),
		bytecode.Export{Name: exportKeep, Kind: bytecode.KindFunc, Index: first},
		bytecode.Export{Name: exportPutBack, Kind: bytecode.KindFunc, Index: first + 1},
		bytecode.Export{Name: exportDiffers, Kind: bytecode.KindFunc, Index: first + 2})
}

// body is the body of a function without locals.
func body(code []byte) []byte {
	full := append(append([]byte{0}, code...), 0x0b)
	return append(bytecode.AppendU32(nil, uint32(len(full))), full...)
}

// appended returns the content of a section that has so many elements, with more of them.
func appended(content []byte, had int, more ...[]byte) []byte {
	out := bytecode.AppendU32(nil, uint32(had+len(more)))
	if len(content) > 0 {
		for content[0]&0x80 != 0 { // the count, which was read before
			content = content[1:]
		}
		out = append(out, content[1:]...)
	}
	return append(out, slices.Concat(more...)...)
}
