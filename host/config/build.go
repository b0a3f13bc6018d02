package config

import (
	"context"
	"errors"
	"log/slog"
	"sync"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/model/offline"
	"github.com/weft-run/weft/host/wasm"
	"github.com/weft-run/weft/host/wasm/engine"
)

// BuildOptions are what an agent is built with. The zero value is fine.
type BuildOptions struct {
	// Engine runs the plugins. It stays the caller's. Nil makes one without a cache, which [Built.Close] closes.
	Engine *engine.Engine
	// Logger gets warnings, and what plugins log. Default: slog.Default().
	Logger *slog.Logger
	// Tracer follows the runs of the agent. Default: none.
	Tracer host.Tracer
	// Loading, where set, is called as the load of a plugin begins, and what it returns when it is over. Plugins load
	// at the same time.
	Loading func(file string) (done func())
}

// Built is an agent with what it stands on.
type Built struct {
	Agent *host.Agent
	// Sources are the source ids of the agent's providers in order, the default history of a run with a session among
	// them.
	Sources []string
	// Plugins are those providers that are plugins, in order.
	Plugins []*wasm.Provider

	engine *engine.Engine // nil where it is the caller's
}

// Close frees the plugins. It waits for runs under way, or for ctx. It may be called again.
func (b *Built) Close(ctx context.Context) error {
	var errs []error
	for _, p := range b.Plugins {
		errs = append(errs, p.Close(ctx))
	}
	if b.engine != nil {
		errs = append(errs, b.engine.Close(ctx))
	}
	return errors.Join(errs...)
}

// Build loads the plugins, at the same time, and makes the agent. What is wrong with any of the plugins is told at
// once, as an [*Errors]; then nothing is left open.
func (c *Config) Build(ctx context.Context, o BuildOptions) (*Built, error) {
	b := &Built{}
	if o.Engine == nil {
		b.engine = engine.New(engine.Options{Logger: o.Logger})
		o.Engine = b.engine
	}
	providers, err := c.load(ctx, o, b)
	if err == nil {
		b.Agent, err = host.NewAgent(host.AgentConfig{
			Name: c.Name, Description: c.Description, Instructions: c.Instructions,
			Client: offline.New(offline.Config{}), Providers: providers, Options: c.Options,
			DefaultHistory: c.DefaultHistory, Tracer: o.Tracer, Logger: o.Logger,
		})
	}
	if err != nil {
		return nil, errors.Join(err, b.Close(context.WithoutCancel(ctx)))
	}
	b.Sources = c.sources(providers)
	return b, nil
}

// load makes the providers. Those that are plugins are put into b as well, also where others failed.
func (c *Config) load(ctx context.Context, o BuildOptions, b *Built) ([]host.Provider, error) {
	plugins := make([]*wasm.Provider, len(c.Providers))
	errs := make([]error, len(c.Providers))
	var wg sync.WaitGroup
	for i, p := range c.Providers {
		if p.Plugin == nil {
			continue
		}
		wg.Go(func() {
			if o.Loading != nil {
				defer o.Loading(p.Plugin.Path)()
			}
			entry := *p.Plugin
			entry.Logger = o.Logger
			plugins[i], errs[i] = wasm.Load(ctx, o.Engine, entry)
		})
	}
	wg.Wait()

	faults := collector{file: c.File}
	seen := map[string]Provider{}
	var providers []host.Provider
	for i, p := range c.Providers {
		switch {
		case p.History != nil:
			h := host.NewInMemoryHistory(*p.History)
			faults.sourceIDTaken(seen, p, h.SourceID())
			providers = append(providers, h)
		case errs[i] != nil:
			faults.loadFault(p, errs[i])
		default:
			faults.sourceIDTaken(seen, p, plugins[i].SourceID())
			providers = append(providers, plugins[i])
			b.Plugins = append(b.Plugins, plugins[i])
		}
	}
	if ctx.Err() != nil && len(faults.faults) > 0 {
		return nil, context.Cause(ctx) // what failed, failed for that
	}
	return providers, faults.err()
}

// loadFault records each reason for which a plugin could not be loaded.
func (c *collector) loadFault(p Provider, err error) {
	c.causes = append(c.causes, err)
	var refused *wasm.LoadError
	if !errors.As(err, &refused) || len(refused.Faults) == 0 {
		c.add(p.Line, p.Column, p.path, "", "%v", err)
		return
	}
	for _, f := range refused.Faults {
		c.add(p.Line, p.Column, p.path, f.Remedy, "plugin %s: %s", quotedPath(p.Plugin.Path), f.What)
	}
}

// sources are the names of the providers, and of the default history where a run with a session gets one.
func (c *Config) sources(providers []host.Provider) []string {
	var ids []string
	loaders := 0
	for i, p := range providers {
		ids = append(ids, p.SourceID())
		if h := c.Providers[i].History; h != nil && h.LoadMessages != host.LoadNever {
			loaders++
		}
	}
	service := c.Options.Store != nil && *c.Options.Store
	missing := c.DefaultHistory == host.HistoryWhenMissing && loaders == 0
	empty := c.DefaultHistory == host.HistoryWhenEmpty && len(providers) == 0
	if (missing || empty) && !service {
		ids = append(ids, host.DefaultHistoryID)
	}
	return ids
}
