package metering

import (
	"fmt"

	"github.com/weft-run/weft/host/wasm/engine/bytecode"
)

// encode writes the new module.
func (p *plan) encode() []byte {
	wasm := p.m.Wasm
	out := append(make([]byte, 0, len(wasm)+len(wasm)/4+1024), bytecode.Header()...)
	for _, id := range bytecode.SectionOrder {
		content, ok := p.m.Section(id)
		switch id {
		case bytecode.SectionType:
			content, ok = p.typeSection(content), true
		case bytecode.SectionImport:
			content, ok = p.importSection(content), true
		case bytecode.SectionFunction:
			content, ok = p.functionSection(content), true
		case bytecode.SectionGlobal:
			content, ok = p.globalSection(), true
		case bytecode.SectionExport:
			content, ok = bytecode.AppendExports(nil, p.exports), true
		case bytecode.SectionStart:
			content = bytecode.AppendU32(nil, p.funcIndex(p.m.Start))
		case bytecode.SectionElement:
			content = p.shiftRefs(id)
		case bytecode.SectionCode:
			content, ok = p.codeSection(), true
		}
		if ok {
			out = bytecode.AppendSection(out, id, content)
		}
	}
	return bytecode.AppendCustom(out, bytecode.CustomName, p.nameSection())
}

// extended returns the content of a section that begins with a count, with the count raised by n, for elements that the
// caller appends.
func extended(content []byte, had, n int) []byte {
	if len(content) > 0 {
		content = content[skipNumber(content, 0):]
	}
	return append(bytecode.AppendU32(make([]byte, 0, len(content)+256), uint32(had+n)), content...)
}

func (p *plan) typeSection(content []byte) []byte {
	out := extended(content, len(p.m.Types), len(p.addedTypes))
	for _, t := range p.addedTypes {
		out = append(out, 0x60)
		for _, list := range [][]bytecode.ValueType{t.Params, t.Results} {
			out = bytecode.AppendU32(out, uint32(len(list)))
			out = append(out, string(list)...)
		}
	}
	return out
}

func (p *plan) importSection(content []byte) []byte {
	out := extended(content, len(p.m.Imports), added)
	add := func(name string, t int) {
		out = bytecode.AppendName(bytecode.AppendName(out, Module), name)
		out = bytecode.AppendU32(append(out, byte(bytecode.KindFunc)), uint32(len(p.m.Types)+t))
	}
	add(Tick, typeTick)
	add(Overflow, typeOverflow)
	return out
}

// helperList returns the added functions in the order of their indices.
func (p *plan) helperList() (list []int) {
	for h, index := range p.helpers {
		if index != 0 {
			list = append(list, h)
		}
	}
	return list
}

func (p *plan) functionSection(content []byte) []byte {
	helpers := p.helperList()
	out := extended(content, len(p.m.Funcs), len(helpers))
	for _, h := range helpers {
		t := typeLength
		if h == refill {
			t = typeOverflow
		}
		out = bytecode.AppendU32(out, uint32(len(p.m.Types)+t))
	}
	return out
}

func (p *plan) globalSection() []byte {
	out := extended(p.shiftRefs(bytecode.SectionGlobal), len(p.m.Globals), 2)
	for _, first := range [...]int64{0, StackAtStart} {
		out = bytecode.AppendS64(append(out, byte(bytecode.I64), 1, bytecode.OpI64Const), first)
		out = append(out, bytecode.OpEnd)
	}
	return out
}

// shiftRefs returns the content of a section, with the functions that it names under their new indices.
func (p *plan) shiftRefs(id bytecode.SectionID) (out []byte) {
	for _, s := range p.m.Sections {
		if s.ID != id {
			continue
		}
		pos := s.Content.From
		for _, r := range p.m.FuncRefs {
			if int(r.At) < pos || int(r.At) >= s.Content.To {
				continue
			}
			out = append(out, p.m.Wasm[pos:r.At]...)
			out = bytecode.AppendU32(out, p.funcIndex(r.Func))
			pos = skipNumber(p.m.Wasm, int(r.At))
		}
		out = append(out, p.m.Wasm[pos:s.Content.To]...)
	}
	return out
}

func (p *plan) codeSection() []byte {
	g := newGraph(p.m, p.code)
	w := &writer{plan: p, costs: newCosts(g), cyclic: g.cyclic()}
	size := 0
	for _, b := range p.m.Bodies {
		size += b.To - b.From + 5
	}
	helpers := p.helperList()
	out := bytecode.AppendU32(make([]byte, 0, size+size/4+256), uint32(len(p.m.Bodies)+len(helpers)))
	add := func(body []byte) {
		out = append(bytecode.AppendU32(out, uint32(len(body))), body...)
	}
	for i := range p.m.Bodies {
		add(w.function(i))
	}
	for _, h := range helpers {
		add(p.helperBody(h))
	}
	return out
}

// nameSection names every function that the module defines: with the name that it has, or else with the index that it
// had, in the form that the compiler makes up for one without a name. So the stack of a trap reads as it did.
func (p *plan) nameSection() []byte {
	names := make([]string, p.m.FuncCount()+added)
	for f, name := range p.m.FuncNames() {
		if int64(f) < int64(p.m.FuncCount()) {
			names[p.funcIndex(f)] = name
		}
	}
	for i := p.m.ImportedFuncs; i < p.m.FuncCount(); i++ {
		if names[i+added] == "" {
			names[i+added] = fmt.Sprintf("$%d", i)
		}
	}
	for _, h := range p.helperList() {
		names = append(names, helperNames[h])
	}
	var list []byte
	n := uint32(0)
	for i, name := range names {
		if name != "" {
			list = bytecode.AppendName(bytecode.AppendU32(list, uint32(i)), name)
			n++
		}
	}
	return bytecode.AppendNames(nil, p.m.ModuleName(), n, list)
}
