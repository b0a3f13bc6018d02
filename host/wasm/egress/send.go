package egress

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// userAgent is what a request says where the guest says nothing.
const userAgent = "weft"

// outgoing is a request as the guest wants it: with handles in place of secrets.
type outgoing struct {
	method string
	url    *url.URL
	header http.Header
	body   []byte // nil for none
	// after is the origin that redirected to this one. It is empty for the first request.
	after string
}

// read reads what the guest wants, and refuses what no rule could allow.
func (c *Client) read(request *http.Request) (outgoing, error) {
	where := "a URL"
	if request.URL != nil {
		where = quoted(request.URL.Redacted())
		if origin, problem := originOf(request.URL); problem == nil {
			where = origin.String()
		}
	}
	denied := func(reason, remedy string) error { return &DeniedError{Origin: where, Reason: reason, Remedy: remedy} }
	if request.URL == nil {
		return outgoing{}, denied("there is none", "name one")
	}
	if showsHandle(request.URL) {
		return outgoing{}, denied("there is a handle of a secret in its URL", "put handles into values of headers")
	}
	header, faults := checkHeader(request.Header)
	if len(faults) > 0 {
		return outgoing{}, denied(headerFaults(faults), "leave that to the host")
	}
	out := outgoing{method: request.Method, url: request.URL, header: header}
	if out.method == "" {
		out.method = http.MethodGet
	}
	if request.Body != nil && request.Body != http.NoBody {
		body, err := io.ReadAll(request.Body)
		if err != nil {
			return outgoing{}, fmt.Errorf("read the body of the request: %w", err)
		}
		if bytes.Contains(body, []byte(opening)) {
			return outgoing{}, denied("there is a handle of a secret in its body", "put handles into values of headers")
		}
		out.body = body
	}
	return out, nil
}

// escapeQuery escapes what would end a query, or the line that it is sent in. A URL that was parsed may still have blanks there.
func escapeQuery(query string) string {
	var b strings.Builder
	for _, c := range []byte(query) {
		if c <= ' ' || c >= 0x7f || strings.IndexByte("\"#<>", c) >= 0 {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// showsHandle tells whether a URL has a handle in it, escaped or not.
func showsHandle(u *url.URL) bool {
	query, err := url.QueryUnescape(u.RawQuery)
	if err != nil {
		query = ""
	}
	for _, text := range []string{u.Host, u.Opaque, u.Path, u.RawQuery, query, u.Fragment, u.User.String()} {
		if strings.Contains(text, opening) {
			return true
		}
	}
	return false
}

// peer is whom a request goes to, if the policy has it.
func (c *Client) peer(o outgoing) (*peer, error) {
	denied := func(where, reason, remedy string) error {
		if o.after != "" {
			reason += ", to which " + o.after + " redirects"
		}
		return &DeniedError{Origin: where, Reason: reason, Remedy: remedy}
	}
	origin, problem := originOf(o.url)
	if problem != nil {
		return nil, denied(quoted(o.url.Redacted()), "it "+problem.what, problem.remedy)
	}
	where := origin.String()
	peer, ok := c.peers[origin]
	if !ok {
		if address, literal := origin.literal(); literal {
			switch v, name := judge(address); v {
			case never:
				return nil, denied(where, "it is "+name, "ask another host: no rule can allow this one")
			case special:
				return nil, denied(where, "it is "+name+", and no rule has this origin", "if it should be allowed, add "+grantLine(origin, "private: true"))
			}
		}
		return nil, denied(where, "no rule has this origin", "if it should be allowed, add "+grantLine(origin, ""))
	}
	if !slices.Contains(peer.methods, o.method) {
		remedy := "use one of " + strings.Join(peer.methods, ", ")
		if o.method == http.MethodOptions || slices.Contains(defaultMethods, o.method) {
			remedy = "if it should be allowed, add " + grantLine(origin, "methods: ["+strings.Join(append(slices.Clone(peer.methods), o.method), ", ")+"]")
		}
		return nil, denied(where, "the method "+named(o.method)+" is not allowed for it", remedy)
	}
	if o.url.Path != "" && !strings.HasPrefix(o.url.Path, "/") {
		return nil, denied(where, "its path is "+quoted(o.url.Path), "begin the path with /")
	}
	return peer, nil
}

// send sends one request with its secrets, and returns the names of the headers that had any.
func (c *Client) send(ctx context.Context, p *peer, o outgoing) (*http.Response, []string, error) {
	header, secret, err := fillHeader(o.header, secrets{values: c.secrets, allowed: p.secrets, origin: p.origin})
	if err != nil {
		return nil, nil, err
	}
	if len(secret) > 0 && header.Get("Range") != "" {
		return nil, nil, &DeniedError{
			Origin: p.origin.String(), Reason: "it asks for a part of the answer (Range) and holds a secret, which could not be told from its parts",
			Remedy: "leave out one of the two",
		}
	}
	header.Set("Accept-Encoding", "gzip")
	if _, ok := header["User-Agent"]; !ok {
		header.Set("User-Agent", userAgent)
	}
	target := &url.URL{
		Scheme: p.origin.Scheme, Host: p.origin.authority(), Path: o.url.Path, RawPath: o.url.RawPath,
		RawQuery: escapeQuery(o.url.RawQuery), ForceQuery: o.url.ForceQuery,
	}
	var from io.Reader
	if o.body != nil {
		from = bytes.NewReader(o.body)
	}
	request, err := http.NewRequestWithContext(ctx, o.method, p.origin.String(), from)
	if err != nil {
		return nil, nil, err
	}
	request.URL, request.Header = target, header
	response, err := p.transport.RoundTrip(request)
	if err != nil {
		return nil, nil, err
	}
	if response.StatusCode < http.StatusOK {
		_ = response.Body.Close() // It is another protocol.
		return nil, nil, fmt.Errorf("the server answered %d, which nobody asked for", response.StatusCode)
	}
	return response, secret, nil
}
