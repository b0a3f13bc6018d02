package openai

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"github.com/weft-run/weft/host"
)

// API is one of the two protocols.
type API string

// The protocols.
const (
	// ChatCompletions is the protocol that every server knows. The service keeps no conversation.
	ChatCompletions API = "chat_completions"
	// Responses is the newer protocol. The service keeps the conversation, unless the option store is false.
	Responses API = "responses"
)

const (
	// DefaultBaseURL is the service that is called where the config names none.
	DefaultBaseURL = "https://api.openai.com/v1"
	// DefaultMaxResponseBytes is how much of an answer is read where the config says nothing.
	DefaultMaxResponseBytes = 64 << 20
)

// Config says which model to call, and where. Only Model must be set. It prints and logs without its key and without the
// values of its headers.
type Config struct {
	// Model is the model's name at the service; the option model goes before it.
	Model string
	// EmbeddingModel is the model that [Client.Embed] calls where a request names none.
	EmbeddingModel string
	// BaseURL is where the protocol begins, with its version: https://host/v1. Empty means [DefaultBaseURL].
	BaseURL string
	// APIKey is sent as a bearer token; empty sends none.
	APIKey string `json:"-"`
	// API is the protocol. Empty means [ChatCompletions], for any base URL.
	API API
	// Organization and Project are sent as headers where they are set.
	Organization, Project string
	// Headers are sent with every request, over those of the client. Their values are kept out of errors like the key.
	Headers http.Header `json:"-"`
	// Options are the client's own; those of an agent and of a run go before them, key by key. Instructions and the
	// conversation id among them are used by an agent alone.
	Options host.Options

	// HTTPClient makes the requests; its jar is used, its redirect policy is not: no redirect is followed. Nil means a
	// client of its own, without a proxy and without a time limit but that of the context.
	HTTPClient *http.Client
	// MaxResponseBytes is how long an answer may be, streamed or not, after decompression. More is [host.ErrBadReply]. 0
	// means [DefaultMaxResponseBytes].
	MaxResponseBytes int64
	// AllowInsecureHTTP lets key and headers go over http: to a host that is not this machine. Without it New refuses.
	AllowInsecureHTTP bool
	// MaxTokensField is the name under which chat completions get the option max_tokens. Empty means
	// "max_completion_tokens" for OpenAI and Azure, and "max_tokens", which the others know, for every other host.
	MaxTokensField string
	// NoStreamUsage leaves out the wish for usage in streams, for servers that refuse stream_options.
	NoStreamUsage bool
}

// check returns all that is wrong with the config, and the base URL of a right one.
func (c Config) check() (*url.URL, error) {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	if c.Model == "" {
		fault("model is empty: name the model that the service is to run")
	}
	if c.API != ChatCompletions && c.API != Responses {
		fault("api %q is neither %q nor %q", c.API, ChatCompletions, Responses)
	}
	if c.MaxResponseBytes < 0 {
		fault("max response bytes is %d: give a positive number, or 0 for %d", c.MaxResponseBytes, DefaultMaxResponseBytes)
	}
	if f := c.MaxTokensField; f != "" && f != fieldMaxTokens && f != fieldMaxCompletionTokens {
		fault("max tokens field %q is neither %q nor %q", f, fieldMaxTokens, fieldMaxCompletionTokens)
	}
	if !validHeader(c.APIKey) || strings.TrimSpace(c.APIKey) != c.APIKey {
		fault("the api key has characters that a header cannot carry, such as a line end or space around it: was it read from a file?")
	}
	for _, h := range []struct{ name, value string }{{"organization", c.Organization}, {"project", c.Project}} {
		if !validHeader(h.value) {
			fault("%s has characters that a header cannot carry", h.name)
		}
	}
	for name, values := range c.Headers {
		if !validHeaderName(name) {
			fault("header name %q is not valid", name)
		}
		for _, v := range values {
			if !validHeader(v) {
				fault("the value of header %q has characters that a header cannot carry", name)
			}
		}
	}
	base, err := c.base()
	if err != nil {
		faults = append(faults, err)
	}
	return base, errors.Join(faults...)
}

// base reads the base URL. Its path ends in a slash, so that the paths of the protocol go behind it.
func (c Config) base() (*url.URL, error) {
	base, err := url.Parse(c.BaseURL)
	switch {
	case err != nil:
		return nil, errors.New("base URL cannot be read: want one such as " + DefaultBaseURL)
	case base.User != nil:
		return nil, errors.New("base URL has a user or password in it: give the secret as api key or header")
	case base.Scheme != "https" && base.Scheme != "http", base.Host == "", base.Opaque != "":
		return nil, fmt.Errorf("base URL %q is no http: or https: URL of a host: want one such as %s", c.BaseURL, DefaultBaseURL)
	case base.RawQuery != "" || base.Fragment != "":
		return nil, fmt.Errorf("base URL of %s has a query or fragment: give the part before it", base.Host)
	case base.Scheme == "http" && (c.APIKey != "" || len(c.Headers) > 0) && !c.AllowInsecureHTTP && !loopback(base.Hostname()):
		return nil, fmt.Errorf("base URL of %s is http:, so the key or headers would go over the network unencrypted: use https:, or allow insecure http", base.Host)
	}
	return base.JoinPath("/"), nil
}

// validHeader reports whether a value can stand in a header: no control characters but the tab.
func validHeader(value string) bool {
	return !strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f })
}

func validHeaderName(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_'
	})
}

// loopback reports whether a host is this machine by its name alone.
func loopback(hostname string) bool {
	if strings.EqualFold(hostname, "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(hostname)
	return err == nil && addr.Unmap().IsLoopback()
}

// withDefaults is the config as it works.
func (c Config) withDefaults() Config {
	if c.BaseURL == "" {
		c.BaseURL = DefaultBaseURL
	}
	if c.API == "" {
		c.API = ChatCompletions
	}
	if c.MaxResponseBytes == 0 {
		c.MaxResponseBytes = DefaultMaxResponseBytes
	}
	return c
}

// maxTokensField is the name that the endpoint gives to the longest answer.
func (c Config) maxTokensField(base *url.URL) string {
	name := strings.ToLower(base.Hostname())
	switch {
	case c.MaxTokensField != "":
		return c.MaxTokensField
	case name == "openai.com", strings.HasSuffix(name, ".openai.com"), strings.HasSuffix(name, ".openai.azure.com"):
		return fieldMaxCompletionTokens
	}
	return fieldMaxTokens
}

// describe is what may be shown of a config.
func (c Config) describe() string {
	key := "none"
	if c.APIKey != "" {
		key = hidden
	}
	base := DefaultBaseURL
	if c.BaseURL != "" {
		base = "(cannot be read)"
		if u, err := url.Parse(c.BaseURL); err == nil {
			base = u.Redacted()
		}
	}
	return fmt.Sprintf("openai.Config{Model:%q BaseURL:%q API:%q APIKey:%s Headers:%d}", c.Model, base, c.API, key, len(c.Headers))
}

// Format prints the config without its secrets, whatever the verb.
func (c Config) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(c.describe())) }

// LogValue logs the config without its secrets.
func (c Config) LogValue() slog.Value { return slog.StringValue(c.describe()) }
