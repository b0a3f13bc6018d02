package config

import (
	"context"
	"sync"

	"github.com/weft-run/weft/host/tool/mcp"
)

// startedServers are the tool servers of a config on their way.
type startedServers struct {
	config  *Config
	servers []*mcp.Server
	errs    []error
	wg      sync.WaitGroup
}

// startServers starts the tool servers, each in a goroutine of its own. What is missing for that goes to faults.
func (c *Config) startServers(ctx context.Context, o BuildOptions, faults *collector) *startedServers {
	s := &startedServers{config: c, servers: make([]*mcp.Server, len(c.Tools)), errs: make([]error, len(c.Tools))}
	for i, t := range c.Tools {
		server, ok := t.ready(faults, o.Getenv)
		if !ok {
			continue
		}
		server.Logger = o.Logger
		s.wg.Go(func() {
			defer under(o.Starting, server.SourceID)()
			s.servers[i], s.errs[i] = mcp.Connect(ctx, server)
		})
	}
	return s
}

// gather waits for the servers and hands them over.
func (s *startedServers) gather(ctx context.Context, seen map[string]int, b *Built, faults *collector) {
	s.wg.Wait()
	owners := map[string]string{} // of the names of tools
	for i, t := range s.config.Tools {
		switch {
		case s.errs[i] != nil:
			faults.causes = append(faults.causes, s.errs[i])
			faults.add(t.Line, t.Column, t.path, "", "tool server %s: %v", t.MCP.SourceID, s.errs[i])
		case s.servers[i] != nil:
			b.servers = append(b.servers, s.servers[i])
			b.ToolSources = append(b.ToolSources, s.servers[i].SourceID())
			faults.sourceIDTaken(seen, t.Line, t.Column, t.path, s.servers[i].SourceID())
			faults.toolsTaken(ctx, owners, t, s.servers[i])
		}
	}
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
