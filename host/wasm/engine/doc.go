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
// A call borrows an instance and gets it clean: memory and globals are as they were after the start of the module, its
// _initialize and its init. What one call left behind, another one never sees, unless Spec.Shared says that it may. After
// a trap, an exit or a limit the instance is closed, never used again.
//
// Time, memory, input, output, logs and instances are bounded; see Limits. A limit that is hit is a *LimitError that
// names the limit, its value and the option that changes it.
//
// The package knows bytes and limits. It knows no agents, no JSON and no grants; those are the business of its callers.
package engine
