// Command clock is a Weft plugin that tells an agent the date and the time.
package main

import (
	_ "embed"
	"time"

	"github.com/weft-run/weft/pdk/go"
	"github.com/weft-run/weft/pdk/go/json"
)

//go:embed config.schema.json
var configSchema string

//go:wasmexport describe
func describe() int32 {
	return pdk.Describe(pdk.Description{
		Name:         "clock",
		Version:      "0.1.0",
		Description:  "Tells the agent the date and the time.",
		SourceID:     "clock",
		ConfigSchema: json.Raw(configSchema),
	})
}

//go:wasmexport init
func initialise() int32 {
	return pdk.Init(func(in *pdk.In) error {
		_, err := configuredZone(in)
		return err
	})
}

//go:wasmexport before_run
func beforeRun() int32 {
	return pdk.BeforeRun(func(in *pdk.In, out *pdk.ContextOut) error {
		zone, err := configuredZone(in)
		if err != nil {
			return err
		}
		out.ExtendInstructions(sentence(now().In(zone)))
		return nil
	})
}

// now is the clock; tests set it.
var now = time.Now

// sentence says when t is, in the words of one instruction.
func sentence(t time.Time) string {
	return "It is " + t.Format("Monday, 2 January 2006, 15:04") + " (" + t.Location().String() + ")."
}

func main() {}
