package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
)

const (
	customBuildID   = "go:buildid"
	customProducers = "producers"
)

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
	p, faults := parse(wasm)
	info := p.info(wasm)
	if len(faults) > 0 {
		return info, &LoadError{Faults: faults}
	}
	return info, nil
}

func (p *parsed) info(wasm []byte) *Info {
	digest := sha256.Sum256(wasm)
	info := &Info{
		Size: len(wasm), SHA256: hex.EncodeToString(digest[:]), Imports: p.imports, Memory: p.memory,
		Functions: len(p.funcs), Start: p.start,
	}
	for _, e := range p.exports {
		out := Export{Name: e.name, Kind: kindName[e.kind]}
		if e.kind == kindFunc {
			t, _ := p.funcTypeOf(e.index)
			out.Params, out.Results = t.params, t.results
		}
		info.Exports = append(info.Exports, out)
	}
	for _, c := range p.customs {
		switch c.name {
		case customBuildID:
			info.GoGuest = true
		case customProducers:
			toolchain, isGo := producers(c.data)
			info.GoGuest = info.GoGuest || isGo
			info.Toolchain = toolchain
		}
	}
	return info
}

// producers reads the section of that name: fields, each with a list of names and versions. A module can say there what
// it likes; a section that cannot be read is passed over.
func producers(data []byte) (toolchain string, isGo bool) {
	r := &reader{data: data, end: len(data)}
	var language, compiler string
	_ = r.vector(10, func() error {
		field, err := r.name()
		if err != nil {
			return err
		}
		return r.vector(100, func() error {
			name, err := r.name()
			if err != nil {
				return err
			}
			version, err := r.name()
			if err != nil {
				return err
			}
			said := strings.TrimSpace(name + " " + strings.TrimPrefix(version, "go"))
			switch {
			case field == "language" && name == "Go":
				isGo, language = true, said
			case field == "processed-by" && compiler == "":
				compiler = said
			}
			return nil
		})
	})
	if isGo {
		return language, true
	}
	return compiler, false
}
