// Command mem0 is a Weft plugin that keeps memories in Mem0: it recalls those that fit before a run, and has new ones made
// of what was said after it.
package main

import (
	_ "embed"

	"github.com/weft-run/weft/pdk/go"
	"github.com/weft-run/weft/pdk/go/json"
	"github.com/weft-run/weft/pdk/go/web"
)

//go:embed config.schema.json
var configSchema string

// secretName is the name of the secret that holds the key of the service.
const secretName = "api_key"

//go:wasmexport describe
func describe() int32 {
	return pdk.Describe(pdk.Description{
		Name:         "mem0",
		Version:      "0.1.0",
		Description:  "Recalls memories from Mem0 before a run, and has new ones made of it.",
		SourceID:     "mem0",
		Requires:     []string{"http"},
		ConfigSchema: json.Raw(configSchema),
		Grants: pdk.Grants{
			Read: []string{"input", "response"},
			Add:  []string{"messages"},
			HTTP: []pdk.HTTPGrant{{OriginFrom: "endpoint", Methods: []string{"POST"}, Secrets: []string{secretName}}},
		},
	})
}

//go:wasmexport init
func initialise() int32 {
	return pdk.Init(func(in *pdk.In) error {
		_, err := readConfig(in)
		return err
	})
}

//go:wasmexport before_run
func beforeRun() int32 {
	return pdk.BeforeRun(func(in *pdk.In, out *pdk.ContextOut) error {
		c, err := readConfig(in)
		if err != nil {
			return err
		}
		s, err := c.scope(in.Run)
		if err != nil {
			return err
		}
		query := queryOf(in.Input())
		if query == "" {
			return nil
		}
		found, err := c.search(query, s)
		if err != nil {
			return err
		}
		out.ExtendMessages(c.messages(found)...)
		return nil
	})
}

//go:wasmexport after_run
func afterRun() int32 {
	return pdk.AfterRun(func(in *pdk.In, _ *pdk.RunOut) error {
		c, err := readConfig(in)
		if err != nil || !c.Store {
			return err
		}
		s, err := c.scope(in.Run)
		if err != nil {
			return err
		}
		turns := turnsOf(in.Input())
		if response := in.Response(); response != nil {
			turns = append(turns, turnsOf(response.Messages)...)
		}
		if len(turns) == 0 {
			return nil
		}
		return c.add(turns, s)
	})
}

// request is a request to the service.
func (c *config) request(path string, body json.Raw) web.Request {
	return web.Request{
		Service: "Mem0",
		Method:  "POST",
		URL:     c.Endpoint + path,
		Headers: map[string]string{"Authorization": "Token {{secret." + secretName + "}}"},
		Body:    body,
		Remedies: map[int]string{
			401: "check the secret " + secretName,
			403: "check the secret " + secretName + " and its project",
			404: "check endpoint and api in the config",
		},
	}
}

func main() {}
