package engine

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
)

// The ids of the sections of a module, as the WebAssembly specification numbers them.
const (
	sectionCustom    = 0
	sectionType      = 1
	sectionImport    = 2
	sectionFunction  = 3
	sectionTable     = 4
	sectionMemory    = 5
	sectionGlobal    = 6
	sectionExport    = 7
	sectionStart     = 8
	sectionElement   = 9
	sectionCode      = 10
	sectionData      = 11
	sectionDataCount = 12
	sectionTag       = 13
)

// sectionOrder is the place of each section in a module. It is not that of the ids: two sections came later.
var sectionOrder = map[byte]int{
	sectionType: 1, sectionImport: 2, sectionFunction: 3, sectionTable: 4, sectionMemory: 5, sectionTag: 6,
	sectionGlobal: 7, sectionExport: 8, sectionStart: 9, sectionElement: 10, sectionDataCount: 11, sectionCode: 12,
	sectionData: 13,
}

var sectionName = map[byte]string{
	sectionCustom: "custom", sectionType: "type", sectionImport: "import", sectionFunction: "function",
	sectionTable: "table", sectionMemory: "memory", sectionGlobal: "global", sectionExport: "export",
	sectionStart: "start", sectionElement: "element", sectionCode: "code", sectionData: "data",
	sectionDataCount: "data count", sectionTag: "tag",
}

var header = []byte{0, 'a', 's', 'm', 1, 0, 0, 0}

// parsed is what the decoder keeps of a module.
type parsed struct {
	types     []funcType
	imports   []Import
	funcs     []uint32 // the type of each function that the module defines
	importedF int      // how many functions it imports; they have the lowest indices
	tables    []Range  // how many elements each may have
	memory    MemoryInfo
	memories  int
	globals   []globalType // those that the module defines
	importedG int
	exports   []exportEntry
	start     bool
	bodies    []span          // the code of each function, locals included
	customs   []customSection // go:buildid and producers
	sections  []section       // those that are not custom
}

// funcType is a signature. Its names are made once and shared by all that have the signature.
type funcType struct{ params, results []string }

type globalType struct {
	value   byte
	mutable bool
}

type exportEntry struct {
	name  string
	kind  byte
	index uint32
}

// span is a part of the module: from is its first byte, to the one after its last.
type span struct{ from, to int }

type customSection struct {
	name string
	data []byte
}

// section is where a section lies: whole includes its id and size, content does not.
type section struct {
	id      byte
	whole   span
	content span
}

// unsupported says that a module uses a part of WebAssembly that is refused. Decoding goes on where it can.
type unsupported struct{ what, remedy string }

func (u *unsupported) Error() string { return u.what + " not supported" }

var errTruncated = errors.New("ends too early")

// reader reads the bytes of a module. Positions are ints, so that no sum of two 32-bit numbers from the module can
// overflow.
type reader struct {
	data []byte
	pos  int
	end  int
}

func (r *reader) left() int { return r.end - r.pos }

func (r *reader) byte() (byte, error) {
	if r.pos >= r.end {
		return 0, errTruncated
	}
	b := r.data[r.pos]
	r.pos++
	return b, nil
}

func (r *reader) skip(n uint64) error {
	if n > uint64(r.left()) {
		return errTruncated
	}
	r.pos += int(n)
	return nil
}

func (r *reader) take(n uint32) ([]byte, error) {
	if uint64(n) > uint64(r.left()) {
		return nil, errTruncated
	}
	b := r.data[r.pos : r.pos+int(n)]
	r.pos += int(n)
	return b, nil
}

// u32 reads an unsigned LEB128 number of at most 32 bits.
func (r *reader) u32() (uint32, error) {
	n, err := r.leb(5)
	if err != nil {
		return 0, err
	}
	if n > 1<<32-1 {
		return 0, errors.New("number larger than 32 bits")
	}
	return uint32(n), nil
}

// leb reads a LEB128 number of at most the given number of bytes, as unsigned.
func (r *reader) leb(bytes int) (uint64, error) {
	var n uint64
	for i := range bytes {
		b, err := r.byte()
		if err != nil {
			return 0, err
		}
		n |= uint64(b&0x7f) << (7 * i)
		if b&0x80 == 0 {
			return n, nil
		}
	}
	return 0, errors.New("number too long")
}

func (r *reader) name() (string, error) {
	n, err := r.u32()
	if err != nil {
		return "", err
	}
	b, err := r.take(n)
	return string(b), err
}

// vector calls each once for every element of a vector. Nothing is allocated from the count that the module claims:
// a count that is too high runs into the end of the section.
func (r *reader) vector(most uint32, each func() error) error {
	n, err := r.u32()
	if err != nil {
		return err
	}
	if n > most {
		return fmt.Errorf("claims %s elements, more than %s", count(int(n)), count(int(most)))
	}
	for range n {
		if err := each(); err != nil {
			return err
		}
	}
	return nil
}

// parse decodes the sections of a module. It never panics, and what it allocates is in proportion to the bytes it is
// given. Faults are what it could not make sense of, or what is not supported.
func parse(wasm []byte) (*parsed, []Fault) {
	if fault := checkHeader(wasm); fault != nil {
		return &parsed{}, []Fault{*fault}
	}
	p := &parsed{}
	var faults []Fault
	r := &reader{data: wasm, pos: len(header), end: len(wasm)}
	place := 0
	for r.left() > 0 {
		s, err := nextSection(r)
		if err != nil {
			return p, append(faults, malformed("module", r.pos, err))
		}
		if s.id != sectionCustom {
			at, known := sectionOrder[s.id]
			switch {
			case !known:
				return p, append(faults, malformed("module", s.whole.from, fmt.Errorf("unknown section id %d", s.id)))
			case at <= place:
				return p, append(faults, malformed("module", s.whole.from,
					fmt.Errorf("%s section twice or out of order", sectionName[s.id])))
			}
			place = at
			p.sections = append(p.sections, s)
		}
		body := &reader{data: wasm, pos: s.content.from, end: s.content.to}
		err = p.decode(s.id, body)
		var refused *unsupported
		switch {
		case errors.As(err, &refused):
			faults = append(faults, Fault{What: refused.Error(), Remedy: refused.remedy})
		case err != nil: // what follows is not worth reading, and there may be millions of it
			return p, append(faults, malformed(sectionName[s.id]+" section", body.pos, err))
		case s.id != sectionCustom && s.id != sectionElement && s.id != sectionData && body.left() > 0:
			faults = append(faults, malformed(sectionName[s.id]+" section", body.pos,
				fmt.Errorf("%s more than it should have", size(int64(body.left())))))
		}
	}
	if len(faults) == 0 && len(p.bodies) != len(p.funcs) {
		faults = append(faults, malformed("code section", len(wasm),
			fmt.Errorf("%d bodies for %d functions", len(p.bodies), len(p.funcs))))
	}
	return p, faults
}

func malformed(what string, at int, err error) Fault {
	return Fault{
		What:   "malformed " + what,
		Have:   fmt.Sprintf("%v at byte %d", err, at),
		Remedy: "the file is damaged or cut short; build or copy it again",
	}
}

func nextSection(r *reader) (section, error) {
	from := r.pos
	id, err := r.byte()
	if err != nil {
		return section{}, err
	}
	n, err := r.u32()
	if err != nil {
		return section{}, err
	}
	content := r.pos
	if err := r.skip(uint64(n)); err != nil {
		return section{}, fmt.Errorf("section of %s with %s left", size(int64(n)), size(int64(r.end-content)))
	}
	return section{id: id, whole: span{from, r.pos}, content: span{content, r.pos}}, nil
}

func checkHeader(wasm []byte) *Fault {
	switch {
	case len(wasm) == 0:
		return &Fault{What: "not a WebAssembly module", Have: "the file is empty", Remedy: "build it again"}
	case !bytes.HasPrefix(wasm, header[:4]):
		return &Fault{
			What: "not a WebAssembly module", Have: lookAt(wasm),
			Remedy: `a module begins with "\0asm"; check which file this is`,
		}
	case len(wasm) < len(header):
		return &Fault{What: "malformed module", Have: "cut short after its first bytes", Remedy: "build or copy it again"}
	case binary.LittleEndian.Uint16(wasm[6:]) == 1:
		return &Fault{
			What: "component model not supported", Have: "a component",
			Remedy: "build a core module (wasm32-wasip1 or wasm32-unknown-unknown, not wasm32-wasip2)",
		}
	case !bytes.HasPrefix(wasm, header):
		return &Fault{
			What: "WebAssembly version", Have: fmt.Sprint(binary.LittleEndian.Uint32(wasm[4:])), Want: "1",
			Remedy: "build a core module of version 1",
		}
	}
	return nil
}

// lookAt says what bytes that are no module look like.
func lookAt(data []byte) string {
	trimmed := bytes.ToLower(bytes.TrimSpace(data[:min(len(data), 64)]))
	switch {
	case bytes.HasPrefix(data, []byte{0x1f, 0x8b}):
		return "looks like gzip; unpack it first"
	case bytes.HasPrefix(data, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		return "looks like zstd; unpack it first"
	case bytes.HasPrefix(data, []byte("PK\x03\x04")):
		return "looks like a zip archive; unpack it first"
	case bytes.HasPrefix(data, []byte("\x7fELF")), bytes.HasPrefix(data, []byte("MZ")),
		bytes.HasPrefix(data, []byte{0xcf, 0xfa, 0xed, 0xfe}):
		return "looks like a native program"
	case bytes.HasPrefix(data, []byte("!<arch>")):
		return "looks like a static library"
	case bytes.HasPrefix(trimmed, []byte("<!doctype")), bytes.HasPrefix(trimmed, []byte("<html")):
		return "looks like an HTML page, perhaps the error page of a download"
	case bytes.HasPrefix(trimmed, []byte("(module")), bytes.HasPrefix(trimmed, []byte("(component")):
		return "looks like WebAssembly text; assemble it first"
	case isText(trimmed):
		return "looks like text"
	default:
		return fmt.Sprintf("begins with % x", data[:min(len(data), 4)])
	}
}

func isText(data []byte) bool {
	for _, b := range data {
		if b < ' ' && b != '\n' && b != '\r' && b != '\t' || b == 0x7f {
			return false
		}
	}
	return true
}
