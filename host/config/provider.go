package config

import (
	"regexp"
	"slices"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/compaction"
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
	const wanted = "a provider, history: memory, plugin: FILE.wasm or compaction: {before: …},"
	if !d.is(n, kindMapping, wanted) {
		return Provider{}, false
	}
	history, isHistory := n.find("history")
	_, isPlugin := n.find("plugin")
	thinning, isCompaction := n.find("compaction")
	switch {
	case isHistory && isPlugin, isCompaction && (isHistory || isPlugin):
		d.fault(n, "make an entry of each", "a provider is either a history, a plugin or a compaction, and this one is several")
	case isHistory:
		h := &host.HistoryConfig{SourceID: host.DefaultHistoryID, LoadMessages: host.LoadAlways}
		readMapping(d, n, historyKeys, h)
		if from, ok := n.find("store_context_from"); ok && !h.StoreContextMessages {
			d.add(from.line, from.column, n.path, "add store_context_messages: true",
				"store_context_from has no effect where context messages are not stored")
		}
		return Provider{Line: history.line, Column: history.column, History: h, path: n.path}, true
	case isPlugin:
		p := d.plugin(d.misplaced(n, namesOf(layerKeys), "it is for entries of middleware"), pluginKeys)
		return Provider{Line: p.Line, Column: p.Column, Plugin: p, path: n.path}, true
	case isCompaction:
		p := &compaction.Config{SourceID: compaction.DefaultSourceID, HistorySourceID: host.DefaultHistoryID}
		readMapping(d, n, compactionKeys, p)
		return Provider{Line: thinning.line, Column: thinning.column, Compaction: p, path: n.path}, true
	default:
		hint := ""
		for _, e := range n.entries {
			if w := nearest.Word(e.key, []string{"history", "plugin", "compaction"}); w != "" && hint == "" {
				hint = "did you mean " + w + " in place of " + shortened(e.key) + "?"
			}
		}
		d.fault(n, hint, "%s was wanted, and the entry has no such key", wanted[:len(wanted)-1])
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
	{"skip_excluded", func(d *decoder, n *node, h *host.HistoryConfig) { h.SkipExcluded = d.boolean(n) }},
}

// compactionKeys are the keys of a provider that thins out.
var compactionKeys = []key[compaction.Config]{
	{"compaction", func(d *decoder, n *node, c *compaction.Config) {
		readMapping(d, n, thinningKeys, c)
		if n.kind == kindMapping && len(n.entries) == 0 {
			d.fault(n, "add before: or after:, with a strategy", "there is no strategy")
		}
	}},
	{"source_id", func(d *decoder, n *node, c *compaction.Config) {
		if id, ok := d.sourceID(n); ok {
			c.SourceID = id
		}
	}},
	{"history_source_id", func(d *decoder, n *node, c *compaction.Config) {
		if id, ok := d.sourceID(n); ok {
			c.HistorySourceID = id
		}
	}},
}

// thinningKeys are the keys of compaction in a provider.
var thinningKeys = []key[compaction.Config]{
	{"before", func(d *decoder, n *node, c *compaction.Config) { c.Before = d.strategy(n) }},
	{"after", func(d *decoder, n *node, c *compaction.Config) { c.After = d.strategy(n) }},
}

// checkHistories finds compaction of a history that is not there, or that has stored nothing yet when it is compacted:
// hooks after a run are called last provider first.
func (d *decoder) checkHistories(c *Config) {
	for i, p := range c.Providers {
		if p.Compaction == nil || p.Compaction.After == nil {
			continue
		}
		id := p.Compaction.HistorySourceID
		at := slices.IndexFunc(c.Providers, func(h Provider) bool { return h.History != nil && h.History.SourceID == id })
		byDefault := id == host.DefaultHistoryID && c.DefaultHistory == host.HistoryWhenMissing
		switch {
		case at < 0 && !byDefault:
			d.add(p.Line, p.Column, p.path, "add history: memory to the providers, or name another one with history_source_id",
				"there is no history with the source id %q whose messages could be thinned out", id)
		case at >= 0 && at < i:
			d.add(p.Line, p.Column, p.path, "put it before the history", "compaction after a run has no effect behind the history %q", id)
		}
	}
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

// checkSourceIDs finds names that two providers, plugins or tool servers have. Those of plugins that are to describe
// themselves are known only when they are loaded; see Build.
func (d *decoder) checkSourceIDs(c *Config) {
	seen := map[string]int{}
	for _, p := range c.Providers {
		d.sourceIDTaken(seen, p.Line, p.Column, p.path, p.sourceID())
	}
	for _, m := range c.Middleware {
		if m.Plugin != nil {
			d.sourceIDTaken(seen, m.Line, m.Column, m.Plugin.Place, m.Plugin.Wasm.SourceID)
		}
	}
	for _, t := range c.Tools {
		d.sourceIDTaken(seen, t.Line, t.Column, t.path, t.MCP.SourceID)
	}
}

// sourceID is the provider's name; empty where its plugin is to say it.
func (p Provider) sourceID() string {
	switch {
	case p.History != nil:
		return p.History.SourceID
	case p.Compaction != nil:
		return p.Compaction.SourceID
	default:
		return p.Plugin.Wasm.SourceID
	}
}

// sourceIDTaken records in which line an id stands, and a fault where it stands in an earlier one.
func (c *collector) sourceIDTaken(seen map[string]int, line, column int, path, id string) {
	if id == "" {
		return
	}
	if other, ok := seen[id]; ok {
		c.add(line, column, path, "give one of them another source_id",
			"duplicate source id %q: the entry in line %d has it", id, other)
		return
	}
	seen[id] = line
}
