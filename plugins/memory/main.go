// Command memory is a Weft plugin that remembers facts about the user from one session to the next.
package main

import (
	_ "embed"

	"github.com/weft-run/weft/pdk/go"
	"github.com/weft-run/weft/pdk/go/json"
)

//go:embed config.schema.json
var configSchema string

// What `find` and `tool` need beside these depends on the config, which describe does not know: init asks for it.
//
//go:wasmexport describe
func describe() int32 {
	return pdk.Describe(pdk.Description{
		Name:         "memory",
		Version:      "0.1.0",
		Description:  "Remembers facts about the user from one session to the next.",
		SourceID:     "memory",
		ConfigSchema: json.Raw(configSchema),
		StateVersion: 1,
		Grants: pdk.Grants{
			KV:       []pdk.Scope{pdk.ScopeAgent},
			Complete: &pdk.Budget{Calls: 1, Tokens: 8000},
		},
	})
}

// embeds says whether the operator lets the plugin embed. The host keeps the memory as init leaves it.
var embeds bool

//go:wasmexport init
func initialise() int32 {
	return pdk.Init(func(in *pdk.In) error {
		conf, err := readConfig(&in.Base)
		if err != nil {
			return err
		}
		grants := in.Grants()
		embeds = grants.Embed != nil
		return conf.missing(grants)
	})
}

//go:wasmexport before_run
func beforeRun() int32 {
	return pdk.BeforeRun(func(in *pdk.In, out *pdk.ContextOut) error {
		conf, err := readConfig(&in.Base)
		if err != nil {
			return err
		}
		if conf.Tool {
			out.ExtendTools(tools...)
		}
		query := question(in.Input())
		if query == "" {
			return nil
		}
		facts, err := conf.fitting(query)
		if err != nil {
			pdk.LogWarn("what is remembered cannot be looked up: " + err.Error())
		}
		if len(facts) > 0 {
			out.ExtendMessages(pdk.User(reminder(facts)))
		}
		return nil
	})
}

//go:wasmexport after_run
func afterRun() int32 {
	return pdk.AfterRun(func(in *pdk.In, out *pdk.RunOut) error {
		conf, err := readConfig(&in.Base)
		if err != nil {
			return err
		}
		var kept state
		if err := in.ReadState(&kept); err != nil {
			return err
		}
		turn := transcript(in.Input(), in.Response())
		if turn == "" || kept.has(in.Run.RunID) {
			return nil
		}
		texts, err := extract(turn)
		if err == nil {
			err = conf.remember(texts, in.Run.RunID)
		}
		if err == nil {
			kept.add(in.Run.RunID)
			out.WriteState(&kept)
		} else {
			pdk.LogWarn("what the user said is not remembered: " + err.Error())
		}
		return nil
	})
}

//go:wasmexport call_tool
func callTool() int32 { return pdk.CallTool(tools.Call) }

func main() {}
