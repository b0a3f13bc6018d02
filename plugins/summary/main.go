// Command summary is a Weft plugin that keeps a running summary of the conversation in the place of its older messages, so
// that long sessions stay short.
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
		Name:         "summary",
		Version:      "0.1.0",
		Description:  "Keeps a running summary in the place of a conversation's older messages.",
		SourceID:     "summary",
		ConfigSchema: json.Raw(configSchema),
		Layers:       []pdk.Layer{pdk.LayerChat},
		StateVersion: 1,
		Grants: pdk.Grants{
			Read:       []string{"context:*", "request"},
			Change:     []string{"messages"},
			Middleware: []pdk.Layer{pdk.LayerChat},
			Complete:   &pdk.Budget{Calls: 1, Tokens: 20_000},
		},
	})
}

//go:wasmexport before_run
func beforeRun() int32 {
	return pdk.BeforeRun(func(in *pdk.In, out *pdk.ContextOut) error {
		conf, kept, err := read(in)
		if err != nil || kept.Covered == 0 {
			return err
		}
		start, count := conf.history(in)
		if count < kept.Covered {
			return nil // another history than the one that was summed up
		}
		out.ExtendMiddleware(pdk.Middleware{
			Layer: pdk.LayerChat, Name: "summary", Data: json.Marshal(&cut{start, kept.Covered, kept.Text}),
		})
		return nil
	})
}

//go:wasmexport process
func process() int32 {
	return pdk.ProcessChat(func(c *pdk.ChatContext) error {
		var k cut
		if err := json.Unmarshal(c.Data, &k); err != nil {
			return err
		}
		// Where a service keeps the conversation the request is only the end of it.
		if r := c.Request(); r.ConversationID == "" && r.Count > k.start+k.count {
			c.Splice(k.start, k.count, pdk.User(heading+k.text))
		}
		return c.Next()
	})
}

//go:wasmexport after_run
func afterRun() int32 {
	return pdk.AfterRun(func(in *pdk.In, out *pdk.RunOut) error {
		conf, kept, err := read(in)
		if err != nil {
			return err
		}
		_, count := conf.history(in)
		if count < kept.Covered {
			kept = state{} // another history: begin anew
		}
		if count-kept.Covered < conf.Keep+conf.Every {
			return nil
		}
		switch updated, err := conf.update(kept, count); {
		case err != nil:
			pdk.LogWarn("the summary could not be brought up to date: " + err.Error())
		case updated != kept:
			out.WriteState(&updated)
		}
		return nil
	})
}

// heading stands before the summary, for the model.
const heading = "Summary of the conversation so far, in the place of its older messages:\n"

func read(in *pdk.In) (config, state, error) {
	conf := config{Source: "in_memory", Keep: 12, Every: 12, MaxTokens: 400, Instructions: instructions}
	if err := in.ReadConfig(&conf); err != nil {
		return conf, state{}, err
	}
	var kept state
	err := in.ReadState(&kept)
	return conf, kept, err
}

func main() {}
