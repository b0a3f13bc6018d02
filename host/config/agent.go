package config

import (
	"math"

	"github.com/weft-run/weft/host"
)

// configKeys are the keys of the file.
var configKeys = []key[Config]{
	{"name", func(d *decoder, n *node, c *Config) {
		if name, ok := d.line(n, "a name"); ok {
			c.Name = name
		}
	}},
	{"description", func(d *decoder, n *node, c *Config) { c.Description = d.text(n) }},
	{"instructions", func(d *decoder, n *node, c *Config) { c.Instructions = d.text(n) }},
	{"model", readModel},
	{"options", func(d *decoder, n *node, c *Config) { readMapping(d, n, optionKeys, &c.Options) }},
	{"default_history", func(d *decoder, n *node, c *Config) {
		mode, ok := d.oneOf(n, string(host.HistoryWhenEmpty), string(host.HistoryWhenMissing), string(host.HistoryNever))
		if ok {
			c.DefaultHistory = host.DefaultHistory(mode)
		}
	}},
	{"providers", readProviders},
	{"middleware", func(d *decoder, n *node, _ *Config) {
		if n.kind != kindList || len(n.items) > 0 {
			d.fault(n, "remove the key, or use a later version", "not in this version")
		}
	}},
}

// modelKeys are the keys of model where it is a mapping.
var modelKeys = []key[Model]{
	{"provider", readModelProvider},
}

// laterModels are model providers that a later version brings.
var laterModels = map[string]bool{"openai": true}

func readModel(d *decoder, n *node, c *Config) {
	if n.kind == kindText {
		readModelProvider(d, n, &c.Model)
		return
	}
	if !d.is(n, kindMapping, "the name of a model provider (offline), or a mapping with provider,") {
		return
	}
	provider, ok := n.find("provider")
	switch {
	case !ok:
		d.fault(n, "add provider: offline", "the model has no provider")
	case provider.value != nil && provider.value.kind == kindText && laterModels[provider.value.text]:
		// Its other keys belong to that later version.
		readModelProvider(d, provider.value, &c.Model)
		return
	}
	readMapping(d, n, modelKeys, &c.Model)
}

func readModelProvider(d *decoder, n *node, m *Model) {
	if n.kind == kindText && laterModels[n.text] {
		d.fault(n, "use offline for now", "the model provider %s comes in a later version; this one has offline", n.text)
		return
	}
	if provider, ok := d.oneOf(n, ModelOffline); ok {
		m.Provider = provider
	}
}

// optionKeys are the keys of options: what a weft.yaml may set for every run.
var optionKeys = []key[host.Options]{
	{"temperature", func(d *decoder, n *node, o *host.Options) {
		o.Temperature = d.number(n, 0, math.MaxFloat64, "a number of at least 0")
	}},
	{"top_p", func(d *decoder, n *node, o *host.Options) { o.TopP = d.number(n, 0, 1, "a number from 0 to 1") }},
	{"max_tokens", func(d *decoder, n *node, o *host.Options) {
		o.MaxTokens = d.whole(n, 1, "a whole number of at least 1")
	}},
	{"stop", func(d *decoder, n *node, o *host.Options) {
		if n.kind == kindText && n.text != "" {
			o.Stop = []string{n.text}
			return
		}
		o.Stop = d.words(n, "a text, or a list of texts,", func(n *node) (string, bool) {
			if n.kind == kindText && n.text == "" {
				d.fault(n, "", "a stop text cannot be empty")
				return "", false
			}
			return n.text, d.isText(n, "text")
		})
	}},
	{"seed", func(d *decoder, n *node, o *host.Options) { o.Seed = d.whole(n, math.MinInt, "a whole number") }},
	{"store", func(d *decoder, n *node, o *host.Options) { o.Store = new(d.boolean(n)) }},
}
