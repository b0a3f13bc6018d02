package mcp

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/weft-run/weft/host/tool/internal/toolname"
)

// Config says which server tools are taken from, and how. SourceID and one of Command and HTTP are mandatory.
type Config struct {
	// SourceID names the server in errors and on its tools.
	SourceID string
	// Command starts a program as the server.
	Command *Command
	// HTTP is an endpoint that speaks the protocol's streamable HTTP.
	HTTP *HTTP

	// Prefix is put before each tool's name, so that tools of several servers can stand beside each other.
	Prefix string
	// Allow names the tools that are taken, as the server calls them. Default: all.
	Allow []string
	// Approval says which calls need approval: [ByAnnotations] unless set.
	Approval Approval
	// ApprovalOf goes before Approval for single tools, as the server calls them.
	ApprovalOf map[string]Approval
	// Strict makes a tool that cannot be used an error. By default it is left out, and logged once.
	Strict bool

	// ConnectTimeout bounds making a connection, and reading the list of tools: 30 s each unless set.
	ConnectTimeout time.Duration
	// CallTimeout bounds one call: 30 s unless set.
	CallTimeout time.Duration
	// MaxResult bounds a call's result as JSON: 256 KiB unless set.
	MaxResult int
	// MaxTools bounds how many tools the server may list: 256 unless set.
	MaxTools int
	// Logger gets warnings, and at level debug what a program writes to its standard error. Default: slog.Default().
	Logger *slog.Logger
}

// Command is a program that speaks the protocol over its standard input and output. It is ended with the connection: its
// standard input is closed; after StopTime it is asked to terminate, after as long again killed.
type Command struct {
	// Path is the program: a path, or a name that is looked up in PATH.
	Path string
	Args []string
	// Env is what the program gets of environment, each NAME=value, beside PATH and HOME, which it gets as this process has
	// them unless they are named here. It gets nothing else.
	Env []string
	// Dir is its working directory. Default: this process's.
	Dir string
	// StopTime is 2 s unless set.
	StopTime time.Duration
}

// HTTP is an endpoint of the streamable HTTP transport.
type HTTP struct {
	// URL is http or https.
	URL string
	// Header is sent with every request to the URL's host, and to no other that a redirect leads to.
	Header http.Header
	// Client makes the requests. It must not have a timeout that would end a stream. Default: one of its own, without proxy.
	Client *http.Client
}

// Approval says which calls of a tool need approval.
type Approval string

// The values of [Approval].
const (
	// ByAnnotations goes by what the server says: calls of tools that are read-only, or not destructive, need none. A tool of
	// which nothing is said is destructive, as the protocol has it.
	ByAnnotations Approval = "annotations"
	// Always asks about every call.
	Always Approval = "always"
	// Never asks about none.
	Never Approval = "never"
)

// Defaults of [Config] and [Command].
const (
	defaultConnectTimeout = 30 * time.Second
	defaultCallTimeout    = 30 * time.Second
	defaultMaxResult      = 256 << 10
	defaultMaxTools       = 256
	defaultStopTime       = 2 * time.Second
)

// withDefaults checks a config and returns a copy with all defaults set. All faults are reported at once.
func (c Config) withDefaults() (Config, error) {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	if c.SourceID == "" {
		fault("source_id: a server needs a name, unique in the agent")
	}
	switch {
	case (c.Command == nil) == (c.HTTP == nil):
		fault("want one of command and http, got both or none")
	case c.Command != nil:
		command := *c.Command
		if command.Path == "" {
			fault("command: the path of the program is empty")
		}
		for i, e := range command.Env {
			if name, _, ok := strings.Cut(e, "="); !ok || name == "" {
				fault("command: env/%d: want NAME=value, got %.40q", i, name)
			}
		}
		command.Args, command.Env = slices.Clone(command.Args), slices.Clone(command.Env)
		command.StopTime = cmp.Or(command.StopTime, defaultStopTime)
		c.Command = &command
	default:
		endpoint := *c.HTTP
		switch u, err := url.Parse(endpoint.URL); { // what is wrong is told without the URL, which may hold a secret
		case err != nil || u.Host == "":
			fault("http: url: want a URL of http or https with a host")
		case u.Scheme != "http" && u.Scheme != "https":
			fault("http: url: want a URL of http or https, got one of %.20q", u.Scheme)
		case u.User != nil:
			fault("http: url: it has a user or password in it: give the secret as a header")
		}
		endpoint.Header = endpoint.Header.Clone()
		c.HTTP = &endpoint
	}
	if c.Prefix != "" && toolname.Check(c.Prefix) != nil {
		fault("prefix: want letters, digits, _ and -, got %.40q", c.Prefix)
	}
	c.Approval = cmp.Or(c.Approval, ByAnnotations)
	if !c.Approval.valid() {
		fault("approval: %q is not one of annotations, always, never", c.Approval)
	}
	for name, a := range c.ApprovalOf {
		if !a.valid() {
			fault("approval of %q: %q is not one of annotations, always, never", name, a)
		}
	}
	if c.ConnectTimeout < 0 || c.CallTimeout < 0 || c.MaxResult < 0 || c.MaxTools < 0 {
		fault("limits: want numbers that are not negative")
	}
	c.ConnectTimeout = cmp.Or(c.ConnectTimeout, defaultConnectTimeout)
	c.CallTimeout = cmp.Or(c.CallTimeout, defaultCallTimeout)
	c.MaxResult = cmp.Or(c.MaxResult, defaultMaxResult)
	c.MaxTools = cmp.Or(c.MaxTools, defaultMaxTools)
	c.Logger = cmp.Or(c.Logger, slog.Default())
	c.Allow = slices.Clone(c.Allow)
	if len(faults) > 0 {
		return Config{}, fmt.Errorf("mcp server %q: %w", c.SourceID, errors.Join(faults...))
	}
	return c, nil
}

func (a Approval) valid() bool { return a == ByAnnotations || a == Always || a == Never }
