package engine

import (
	"encoding/binary"
	"fmt"
)

// A module is changed in two ways before it is compiled. Its mutable globals are exported, so that the host can put them
// back between calls. And functions get a place where they can be stopped: the compiler stops a guest at the head of a
// loop and nowhere else, and functions that call each other can run for years without one.
//
// Whole sections are replaced. A valid module stays valid, and means the same.

// reservedExport begins the names of the exports that the host adds to a module.
const reservedExport = "__weft_"

// rewrite returns the module as it is to be compiled, and the names under which its mutable globals are exported. The
// module must have passed the checks.
func rewrite(wasm []byte, c *checked) ([]byte, []string) {
	names, exports := exportGlobals(wasm, c.parsed)
	code := stopAtEntry(wasm, c.parsed, c.code.unguarded)
	if exports == nil && code == nil {
		return wasm, names
	}
	out := make([]byte, 0, len(wasm)+len(exports)+4*len(c.bodies)+16)
	at := 0
	for _, s := range c.sections {
		out = append(out, wasm[at:s.whole.from]...)
		at = s.whole.to
		switch {
		case s.id == sectionExport && exports != nil:
			out = appendSection(out, sectionExport, exports)
			exports = nil
		case s.id == sectionCode && code != nil:
			out = appendSection(out, sectionCode, code)
		default:
			out = append(out, wasm[s.whole.from:s.whole.to]...)
		}
		if s.id == sectionGlobal && exports != nil && !c.hasSection(sectionExport) {
			out = appendSection(out, sectionExport, exports)
			exports = nil
		}
	}
	return append(out, wasm[at:]...), names
}

func (p *parsed) hasSection(id byte) bool {
	for _, s := range p.sections {
		if s.id == id {
			return true
		}
	}
	return false
}

func appendSection(out []byte, id byte, content []byte) []byte {
	out = append(out, id)
	out = binary.AppendUvarint(out, uint64(len(content)))
	return append(out, content...)
}

// exportGlobals returns the name of each mutable global, and the content of an export section in which all of them are
// exported, or nil where they are already.
func exportGlobals(wasm []byte, p *parsed) (names []string, content []byte) {
	known := map[uint32]string{}
	for _, e := range p.exports {
		if e.kind == kindGlobal {
			known[e.index] = e.name
		}
	}
	var added []byte
	extra := 0
	for i, g := range p.globals {
		if !g.mutable {
			continue
		}
		index := uint32(p.importedG + i)
		name, ok := known[index]
		if !ok {
			name = fmt.Sprintf("%sg%d", reservedExport, index)
			added = binary.AppendUvarint(added, uint64(len(name)))
			added = append(added, name...)
			added = append(added, kindGlobal)
			added = binary.AppendUvarint(added, uint64(index))
			extra++
		}
		names = append(names, name)
	}
	if extra == 0 {
		return names, nil
	}
	content = binary.AppendUvarint(nil, uint64(len(p.exports)+extra))
	for _, s := range p.sections {
		if s.id == sectionExport {
			r := &reader{data: wasm, pos: s.content.from, end: s.content.to}
			_, _ = r.u32() // the count, which was read before
			content = append(content, wasm[r.pos:s.content.to]...)
		}
	}
	return names, append(content, added...)
}

// emptyLoop is a loop that ends at once. Its head is a place where the compiler stops a guest.
var emptyLoop = []byte{opLoop, 0x40, opEnd}

// stopAtEntry returns the content of a code section in which each function of which the first instruction is given
// begins with an empty loop, or nil where none is given. at holds a position for each function, or 0.
func stopAtEntry(wasm []byte, p *parsed, at []int) []byte {
	needed := false
	for _, pos := range at {
		needed = needed || pos != 0
	}
	if !needed {
		return nil
	}
	content := binary.AppendUvarint(nil, uint64(len(p.bodies)))
	for i, body := range p.bodies {
		n := body.to - body.from
		if at[i] == 0 {
			content = binary.AppendUvarint(content, uint64(n))
			content = append(content, wasm[body.from:body.to]...)
			continue
		}
		content = binary.AppendUvarint(content, uint64(n+len(emptyLoop)))
		content = append(content, wasm[body.from:at[i]]...)
		content = append(content, emptyLoop...)
		content = append(content, wasm[at[i]:body.to]...)
	}
	return content
}
