// Package bytecode reads and writes the binary format of WebAssembly.
//
//	m, faults := bytecode.Decode(wasm) // sections: types, imports, exports, ...
//	if len(faults) > 0 {
//		return faults[0]
//	}
//	code, fault := m.Scan() // the instructions of all functions
//
// It reads what strangers send. Nothing is believed before it was counted, and no index that a module uses is let
// through unless the module has such a thing. So whatever is appended to a module later can be reached by nothing that
// the module had before.
//
// Accepted is WebAssembly 2.0 (multiple values, bulk operations, references, vectors, sign extension, saturating
// conversions), tail calls and extended constant expressions. The rest is refused by name: threads, exceptions,
// garbage-collected types, typed function references, 64-bit memories, more than one memory, relaxed vector
// instructions, custom page sizes and components.
//
// The package checks no types of values: the compiler that gets the module does. It follows that compiler, wazero, in how
// long each instruction is. Where the specification leaves more than one way to write something down, and the compiler
// might read it in another way, only the plain one is accepted.
package bytecode
