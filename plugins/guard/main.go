// Command guard is a Weft plugin that stands around model calls and blocks or redacts by rules.
package main

import (
	_ "embed"

	"github.com/weft-run/weft/pdk/go"
	"github.com/weft-run/weft/pdk/go/json"
)

//go:embed config.schema.json
var configSchema string

//go:wasmexport describe
func describe() int32 {
	return pdk.Describe(pdk.Description{
		Name:         "guard",
		Version:      "0.1.0",
		Description:  "Blocks or redacts what goes to the model and what comes back, by rules.",
		SourceID:     "guard",
		ConfigSchema: json.Raw(configSchema),
		Layers:       []pdk.Layer{pdk.LayerChat},
		Grants: pdk.Grants{
			Read:   []string{"request", "response"},
			Change: []string{"messages", "result"},
		},
	})
}

//go:wasmexport init
func initialise() int32 {
	return pdk.Init(func(in *pdk.In) error {
		_, err := configured(&in.Base)
		return err
	})
}

//go:wasmexport process
func process() int32 {
	return pdk.ProcessChat(func(c *pdk.ChatContext) error {
		conf, err := configured(&c.Base)
		if err != nil {
			return err
		}
		if conf.looks(onRequest) {
			if blocked := conf.request(c); blocked != nil {
				return refuse(c, blocked)
			}
		}
		if err := c.Next(); err != nil {
			return err
		}
		if conf.looks(onResponse) {
			conf.response(c)
		}
		return nil
	})
}

//go:wasmexport on_update
func onUpdate() int32 {
	return pdk.OnUpdate(func(u *pdk.UpdateIn, out *pdk.UpdateOut) error {
		conf, err := configured(&u.Base)
		if err != nil || !conf.looks(onResponse) {
			return err
		}
		return conf.update(u, out)
	})
}

func main() {}
