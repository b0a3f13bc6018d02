package openai

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/openai/openai-go/v3/option"

	"github.com/weft-run/weft/host"
)

const (
	connectTimeout = 30 * time.Second
	idleTimeout    = 90 * time.Second
	maxErrorBytes  = 64 << 10 // of the body of an error
)

// transport is the client's own, which reads no proxy from the environment.
func transport() *http.Transport {
	dialer := &net.Dialer{Timeout: connectTimeout, KeepAlive: connectTimeout}
	return &http.Transport{
		DialContext: dialer.DialContext, ForceAttemptHTTP2: true, MaxIdleConns: 100, MaxIdleConnsPerHost: 16,
		IdleConnTimeout: idleTimeout, TLSHandshakeTimeout: connectTimeout, ExpectContinueTimeout: time.Second,
	}
}

// send makes the HTTP call of a chat.
func (c *Client) send(ctx context.Context, request *host.ChatRequest, stream bool) (*http.Response, error) {
	return c.sent(ctx, func() (*http.Response, error) { return c.protocol.post(ctx, request, stream) })
}

// sent makes an HTTP call. What it returns has a status of success and a body that is capped.
func (c *Client) sent(ctx context.Context, post func() (*http.Response, error)) (*http.Response, error) {
	if err := ctx.Err(); err != nil {
		return nil, c.cut(ctx, err)
	}
	response, err := post()
	if err == nil {
		return response, nil
	}
	if _, ok := errors.AsType[*host.ModelError](err); ok {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, c.cut(ctx, err)
	}
	if _, ok := errors.AsType[*url.Error](err); ok {
		return nil, &host.ModelError{Kind: host.ErrUnavailable, Err: c.secrets.hide("cannot reach "+c.base.Host, err)}
	}
	return nil, &host.ModelError{Kind: host.ErrInvalidRequest, Err: c.secrets.hide("nothing was sent to "+c.base.Host, err)}
}

// answer is a middleware of the SDK: it makes errors of all answers but those of success, so that the SDK reads none of
// them, and caps the body of the others.
func (c *Client) answer(r *http.Request, next option.MiddlewareNext) (*http.Response, error) {
	response, err := next(r)
	if err != nil {
		return nil, err
	}
	if response.StatusCode < 200 || response.StatusCode > 299 {
		defer func() { _ = response.Body.Close() }()
		body, err := io.ReadAll(io.LimitReader(response.Body, maxErrorBytes))
		if r.Context().Err() != nil {
			return nil, c.cut(r.Context(), err)
		}
		return nil, c.refused(response, body)
	}
	if media := mediaType(response); media == "text/html" {
		defer func() { _ = response.Body.Close() }()
		body, _ := io.ReadAll(io.LimitReader(response.Body, maxErrorBytes))
		return nil, c.bad(response.StatusCode, fmt.Errorf(
			"answered %s: is the base URL right, or is there a proxy in between? It begins %.200q", media, c.secrets.clean(string(body)),
		))
	}
	response.Body = &capped{ReadCloser: response.Body, left: c.maxBytes, tooLong: c.tooLong()}
	return response, nil
}

func (c *Client) tooLong() error {
	return fmt.Errorf("%w of %d bytes: raise MaxResponseBytes if that is right", errTooLong, c.maxBytes)
}

// errTooLong marks a body over its cap, to tell it from a connection that broke.
var errTooLong = errors.New("the answer is longer than the limit")

// capped is a body that may be read up to a limit, and whose reading beyond it is an error.
type capped struct {
	io.ReadCloser
	left    int64
	tooLong error
}

func (b *capped) Read(p []byte) (int, error) {
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.ReadCloser.Read(p)
	if int64(n) > b.left {
		return int(b.left), b.tooLong
	}
	b.left -= int64(n)
	return n, err
}

// eventStream is the media type of a stream, and what is accepted where one is asked for.
const eventStream = "text/event-stream"

// mediaType is the content type of an answer without its parameters. It only tells what surely is none of the protocol:
// servers that stream say all sorts of things.
func mediaType(response *http.Response) string {
	media, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	return media
}

// isDone reports whether an event is the mark at the end of a stream.
func isDone(data []byte) bool { return string(bytes.TrimSpace(data)) == "[DONE]" }
