package conformance

import (
	"encoding/binary"
	"errors"
	"slices"
)

// errNoModule is what withoutExports says of bytes in which it finds no exports. Loading them says more.
var errNoModule = errors.New("the guest is no WebAssembly module with exports")

const (
	headerSize    = 8
	exportSection = 7
)

// withoutExports is a module that does not export some names. All else in it stays as it is.
func withoutExports(module []byte, names ...string) ([]byte, error) {
	if len(module) < headerSize {
		return nil, errNoModule
	}
	for at := headerSize; at < len(module); {
		id := module[at]
		size, n := binary.Uvarint(module[at+1:])
		begin := at + 1 + n
		if n <= 0 || size > uint64(len(module)-begin) {
			return nil, errNoModule
		}
		end := begin + int(size)
		if id != exportSection {
			at = end
			continue
		}
		section, err := keptExports(module[begin:end], names)
		if err != nil {
			return nil, err
		}
		out := append(slices.Clone(module[:at]), exportSection)
		out = binary.AppendUvarint(out, uint64(len(section)))
		return slices.Concat(out, section, module[end:]), nil
	}
	return nil, errNoModule
}

// keptExports is a section of exports without some of them.
func keptExports(section []byte, names []string) ([]byte, error) {
	count, n := binary.Uvarint(section)
	if n <= 0 {
		return nil, errNoModule
	}
	rest, kept, all := section[n:], uint64(0), []byte(nil)
	for range count {
		length, n := binary.Uvarint(rest)
		if n <= 0 || length >= uint64(len(rest)-n) {
			return nil, errNoModule
		}
		kind := n + int(length)
		_, m := binary.Uvarint(rest[kind+1:])
		if m <= 0 {
			return nil, errNoModule
		}
		entry := rest[:kind+1+m]
		if !slices.Contains(names, string(rest[n:kind])) {
			kept, all = kept+1, append(all, entry...)
		}
		rest = rest[len(entry):]
	}
	return append(binary.AppendUvarint(nil, kept), all...), nil
}
