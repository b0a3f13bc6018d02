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
	{"tools", readTools},
	{"approvals", func(d *decoder, n *node, c *Config) { readMapping(d, n, approvalKeys, &c.Approvals) }},
	{"function_invocation", func(d *decoder, n *node, c *Config) { readMapping(d, n, invocationKeys, &c.FunctionInvocation) }},
	{"compaction", func(d *decoder, n *node, c *Config) { c.Compaction = d.strategy(n) }},
	{"middleware", readMiddleware},
	{"concurrent_before_run", func(d *decoder, n *node, c *Config) { c.SequentialBeforeRun = !d.boolean(n) }},
	{"storage", readStorage},
	{"indexes", readIndexes},
	{"embeddings", readEmbeddings},
	{"reload", func(d *decoder, n *node, c *Config) { readMapping(d, n, reloadKeys, &c.Reload) }},
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
