package bytecode

import (
	"fmt"
	"strconv"
)

// Fault is one thing that is wrong with a module: it uses a part of WebAssembly that is refused, or its bytes make no
// sense.
type Fault struct {
	// What is the part that is at fault, such as "malformed type section" or "memory64 not supported".
	What string
	// Have is what is there, and Want what should be. Either may be empty.
	Have, Want string
	// Remedy says how to mend it.
	Remedy string
	// Unsupported says that the module may be well made, but uses what is refused.
	Unsupported bool
}

// Error says it in one line.
func (f *Fault) Error() string {
	text := f.What
	if f.Have != "" {
		text += ": " + f.Have
	}
	if f.Want != "" {
		text += ", want " + f.Want
	}
	return text + ": " + f.Remedy
}

func unsupported(what, remedy string) *Fault {
	return &Fault{What: what + " not supported", Remedy: remedy, Unsupported: true}
}

// What is refused. Each is made once: a fault is not changed.
var (
	errGC         = unsupported("garbage-collected types", "build for wasm32 without the GC proposal")
	errFuncTypes  = unsupported("typed function references", "build without the function-references proposal")
	errMemory64   = unsupported("memory64", "build for wasm32, not wasm64")
	errThreads    = unsupported("threads (shared memory)", "build without threads and without the atomics feature")
	errPageSizes  = unsupported("custom page sizes", "build without the custom-page-sizes feature")
	errMemories   = unsupported("more than one memory", "build without the multi-memory feature")
	errExceptions = unsupported("exception handling", "build without WebAssembly exceptions")
	errRelaxed    = unsupported("relaxed SIMD", "build without the relaxed-simd feature")
)

func malformed(what string, at int, err error) *Fault {
	return &Fault{
		What:   "malformed " + what,
		Have:   fmt.Sprintf("%v at byte %d", err, at),
		Remedy: "the file is damaged or cut short; build or copy it again",
	}
}

// typeFault returns what is wrong where a value type was to be, and there is that byte instead.
func typeFault(b byte) error {
	switch b {
	case 0x63, 0x64:
		return errFuncTypes
	case 0x69, 0x74:
		return errExceptions
	case 0x4e, 0x4f, 0x50, 0x5e, 0x5f, 0x65, 0x66, 0x67, 0x68, 0x6a, 0x6b, 0x6c, 0x6d, 0x6e, 0x71, 0x72, 0x73, 0x77, 0x78:
		return errGC
	}
	return fmt.Errorf("unknown value type 0x%02x", b)
}

// count writes a number with commas, as in 4,294,967,295.
func count(n uint32) string {
	text := strconv.FormatUint(uint64(n), 10)
	for at := len(text) - 3; at > 0; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}

func bytesOf(n int) string {
	if n == 1 {
		return "1 byte"
	}
	return strconv.Itoa(n) + " bytes"
}
