// Package metering compiles limits into a WebAssembly module: how much it may compute, and how deep it may call.
//
//	m, faults := bytecode.Decode(wasm)
//	code, fault := m.Scan()
//	metered, err := metering.Instrument(m, code)
//	// metered.Wasm is what to compile. It imports weft:meter.tick and weft:meter.overflow.
//
// A module that is metered means what it meant: the same results, traps, memory and tables. It has two globals more, which
// the host sets before it calls in, and it calls the host when one of them is below zero.
//
// # Fuel
//
// Fuel is what the guest may use until it has to ask for more. It pays at the head of each function and of each loop, for
// the instructions of the function outside of its loops, or of the loop outside of the loops inside of it. An instruction
// costs one up to the 256th of such a region, and a quarter from there on: the Go toolchain makes of each function a loop
// around all of it, of which a turn runs but a small part. So a guest may execute four times the instructions that it paid
// for, and not more. Functions of at most 16 instructions that have no loops and call nothing are paid for by those that
// call them.
//
// Bulk operations pay by their length before they begin: one for each 16 bytes of memory, one for each element of a table,
// and 4,096 for each page that the memory is to grow by.
//
// When the fuel is below zero the guest calls Tick with it. That is where the Go runtime gets in, and where a host looks at
// the clock, at a budget, or at whether anybody still waits. Whatever the machine, the compiler or the load: the same call
// with the same memory uses the same fuel. What is used of a slice is what it held less what is left of it, which is what
// Tick is told or what the global holds when the call is over. A guest that traps may have paid for more than it ran: for
// the whole of a function or of the turn of a loop.
//
// # Stack
//
// Stack is how many bytes of calls may be open at once. Functions that may call themselves, directly or by way of others,
// take 64 bytes, 8 for each parameter and local (16 for a v128) and one for each instruction, of which 4,096 count at most,
// when they are called, and give them back when they return. That is an estimate of what they take in fact, and the same on
// all machines. Other functions take nothing: a
// chain of calls without a cycle ends by itself. When the budget is below zero the guest calls Overflow. A tail call gives
// back before it jumps. One with more than six parameters or results of a kind counts as a call, since the compiler makes
// a call of it.
//
// A trap gives nothing back. The host sets both globals before each call.
package metering
