package config

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/model/offline"
	"github.com/weft-run/weft/host/model/openai"
)

// The model providers.
const (
	// ModelOffline is the model that needs no network: it quotes what fits the question from its context.
	ModelOffline = "offline"
	// ModelOpenAI is a model at OpenAI, or at any other endpoint that speaks its protocol.
	ModelOpenAI = "openai"
)

// DefaultKeyVariable is the variable that holds the key of OpenAI's own service where the config names no other.
const DefaultKeyVariable = "OPENAI_API_KEY"

// ModelProviders are the names of all model providers.
func ModelProviders() []string { return []string{ModelOffline, ModelOpenAI} }

// Model says which chat client answers.
type Model struct {
	// Provider is [ModelOffline] or [ModelOpenAI].
	Provider string
	// Line and Column are where the provider is named; 0 where it is not.
	Line, Column int
	// OpenAI says which model is called where Provider is [ModelOpenAI]. It holds no key: that of APIKey is put in by Build.
	OpenAI openai.Config
	// APIKey is the variable that holds the key. One without a name sends no key.
	APIKey Variable
}

// offlineKeys are the keys of model where the provider is offline.
var offlineKeys = tagged[Model]("provider")

// openaiKeys are the keys of model where the provider is openai.
var openaiKeys = tagged("provider",
	key[Model]{"name", func(d *decoder, n *node, m *Model) { m.OpenAI.Model, _ = d.line(n, "the name of a model") }},
	key[Model]{"base_url", func(d *decoder, n *node, m *Model) {
		if text, ok := d.line(n, "a URL such as "+openai.DefaultBaseURL); ok {
			m.OpenAI.BaseURL = text
			d.tryOpenAI(n, openai.Config{BaseURL: text})
		}
	}},
	key[Model]{"api", func(d *decoder, n *node, m *Model) {
		if api, ok := d.oneOf(n, string(openai.ChatCompletions), string(openai.Responses)); ok {
			m.OpenAI.API = openai.API(api)
		}
	}},
	key[Model]{"api_key_env", func(d *decoder, n *node, m *Model) { m.APIKey, _ = d.variable(n) }},
	key[Model]{"organization", func(d *decoder, n *node, m *Model) { m.OpenAI.Organization, _ = d.line(n, "an organization") }},
	key[Model]{"project", func(d *decoder, n *node, m *Model) { m.OpenAI.Project, _ = d.line(n, "a project") }},
	key[Model]{"allow_insecure_http", func(d *decoder, n *node, m *Model) { m.OpenAI.AllowInsecureHTTP = d.boolean(n) }},
	key[Model]{"max_tokens_field", func(d *decoder, n *node, m *Model) {
		m.OpenAI.MaxTokensField, _ = d.oneOf(n, "max_tokens", "max_completion_tokens")
	}},
	key[Model]{"stream_usage", func(d *decoder, n *node, m *Model) { m.OpenAI.NoStreamUsage = !d.boolean(n) }},
)

func readModel(d *decoder, n *node, c *Config) {
	if m, ok := d.model(n, openaiKeys, "gpt-5-mini"); ok {
		c.Model = m
	}
}

// model reads a model: the name of a provider, or a mapping with the keys that one of openai has there. The example is the
// name of such a model.
func (d *decoder) model(n *node, keys []key[Model], example string) (Model, bool) {
	if n.kind == kindText {
		if name, ok := strings.CutPrefix(n.text, ModelOpenAI+":"); ok {
			d.fault(n, "write it as {provider: openai, name: "+shortened(name)+"}", "the form provider:name is one of the command line")
			return Model{}, false
		}
		provider, ok := d.oneOf(n, ModelProviders()...)
		if provider == ModelOpenAI {
			d.fault(n, "write it as in {provider: openai, name: "+example+"}", "the model provider openai needs the name of a model")
		}
		return Model{Provider: provider, Line: n.line, Column: n.column}, ok
	}
	if !d.is(n, kindMapping, "the name of a model provider (offline), or a mapping with provider,") {
		return Model{}, false
	}
	named, ok := n.find("provider")
	if !ok {
		d.fault(n, "add provider: offline, or provider: openai", "the model has no provider")
		return Model{}, false
	}
	if named.value == nil {
		return Model{}, false
	}
	provider, ok := d.oneOf(named.value, ModelProviders()...)
	if !ok {
		return Model{}, false
	}
	m := Model{Provider: provider, Line: named.value.line, Column: named.value.column}
	if provider == ModelOffline {
		readMapping(d, d.misplaced(n, namesOf(keys[1:]), "remove it, or write provider: openai"), offlineKeys, &m)
		return m, true
	}
	before := len(d.faults)
	readMapping(d, n, keys, &m)
	d.require(n, "the model", "name", "name: "+example+", or another model of the service")
	_, elsewhere := n.find("base_url")
	if _, named := n.find("api_key_env"); !named && !elsewhere {
		m.APIKey = Variable{Name: DefaultKeyVariable, Line: m.Line, Column: m.Column, path: n.path + ".provider"}
	}
	if len(d.faults) == before {
		d.checkOpenAI(n, m)
	}
	return m, true
}

// embeddingsKeys are the keys of embeddings where the provider is openai: those of a model that have a meaning for it.
var embeddingsKeys = slices.DeleteFunc(slices.Clone(openaiKeys), func(k key[Model]) bool {
	return slices.Contains([]string{"api", "max_tokens_field", "stream_usage"}, k.name)
})

func readEmbeddings(d *decoder, n *node, c *Config) {
	if m, ok := d.model(n, embeddingsKeys, "text-embedding-3-small"); ok {
		c.Embeddings = &m
	}
}

// tryOpenAI records what the client says of one part of its config.
func (d *decoder) tryOpenAI(n *node, part openai.Config) {
	part.Model, part.AllowInsecureHTTP = cmp.Or(part.Model, "any"), true
	client, err := openai.New(part)
	if err != nil {
		d.fault(n, "", "%s", openaiReason(err))
		return
	}
	_ = client.Close() // it was never used
}

// checkOpenAI records what is wrong with the parts together, each of which was fine.
func (d *decoder) checkOpenAI(n *node, m Model) {
	if err := m.Check(); err != nil {
		d.faultAt(n, "base_url", "", "%v", err)
	}
}

// Check reports what is wrong with the model, but for what only the environment knows. Build checks it too.
func (m Model) Check() error {
	if m.Provider != ModelOpenAI {
		return nil
	}
	if m.APIKey.Name != "" {
		m.OpenAI.APIKey = "any" // where it may go does not depend on what it is
	}
	client, err := openai.New(m.OpenAI)
	if err != nil {
		return errors.New(openaiReason(err))
	}
	return client.Close()
}

// openaiReason is what the client says, in the words of the config.
func openaiReason(err error) string {
	return strings.NewReplacer("give the secret as api key or header", "name the variable that holds the secret as api_key_env",
		"allow insecure http", "set allow_insecure_http").Replace(strings.TrimPrefix(err.Error(), "openai: "))
}

// modelClient makes the client of a model that stands at a path. What is wrong goes to c; the client is nil then.
func (c *collector) modelClient(m Model, path string, getenv func(string) string) host.ChatClient {
	if m.Provider != ModelOpenAI {
		return offline.New(offline.Config{})
	}
	settings := m.OpenAI
	if m.APIKey.Name != "" {
		settings.APIKey = c.value(m.APIKey, getenv, "the key of the model's service")
		if settings.APIKey == "" {
			return nil
		}
	}
	client, err := openai.New(settings)
	if err != nil {
		c.causes = append(c.causes, err)
		c.add(m.Line, m.Column, path, "", "%s", openaiReason(err))
		return nil
	}
	return client
}
