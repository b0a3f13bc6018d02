package config

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"sync"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/compaction"
	"github.com/weft-run/weft/host/middleware"
	"github.com/weft-run/weft/host/tool/mcp"
	"github.com/weft-run/weft/host/wasm"
	"github.com/weft-run/weft/host/wasm/engine"
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
	// Plugins are those providers that are plugins, in order.
	Plugins []*wasm.Provider

	servers []*mcp.Server
	client  host.ChatClient
	engine  *engine.Engine // nil where it is the caller's
}

// Close frees the plugins, and ends the tool servers. It waits for runs under way, or for ctx; the end of a server that
// does not want to end takes a few seconds longer. It may be called again.
func (b *Built) Close(ctx context.Context) error {
	var errs []error
	for _, p := range b.Plugins {
		errs = append(errs, p.Close(ctx))
	}
	var wg sync.WaitGroup
	for _, s := range b.servers {
		wg.Go(func() { _ = s.Close() }) // which never fails
	}
	wg.Wait()
	if c, ok := b.client.(io.Closer); ok {
		errs = append(errs, c.Close())
	}
	if b.engine != nil {
		errs = append(errs, b.engine.Close(ctx))
	}
	return errors.Join(errs...)
}

// Build loads the plugins and starts the tool servers, all at the same time, and makes the agent. What is wrong with any
// of them, or with the environment, is told at once, as an [*Errors]; then nothing is left open.
func (c *Config) Build(ctx context.Context, o BuildOptions) (*Built, error) {
	b := &Built{}
	if o.Engine == nil {
		b.engine = engine.New(engine.Options{Logger: o.Logger})
		o.Engine = b.engine
	}
	if o.Getenv == nil {
		o.Getenv = func(string) string { return "" }
	}
	providers, err := c.load(ctx, o, b)
	if err == nil {
		b.Agent, err = c.agent(o, b, providers)
	}
	if err != nil {
		return nil, errors.Join(err, b.Close(context.WithoutCancel(ctx)))
	}
	b.Sources = c.sources(b.client, providers)
	return b, nil
}

// agent makes the agent of parts that are ready.
func (c *Config) agent(o BuildOptions, b *Built, providers []host.Provider) (*host.Agent, error) {
	guards := make([]host.Middleware, len(c.Middleware))
	for i, g := range c.Middleware {
		guards[i] = g.middleware(b.client, o.Logger)
	}
	sources := make([]host.ToolSource, len(b.servers))
	for i, s := range b.servers {
		sources[i] = s
	}
	return host.NewAgent(host.AgentConfig{
		Name: c.Name, Description: c.Description, Instructions: c.Instructions,
		Client: b.client, Providers: providers, ToolSources: sources, Middleware: middleware.Join(guards...),
		FunctionInvocation: c.FunctionInvocation, ApprovalPolicy: c.Approvals.Policy(),
		Compaction: finished(c.Compaction, b.client, o.Logger), Options: c.Options,
		DefaultHistory: c.DefaultHistory, Tracer: o.Tracer, Logger: o.Logger,
	})
}

// load makes the client, the providers and the tool servers. What is to be closed is put into b as well, also where others
// failed.
func (c *Config) load(ctx context.Context, o BuildOptions, b *Built) ([]host.Provider, error) {
	faults := &collector{file: c.File}
	b.client = faults.modelClient(c.Model, o.Getenv)
	plugins, servers := make([]*wasm.Provider, len(c.Providers)), make([]*mcp.Server, len(c.Tools))
	pluginErrs, serverErrs := make([]error, len(c.Providers)), make([]error, len(c.Tools))
	var wg sync.WaitGroup
	for i, p := range c.Providers {
		if p.Plugin == nil {
			continue
		}
		wg.Go(func() {
			defer under(o.Loading, p.Plugin.Path)()
			entry := *p.Plugin
			entry.Logger = o.Logger
			plugins[i], pluginErrs[i] = wasm.Load(ctx, o.Engine, entry)
		})
	}
	for i, t := range c.Tools {
		server, ok := t.ready(faults, o.Getenv)
		if !ok {
			continue
		}
		server.Logger = o.Logger
		wg.Go(func() {
			defer under(o.Starting, server.SourceID)()
			servers[i], serverErrs[i] = mcp.Connect(ctx, server)
		})
	}
	wg.Wait()

	seen := map[string]int{}
	var providers []host.Provider
	for i, p := range c.Providers {
		if pluginErrs[i] != nil {
			faults.loadFault(p, pluginErrs[i])
			continue
		}
		provider := c.provider(p, plugins[i], b.client, o.Logger)
		if plugins[i] != nil {
			b.Plugins = append(b.Plugins, plugins[i])
		}
		faults.sourceIDTaken(seen, p.Line, p.Column, p.path, provider.SourceID())
		providers = append(providers, provider)
	}
	owners := map[string]string{} // of the names of tools
	for i, t := range c.Tools {
		switch {
		case serverErrs[i] != nil:
			faults.causes = append(faults.causes, serverErrs[i])
			faults.add(t.Line, t.Column, t.path, "", "tool server %s: %v", t.MCP.SourceID, serverErrs[i])
		case servers[i] != nil:
			b.servers = append(b.servers, servers[i])
			b.ToolSources = append(b.ToolSources, servers[i].SourceID())
			faults.sourceIDTaken(seen, t.Line, t.Column, t.path, servers[i].SourceID())
			faults.toolsTaken(ctx, owners, t, servers[i])
		}
	}
	if ctx.Err() != nil && len(faults.faults) > 0 {
		return nil, context.Cause(ctx) // what failed, failed for that
	}
	return providers, faults.err()
}

// toolsTaken records tools of a server whose names an earlier one has. A list that changes later is looked at by each run.
func (c *collector) toolsTaken(ctx context.Context, owners map[string]string, t ToolServer, s *mcp.Server) {
	tools, err := s.Tools(ctx)
	if err != nil {
		c.causes = append(c.causes, err)
		c.add(t.Line, t.Column, t.path, "", "tool server %s: %v", s.SourceID(), err)
		return
	}
	for _, tool := range tools {
		name := tool.Definition().Name
		if other, taken := owners[name]; taken && other != s.SourceID() {
			c.add(t.Line, t.Column, t.path, "give it a prefix, such as prefix: "+s.SourceID()+"_, or leave the tool out with allow",
				"tool server %s has a tool %q, and so has %s", s.SourceID(), name, other)
		}
		owners[name] = s.SourceID()
	}
}

// under tells that something begins; what it returns tells that it is over.
func under(told func(name string) func(), name string) func() {
	if told == nil {
		return func() {}
	}
	return told(name)
}

// provider makes a provider; one that is a plugin is loaded already.
func (c *Config) provider(p Provider, plugin *wasm.Provider, client host.ChatClient, log *slog.Logger) host.Provider {
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
