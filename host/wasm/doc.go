// Package wasm makes providers out of WebAssembly plugins.
//
//	e := engine.New(engine.Options{CacheDir: dir})
//	clock, err := wasm.Load(ctx, e, wasm.Config{Path: "plugins/clock.wasm"})
//	if err != nil {
//		return err // every fault of the plugin at once, each with its remedy
//	}
//	defer clock.Close(ctx)
//	agent, err := host.NewAgent(host.AgentConfig{Client: model, Providers: []host.Provider{clock}})
//
// A plugin is held to the contract in abi.md. It receives only what it was granted to read, and what it returns is data
// from a stranger: decoded strictly, bounded, and stamped with the plugin's source id.
package wasm
