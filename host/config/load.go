package config

import (
	"context"
	"errors"
	"sync"

	"github.com/weft-run/weft/host/wasm"
)

// LoadedPlugin is a plugin of a config, and what came of its load.
type LoadedPlugin struct {
	// Plugin is its entry.
	*Plugin
	// Loaded is the plugin; nil where it could not be loaded.
	Loaded *wasm.Plugin
	// Err is why, an [*Errors].
	Err error

	faults collector
}

// LoadedPlugins are the plugins of a config, as far as they could be loaded.
type LoadedPlugins struct {
	// List are those among the providers, in order, and then those among the middleware.
	List []LoadedPlugin

	built  *Built
	faults *collector
}

// LoadPlugins opens what the plugins stand on and loads them, as Build does, and makes no agent: it is for tools that tell
// about plugins. That one cannot be loaded is no error here. The error is for ctx.
func (c *Config) LoadPlugins(ctx context.Context, o BuildOptions) (*LoadedPlugins, error) {
	o = o.withDefaults()
	p := &LoadedPlugins{built: &Built{services: c.openServices(ctx, o)}, faults: &collector{file: c.File}}
	p.faults.join(p.built.services.faults)
	if c.grants(func(g wasm.Grants) bool { return g.Complete != nil }) {
		p.faults.join(p.built.services.model)
	}
	p.List = c.loadPlugins(ctx, o, p.built.services)
	c.gather(o, p.List, map[string]int{}, p.built, p.faults)
	if ctx.Err() != nil {
		return nil, errors.Join(context.Cause(ctx), p.Close(context.WithoutCancel(ctx)))
	}
	return p, nil
}

// Err is all that would keep Build from making an agent of these plugins, an [*Errors], or nil.
func (p *LoadedPlugins) Err() error { return p.faults.err() }

// Close frees the plugins, then what they stand on. It waits for ctx at most.
func (p *LoadedPlugins) Close(ctx context.Context) error { return p.built.Close(ctx) }

// Plugins are the entries that are plugins: those among the providers, in order, and then those among the middleware.
func (c *Config) Plugins() []*Plugin {
	var all []*Plugin
	for _, p := range c.Providers {
		if p.Plugin != nil {
			all = append(all, p.Plugin)
		}
	}
	for _, m := range c.Middleware {
		if m.Plugin != nil {
			all = append(all, m.Plugin)
		}
	}
	return all
}

// loadPlugins loads all plugins at the same time.
func (c *Config) loadPlugins(ctx context.Context, o BuildOptions, s *services) []LoadedPlugin {
	entries := c.Plugins()
	loaded := make([]LoadedPlugin, len(entries))
	var wg sync.WaitGroup
	for i, entry := range entries {
		l := &loaded[i]
		l.Plugin, l.faults.file = entry, c.File
		var ready wasm.Config
		if ready, l.Err = s.ready(entry, o, &l.faults); l.Err != nil {
			continue
		}
		wg.Go(func() {
			defer under(o.Loading, entry.Wasm.Path)()
			var err error
			if l.Loaded, err = wasm.Load(ctx, s.engine, ready); err != nil {
				l.faults.loadFault(entry, err)
				l.Err = l.faults.err()
			}
		})
	}
	wg.Wait()
	return loaded
}

// ready is what an entry says of its plugin, with what Build puts in. What is missing for it goes to faults, as far as it is
// the entry's; the error is all of it.
func (s *services) ready(entry *Plugin, o BuildOptions, faults *collector) (wasm.Config, error) {
	c := entry.Wasm
	c.Secrets = faults.secrets(entry, o.Getenv)
	c.Services, c.Logger, c.OnReload = s.forPlugins(), o.Logger, o.Reloaded
	return c, errors.Join(faults.err(), s.missing(c.Grants))
}

// loadFault records each reason for which a plugin could not be loaded.
func (c *collector) loadFault(p *Plugin, err error) {
	c.causes = append(c.causes, err)
	var refused *wasm.LoadError
	if !errors.As(err, &refused) || len(refused.Faults) == 0 {
		c.add(p.Line, p.Column, p.Place, "", "%v", err)
		return
	}
	for _, f := range refused.Faults {
		c.add(p.Line, p.Column, p.Place, f.Remedy, "plugin %s: %s", quotedPath(p.Wasm.Path), f.What)
	}
}
