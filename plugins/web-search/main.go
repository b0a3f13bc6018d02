// Command web-search is a Weft plugin that searches the web by SearXNG or Brave Search: for the question of a run before
// the model is asked, as a tool that the model calls, or both.
package main

import (
	_ "embed"
	"strconv"

	"github.com/weft-run/weft/pdk/go"
	"github.com/weft-run/weft/pdk/go/json"
)

//go:embed config.schema.json
var configSchema string

// secretName is the name of the secret that holds the key of the service.
const secretName = "api_key"

//go:wasmexport describe
func describe() int32 {
	return pdk.Describe(pdk.Description{
		Name:         "web-search",
		Version:      "0.1.0",
		Description:  "Searches the web for the question of a run, or as a tool.",
		SourceID:     "web_search",
		Requires:     []string{"http"},
		ConfigSchema: json.Raw(configSchema),
		Grants: pdk.Grants{
			Read: []string{"input"},
			Add:  []string{"messages"},
			HTTP: []pdk.HTTPGrant{{OriginFrom: "endpoint", Methods: []string{"GET"}}},
		},
	})
}

// The rights that not every config needs are checked here: describe knows no config.
//
//go:wasmexport init
func initialise() int32 {
	return pdk.Init(func(in *pdk.In) error {
		c, err := readConfig(&in.Base)
		if err != nil {
			return err
		}
		return c.checkGrants(in.Grants())
	})
}

//go:wasmexport before_run
func beforeRun() int32 {
	return pdk.BeforeRun(func(in *pdk.In, out *pdk.ContextOut) error {
		c, err := readConfig(&in.Base)
		if err != nil {
			return err
		}
		if c.Mode != modeContext {
			out.ExtendTools(c.tool())
		}
		question := lastUserText(in.Input())
		if c.Mode == modeTool || question == "" {
			return nil
		}
		hits, err := c.search(question, c.Count)
		if err != nil {
			return err
		}
		out.ExtendMessages(c.messages(hits)...)
		return nil
	})
}

//go:wasmexport call_tool
func callTool() int32 {
	return pdk.CallTool(func(call *pdk.ToolCall, out *pdk.ToolOut) error {
		c, err := readConfig(&call.Base)
		if err != nil {
			return err
		}
		return pdk.Tools{c.tool()}.Call(call, out)
	})
}

// lastUserText is what the user said last in this run.
func lastUserText(input []pdk.Message) string {
	for i := len(input) - 1; i >= 0; i-- {
		if input[i].Role == pdk.RoleUser {
			if text := input[i].Text(); words(text) != "" {
				return text
			}
		}
	}
	return ""
}

// search asks the service that is configured.
func (c *config) search(question string, count int) ([]hit, error) {
	ask := c.searxng
	if c.API == apiBrave {
		ask = c.brave
	}
	f := &found{config: c, most: count}
	if err := ask(question, f); err != nil {
		return nil, err
	}
	pdk.LogDebug(strconv.Itoa(len(f.hits)) + " hits, " + strconv.Itoa(f.dropped) + " results of no use")
	return f.hits, nil
}

func main() {}
