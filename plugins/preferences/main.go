// Command preferences is a Weft plugin that keeps what users state about themselves and tells it to the agent in later
// runs.
package main

import (
	_ "embed"
	"strconv"

	"github.com/weft-run/weft/pdk/go"
	"github.com/weft-run/weft/pdk/go/json"
)

//go:embed config.schema.json
var configSchema string

//go:wasmexport describe
func describe() int32 {
	return pdk.Describe(pdk.Description{
		Name:         "preferences",
		Version:      "0.1.0",
		Description:  "Keeps what the user states about themselves, and tells it to the agent.",
		SourceID:     "preferences",
		ConfigSchema: json.Raw(configSchema),
	})
}

//go:wasmexport before_run
func beforeRun() int32 {
	return pdk.BeforeRun(func(in *pdk.In, out *pdk.ContextOut) error {
		var p profile
		if err := in.ReadState(&p); err != nil {
			return err
		}
		out.ExtendInstructions(p.instructions()...)
		return nil
	})
}

//go:wasmexport after_run
func afterRun() int32 {
	return pdk.AfterRun(func(in *pdk.In, out *pdk.RunOut) error {
		c := config{MaxFacts: 32}
		if err := in.ReadConfig(&c); err != nil {
			return err
		}
		var p profile
		if err := in.ReadState(&p); err != nil {
			return err
		}
		before := json.Marshal(&p)
		for _, m := range in.Input() {
			if m.Role == pdk.RoleUser {
				for _, s := range statements(m.Text()) {
					p.apply(s)
				}
			}
		}
		p.bound(c.MaxFacts)
		if after := json.Marshal(&p); after != before {
			out.SetState(after)
		}
		return nil
	})
}

// config is the plugin's configuration; config.schema.json says the same to the host.
type config struct {
	MaxFacts int
}

func (c *config) ReadJSON(r *json.Reader) {
	for name := range r.Object() {
		if name != "max_facts" {
			continue
		}
		c.MaxFacts = r.Int()
		if c.MaxFacts < 1 || c.MaxFacts > 100 {
			r.Fail("a number from 1 to 100 was wanted, and " + strconv.Itoa(c.MaxFacts) + " is there")
		}
	}
}

func main() {}
