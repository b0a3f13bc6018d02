package bytecode

import (
	"errors"
	"fmt"
)

// The most that a section may hold. They are far above what toolchains make, and bound what a hostile module can make
// the decoder keep.
const (
	mostTypes    = 100_000
	mostImports  = 10_000
	mostExports  = 10_000 // the compiler looks through all of them for each function
	mostGlobals  = 100_000
	mostTables   = 1_000
	mostFuncs    = 1_000_000
	mostParams   = 1_000
	mostCustoms  = 1_000
	mostSegments = 1_000_000
	mostElements = 10_000_000
	mostBytes    = 1<<31 - 1
)

// Decode reads the sections of a module; the instructions of its functions are for Scan. It may be given any bytes: it
// never panics, and what it allocates is in proportion to them. They are kept in Module.Wasm.
//
// The faults are what it could not make sense of, what is not supported, and indices of things that the module does not
// have. Where there are any, the Module holds what could be read, and is good for nothing but a report.
func Decode(wasm []byte) (*Module, []*Fault) {
	m := &Module{Wasm: wasm, dataCount: -1}
	if fault := checkHeader(wasm); fault != nil {
		return m, []*Fault{fault}
	}
	if len(wasm) > mostBytes {
		return m, []*Fault{{
			What: "module", Have: bytesOf(len(wasm)), Want: "at most 2 GiB", Remedy: "build it without debug information",
		}}
	}
	var faults []*Fault
	r := &reader{data: wasm, pos: len(header), end: len(wasm)}
	place := 0
	for r.left() > 0 {
		s, at, err := nextSection(r)
		if err == nil && s.ID != SectionCustom {
			place, err = inOrder(s.ID, place)
		}
		if err != nil {
			return m, append(faults, malformed("module", at, err))
		}
		body := &reader{data: wasm, pos: s.Content.From, end: s.Content.To}
		err = m.decode(s, body)
		if err == nil && s.ID != SectionCustom && body.left() > 0 {
			err = fmt.Errorf("%s more than it should have", bytesOf(body.left()))
		}
		var refused *Fault
		switch {
		case errors.As(err, &refused): // What comes later may be worth reading, but its indices cannot be judged.
			m.partial = true
			faults = append(faults, refused)
		case err != nil: // what follows is not worth reading, and there may be millions of it
			return m, append(faults, malformed(s.ID.String()+" section", body.pos, err))
		}
	}
	if len(faults) == 0 {
		if err := m.checkCounts(); err != nil {
			faults = append(faults, malformed("code section", len(wasm), err))
		}
	}
	return m, faults
}

// inOrder returns the place of a section, which must be after that of the section before it.
func inOrder(id SectionID, last int) (int, error) {
	if int(id) >= len(sectionPlace) {
		return 0, fmt.Errorf("unknown section id %d", id)
	}
	place := sectionPlace[id]
	if place <= last {
		return 0, fmt.Errorf("%s section twice or out of order", id)
	}
	return place, nil
}

// nextSection returns the next section, and where it begins or what is wrong with it is.
func nextSection(r *reader) (Section, int, error) {
	from := r.pos
	id, err := r.byte()
	if err != nil {
		return Section{}, r.pos, err
	}
	n, err := r.u32()
	if err != nil {
		return Section{}, r.pos, err
	}
	content := r.pos
	if err := r.skip(uint64(n)); err != nil {
		return Section{}, r.pos, fmt.Errorf("section of %s bytes with %s left", count(n), bytesOf(r.end-content))
	}
	return Section{ID: SectionID(id), Content: Span{content, r.pos}}, from, nil
}

func (m *Module) decode(s Section, r *reader) error {
	if s.ID != SectionCustom {
		m.Sections = append(m.Sections, s)
	}
	switch s.ID {
	case SectionCustom:
		return m.decodeCustom(r)
	case SectionType:
		return r.vector(mostTypes, func() error { return m.decodeType(r) })
	case SectionImport:
		return r.vector(mostImports, func() error { return m.decodeImport(r) })
	case SectionFunction:
		return r.vector(mostFuncs, func() error {
			t, err := m.index(r, "type", len(m.Types))
			m.Funcs = append(m.Funcs, t)
			return err
		})
	case SectionTable:
		return r.vector(mostTables, func() error { return m.decodeTable(r) })
	case SectionMemory:
		return r.vector(mostTables, func() error { return m.decodeMemory(r, false) })
	case SectionGlobal:
		return r.vector(mostGlobals, func() error { return m.decodeGlobal(r) })
	case SectionExport:
		return r.vector(mostExports, func() error { return m.decodeExport(r) })
	case SectionStart:
		var err error
		m.HasStart = true
		m.Start, err = m.index(r, "function", m.FuncCount())
		return err
	case SectionElement:
		return r.vector(mostSegments, func() error { return m.decodeElements(r) })
	case SectionDataCount:
		n, err := r.u32()
		m.dataCount = int64(n)
		return err
	case SectionCode:
		return r.vector(mostFuncs, func() error { return m.decodeBody(r) })
	case SectionData:
		return r.vector(mostSegments, func() error { return m.decodeData(r) })
	default:
		r.pos = r.end
		return errExceptions
	}
}

// index reads an index that must be below n, unless the module was not understood in full.
func (m *Module) index(r *reader, what string, n int) (uint32, error) {
	if m.partial {
		return r.u32()
	}
	return r.index(what, n)
}

// checkCounts compares sections that must have as many elements.
func (m *Module) checkCounts() error {
	if len(m.Bodies) != len(m.Funcs) {
		return fmt.Errorf("%d bodies for %d functions", len(m.Bodies), len(m.Funcs))
	}
	if m.dataCount >= 0 && m.dataCount != int64(m.Data) {
		return fmt.Errorf("%d data segments where %d were announced", m.Data, m.dataCount)
	}
	return nil
}

func (m *Module) decodeBody(r *reader) error {
	n, err := r.u32()
	if err != nil {
		return err
	}
	from := r.pos
	if err := r.skip(uint64(n)); err != nil {
		return errors.New("function body " + errTruncated.Error())
	}
	m.Bodies = append(m.Bodies, Span{from, r.pos})
	return nil
}

func (m *Module) decodeCustom(r *reader) error {
	name, err := r.name()
	if err != nil {
		return err
	}
	if len(m.Customs) == mostCustoms {
		return fmt.Errorf("more than %s of them", count(mostCustoms))
	}
	c := Custom{Name: name, Content: Span{r.pos, r.end}}
	if name == CustomName {
		if _, again := m.Custom(CustomName); again {
			return errors.New("name section twice")
		}
		if err := checkNames(r); err != nil {
			return err
		}
	}
	m.Customs = append(m.Customs, c)
	return nil
}
