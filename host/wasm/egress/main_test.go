package egress_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/weft-run/weft/host/wasm/egress"
	"github.com/weft-run/weft/host/wasm/engine"
)

var _ engine.HTTPClient = (*egress.Client)(nil)

func TestMain(m *testing.M) {
	// What the environment says about proxies is asked for once in a process, so it must be there before all tests.
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy"} {
		if err := os.Setenv(name, "http://proxy.test:3128"); err != nil {
			panic(err)
		}
	}
	goleak.VerifyTestMain(m)
}

const (
	// publicIP and otherIP are addresses that no rule has to open. Nobody dials them: an internet leads to loopback.
	publicIP = "93.184.215.14"
	otherIP  = "93.184.215.15"
)

// internet is one in which names and public addresses lead to servers of the test. It records what was looked up and dialled.
type internet struct {
	t       *testing.T
	mu      sync.Mutex
	names   map[string][]netip.Addr
	servers map[string]string // by address and port
	lookups []string
	dials   []string
	roots   *x509.CertPool
}

func newInternet(t *testing.T) *internet {
	return &internet{t: t, names: map[string][]netip.Addr{}, servers: map[string]string{}, roots: x509.NewCertPool()}
}

// name gives a name its addresses.
func (n *internet) name(host string, addresses ...string) {
	n.names[host] = nil
	for _, a := range addresses {
		n.names[host] = append(n.names[host], netip.MustParseAddr(a))
	}
}

// serve starts a server that is found under an address and port, and counts its requests.
func (n *internet) serve(address string, handler http.HandlerFunc) *site {
	return n.start(address, handler, false)
}

// serveTLS is serve, with a certificate for example.com and its subdomains.
func (n *internet) serveTLS(address string, handler http.HandlerFunc) *site {
	return n.start(address, handler, true)
}

func (n *internet) start(address string, handler http.HandlerFunc, secure bool) *site {
	s := &site{}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.requests = append(s.requests, r.Clone(context.Background()))
		s.mu.Unlock()
		handler(w, r)
	}))
	s.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, 0)
	if secure {
		s.EnableHTTP2 = true
		s.StartTLS()
		n.roots.AddCert(s.Certificate())
	} else {
		s.Start()
	}
	n.t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	if address != "" {
		n.servers[address] = s.Listener.Addr().String()
	}
	return s
}

// site is a server that remembers its requests.
type site struct {
	*httptest.Server
	mu       sync.Mutex
	requests []*http.Request
}

func (s *site) seen() []*http.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests
}

func (n *internet) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.lookups = append(n.lookups, host)
	if addresses, ok := n.names[host]; ok {
		return addresses, nil
	}
	return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
}

func (n *internet) dial(ctx context.Context, network, address string) (net.Conn, error) {
	n.mu.Lock()
	n.dials = append(n.dials, address)
	target, ok := n.servers[address]
	n.mu.Unlock()
	if !ok {
		return nil, fmt.Errorf("dial %s: connection refused", address)
	}
	return new(net.Dialer).DialContext(ctx, network, target)
}

// client makes a client in this internet.
func (n *internet) client(p egress.Policy) *egress.Client {
	n.t.Helper()
	if p.Resolver == nil {
		p.Resolver = n
	}
	if p.Dial == nil {
		p.Dial = n.dial
	}
	p.TLS = &tls.Config{RootCAs: n.roots}
	return client(n.t, p)
}

// client makes a client that is closed when the test is over.
func client(t *testing.T, p egress.Policy) *egress.Client {
	t.Helper()
	c, err := egress.New(p)
	require.NoError(t, err)
	t.Cleanup(c.CloseIdle)
	return c
}

func rules(origins ...string) (all []egress.Rule) {
	for _, origin := range origins {
		all = append(all, egress.Rule{Origin: origin})
	}
	return all
}

func newRequest(t *testing.T, method, url, body string, headers ...string) *http.Request {
	t.Helper()
	var from io.Reader
	if body != "" {
		from = bytes.NewReader([]byte(body))
	}
	r, err := http.NewRequestWithContext(t.Context(), method, url, from)
	require.NoError(t, err)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	return r
}

// answer is what a guest gets.
type answer struct {
	*http.Response
	text string
}

func send(t *testing.T, c *egress.Client, r *http.Request) (answer, error) {
	t.Helper()
	response, err := c.Do(r)
	if err != nil {
		require.Nil(t, response)
		return answer{}, err
	}
	defer func() { require.NoError(t, response.Body.Close()) }()
	text, err := io.ReadAll(response.Body)
	return answer{response, string(text)}, err
}

func get(t *testing.T, c *egress.Client, url string, headers ...string) (answer, error) {
	t.Helper()
	return send(t, c, newRequest(t, http.MethodGet, url, "", headers...))
}

func mustGet(t *testing.T, c *egress.Client, url string, headers ...string) answer {
	t.Helper()
	a, err := get(t, c, url, headers...)
	require.NoError(t, err)
	return a
}

// denied asserts that a request is denied, and returns how.
func denied(t *testing.T, c *egress.Client, r *http.Request) *egress.DeniedError {
	t.Helper()
	_, err := send(t, c, r)
	var e *egress.DeniedError
	require.ErrorAs(t, err, &e)
	require.NotEmpty(t, e.Origin)
	require.NotEmpty(t, e.Reason)
	require.NotEmpty(t, e.Remedy)
	return e
}

func deniedGet(t *testing.T, c *egress.Client, url string, headers ...string) *egress.DeniedError {
	t.Helper()
	return denied(t, c, newRequest(t, http.MethodGet, url, "", headers...))
}

func says(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, text) }
}

func redirects(status int, location string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", location)
		w.WriteHeader(status)
	}
}
