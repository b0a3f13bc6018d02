package egress

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"
)

// Client sends what its policy allows. It is for any number of goroutines at once, and for any number of plugins that have
// the same policy.
type Client struct {
	peers     map[Origin]*peer
	secrets   func() map[string]Secret
	hider     *hider
	redirects int
	body      int64
	time      time.Duration
	log       *slog.Logger
}

// peer is an origin that is allowed, with connections of its own.
type peer struct {
	grant
	transport *http.Transport
}

// New makes a client for a policy that it checks first; see Policy.Check.
func New(p Policy) (*Client, error) {
	grants, faults := p.read()
	if len(faults) > 0 {
		return nil, &PolicyError{Faults: faults}
	}
	values := make(map[string]Secret, len(p.Secrets))
	for name, secret := range p.Secrets {
		values[name] = NewSecret(secret.value())
	}
	c := &Client{
		peers: map[Origin]*peer{}, secrets: func() map[string]Secret { return values }, hider: newHider(values),
		redirects: p.Redirects, body: p.Body, time: p.Time, log: p.Log,
	}
	if c.redirects == 0 {
		c.redirects = DefaultRedirects
	}
	if c.body == 0 {
		c.body = DefaultBody
	}
	if c.time == 0 {
		c.time = DefaultTime
	}
	if c.log == nil {
		c.log = slog.New(slog.DiscardHandler)
	}
	for _, g := range grants {
		c.peers[g.origin] = &peer{grant: g, transport: newTransport(g, p)}
	}
	return c, nil
}

// newTransport makes the connections of one origin. It is used as it is, without an http.Client, which would add cookies,
// Referer and credentials from the URL.
func newTransport(g grant, p Policy) *http.Transport {
	return &http.Transport{
		Proxy:                  nil, // None from the environment.
		DialContext:            newDialer(g.origin, g.private, p).dial,
		TLSClientConfig:        p.TLS.Clone(),
		TLSHandshakeTimeout:    dialTime,
		ForceAttemptHTTP2:      true,
		HTTP2:                  &http.HTTP2Config{MaxReceiveBufferPerStream: 256 << 10},
		DisableCompression:     true, // The client decompresses itself, and bounds what comes out.
		MaxResponseHeaderBytes: maxHeader,
		MaxIdleConnsPerHost:    2,
		IdleConnTimeout:        30 * time.Second,
	}
}

// CloseIdle closes the connections that no request uses. A client holds nothing else, so it is how one is closed.
func (c *Client) CloseIdle() {
	for _, p := range c.peers {
		p.transport.CloseIdleConnections()
	}
}

// Do sends a request, follows redirects, and returns the answer as the guest may see it. The caller closes its body.
//
// The error is a *DeniedError where the policy does not allow the request, and a *LimitError where the answer is too much,
// too slow or redirected too often; reading the body may return these too. No error shows a secret.
func (c *Client) Do(request *http.Request) (*http.Response, error) {
	if request.Body != nil {
		defer func() { _ = request.Body.Close() }() // It was only read.
	}
	ctx, cancel := c.withTime(request.Context())
	origin, response, err := c.follow(ctx, request)
	var answer *http.Response
	if err == nil {
		answer, err = c.answer(ctx, cancel, request, origin, response)
	}
	if err != nil {
		err = c.failed(ctx, request.Method, origin, err)
		cancel() // Not before: why the context ended counts.
		return nil, err
	}
	return answer, nil
}

// errTime marks the end of the time that the policy gives.
var errTime = errors.New("time is up")

// withTime bounds a request by the time that the policy gives.
func (c *Client) withTime(ctx context.Context) (context.Context, context.CancelFunc) {
	if c.time < 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, c.time, errTime)
}

// answer is what the guest gets to see of a response.
func (c *Client) answer(ctx context.Context, done func(), request *http.Request, origin string, response *http.Response) (*http.Response, error) {
	reader, err := c.readable(origin, response)
	if err != nil {
		_ = response.Body.Close() // Nobody reads it.
		return nil, err
	}
	failed := func(err error) error { return c.failed(ctx, request.Method, origin, err) }
	header := c.answerHeader(response.Header)
	if header.Get("Content-Encoding") != "" || request.Method != http.MethodHead {
		header.Del("Content-Length") // The length of something else.
	}
	header.Del("Content-Encoding")
	return &http.Response{
		Status: c.hider.text(response.Status), StatusCode: response.StatusCode,
		Proto: response.Proto, ProtoMajor: response.ProtoMajor, ProtoMinor: response.ProtoMinor,
		Header: header, Body: &body{Reader: reader, from: response.Body, failed: failed, done: done},
		ContentLength: -1, Uncompressed: true, Request: request,
	}, nil
}

// failed makes the error of a request: one that shows no secret. Denials are logged.
func (c *Client) failed(ctx context.Context, method, origin string, err error) error {
	var denied *DeniedError
	var limit *LimitError
	switch {
	case errors.As(err, &denied):
		denied = &DeniedError{Origin: c.hider.text(denied.Origin), Reason: c.hider.text(denied.Reason), Remedy: c.hider.text(denied.Remedy)}
		c.log.LogAttrs(ctx, slog.LevelWarn, "http request denied",
			slog.String("origin", denied.Origin), slog.String("method", c.hider.text(named(method))), slog.String("reason", denied.Reason))
		return denied
	case errors.As(err, &limit):
		return limit
	case errors.Is(context.Cause(ctx), errTime):
		return &LimitError{Origin: origin, Limit: "HTTP time", Value: c.time.String(), Option: "limits.http_time"}
	}
	text := origin + ": " + err.Error()
	if c.hider.shows(text) {
		return errors.New(c.hider.text(text)) // What is below it shows the secret.
	}
	return &failure{text: text, err: err}
}
