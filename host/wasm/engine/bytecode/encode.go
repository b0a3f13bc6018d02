package bytecode

import "encoding/binary"

// Header is what every module begins with.
func Header() []byte { return append([]byte(nil), header...) }

// AppendU32 appends an unsigned number, in as few bytes as it needs.
func AppendU32(out []byte, n uint32) []byte { return binary.AppendUvarint(out, uint64(n)) }

// AppendS64 appends a signed number, in as few bytes as it needs.
func AppendS64(out []byte, n int64) []byte {
	for {
		b := byte(n & 0x7f)
		n >>= 7
		if n == 0 && b&0x40 == 0 || n == -1 && b&0x40 != 0 {
			return append(out, b)
		}
		out = append(out, b|0x80)
	}
}

// AppendName appends a name and how long it is.
func AppendName(out []byte, name string) []byte {
	return append(AppendU32(out, uint32(len(name))), name...)
}

// AppendSection appends a section with that content.
func AppendSection(out []byte, id SectionID, content []byte) []byte {
	out = AppendU32(append(out, byte(id)), uint32(len(content)))
	return append(out, content...)
}

// AppendCustom appends a custom section.
func AppendCustom(out []byte, name string, content []byte) []byte {
	full := AppendName(make([]byte, 0, len(name)+len(content)+5), name)
	return AppendSection(out, SectionCustom, append(full, content...))
}

// AppendExports appends the content of an export section.
func AppendExports(out []byte, exports []Export) []byte {
	out = AppendU32(out, uint32(len(exports)))
	for _, e := range exports {
		out = AppendU32(append(AppendName(out, e.Name), byte(e.Kind)), e.Index)
	}
	return out
}

// AppendNames appends the content of a name section: the name of the module, where it is not empty, and the names of n
// functions, each an index and a name.
func AppendNames(out []byte, module string, n uint32, funcs []byte) []byte {
	if module != "" {
		name := AppendName(nil, module)
		out = append(AppendU32(append(out, namesOfModule), uint32(len(name))), name...)
	}
	list := append(AppendU32(nil, n), funcs...)
	return append(AppendU32(append(out, namesOfFunctions), uint32(len(list))), list...)
}

// Number returns the unsigned number that b begins with. It must be one that was read before.
func Number(b []byte) uint32 {
	n, _ := binary.Uvarint(b)
	return uint32(n)
}

// BlockType returns the type that b begins with: an index into Module.Types, or less than zero where a block has no
// parameters and no more than one result. It must be one that was read before.
func BlockType(b []byte) int64 {
	r := &reader{data: b, end: len(b)}
	t, _ := r.blockType()
	return t
}
