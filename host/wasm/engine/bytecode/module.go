package bytecode

// Module is what Decode keeps of a module. Its indices are those of the module as it was decoded, and all of them are in
// range. It is not changed after Decode, and may be read by any number of goroutines.
type Module struct {
	// Wasm holds the bytes that were decoded, and that all the spans and positions below point into.
	Wasm []byte

	Types []FuncType
	// Imports holds the imports of all kinds in the order of the module.
	Imports []Import
	// ImportedFuncs and ImportedGlobals say how many of the imports are such. They have the lowest indices.
	ImportedFuncs, ImportedGlobals int
	// Funcs holds the type of each function that the module defines, as an index into Types.
	Funcs []uint32
	// Tables holds the imported tables, and then those that the module defines.
	Tables []Table
	Memory Memory
	// Globals holds the globals that the module defines.
	Globals []Global
	Exports []Export
	// HasStart says that Start is the index of a function to be run at once.
	HasStart bool
	Start    uint32
	// FuncRefs are the places in the global and element sections that name functions, in the order of the module. What is
	// named there may be called indirectly, or be put into a table.
	FuncRefs []FuncRef
	// Elements and Data say how many segments there are.
	Elements, Data int
	// Bodies holds the code of each function that the module defines, declarations of locals included.
	Bodies []Span
	// Customs holds the custom sections.
	Customs []Custom
	// Sections holds the other ones in the order of the module.
	Sections []Section

	// partial says that something that is not supported was passed over, so that indices cannot be judged.
	partial bool
	// memories and dataCount are there for the checks.
	memories  int
	dataCount int64
}

// FuncType is a signature.
type FuncType struct{ Params, Results []ValueType }

// Import is something that a module wants from its host.
type Import struct {
	Module, Name string
	Kind         Kind
	// Type is that of a function, as an index into Module.Types.
	Type uint32
}

// Export is something that a module offers.
type Export struct {
	Name  string
	Kind  Kind
	Index uint32
}

// Table is a table of references.
type Table struct {
	Type ValueType
	// Min is how many elements it begins with. Max is how many it may have; it is 2^32-1 where the module sets none.
	Min, Max uint64
}

// Memory is the linear memory of a module.
type Memory struct {
	Present, Imported bool
	// Min and Max are in pages of 64 KiB. HasMax says that there is a maximum.
	Min, Max uint64
	HasMax   bool
}

// Global is a global that a module defines.
type Global struct {
	Type    ValueType
	Mutable bool
}

// FuncRef is a place outside of the code that names a function. At is where its index begins.
type FuncRef struct{ At, Func uint32 }

// Span is a part of the module: From is its first byte, To the one after its last.
type Span struct{ From, To int }

// Custom is a custom section. Content is what follows its name.
type Custom struct {
	Name    string
	Content Span
}

// Section is where a section lies. Content does not include its id and its size.
type Section struct {
	ID      SectionID
	Content Span
}

// SectionID says what a section is about.
type SectionID byte

// The ids of the sections, as the WebAssembly specification numbers them.
const (
	SectionCustom    SectionID = 0
	SectionType      SectionID = 1
	SectionImport    SectionID = 2
	SectionFunction  SectionID = 3
	SectionTable     SectionID = 4
	SectionMemory    SectionID = 5
	SectionGlobal    SectionID = 6
	SectionExport    SectionID = 7
	SectionStart     SectionID = 8
	SectionElement   SectionID = 9
	SectionCode      SectionID = 10
	SectionData      SectionID = 11
	SectionDataCount SectionID = 12
	sectionTag       SectionID = 13
)

// SectionOrder holds the sections in the order in which a module has them. It is not that of the ids: one came later.
var SectionOrder = [...]SectionID{
	SectionType, SectionImport, SectionFunction, SectionTable, SectionMemory, SectionGlobal, SectionExport, SectionStart,
	SectionElement, SectionDataCount, SectionCode, SectionData,
}

// sectionPlace is the place of each section in a module.
var sectionPlace = [...]int{
	SectionType: 1, SectionImport: 2, SectionFunction: 3, SectionTable: 4, SectionMemory: 5, sectionTag: 6,
	SectionGlobal: 7, SectionExport: 8, SectionStart: 9, SectionElement: 10, SectionDataCount: 11, SectionCode: 12,
	SectionData: 13,
}

var sectionNames = [...]string{
	"custom", "type", "import", "function", "table", "memory", "global", "export", "start", "element", "code", "data",
	"data count", "tag",
}

// String returns the name of the section, such as "data count".
func (id SectionID) String() string {
	if int(id) < len(sectionNames) {
		return sectionNames[id]
	}
	return "unknown"
}

// Kind says what an import or an export is.
type Kind byte

// The kinds of imports and exports. Tags are known by name only: a module that defines or exports one is refused.
const (
	KindFunc   Kind = 0
	KindTable  Kind = 1
	KindMemory Kind = 2
	KindGlobal Kind = 3
	KindTag    Kind = 4
)

var kindNames = [...]string{"func", "table", "memory", "global", "tag"}

// String returns the word that the text format has for the kind, such as "func".
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "unknown"
}

// ValueType is the type of a value.
type ValueType byte

// The value types.
const (
	I32       ValueType = 0x7f
	I64       ValueType = 0x7e
	F32       ValueType = 0x7d
	F64       ValueType = 0x7c
	V128      ValueType = 0x7b
	Funcref   ValueType = 0x70
	Externref ValueType = 0x6f
)

// String returns the word that the text format has for the type, such as "i32".
func (t ValueType) String() string {
	switch t {
	case I32:
		return "i32"
	case I64:
		return "i64"
	case F32:
		return "f32"
	case F64:
		return "f64"
	case V128:
		return "v128"
	case Funcref:
		return "funcref"
	case Externref:
		return "externref"
	}
	return "unknown"
}

func (t ValueType) known() bool { return t >= V128 && t <= I32 || t.reference() }

func (t ValueType) reference() bool { return t == Funcref || t == Externref }

// FuncCount returns how many functions there are, imported ones included.
func (m *Module) FuncCount() int { return m.ImportedFuncs + len(m.Funcs) }

// GlobalCount returns how many globals there are, imported ones included.
func (m *Module) GlobalCount() int { return m.ImportedGlobals + len(m.Globals) }

// Section returns the content of the section of that id, and whether there is one. It does not find custom sections.
func (m *Module) Section(id SectionID) ([]byte, bool) {
	for _, s := range m.Sections {
		if s.ID == id {
			return m.Wasm[s.Content.From:s.Content.To], true
		}
	}
	return nil, false
}

// Custom returns the content of the first custom section of that name, and whether there is one.
func (m *Module) Custom(name string) ([]byte, bool) {
	for _, c := range m.Customs {
		if c.Name == name {
			return m.Wasm[c.Content.From:c.Content.To], true
		}
	}
	return nil, false
}

// FuncTypes returns the type of each function, imported ones first, as indices into Types.
func (m *Module) FuncTypes() []uint32 {
	all := make([]uint32, 0, m.FuncCount())
	for _, i := range m.Imports {
		if i.Kind == KindFunc {
			all = append(all, i.Type)
		}
	}
	return append(all, m.Funcs...)
}
