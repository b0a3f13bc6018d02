package config

import (
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/weft-run/weft/host/tool/mcp"
)

// ToolServer is one entry of tools: an MCP server.
type ToolServer struct {
	// Line and Column are where the server is named.
	Line, Column int
	// MCP is the server. What it gets of the environment, and the logger, are put in by Build.
	MCP mcp.Config
	// Env are the variables that its program gets.
	Env []Variable
	// HeadersEnv are the variables that hold the values of headers, by the headers' names.
	HeadersEnv map[string]Variable

	path     string
	insecure bool // secrets may go over http: to another machine
}

// mcpKeys are the keys of every MCP server.
var mcpKeys = tagged("mcp",
	key[ToolServer]{"source_id", func(d *decoder, n *node, t *ToolServer) {
		if id, ok := d.sourceID(n); ok {
			t.MCP.SourceID = id
		}
	}},
	key[ToolServer]{"prefix", func(d *decoder, n *node, t *ToolServer) {
		const wanted = "a prefix for names of tools, such as files_,"
		if d.isText(n, wanted) && !prefixForm.MatchString(n.text) {
			d.fault(n, "use letters, digits, _ and -", "%s was wanted, and %s is there", wanted, n.have())
		}
		t.MCP.Prefix = n.text
	}},
	key[ToolServer]{"allow", func(d *decoder, n *node, t *ToolServer) {
		t.MCP.Allow = d.atLeastOne(n, "a list of the server's tools", func(n *node) (string, bool) { return d.line(n, "the name of a tool") })
	}},
	key[ToolServer]{"approval", func(d *decoder, n *node, t *ToolServer) { t.MCP.Approval = d.approval(n) }},
	key[ToolServer]{"approval_of", func(d *decoder, n *node, t *ToolServer) {
		t.MCP.ApprovalOf = map[string]mcp.Approval{}
		d.byName(n, "a mapping of the server's tools", func(name string, n *node) { t.MCP.ApprovalOf[name] = d.approval(n) })
	}},
	key[ToolServer]{"strict", func(d *decoder, n *node, t *ToolServer) { t.MCP.Strict = d.boolean(n) }},
	key[ToolServer]{"connect_timeout", func(d *decoder, n *node, t *ToolServer) { t.MCP.ConnectTimeout = d.boundedDuration(n) }},
	key[ToolServer]{"call_timeout", func(d *decoder, n *node, t *ToolServer) { t.MCP.CallTimeout = d.boundedDuration(n) }},
	key[ToolServer]{"max_result", func(d *decoder, n *node, t *ToolServer) { t.MCP.MaxResult = int(d.boundedSize(n)) }},
	key[ToolServer]{"max_tools", func(d *decoder, n *node, t *ToolServer) { t.MCP.MaxTools = d.atLeast(n, 1) }},
)

// mcpProgramKeys are the further keys of a server that is a program.
var mcpProgramKeys = []key[ToolServer]{
	{"env", func(d *decoder, n *node, t *ToolServer) {
		d.words(n, "a list of environment variables", func(n *node) (string, bool) {
			v, ok := d.variable(n)
			if ok {
				t.Env = append(t.Env, v)
			}
			return v.Name, ok
		})
	}},
	{"dir", func(d *decoder, n *node, t *ToolServer) {
		if folder := d.existingFolder(n); t.MCP.Command != nil {
			t.MCP.Command.Dir = folder
		}
	}},
}

// mcpHTTPKeys are the further keys of a server that is an HTTP endpoint.
var mcpHTTPKeys = []key[ToolServer]{
	{"headers", func(d *decoder, n *node, t *ToolServer) {
		d.headers(n, t, func(name string, n *node) {
			switch {
			case !d.isText(n, "the value of a header"):
			case !headerValueForm.MatchString(n.text): // which may be a secret, and is not repeated
				d.fault(n, "", "the value of a header was wanted, in one line, and a text of %d characters is there", len(n.text))
			default:
				t.MCP.HTTP.Header.Set(name, n.text)
			}
		})
	}},
	{"headers_env", func(d *decoder, n *node, t *ToolServer) {
		t.HeadersEnv = map[string]Variable{}
		d.headers(n, t, func(name string, n *node) {
			if v, ok := d.variable(n); ok {
				t.HeadersEnv[http.CanonicalHeaderKey(name)] = v
			}
		})
	}},
	{"allow_insecure_http", func(d *decoder, n *node, t *ToolServer) { t.insecure = d.boolean(n) }},
}

var (
	prefixForm = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
	headerForm = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")
	// headerValueForm is a line with something in it.
	headerValueForm = regexp.MustCompile(`^[^\x00-\x08\x0a-\x1f\x7f]*[^\s\x00-\x1f\x7f][^\x00-\x08\x0a-\x1f\x7f]*$`)
)

func readTools(d *decoder, n *node, c *Config) {
	d.list(n, "a list of tool servers", func(n *node) {
		if t, ok := d.toolServer(n); ok {
			c.Tools = append(c.Tools, t)
		}
	})
}

// toolServer reads one entry. Which keys it may have depends on whether its server is a program.
func (d *decoder) toolServer(n *node) (ToolServer, bool) {
	const wanted = "a tool server, mcp: [PROGRAM, ARGUMENT…] or mcp: https://…,"
	if !d.is(n, kindMapping, wanted) {
		return ToolServer{}, false
	}
	server, ok := n.find("mcp")
	switch {
	case !ok:
		d.fault(n, "", "%s was wanted, and the entry has no mcp", wanted[:len(wanted)-1])
		return ToolServer{}, false
	case server.value == nil:
		return ToolServer{}, false
	}
	t := ToolServer{Line: server.line, Column: server.column, path: n.path}
	switch server.value.kind {
	case kindList:
		t.MCP.Command = d.command(server.value)
		n = d.misplaced(n, namesOf(mcpHTTPKeys), "it is for servers that are reached over HTTP")
		readMapping(d, n, append(mcpKeys[:len(mcpKeys):len(mcpKeys)], mcpProgramKeys...), &t)
		if t.MCP.SourceID == "" {
			base := filepath.Base(t.MCP.Command.Path)
			t.MCP.SourceID = asSourceID(strings.TrimSuffix(base, filepath.Ext(base)))
		}
	case kindText:
		endpoint := d.endpoint(server.value)
		t.MCP.HTTP = &mcp.HTTP{URL: server.value.text, Header: http.Header{}}
		n = d.misplaced(n, namesOf(mcpProgramKeys), "it is for servers that are programs")
		readMapping(d, n, append(mcpKeys[:len(mcpKeys):len(mcpKeys)], mcpHTTPKeys...), &t)
		if t.MCP.SourceID == "" && endpoint != nil {
			t.MCP.SourceID = asSourceID(endpoint.Hostname())
		}
		d.checkInsecure(server.value, endpoint, t)
	default:
		d.fault(server.value, "", "the list of a program and its arguments, or a URL, was wanted, and %s is there", server.value.have())
		return ToolServer{}, false
	}
	return t, true
}

// command reads a program and its arguments.
func (d *decoder) command(n *node) *mcp.Command {
	c := &mcp.Command{}
	if len(n.items) == 0 {
		d.fault(n, "write it as in [mcp-server-files, /srv/docs]", "a program was wanted, and the list is empty")
	}
	for i, item := range n.items {
		if i > 0 {
			if d.isText(item, "an argument") {
				c.Args = append(c.Args, item.text)
			}
			continue
		}
		name, ok := d.line(item, "a program")
		if !ok {
			continue
		}
		c.Path = name
		if strings.ContainsAny(name, `/`+string(filepath.Separator)) {
			c.Path = d.program(item, name)
		}
	}
	return c
}

// program finds a program that is named by its path. The path is absolute, as another working directory must not change
// it.
func (d *decoder) program(n *node, name string) string {
	file := d.resolve(name)
	if absolute, err := filepath.Abs(file); err == nil {
		file = absolute
	}
	info, err := os.Stat(file)
	switch {
	case err != nil:
		d.fault(n, "check the path, which begins at the config's folder, or build the program first",
			"program %s cannot be used: %v", quotedPath(name), reason(err))
	case !info.Mode().IsRegular():
		d.fault(n, "name the program's file", "%s is no regular file", quotedPath(name))
	}
	return file
}

// endpoint reads the URL of a server; nil where it is none.
func (d *decoder) endpoint(n *node) *url.URL {
	u, err := url.Parse(n.text)
	switch {
	case strings.Contains(n.text, "@"): // a user and a password, which are not repeated
		d.fault(n, "give a secret as a header, by headers_env", "a URL without an @ was wanted")
		return nil
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		d.fault(n, "a program is a list, as in [mcp-server-files, /srv/docs]", "a URL of https or http was wanted, and %s is there", n.have())
		return nil
	}
	return u
}

// checkInsecure finds secrets that would go over the network for all to read.
func (d *decoder) checkInsecure(n *node, u *url.URL, t ToolServer) {
	if u == nil || u.Scheme == "https" || len(t.HeadersEnv) == 0 || t.insecure || thisMachine(u.Hostname()) {
		return
	}
	d.fault(n, "use https:, or set allow_insecure_http: true", "the values of headers_env would go over the network unencrypted")
}

// thisMachine reports whether a host is this machine by its name alone.
func thisMachine(hostname string) bool {
	if strings.EqualFold(hostname, "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(hostname)
	return err == nil && addr.Unmap().IsLoopback()
}

// headers reads a mapping of headers; each stands once in both that there may be.
func (d *decoder) headers(n *node, t *ToolServer, value func(name string, n *node)) {
	d.byName(n, "a mapping of headers", func(name string, n *node) {
		canonical := http.CanonicalHeaderKey(name)
		_, named := t.HeadersEnv[canonical]
		switch {
		case !headerForm.MatchString(name):
			d.fault(n, "", "%q is no name of a header", shortened(name))
		case t.MCP.HTTP.Header[canonical] != nil || named:
			d.fault(n, "remove one of them", "the header %s stands twice", canonical)
		default:
			value(name, n)
		}
	})
}

func (d *decoder) approval(n *node) mcp.Approval {
	word, _ := d.oneOf(n, string(mcp.ByAnnotations), string(mcp.Always), string(mcp.Never))
	return mcp.Approval(word)
}

// asSourceID makes a source id of a name.
func asSourceID(name string) string {
	id := strings.Trim(notInIDs.ReplaceAllString(strings.ToLower(name), "_"), "_")
	if id == "" || id[0] < 'a' || id[0] > 'z' {
		id = strings.TrimSuffix("mcp_"+id, "_")
	}
	return id[:min(len(id), 64)]
}

var notInIDs = regexp.MustCompile(`[^a-z0-9]+`)

// ready is the server's config with what it gets of the environment. What is missing goes to c.
func (t ToolServer) ready(c *collector, getenv func(string) string) (mcp.Config, bool) {
	server, before := t.MCP, len(c.faults)
	if server.Command != nil {
		command := *server.Command
		for _, v := range t.Env {
			command.Env = append(command.Env, v.Name+"="+c.value(v, getenv, "what the server "+server.SourceID+" is given"))
		}
		server.Command = &command
		return server, len(c.faults) == before
	}
	endpoint := *server.HTTP
	endpoint.Header = endpoint.Header.Clone()
	for name, v := range t.HeadersEnv {
		endpoint.Header.Set(name, c.value(v, getenv, "the header "+name+" for the server "+server.SourceID))
	}
	server.HTTP = &endpoint
	return server, len(c.faults) == before
}
