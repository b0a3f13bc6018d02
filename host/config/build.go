package config

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/compaction"
	"github.com/weft-run/weft/host/middleware"
	"github.com/weft-run/weft/host/tool/mcp"
	"github.com/weft-run/weft/host/wasm"
	"github.com/weft-run/weft/host/wasm/engine"
	"github.com/weft-run/weft/host/wasm/watch"
)

// BuildOptions are what an agent is built with. The zero value is fine.
type BuildOptions struct {
	// Engine runs the plugins. It stays the caller's. Nil makes one without a cache, which [Built.Close] closes.
	Engine *engine.Engine
	// Getenv is asked for the variables that the config names, and for no others; os.Getenv fits. Nil is an empty
	// environment.
	Getenv func(name string) string
	// Logger gets warnings, and what plugins log. Default: slog.Default().
	Logger *slog.Logger
	// Tracer follows the runs of the agent. Default: none.
	Tracer host.Tracer
	// Loading, where set, is called as the load of a plugin begins, and what it returns when it is over. Plugins load and
	// tool servers start at the same time.
	Loading func(file string) (done func())
	// Watch has new versions of plugins take over when their files change, and what a config that was read from a file says of
	// them when that changes, unless the config says otherwise. What else changes in the config needs another Build.
	Watch bool
	// Reloaded, where set, is told when a new version of a plugin took over, or cannot be used; and without a source id when
	// the config changed and cannot be used, or needs another Build. It must be quick.
	Reloaded func(wasm.Reloaded)
	// Starting, where set, is called as a tool server is started or reached, by its source id, and what it returns when its
	// tools are known.
	Starting func(sourceID string) (done func())
}

// Built is an agent with what it stands on.
type Built struct {
	Agent *host.Agent
	// Sources are the source ids of the agent's providers in order, the default history of a run with a session among
	// them.
	Sources []string
	// ToolSources are the source ids of the agent's tool servers, in order.
	ToolSources []string
	// Plugins are those among the providers, in order, and then those among the middleware.
	Plugins []*wasm.Plugin

	servers  []*mcp.Server
	services *services
	watcher  *watch.Watcher // nil where nothing is watched
	follower *follower      // as watcher
}

// Close ends the watching, frees the plugins, then what they stand on, and ends the tool servers. It waits for runs under way, or for ctx; the
// end of a server that does not want to end takes a few seconds longer. It may be called again.
func (b *Built) Close(ctx context.Context) error {
	errs := []error{b.stopWatching()}
	for _, p := range b.Plugins {
		errs = append(errs, p.Close(ctx))
	}
	var wg sync.WaitGroup
	for _, s := range b.servers {
		wg.Go(func() { _ = s.Close() }) // which never fails
	}
	wg.Wait()
	return errors.Join(append(errs, b.services.close(ctx))...)
}

// Build opens what the plugins stand on, loads the plugins and starts the tool servers, as much of it as can be at the same
// time, and makes the agent. What is wrong with any of them, or with the environment, is told at once, as an [*Errors]; then
// nothing is left open.
func (c *Config) Build(ctx context.Context, o BuildOptions) (*Built, error) {
	o = o.withDefaults()
	faults := &collector{file: c.File}
	started := c.startServers(ctx, o, faults)
	b := &Built{services: c.openServices(ctx, o)}
	faults.join(b.services.model)
	faults.join(b.services.faults)
	loaded := c.loadPlugins(ctx, o, b.services)
	seen := map[string]int{}
	providers := c.gather(o, loaded, seen, b, faults)
	started.gather(ctx, seen, b, faults)
	err := faults.err()
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx) // what failed, failed for that
	}
	if err == nil {
		b.Agent, err = c.agent(o, b, providers, loaded)
	}
	if err == nil {
		err = c.follow(ctx, o, b)
	}
	if err != nil {
		return nil, errors.Join(err, b.Close(context.WithoutCancel(ctx)))
	}
	b.Sources = c.sources(b.services.client, providers)
	return b, nil
}

func (o BuildOptions) withDefaults() BuildOptions {
	if o.Getenv == nil {
		o.Getenv = func(string) string { return "" }
	}
	return o
}

// gather takes the plugins over, and makes the providers; one that could not be loaded is none.
func (c *Config) gather(o BuildOptions, loaded []LoadedPlugin, seen map[string]int, b *Built, faults *collector) []host.Provider {
	plugins := map[*Plugin]*wasm.Plugin{}
	for _, l := range loaded {
		faults.join(l.faults)
		if l.Loaded != nil {
			plugins[l.Plugin] = l.Loaded
			b.Plugins = append(b.Plugins, l.Loaded)
		}
	}
	var providers []host.Provider
	for _, p := range c.Providers {
		if p.Plugin != nil && plugins[p.Plugin] == nil {
			continue
		}
		provider := c.provider(p, plugins[p.Plugin], b.services.client, o.Logger)
		faults.sourceIDTaken(seen, p.Line, p.Column, p.path, provider.SourceID())
		providers = append(providers, provider)
	}
	for _, m := range c.Middleware {
		if plugin := plugins[m.Plugin]; plugin != nil {
			faults.sourceIDTaken(seen, m.Line, m.Column, m.Plugin.Place, plugin.SourceID())
		}
	}
	return providers
}

// agent makes the agent of parts that are ready.
func (c *Config) agent(o BuildOptions, b *Built, providers []host.Provider, loaded []LoadedPlugin) (*host.Agent, error) {
	chain := make([]host.Middleware, len(c.Middleware))
	for i, m := range c.Middleware {
		if m.Plugin == nil {
			chain[i] = m.guard(b.services.client, o.Logger)
			continue
		}
		at := slices.IndexFunc(loaded, func(l LoadedPlugin) bool { return l.Plugin == m.Plugin })
		chain[i] = loaded[at].Loaded.ForLayer()
	}
	sources := make([]host.ToolSource, len(b.servers))
	for i, s := range b.servers {
		sources[i] = s
	}
	return host.NewAgent(host.AgentConfig{
		Name: c.Name, Description: c.Description, Instructions: c.Instructions,
		Client: b.services.client, Providers: providers, ToolSources: sources, Middleware: middleware.Join(chain...),
		FunctionInvocation: c.FunctionInvocation, ApprovalPolicy: c.Approvals.Policy(),
		Compaction: finished(c.Compaction, b.services.client, o.Logger), Options: c.Options,
		DefaultHistory: c.DefaultHistory, SequentialBeforeRun: c.SequentialBeforeRun, Tracer: o.Tracer, Logger: o.Logger,
	})
}

// provider makes a provider; one that is a plugin is loaded already.
func (c *Config) provider(p Provider, plugin *wasm.Plugin, client host.ChatClient, log *slog.Logger) host.Provider {
	switch {
	case p.History != nil:
		return host.NewInMemoryHistory(*p.History)
	case p.Compaction != nil:
		ready := *p.Compaction
		ready.Before, ready.After = finished(ready.Before, client, log), finished(ready.After, client, log)
		return compaction.NewProvider(ready)
	}
	return plugin
}

// sources are the names of the providers, and of the default history where a run with a session gets one.
func (c *Config) sources(client host.ChatClient, providers []host.Provider) []string {
	var ids []string
	loaders := 0
	for i, p := range providers {
		ids = append(ids, p.SourceID())
		if h := c.Providers[i].History; h != nil && h.LoadMessages != host.LoadNever {
			loaders++
		}
	}
	missing := c.DefaultHistory == host.HistoryWhenMissing && loaders == 0
	empty := c.DefaultHistory == host.HistoryWhenEmpty && len(providers) == 0
	if (missing || empty) && !c.serviceKeeps(client) {
		ids = append(ids, host.DefaultHistoryID)
	}
	return ids
}

// serviceKeeps reports whether the model's service keeps the conversation.
func (c *Config) serviceKeeps(client host.ChatClient) bool {
	if c.Options.Store != nil {
		return *c.Options.Store
	}
	keeper, ok := client.(host.HistoryKeeper)
	return ok && keeper.StoresHistory()
}
