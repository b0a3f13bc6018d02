// Command hello is the smallest plugin that is of use: it tells the agent one fact.
package main

import "github.com/weft-run/weft/pdk/go"

//go:wasmexport before_run
func beforeRun() int32 {
	return pdk.BeforeRun(func(_ *pdk.In, out *pdk.ContextOut) error {
		out.ExtendMessages(pdk.User("The office in Oslo opens at nine on weekdays."))
		return nil
	})
}

func main() {}
