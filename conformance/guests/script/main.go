// Command script is a plugin that plays the scripted providers of scenarios: its configuration is the provider's JSON as
// it stands in the file, and each hook carries out the operations of that name. What it does must not differ from what
// package conformance does natively; scenarios/README.md has the rules for both.
package main

import (
	"github.com/weft-run/weft/pdk/go"
)

//go:wasmexport describe
func describe() int32 {
	return pdk.Describe(pdk.Description{
		Name:        "script",
		Description: "Plays a scripted provider of a scenario.",
		Grants: pdk.Grants{
			Read:  []string{"context:*", "options", "metadata"},
			Add:   []string{"metadata"},
			Roles: []pdk.Role{pdk.RoleSystem, pdk.RoleAssistant, pdk.RoleTool},
		},
	})
}

//go:wasmexport session_created
func sessionCreated() int32 {
	return pdk.SessionCreated(func(in *pdk.In, out *pdk.StateOut) error {
		return run(in, &hook{state: out})
	})
}

//go:wasmexport before_run
func beforeRun() int32 {
	return pdk.BeforeRun(func(in *pdk.In, out *pdk.ContextOut) error {
		return run(in, &hook{state: &out.StateOut, run: &out.RunOut, context: out})
	})
}

//go:wasmexport after_run
func afterRun() int32 {
	return pdk.AfterRun(func(in *pdk.In, out *pdk.RunOut) error {
		return run(in, &hook{state: &out.StateOut, run: out})
	})
}

//go:wasmexport run_failed
func runFailed() int32 {
	return pdk.RunFailed(func(in *pdk.In, out *pdk.RunOut) error {
		return run(in, &hook{state: &out.StateOut, run: out})
	})
}

func main() {}
