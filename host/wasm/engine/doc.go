// Package engine runs WebAssembly modules that nobody vouches for.
//
//	e := engine.New(engine.Options{CacheDir: dir})
//	defer e.Close(ctx)
//	m, err := e.Load(ctx, wasm, engine.Spec{Name: "clock"})
//	if err != nil {
//		return err // every fault of the module at once, each with its remedy
//	}
//	result, err := m.Call(ctx, engine.Call{Export: "before_run", Input: input})
//
// A module is a core module for wasm32 that imports functions of extism:host/env and of wasi_snapshot_preview1, and
// nothing else. It is looked at before it is compiled, and started once before Load returns, so that a module that
// cannot work fails when it is loaded and not when it is first needed.
//
// # A call
//
// A call borrows an instance from the module's pool and gets it clean: memory and globals are as they were after the start
// of the module, its _initialize and its init, and all instances share the pages that they did not write to. What one call
// left behind, another one never sees, unless Spec.Shared says that it may. An instance that trapped, exited or hit a limit is
// closed and never used again. A call that a function of the host makes while it serves a guest (a nested one) gets another
// instance.
//
// # Time and fuel
//
// A meter is compiled into each module when it is loaded. The guest pays fuel as it works, and stops to ask for more some
// thousand times a second: then the Go runtime gets its turn, and a call that is over its time or its fuel, or that nobody
// waits for any more, ends there. Fuel is the same on every machine. Time that the guest waits in functions of the host is
// not the guest's.
//
// # Limits
//
// Time, fuel, memory, stack, input, output, logs, vars, HTTP and instances are bounded; see Limits. A limit that is hit is a
// *LimitError that names the limit, its value and the option that changes it. A module whose calls fail one after the other
// is rested for a while.
//
// # The world outside
//
// Clocks, random bytes and environment are the host's, for each call; see World, and Recording to play them back.
//
// The package knows bytes and limits. It knows no agents, no JSON and no grants; those are the business of its callers.
package engine
