package engine

import (
	"fmt"
	"slices"

	"github.com/weft-run/weft/host/wasm/engine/bytecode"
)

// Without a meter, under Options.CloseOnContextDone, a module is changed in two ways before it is compiled. Its mutable
// globals are exported, so that the host can put them back between calls. And functions get a place where they can be
// stopped: the compiler stops a guest at the head of a loop and nowhere else, and functions that call each other can run
// for years without one.
//
// Whole sections are replaced, and custom ones left out, other than the names of functions. A valid module stays valid,
// and means the same.

// reservedPrefix begins the names of the exports that the host adds to a module.
const (
	reservedPrefix = "__weft"
	reservedExport = reservedPrefix + "_"
)

// rewrite returns the module as it is to be compiled, and the names under which its mutable globals are exported. The
// module must have passed the checks.
func rewrite(wasm []byte, c *checked) ([]byte, []string) {
	names, exports := exportGlobals(c.Module)
	code := stopAtEntry(c.Module, c.code)
	if exports == nil && code == nil {
		return wasm, names
	}
	out := append(make([]byte, 0, len(wasm)+len(exports)+4*len(c.Bodies)+16), wasm[:8]...)
	for _, id := range bytecode.SectionOrder {
		content, ok := c.Section(id)
		switch {
		case id == bytecode.SectionExport && exports != nil:
			content, ok = exports, true
		case id == bytecode.SectionCode && code != nil:
			content, ok = code, true
		}
		if ok {
			out = bytecode.AppendSection(out, id, content)
		}
	}
	if content, ok := c.Custom(bytecode.CustomName); ok {
		out = bytecode.AppendCustom(out, bytecode.CustomName, content)
	}
	return out, names
}

// exportGlobals returns the name of each mutable global, and the content of an export section in which all of them are
// exported, or nil where they are already.
func exportGlobals(m *bytecode.Module) (names []string, content []byte) {
	known := map[uint32]string{}
	for _, e := range m.Exports {
		if e.Kind == bytecode.KindGlobal {
			known[e.Index] = e.Name
		}
	}
	exports := slices.Clip(m.Exports)
	for i, g := range m.Globals {
		if !g.Mutable {
			continue
		}
		index := uint32(m.ImportedGlobals + i)
		name, ok := known[index]
		if !ok {
			name = fmt.Sprintf("%sg%d", reservedExport, index)
			exports = append(exports, bytecode.Export{Name: name, Kind: bytecode.KindGlobal, Index: index})
		}
		names = append(names, name)
	}
	if len(exports) == len(m.Exports) {
		return names, nil
	}
	return names, bytecode.AppendExports(nil, exports)
}

// emptyLoop is a loop that ends at once. Its head is a place where the compiler stops a guest.
var emptyLoop = []byte{bytecode.OpLoop, bytecode.BlockEmpty, bytecode.OpEnd}

// stopAtEntry returns the content of a code section in which each function that calls another one, and may do so without
// passing the head of a loop, begins with an empty loop. It returns nil where there is no such function.
func stopAtEntry(m *bytecode.Module, code *bytecode.Code) []byte {
	if !slices.ContainsFunc(code.Funcs, func(f bytecode.Func) bool { return f.Unguarded }) {
		return nil
	}
	content := bytecode.AppendU32(nil, uint32(len(m.Bodies)))
	for i, body := range m.Bodies {
		f, n := code.Funcs[i], body.To-body.From
		if !f.Unguarded {
			content = bytecode.AppendU32(content, uint32(n))
			content = append(content, m.Wasm[body.From:body.To]...)
			continue
		}
		content = bytecode.AppendU32(content, uint32(n+len(emptyLoop)))
		content = append(content, m.Wasm[body.From:f.Entry]...)
		content = append(content, emptyLoop...)
		content = append(content, m.Wasm[f.Entry:body.To]...)
	}
	return content
}
