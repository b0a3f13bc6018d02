// Command script is a plugin that plays what is scripted in a scenario: its configuration is the JSON of a provider, or of
// middleware, as it stands in the file, and each hook carries out the operations of that name. Tools that it adds, and
// middleware, take their JSON along as data. What it does must not differ from what package conformance does natively;
// scenarios/README.md has the rules for both.
//
// It has all hooks of a provider as well as process. To play a wrapping provider, the runner takes away what a wrapping
// provider may not export.
package main

import (
	"github.com/weft-run/weft/pdk/go"
)

//go:wasmexport describe
func describe() int32 {
	return pdk.Describe(pdk.Description{
		Name:        "script",
		Description: "Plays what is scripted in a scenario: a provider, or middleware.",
		Grants: pdk.Grants{
			Read:       []string{"context:*", "options", "metadata", "request", "calls"},
			Add:        []string{"messages", "instructions", "metadata", "tools"},
			Roles:      []pdk.Role{pdk.RoleSystem, pdk.RoleUser, pdk.RoleAssistant, pdk.RoleTool},
			Change:     []string{"messages", "options", "arguments", "result"},
			Middleware: []pdk.Layer{pdk.LayerContext, pdk.LayerChat, pdk.LayerFunction},
		},
	})
}

//go:wasmexport session_created
func sessionCreated() int32 {
	return pdk.SessionCreated(func(in *pdk.In, out *pdk.StateOut) error {
		return run(&hook{in: in, state: out})
	})
}

//go:wasmexport before_run
func beforeRun() int32 {
	return pdk.BeforeRun(func(in *pdk.In, out *pdk.ContextOut) error {
		return run(&hook{in: in, state: &out.StateOut, run: &out.RunOut, context: out})
	})
}

//go:wasmexport after_run
func afterRun() int32 {
	return pdk.AfterRun(func(in *pdk.In, out *pdk.RunOut) error {
		return run(&hook{in: in, state: &out.StateOut, run: out})
	})
}

//go:wasmexport run_failed
func runFailed() int32 {
	return pdk.RunFailed(func(in *pdk.In, out *pdk.RunOut) error {
		return run(&hook{in: in, state: &out.StateOut, run: out})
	})
}

//go:wasmexport process
func process() int32 {
	return pdk.Process(pdk.Layers{
		Context: func(c *pdk.SessionContext) error {
			return run(&hook{in: &c.In, state: &c.StateOut, run: &c.RunOut, context: &c.ContextOut, wraps: c})
		},
		Agent:    processAgent,
		Chat:     processChat,
		Function: processFunction,
	})
}

//go:wasmexport call_tool
func callTool() int32 { return pdk.CallTool(play) }

func main() {}
