package egress

import (
	"context"
	"net/http"
	"strconv"
	"strings"
)

// follow sends a request and those that redirects make of it, and returns the last answer and its origin, which is empty
// where it is not known.
func (c *Client) follow(ctx context.Context, request *http.Request) (string, *http.Response, error) {
	next, err := c.read(request)
	if err != nil {
		return "", nil, err
	}
	for hops := 0; ; hops++ {
		peer, err := c.peer(next)
		if err != nil {
			return "", nil, err
		}
		origin := peer.origin.String()
		response, secret, err := c.send(ctx, peer, next)
		if err != nil {
			return origin, nil, err
		}
		location := response.Header.Get("Location")
		if c.redirects < 0 || location == "" || !isRedirect(response.StatusCode) {
			return origin, response, nil
		}
		_ = response.Body.Close() // Only where it leads to matters.
		if hops == c.redirects {
			return origin, nil, &LimitError{Origin: origin, Limit: "redirects", Value: strconv.Itoa(c.redirects), Option: "Policy.Redirects"}
		}
		if next, err = c.redirect(peer.origin, next, response.StatusCode, location, secret); err != nil {
			return origin, nil, err
		}
	}
}

func isRedirect(status int) bool {
	switch status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	}
	return false
}

// redirect is the request that an answer of an origin makes of another one. It is checked as if the guest had made it; but
// credentials of the old origin, which are in Authorization and in the headers that had secrets, do not go to a new one, and
// do not come back with a further redirect either.
func (c *Client) redirect(from Origin, o outgoing, status int, location string, secret []string) (outgoing, error) {
	if c.hider.shows(location) {
		return outgoing{}, &DeniedError{
			Origin: from.String(), Reason: "it redirects to a URL that shows a secret", Remedy: "ask for the address where that ends",
		}
	}
	target, err := o.url.Parse(location)
	if err != nil {
		return outgoing{}, &DeniedError{
			Origin: from.String(), Reason: "it redirects to " + quoted(location) + ", which is no URL", Remedy: "ask another address",
		}
	}
	next := outgoing{method: o.method, url: target, header: o.header.Clone(), body: o.body, after: from.String()}
	// RFC 9110, section 15.4: 303 turns all but HEAD into GET, 301 and 302 do so with POST, by custom.
	switch {
	case status == http.StatusSeeOther && o.method != http.MethodHead,
		(status == http.StatusMovedPermanently || status == http.StatusFound) && o.method == http.MethodPost:
		next.method, next.body = http.MethodGet, nil
		for name := range next.header {
			if strings.HasPrefix(name, "Content-") {
				next.header.Del(name)
			}
		}
	}
	if to, problem := originOf(target); problem != nil || to != from {
		next.header.Del("Authorization")
		for _, name := range secret {
			next.header.Del(name)
		}
	}
	return next, nil
}
