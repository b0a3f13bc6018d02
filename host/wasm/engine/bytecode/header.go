package bytecode

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

var header = []byte{0, 'a', 's', 'm', 1, 0, 0, 0}

// checkHeader returns what is wrong with the first bytes, or nil. What people load by mistake is named.
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
			What: "component model not supported", Have: "a component", Unsupported: true,
			Remedy: "build a core module (wasm32-wasip1 or wasm32-unknown-unknown, not wasm32-wasip2)",
		}
	case !bytes.HasPrefix(wasm, header):
		return &Fault{
			What: "WebAssembly version", Have: fmt.Sprint(binary.LittleEndian.Uint32(wasm[4:])), Want: "1", Unsupported: true,
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
