package engine

import (
	"errors"
	"fmt"
	"math"
	"strings"
)

// checked is a module that passed the checks, and what was learnt about it.
type checked struct {
	*parsed
	info   *Info
	limits Limits
	code   code
	// hidden says that there is state that the host cannot put back. A module without it is as it was once its memory
	// and its globals are.
	hidden bool
	// env and wasi say which modules it imports from.
	env, wasi bool
}

// check looks at a module before any of it is compiled. The size comes first, and alone: a module that is too large is
// not read at all.
func check(name string, wasm []byte, spec *Spec) (*checked, error) {
	if fault := checkSize(wasm, spec.Limits); fault != nil {
		return nil, &LoadError{Name: name, Faults: []Fault{*fault}}
	}
	p, faults := parse(wasm)
	info := p.info(wasm)
	limits := spec.Limits.orDefaults(info.GoGuest)
	if exceeds(int64(len(wasm)), limits.Module) {
		return nil, &LoadError{Name: name, Faults: []Fault{tooLarge(len(wasm), limits.Module)}}
	}
	c := &checked{parsed: p, info: info, limits: limits}
	faults = append(faults, c.checkCounts()...)
	faults = append(faults, c.checkMemory()...)
	faults = append(faults, c.checkImports()...)
	faults = append(faults, c.checkExports(spec.Init)...)
	if len(faults) == 0 {
		faults = append(faults, c.checkCode(wasm)...)
	}
	if len(faults) > 0 {
		return nil, &LoadError{Name: name, Faults: faults}
	}
	return c, nil
}

// checkSize refuses what is too large even for a Go guest. Whether it is one is not known yet.
func checkSize(wasm []byte, limits Limits) *Fault {
	most := or(limits.Module, max(DefaultLimits(false).Module, DefaultLimits(true).Module))
	if !exceeds(int64(len(wasm)), most) {
		return nil
	}
	fault := tooLarge(len(wasm), most)
	return &fault
}

func tooLarge(n int, limit int64) Fault {
	return Fault{
		What: "module", Have: size(int64(n)), Want: "at most " + size(limit),
		Remedy: "build it without debug information, or raise limits.module", Limit: "module",
	}
}

func (c *checked) checkCounts() (faults []Fault) {
	if exceeds(len(c.funcs), c.limits.Functions) {
		faults = append(faults, Fault{
			What: "functions", Have: count(len(c.funcs)), Want: "at most " + count(c.limits.Functions),
			Remedy: "raise limits.functions if the module is known to be good", Limit: "functions",
		})
	}
	for i, body := range c.bodies {
		if n := int64(body.to - body.from); exceeds(n, c.limits.Body) {
			faults = append(faults, Fault{
				What: fmt.Sprintf("function %d", c.importedF+i), Have: size(n), Want: "at most " + size(c.limits.Body),
				Remedy: "split the function, or raise limits.body if the module is known to be good", Limit: "body",
			})
			break // One says it; a hostile module has thousands.
		}
	}
	return faults
}

func (c *checked) checkMemory() []Fault {
	if !c.memory.Present || c.memory.Imported || c.limits.Memory == Unlimited {
		return nil
	}
	lowest := c.memory.Pages.Min
	if lowest <= uint64(c.limits.Memory)/PageSize {
		return nil
	}
	have := fmt.Sprintf("%d pages", lowest)
	if lowest <= 1<<16 {
		have = size(int64(lowest) * PageSize)
	}
	return []Fault{{
		What: "minimum memory", Have: have, Want: "at most " + size(c.limits.Memory),
		Remedy: "build it with a smaller stack and smaller static data, or raise limits.memory", Limit: "memory",
	}}
}

func (c *checked) checkImports() (faults []Fault) {
	for _, i := range c.imports {
		c.wasi = c.wasi || i.Module == moduleWASI
		c.env = c.env || i.Module == moduleEnv
		if fault := checkImport(i); fault != nil {
			faults = append(faults, *fault)
		}
	}
	if more := len(faults) - mostFaults; more > 0 {
		faults = append(faults[:mostFaults], Fault{What: count(more) + " more imports", Remedy: "see the first ones"})
	}
	return faults
}

// mostFaults is how many imports are named one by one. A hostile module has thousands.
const mostFaults = 32

// quote makes a name that a module chose fit for an error.
func quote(name string) string {
	head, left := cut(name, 200)
	if left > 0 {
		head += "..."
	}
	return printable(head)
}

func checkImport(i Import) *Fault {
	full := quote(i.Module + "." + i.Name)
	if i.Kind != "func" {
		return &Fault{
			What: "import " + full, Have: i.Kind, Want: "a function",
			Remedy: "a module has a memory and tables of its own; link it without --import-" + i.Kind,
		}
	}
	var known signature
	var ok bool
	switch i.Module {
	case moduleEnv:
		var f envFunc
		f, ok = envFuncs[i.Name]
		known = f.signature
	case moduleWASI:
		known, ok = wasiSignatures[i.Name]
	}
	switch {
	case ok && known.equal(i.Params, i.Results):
		return nil
	case ok:
		return &Fault{
			What: "import " + full, Have: signature{i.Params, i.Results}.String(), Want: known.String(),
			Remedy: "declare it with this signature",
		}
	case i.Module == moduleUser:
		return &Fault{What: "host function " + full, Remedy: "this version offers no host functions of that module; " +
			"build against a PDK of this version"}
	default:
		return &Fault{What: "unknown import " + full, Remedy: unknownImportRemedy(i)}
	}
}

func unknownImportRemedy(i Import) string {
	switch {
	case i.Module == moduleEnv || i.Module == moduleWASI:
		return "there is no such function; build with a PDK or toolchain that does not need it"
	case i.Module == "env" && i.Name == "abort":
		return "AssemblyScript: build with --use abort=... and a function of your own"
	case i.Module == "env":
		return "a function that is declared but not linked, or that wants Emscripten; link it in, or remove the call"
	case strings.HasPrefix(i.Module, "wasi:"), strings.HasPrefix(i.Module, "wasi_"):
		return "only " + moduleWASI + " is offered; build for wasm32-wasip1"
	case i.Module == "gojs" || i.Module == "go":
		return "build with GOOS=wasip1, not GOOS=js"
	case i.Module == "wbg" || strings.HasPrefix(i.Module, "__wbindgen"):
		return "wasm-bindgen needs a browser; build without it"
	default:
		return "a module may import functions of " + moduleEnv + " and " + moduleWASI + " only"
	}
}

func (c *checked) checkExports(init *Init) (faults []Fault) {
	for _, e := range c.exports {
		if strings.HasPrefix(e.name, reservedExport) {
			faults = append(faults, Fault{
				What: "export " + quote(e.name), Remedy: "names that begin with " + reservedExport + " are kept for the host",
			})
			break
		}
	}
	if e, ok := c.info.Export("_initialize"); ok && (e.Kind != "func" || len(e.Params)+len(e.Results) > 0) {
		faults = append(faults, Fault{
			What: "export _initialize", Have: describe(e), Want: "func ()", Remedy: "build it as a reactor",
		})
	}
	if init != nil && !c.info.Callable(init.Export) {
		e, ok := c.info.Export(init.Export)
		fault := Fault{
			What: "export " + quote(init.Export), Have: "none", Want: "func () -> i32",
			Remedy: "export a function of that name",
		}
		if ok {
			fault.Have = describe(e)
		}
		faults = append(faults, fault)
	}
	return faults
}

func (c *checked) checkCode(wasm []byte) []Fault {
	found, err := c.scanCode(wasm)
	var refused *unsupported
	switch {
	case errors.As(err, &refused):
		return []Fault{{What: refused.Error(), Remedy: refused.remedy}}
	case err != nil:
		return []Fault{{What: "malformed code", Have: err.Error(), Remedy: "the file is damaged, or uses what is not supported"}}
	}
	c.code = found
	var faults []Fault
	bound := func(what string, have, limit int64, option string) {
		if exceeds(have, limit) {
			faults = append(faults, Fault{
				What: what, Have: count(int(have)), Want: "at most " + count(int(limit)),
				Remedy: "raise " + option + " if the module is known to be good", Limit: what,
			})
		}
	}
	bound("branches of one function", int64(found.branches), int64(c.limits.Branches), "limits.branches")
	bound("complexity", found.complexity, c.limits.Complexity, "limits.complexity")
	bound("locals", int64(found.locals), int64(c.limits.Locals), "limits.locals")
	elements := 0
	for _, t := range c.tables {
		most := t.Min
		if found.growsTable {
			// The host cannot count what a table grows by, and so what it may grow to must be within the limit.
			most = t.Max
		}
		elements = int(min(uint64(elements)+most, math.MaxInt32))
	}
	bound("table elements", int64(elements), int64(c.limits.Table), "limits.table, or give the table a smaller maximum,")
	if len(faults) > 0 {
		return faults
	}
	c.hidden = found.hidden || c.hasHiddenGlobal()
	return nil
}

// hasHiddenGlobal says whether a mutable global has a type that the host cannot read and write back.
func (c *checked) hasHiddenGlobal() bool {
	for _, g := range c.globals {
		if g.mutable && (g.value == typeV128 || g.value == typeFuncref || g.value == typeExternref) {
			return true
		}
	}
	return false
}

func describe(e Export) string {
	if e.Kind != "func" {
		return e.Kind
	}
	return signature{e.Params, e.Results}.String()
}
