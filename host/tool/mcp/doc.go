// Package mcp takes tools from MCP servers: from a program that speaks over its standard input and output, or from an
// HTTP endpoint.
//
//	files, err := mcp.Connect(ctx, mcp.Config{
//		SourceID: "files",
//		Command:  &mcp.Command{Path: "mcp-server-files", Args: []string{"/srv/docs"}},
//		Prefix:   "files_",
//	})
//	defer files.Close()
//	agent, err := host.NewAgent(host.AgentConfig{Client: client, ToolSources: []host.ToolSource{files}})
//
// A server is a stranger. Its schemas are read within the limits of package schema, a tool with a name or a schema that
// cannot be used is left out, its answers are limited in size and time, and a program gets no more of the environment
// than it is given. What a server says of its own tools decides by default which calls need approval, and is a claim and
// no more: a server that lies about a tool being read-only is not asked about. [Config.Approval] set to [Always] asks
// about every call, and [Config.ApprovalOf] settles single tools.
//
// The list of tools is kept, and read again before the next run after the server said that it changed. A connection that
// broke is made anew once; a call that may have reached the server is repeated only where the server says that the tool
// is read-only or idempotent.
//
// Tools are all that is taken: no prompts, resources, server instructions, sampling, elicitation or roots.
package mcp
