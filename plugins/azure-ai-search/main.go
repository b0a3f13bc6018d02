// Command azure-ai-search is a Weft plugin that finds documents in an index of Azure AI Search that fit the question of a
// run, and adds them to the run's context.
package main

import (
	_ "embed"
	"strings"

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
		Name:         "azure-ai-search",
		Version:      "0.1.0",
		Description:  "Finds documents in an index of Azure AI Search that fit the question of a run.",
		SourceID:     "azure_ai_search",
		Requires:     []string{"http"},
		ConfigSchema: json.Raw(configSchema),
		Grants: pdk.Grants{
			Read: []string{"input"},
			Add:  []string{"messages"},
			HTTP: []pdk.HTTPGrant{{OriginFrom: "endpoint", Methods: []string{"POST"}, Secrets: []string{secretName}}},
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
		if c.embeds() && in.Grants().Embed == nil {
			return pdk.NewError(pdk.CodeDenied, "config: vectorizer is host, which has the host's model make a vector of each question: "+
				"add to the plugin's entry grant: {embed: {calls: 1, tokens: 8000}}, or set vectorizer to service if the index has one")
		}
		return nil
	})
}

//go:wasmexport before_run
func beforeRun() int32 {
	return pdk.BeforeRun(func(in *pdk.In, out *pdk.ContextOut) error {
		c, err := readConfig(&in.Base)
		if err != nil {
			return err
		}
		question := questionOf(in.Input())
		if question == "" {
			return nil
		}
		found, err := c.search(question)
		if err != nil {
			return err
		}
		out.ExtendMessages(c.messages(found)...)
		return nil
	})
}

// maxQuestion is how many bytes of a question are searched for. Models that make vectors take a few thousand tokens.
const maxQuestion = 8000

// questionOf is what the user says in this run.
func questionOf(input []pdk.Message) string {
	var all []string
	for _, m := range input {
		if m.Role == pdk.RoleUser {
			all = append(all, m.Text())
		}
	}
	return web.Lines(strings.Join(all, "\n"), maxQuestion)
}

// search asks the service.
func (c *config) search(question string) (*answer, error) {
	body, err := c.request(question)
	if err != nil {
		return nil, err
	}
	found := &answer{config: c}
	err = web.Request{
		Service: "Azure AI Search",
		Method:  "POST",
		URL: c.Endpoint + "/indexes('" + c.Index + "')/docs/search.post.search?" +
			web.Query("api-version", c.APIVersion),
		Headers: map[string]string{"api-key": "{{secret." + secretName + "}}"},
		Body:    body,
		Remedies: map[int]string{
			401: "check the secret " + secretName,
			403: "check the secret " + secretName + ", which needs a query key of this service, and the service's firewall",
			404: "check endpoint and index in the config: there is no index " + c.Index,
		},
	}.Read(found)
	return found, err
}

func main() {}
