// Package pdk writes Weft plugins in Go. A plugin exports the hooks it wants to be called at; each is one call of the
// function of the same name:
//
//	package main
//
//	import "github.com/weft-run/weft/pdk/go"
//
//	//go:wasmexport before_run
//	func beforeRun() int32 {
//		return pdk.BeforeRun(func(in *pdk.In, out *pdk.ContextOut) error {
//			out.ExtendInstructions("Answer in one sentence.")
//			return nil
//		})
//	}
//
//	func main() {}
//
// It is built with the standard Go toolchain:
//
//	GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared -ldflags="-s -w" -trimpath -o plugin.wasm .
//
// # What comes in, what goes out
//
// A hook of a provider gets [In] and fills the type that holds what it may return: [ContextOut] for before_run, [RunOut] for
// after_run and run_failed, [StateOut] for session_created. Names are those of the JSON that travels between host and
// plugin. An effect that a hook may not have does not compile.
//
// Middleware gets one value for all: a [ChatContext], say, whose Next runs what it wraps:
//
//	//go:wasmexport process
//	func process() int32 {
//		return pdk.ProcessChat(func(c *pdk.ChatContext) error {
//			c.Append(pdk.System("Be kind."))
//			return c.Next()
//		})
//	}
//
// What a hook returns as an error, the host gets as data: make it with [NewError] to say of which kind it is. A panic is
// caught and reported with its place.
//
// # Memory between calls
//
// By default each call finds the plugin as init left it: what a hook writes into a variable is gone with the next call.
// What belongs to the session goes into the state, what is dear to prepare is prepared in init.
//
// # Goroutines
//
// A hook should finish what it starts. A goroutine that outlives its hook runs only while another call is on, and is gone
// where the host restores the plugin's memory.
package pdk
