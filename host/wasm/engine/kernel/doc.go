// Package kernel is the memory that a guest shares with its host through extism:host/env, as a WebAssembly module.
//
//	compiled, err := runtime.CompileModule(ctx, kernel.Module()) // once; kernel.HostFunctions say what it imports
//	mod, err := runtime.InstantiateModule(ctx, compiled, wazero.NewModuleConfig().WithName(""))
//	k, err := kernel.Bind(mod) // one for each instance of a guest
//	ctx = experimental.WithImportResolver(ctx, k.Resolve)
//	guest, err := runtime.InstantiateModule(ctx, guestCode, config)
//
//	k.Begin(input, limit)      // then call the guest
//	output, ok := k.Output()   // to be copied: it is a view of memory that Reset clears
//	k.Reset()
//
// A guest that is linked to an instance of the module loads, stores and allocates by calls from WebAssembly to
// WebAssembly, which never enter Go. What only a host can do (config, vars, HTTP, logs) the module imports from
// weft:host and exports again, so that one instance is all of extism:host/env.
//
// The meaning of the functions is Extism's, but for what Extism leaves open or passes over in silence: an access
// outside the memory that host and guest share is a trap, and Fault says what it was; so is an output that is larger
// than its limit, and an error_set of what is no block. What a guest gave as its output or error stays as it is when
// the guest frees it afterwards.
//
// A guest can write to all of that memory, the headers of its blocks too. Whatever it writes there, it harms nobody
// but itself: the module follows no number before it has compared it, and the functions of this package take none of
// what they read for granted. What a guest must not be allowed is to import the globals or the memory of an instance; it
// may import functions alone.
package kernel
