package engine

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/weft-run/weft/host/wasm/engine/bytecode"
)

// checked is a module that passed the checks, and what was learnt about it.
type checked struct {
	background bool // one goroutine compiles it
	*bytecode.Module
	info   *Info
	limits Limits
	code   *bytecode.Code
	// shadowed says that it changes tables, references or vectors, which the host cannot put back by itself; see shadow.go.
	// spent says that it drops segments, which nobody can put back: an instance of it serves one call.
	shadowed, spent bool
	// wasi says that it imports from wasi_snapshot_preview1, user has what it imports from extism:host/user.
	wasi bool
	user []string
}

// check looks at a module before any of it is compiled. The size comes first, and alone: a module that is too large is
// not read at all.
func check(name string, wasm []byte, spec *Spec) (*checked, error) {
	if fault := checkSize(wasm, spec.Limits); fault != nil {
		return nil, &LoadError{Name: name, Faults: []Fault{*fault}}
	}
	decoded, wrong := bytecode.Decode(wasm)
	faults := faultsOf(wrong)
	info := infoOf(decoded)
	limits := spec.Limits.orDefaults(info.GoGuest)
	if exceeds(int64(len(wasm)), limits.Module) {
		return nil, &LoadError{Name: name, Faults: []Fault{tooLarge(len(wasm), limits.Module)}}
	}
	c := &checked{Module: decoded, info: info, limits: limits}
	c.dropLongNames()
	faults = append(faults, c.checkCounts()...)
	faults = append(faults, c.checkMemory()...)
	faults = append(faults, c.checkImports(spec.Functions)...)
	faults = append(faults, c.checkExports(spec.Init)...)
	if len(faults) == 0 {
		faults = append(faults, c.checkCode()...)
	}
	if len(faults) > 0 {
		return nil, &LoadError{Name: name, Faults: faults}
	}
	return c, nil
}

// longestName is how long the name of a function may be, in bytes.
const longestName = 4 * kib

// dropLongNames takes the names of functions away where one is very long: the runtime writes them all into the stack of a
// trap, each as often as the function stands there.
func (c *checked) dropLongNames() {
	long := len(c.ModuleName()) > longestName
	for _, name := range c.FuncNames() {
		long = long || len(name) > longestName
	}
	if long {
		c.Customs = slices.DeleteFunc(c.Customs, func(s bytecode.Custom) bool { return s.Name == bytecode.CustomName })
	}
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
	if exceeds(len(c.Funcs), c.limits.Functions) {
		faults = append(faults, Fault{
			What: "functions", Have: count(len(c.Funcs)), Want: "at most " + count(c.limits.Functions),
			Remedy: "raise limits.functions if the module is known to be good", Limit: "functions",
		})
	}
	for i, body := range c.Bodies {
		if n := int64(body.To - body.From); exceeds(n, c.limits.Body) {
			faults = append(faults, Fault{
				What: fmt.Sprintf("function %d", c.ImportedFuncs+i), Have: size(n), Want: "at most " + size(c.limits.Body),
				Remedy: "split the function, or raise limits.body if the module is known to be good", Limit: "body",
			})
			break // One says it; a hostile module has thousands.
		}
	}
	return faults
}

func (c *checked) checkMemory() []Fault {
	if !c.Memory.Present || c.Memory.Imported || c.limits.Memory == Unlimited {
		return nil
	}
	lowest := c.Memory.Min
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

func (c *checked) checkImports(functions map[string]Function) (faults []Fault) {
	for _, i := range c.info.Imports {
		switch i.Module {
		case moduleWASI:
			c.wasi = true
		case moduleUser:
			if !slices.Contains(c.user, i.Name) {
				c.user = append(c.user, i.Name)
			}
		}
		if fault := checkImport(i, functions); fault != nil {
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

func checkImport(i Import, functions map[string]Function) *Fault {
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
		known, ok = envSignatures[i.Name]
	case moduleWASI:
		known, ok = wasiSignatures[i.Name]
	case moduleUser:
		known = userSignature
		_, ok = functions[i.Name]
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
		return &Fault{What: "host function " + full, Remedy: missingFunctionRemedy(functions)}
	default:
		return &Fault{What: "unknown import " + full, Remedy: unknownImportRemedy(i)}
	}
}

func missingFunctionRemedy(functions map[string]Function) string {
	if len(functions) == 0 {
		return "this version offers no host functions of that module; build against a PDK of this version"
	}
	return "this host offers " + strings.Join(slices.Sorted(maps.Keys(functions)), ", ") + "; build against a PDK of this version"
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
	for _, e := range c.Exports {
		if strings.HasPrefix(e.Name, reservedPrefix) {
			faults = append(faults, Fault{
				What: "export " + quote(e.Name), Remedy: "names that begin with " + reservedPrefix + " are kept for the host",
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

func (c *checked) checkCode() []Fault {
	found, wrong := c.Scan()
	if wrong != nil {
		return faultsOf([]*bytecode.Fault{wrong})
	}
	c.code = found
	var faults []Fault
	bound := func(what string, have, limit int64, remedy string) {
		if exceeds(have, limit) {
			faults = append(faults, Fault{
				What: what, Have: count(int(have)), Want: "at most " + count(int(limit)),
				Remedy: remedy + " if the module is known to be good", Limit: what,
			})
		}
	}
	bound("branches of one function", int64(found.Branches), int64(c.limits.Branches), "raise limits.branches")
	faults = append(faults, c.checkComplexity(found)...)
	bound("locals", int64(found.Locals), int64(c.limits.Locals), "raise limits.locals")
	bound("elements of segments", c.segmentElements(), int64(c.limits.Table), "raise limits.table")
	if c.Data > mostData {
		faults = append(faults, Fault{
			What: "data segments", Have: count(c.Data), Want: "at most " + count(mostData), Remedy: "have the linker join them",
		})
	}
	bound("table elements", c.tableElements(), int64(c.limits.Table), "give the table a smaller maximum, or raise limits.table")
	if len(faults) > 0 {
		return faults
	}
	c.shadowed, c.spent = found.ChangesTables || c.hasHiddenGlobal(), found.Drops
	return nil
}

// tableElements is how many elements the tables may have together.
func (c *checked) tableElements() (elements int64) {
	for _, t := range c.Tables {
		most := t.Min
		if c.code.GrowsTable {
			// The host cannot count what a table grows by, and so what it may grow to must be within the limit.
			most = t.Max
		}
		elements = int64(min(uint64(elements)+most, math.MaxInt32))
	}
	return elements
}

// mostData is how many data segments a module may have. Browsers take as many, and so linkers make no more.
const mostData = 100_000

// segmentElements is how many elements the segments of the module have, at the most. The runtime makes each of them, and
// keeps those of passive segments, for each instance anew. A segment counts as one. The decoder counts functions; other
// elements are expressions of three bytes or more.
func (c *checked) segmentElements() int64 {
	content, _ := c.Section(bytecode.SectionElement)
	functions := len(c.FuncRefs)
	return int64(c.Elements + functions + max(0, len(content)-functions)/3)
}

// hasHiddenGlobal says whether a mutable global has a type that the host cannot read and write back.
func (c *checked) hasHiddenGlobal() bool {
	for _, g := range c.Globals {
		if g.Mutable && !isNumber(g.Type) {
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
