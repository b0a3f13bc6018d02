package bytecode

import (
	"fmt"
	"iter"
)

// CustomName is the custom section that names functions. Stacks of traps are made with it.
const CustomName = "name"

// The parts of the name section that are known here.
const (
	namesOfModule    = 0
	namesOfFunctions = 1
	namesOfLocals    = 2
)

// checkNames reads the whole name section. The compiler reads it too, and refuses a module with a broken one.
func checkNames(r *reader) error {
	for r.left() > 0 {
		id, part, err := namePart(r)
		if err != nil {
			return fmt.Errorf("%w in the names", err)
		}
		name := func() error {
			_, err := part.name()
			return err
		}
		indexed := func(each func() error) func() error {
			return func() error {
				if _, err := part.u32(); err != nil {
					return err
				}
				return each()
			}
		}
		switch id {
		case namesOfModule:
			err = name()
		case namesOfFunctions:
			err = part.vector(mostElements, indexed(name))
		case namesOfLocals:
			err = part.vector(mostElements, indexed(func() error { return part.vector(mostElements, indexed(name)) }))
		default:
			part.pos = part.end
		}
		if err == nil && part.left() > 0 {
			err = fmt.Errorf("%s more than it should have", bytesOf(part.left()))
		}
		if err != nil {
			r.pos = part.pos
			return fmt.Errorf("%w in the names", err)
		}
	}
	return nil
}

func namePart(r *reader) (id byte, part *reader, err error) {
	if id, err = r.byte(); err != nil {
		return 0, nil, err
	}
	n, err := r.u32()
	if err != nil {
		return 0, nil, err
	}
	from := r.pos
	if err := r.skip(uint64(n)); err != nil {
		return 0, nil, err
	}
	return id, &reader{data: r.data, pos: from, end: r.pos}, nil
}

// ModuleName returns the name that the name section gives to the module, or nothing.
func (m *Module) ModuleName() (name string) {
	m.names(namesOfModule, func(part *reader) bool {
		name, _ = part.name()
		return true
	})
	return name
}

// FuncNames returns the names that the name section gives to functions, in its order, which may be any, with indices
// that may be out of range.
func (m *Module) FuncNames() iter.Seq2[uint32, string] {
	return func(yield func(uint32, string) bool) {
		m.names(namesOfFunctions, func(part *reader) bool {
			n, _ := part.u32()
			for range n {
				f, _ := part.u32()
				name, err := part.name()
				if err != nil || !yield(f, name) {
					return false
				}
			}
			return true
		})
	}
}

// names calls each for the parts of that id, until it returns false.
func (m *Module) names(id byte, each func(part *reader) bool) {
	content, _ := m.Custom(CustomName)
	r := &reader{data: content, end: len(content)}
	for r.left() > 0 {
		have, part, err := namePart(r)
		if err != nil || have == id && !each(part) {
			return
		}
	}
}
