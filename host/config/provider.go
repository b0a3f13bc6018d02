package config

import (
	"regexp"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/wasm"
	"github.com/weft-run/weft/internal/nearest"
)

func readProviders(d *decoder, n *node, c *Config) {
	d.list(n, "a list of providers", func(n *node) {
		if p, ok := d.provider(n); ok {
			c.Providers = append(c.Providers, p)
		}
	})
}

// provider reads one entry. Which keys it may have depends on what it is.
func (d *decoder) provider(n *node) (Provider, bool) {
	const wanted = "a provider, history: memory or plugin: FILE.wasm,"
	if !d.is(n, kindMapping, wanted) {
		return Provider{}, false
	}
	history, isHistory := n.find("history")
	plugin, isPlugin := n.find("plugin")
	switch {
	case isHistory && isPlugin:
		d.fault(n, "make two entries of it", "a provider is either a history or a plugin, and this one is both")
	case isHistory:
		h := &host.HistoryConfig{SourceID: host.DefaultHistoryID, LoadMessages: host.LoadAlways}
		readMapping(d, n, historyKeys, h)
		if from, ok := n.find("store_context_from"); ok && !h.StoreContextMessages {
			d.add(from.line, from.column, n.path, "add store_context_messages: true",
				"store_context_from has no effect where context messages are not stored")
		}
		return Provider{Line: history.line, Column: history.column, History: h, path: n.path}, true
	case isPlugin:
		p := &wasm.Config{OnError: host.OnErrorFail}
		readMapping(d, n, pluginKeys, p)
		return Provider{Line: plugin.line, Column: plugin.column, Plugin: p, path: n.path}, true
	default:
		hint := ""
		for _, e := range n.entries {
			if w := nearest.Word(e.key, []string{"history", "plugin"}); w != "" && hint == "" {
				hint = "did you mean " + w + " in place of " + shortened(e.key) + "?"
			}
		}
		d.fault(n, hint, "%s was wanted, and the entry has neither key", wanted[:len(wanted)-1])
	}
	return Provider{}, false
}

// historyKeys are the keys of a provider that is a history.
var historyKeys = []key[host.HistoryConfig]{
	{"history", func(d *decoder, n *node, _ *host.HistoryConfig) { d.oneOf(n, "memory") }},
	{"source_id", func(d *decoder, n *node, h *host.HistoryConfig) {
		if id, ok := d.sourceID(n); ok {
			h.SourceID = id
		}
	}},
	{"load_messages", func(d *decoder, n *node, h *host.HistoryConfig) {
		if mode, ok := d.oneOf(n, string(host.LoadAlways), string(host.LoadNever), string(host.LoadAuto)); ok {
			h.LoadMessages = host.LoadMessages(mode)
		}
	}},
	{"store_inputs", func(d *decoder, n *node, h *host.HistoryConfig) { h.SkipInputs = !d.boolean(n) }},
	{"store_outputs", func(d *decoder, n *node, h *host.HistoryConfig) { h.SkipOutputs = !d.boolean(n) }},
	{"store_context_messages", func(d *decoder, n *node, h *host.HistoryConfig) { h.StoreContextMessages = d.boolean(n) }},
	{"store_context_from", func(d *decoder, n *node, h *host.HistoryConfig) {
		h.StoreContextFrom = d.words(n, "a list of source ids", d.sourceID)
	}},
}

var sourceIDForm = regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)

func (d *decoder) sourceID(n *node) (string, bool) {
	const wanted = "a source id (snake_case, at most 64 letters, digits and _, a letter first)"
	if !d.is(n, kindText, wanted) {
		return "", false
	}
	if !sourceIDForm.MatchString(n.text) {
		d.fault(n, "", "%s was wanted, and %s is there", wanted, n.have())
		return "", false
	}
	return n.text, true
}

// checkSourceIDs finds names that two providers have. Those of plugins that are to describe themselves are known only
// when they are loaded; see Build.
func (d *decoder) checkSourceIDs(c *Config) {
	seen := map[string]Provider{}
	for _, p := range c.Providers {
		if p.History != nil {
			d.sourceIDTaken(seen, p, p.History.SourceID)
		} else {
			d.sourceIDTaken(seen, p, p.Plugin.SourceID)
		}
	}
}

// sourceIDTaken records that a provider has an id, and a fault where another one has it.
func (c *collector) sourceIDTaken(seen map[string]Provider, p Provider, id string) {
	if id == "" {
		return
	}
	if other, ok := seen[id]; ok {
		c.add(p.Line, p.Column, p.path, "give one of them another source_id",
			"duplicate source id %q: the provider in line %d has it", id, other.Line)
		return
	}
	seen[id] = p
}
