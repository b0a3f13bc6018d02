package config

import (
	"github.com/weft-run/weft/internal/nearest"
)

// Middleware is one entry of middleware: a guard of package middleware, or a plugin.
type Middleware struct {
	// Line and Column are where the guard or the plugin is named.
	Line, Column int
	// Builtin is the guard's name, such as retry; empty for a plugin.
	Builtin string
	// Settings are those of the guard, a struct of package middleware such as [middleware.RetryConfig]. Loggers are put in by
	// Build.
	Settings any
	// Plugin is a WebAssembly plugin that stands at a layer; nil for a guard.
	Plugin *Plugin
}

func readMiddleware(d *decoder, n *node, c *Config) {
	lines := map[string]int{}
	d.list(n, "a list of guards and plugins", func(n *node) {
		m, ok := d.middleware(n)
		if !ok {
			return
		}
		if name, isGuard := n.find(guardTag); isGuard {
			if line, ok := lines[m.Builtin]; ok {
				d.fault(name.value, "remove one of them", "the guard %s stands twice, first in line %d", m.Builtin, line)
			}
			lines[m.Builtin] = m.Line
		}
		c.Middleware = append(c.Middleware, m)
	})
}

// middleware reads one entry. Which keys it may have depends on what it is.
func (d *decoder) middleware(n *node) (Middleware, bool) {
	const wanted = "an entry of middleware, builtin: NAME or plugin: FILE.wasm,"
	if !d.is(n, kindMapping, wanted) {
		return Middleware{}, false
	}
	_, isGuard := n.find(guardTag)
	_, isPlugin := n.find("plugin")
	switch {
	case isGuard && isPlugin:
		d.fault(n, "make an entry of each", "an entry of middleware is either a guard or a plugin, and this one is both")
	case isGuard:
		return d.guard(n)
	case isPlugin:
		p := d.plugin(n, pluginKeys, layerKeys)
		p.Wasm.Middleware = true
		return Middleware{Line: p.Line, Column: p.Column, Plugin: p}, true
	default:
		hint := ""
		for _, e := range n.entries {
			if w := nearest.Word(e.key, []string{guardTag, "plugin"}); w != "" && hint == "" {
				hint = "did you mean " + w + " in place of " + shortened(e.key) + "?"
			}
		}
		d.fault(n, hint, "%s was wanted, and the entry has no such key", wanted[:len(wanted)-1])
	}
	return Middleware{}, false
}
