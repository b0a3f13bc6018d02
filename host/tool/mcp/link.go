package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxMessage bounds one message of a server, whatever it holds.
const maxMessage = 4 << 20

// link is one connection, with the program at its other end where it was started for it.
type link struct {
	session *sdk.ClientSession
	child   *child // nil for HTTP
	idle    func() // closes connections that wait for reuse; nil where they are not ours
	done    chan struct{}
	once    sync.Once
}

// newLink connects.
func (s *Server) newLink(ctx context.Context) (*link, error) {
	l := &link{done: make(chan struct{})}
	var transport sdk.Transport
	limit := max(maxMessage, 2*s.config.MaxResult)
	if c := s.config.Command; c != nil {
		child, err := startChild(c, s.config.Logger, s.config.SourceID)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrConnection, err)
		}
		l.child = child
		transport = &sdk.IOTransport{Reader: child.stdout, Writer: input{child.stdin, s.config.CallTimeout}, MaxLineLength: limit}
	} else {
		client, idle := s.config.HTTP.client(limit)
		l.idle = idle
		transport = &sdk.StreamableClientTransport{Endpoint: s.config.HTTP.URL, HTTPClient: client, MaxEventSize: limit}
	}
	client := sdk.NewClient(&sdk.Implementation{Name: "weft", Version: "1"}, &sdk.ClientOptions{
		Logger:                 s.config.Logger,
		Capabilities:           &sdk.ClientCapabilities{},
		MultiRoundTrip:         &sdk.MultiRoundTripOptions{Disabled: true},
		ToolListChangedHandler: func(context.Context, *sdk.ToolListChangedRequest) { s.changes.Add(1) },
	})
	// The program is ended as soon as ctx is: what waits for its answer then gets the end of its output.
	stop := context.AfterFunc(ctx, func() {
		if l.child != nil {
			l.child.stop()
		}
	})
	session, err := client.Connect(ctx, transport, nil)
	if !stop() && err == nil {
		err = ctx.Err()
	}
	l.session = session
	if err != nil {
		l.close()
		return nil, fmt.Errorf("%w: %w%s", ErrConnection, s.config.HTTP.unnamed(err), l.lastWords())
	}
	go func() {
		_ = session.Wait() // why it ended is told by the call that it broke
		close(l.done)
	}()
	return l, nil
}

// broken reports whether the connection is known to have ended.
func (l *link) broken() bool {
	select {
	case <-l.done:
		return true
	default:
		return false
	}
}

// close ends the connection and what belongs to it. Only the first call does something; the others wait for it.
func (l *link) close() {
	l.once.Do(func() {
		var wg sync.WaitGroup
		if l.child != nil {
			wg.Go(l.child.stop) // at the same time: a program that does not read would block the farewell
		}
		if l.session != nil {
			wg.Go(func() { _ = l.session.Close() })
		}
		wg.Wait()
		if l.idle != nil {
			l.idle()
		}
	})
}

// lastWords is what a program that ended wrote last to its standard error, as the end of an error's text.
func (l *link) lastWords() string {
	if l.child == nil {
		return ""
	}
	return l.child.lastWords()
}

// isBroken reports whether an error of the connection is not one that the server answered with.
func isBroken(err error) bool {
	if errors.Is(err, sdk.ErrConnectionClosed) {
		return true
	}
	_, answered := errors.AsType[*jsonrpc.Error](err)
	return !answered && !errors.Is(err, ErrList) && !errors.Is(err, errTool)
}

// unnamed is an error whose text names the endpoint by its host alone: paths and queries hold secrets.
func (h *HTTP) unnamed(err error) error {
	if h == nil || err == nil {
		return err
	}
	origin, bad := url.Parse(h.URL)
	if bad != nil {
		return err
	}
	secret := []string{strconv.Quote(h.URL), origin.Host, h.URL, origin.Host}
	if path := origin.RequestURI(); path != "/" {
		secret = append(secret, path, "")
	}
	text := strings.NewReplacer(secret...).Replace(err.Error())
	return &unnamedError{text, err}
}

type unnamedError struct {
	text string
	err  error
}

func (e *unnamedError) Error() string { return e.text }
func (e *unnamedError) Unwrap() error { return e.err }

// client is the configured HTTP client with the headers and limits of an endpoint.
func (h *HTTP) client(limit int) (*http.Client, func()) {
	client, idle := &http.Client{}, func() {}
	if h.Client != nil {
		*client = *h.Client
	}
	next := client.Transport
	switch {
	case next != nil:
	case h.Client != nil:
		next = http.DefaultTransport
	default:
		own := http.DefaultTransport.(*http.Transport).Clone()
		own.Proxy = nil
		next, idle = own, own.CloseIdleConnections
	}
	origin, _ := url.Parse(h.URL) // checked with the config
	client.Transport = &endpoint{next, origin, h.Header, int64(limit)}
	return client, idle
}

// endpoint adds headers to the requests of one endpoint and limits its answers.
type endpoint struct {
	next   http.RoundTripper
	origin *url.URL
	header http.Header
	limit  int64
}

var _ http.RoundTripper = (*endpoint)(nil)

func (e *endpoint) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Scheme == e.origin.Scheme && r.URL.Host == e.origin.Host {
		r = r.Clone(r.Context())
		for name, values := range e.header {
			r.Header[http.CanonicalHeaderKey(name)] = values
		}
	}
	response, err := e.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if kind := response.Header.Get("Content-Type"); len(kind) < len(stream) || kind[:len(stream)] != stream {
		response.Body = &limited{response.Body, e.limit, e.limit}
	}
	return response, nil
}

// stream is the type of answers that go on, whose events are limited each.
const stream = "text/event-stream"

// limited is a body that may not be longer than allowed.
type limited struct {
	io.ReadCloser
	left, limit int64
}

func (l *limited) Read(p []byte) (int, error) {
	if l.left <= 0 {
		return 0, fmt.Errorf("the answer has more than %d bytes", l.limit)
	}
	n, err := l.ReadCloser.Read(p[:min(int64(len(p)), l.left)])
	l.left -= int64(n)
	return n, err
}
