package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/weft-run/weft/host/wasm/engine/bytecode"
)

// customBuildID is a custom section that the Go toolchain writes.
const customBuildID = "go:buildid"

// PageSize is the unit of linear memory, in bytes.
const PageSize = 65536

// Info is what a module says about itself, without being compiled or run. All names are the module's own: escape them
// before they reach a terminal.
type Info struct {
	// Size is that of the module, in bytes; SHA256 its digest in hexadecimal.
	Size   int
	SHA256 string
	// GoGuest says that the module was built by the Go toolchain. DefaultLimits has a case for such modules.
	GoGuest bool
	// Toolchain is what built the module, by its own account, such as "Go 1.26.8" or "clang 14.0.6". It may be empty.
	Toolchain string
	// Imports and Exports stand in the order of the module.
	Imports []Import
	Exports []Export
	Memory  MemoryInfo
	// Functions is how many functions the module defines, imports not counted.
	Functions int
	// Start says that the module has a start function, which runs when it is instantiated.
	Start bool
}

// Import is something that a module wants from its host.
type Import struct {
	Module, Name string
	// Kind is func, table, memory, global or tag.
	Kind string
	// Params and Results are the types of a function, such as i64.
	Params, Results []string
}

// Export is something that a module offers.
type Export struct {
	Name string
	// Kind is func, table, memory, global or tag.
	Kind string
	// Params and Results are the types of a function, such as i32.
	Params, Results []string
}

// MemoryInfo is about the linear memory that a module declares.
type MemoryInfo struct {
	Present, Imported bool
	// Pages is in units of PageSize.
	Pages Range
}

// Range is a minimum and a maximum. A maximum of 0 stands for none.
type Range struct{ Min, Max uint64 }

// Export returns the export of that name, and whether there is one.
func (i *Info) Export(name string) (Export, bool) {
	at := slices.IndexFunc(i.Exports, func(e Export) bool { return e.Name == name })
	if at < 0 {
		return Export{}, false
	}
	return i.Exports[at], true
}

// Callable says whether the module exports a function of that name with the signature that Call needs, () -> i32.
func (i *Info) Callable(name string) bool {
	e, ok := i.Export(name)
	return ok && e.Kind == "func" && len(e.Params) == 0 && slices.Equal(e.Results, []string{"i32"})
}

// Inspect says what a module is, without compiling or running any of it. It may be given any bytes. Where they are no
// module that this package could run, whatever the limits, the error is a *LoadError with all the faults; the Info is
// then still returned, with as much as could be read.
func Inspect(wasm []byte) (*Info, error) {
	m, faults := bytecode.Decode(wasm)
	info := infoOf(m)
	if len(faults) > 0 {
		return info, &LoadError{Faults: faultsOf(faults)}
	}
	return info, nil
}

// faultsOf returns faults of the decoder as those of this package.
func faultsOf(faults []*bytecode.Fault) (out []Fault) {
	for _, f := range faults {
		out = append(out, Fault{What: f.What, Have: f.Have, Want: f.Want, Remedy: f.Remedy})
	}
	return out
}

func infoOf(m *bytecode.Module) *Info {
	digest := sha256.Sum256(m.Wasm)
	info := &Info{
		Size: len(m.Wasm), SHA256: hex.EncodeToString(digest[:]), Functions: len(m.Funcs), Start: m.HasStart,
		Memory: MemoryInfo{Present: m.Memory.Present, Imported: m.Memory.Imported, Pages: Range{m.Memory.Min, m.Memory.Max}},
	}
	names := typeNames{types: m.Types, known: map[uint32]signature{}}
	for _, i := range m.Imports {
		in := Import{Module: i.Module, Name: i.Name, Kind: i.Kind.String()}
		if i.Kind == bytecode.KindFunc {
			in.Params, in.Results = names.of(i.Type)
		}
		info.Imports = append(info.Imports, in)
	}
	for _, e := range m.Exports {
		out := Export{Name: e.Name, Kind: e.Kind.String()}
		// A function that is imported and exported again has no signature here: it is nothing that can be called.
		if at := int64(e.Index) - int64(m.ImportedFuncs); e.Kind == bytecode.KindFunc && at >= 0 && at < int64(len(m.Funcs)) {
			out.Params, out.Results = names.of(m.Funcs[at])
		}
		info.Exports = append(info.Exports, out)
	}
	info.Toolchain, info.GoGuest = toolchain(m)
	return info
}

// typeNames spells signatures. Each is spelt once and shared by all that have it: a hostile module has a thousand
// parameters and a hundred thousand exports.
type typeNames struct {
	types []bytecode.FuncType
	known map[uint32]signature
}

func (n *typeNames) of(index uint32) (params, results []string) {
	s, ok := n.known[index]
	if !ok && int64(index) < int64(len(n.types)) {
		s = signature{spell(n.types[index].Params), spell(n.types[index].Results)}
		n.known[index] = s
	}
	return s.params, s.results
}

func spell(types []bytecode.ValueType) (names []string) {
	for _, t := range types {
		names = append(names, t.String())
	}
	return names
}

// toolchain says what built a module, by its own account, and whether that was the Go toolchain.
func toolchain(m *bytecode.Module) (said string, isGo bool) {
	isGo = slices.ContainsFunc(m.Customs, func(c bytecode.Custom) bool { return c.Name == customBuildID })
	var language, compiler string
	for _, p := range m.Producers() {
		text := strings.TrimSpace(p.Name + " " + strings.TrimPrefix(p.Version, "go"))
		switch {
		case p.Field == "language" && p.Name == "Go":
			isGo, language = true, text
		case p.Field == "processed-by" && compiler == "":
			compiler = text
		}
	}
	if language != "" {
		return language, true
	}
	return compiler, isGo
}
