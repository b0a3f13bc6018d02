package egress

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// maxHeader is the size of the headers of a request with all secrets put in, and of an answer, in bytes.
const maxHeader = 64 << 10

// reserved are the headers that a guest may not set, and why.
var reserved = map[string]string{
	"Host": connection, "Connection": connection, "Content-Length": connection, "Transfer-Encoding": connection,
	"Te": connection, "Trailer": connection, "Upgrade": connection, "Expect": connection, "Keep-Alive": connection,
	"Http2-Settings": connection,
	"Cookie":         cookies, "Cookie2": cookies,
	"Forwarded": sender, "X-Real-Ip": sender,
	"X-Http-Method": method, "X-Http-Method-Override": method, "X-Method-Override": method,
}

const (
	connection = "belongs to the connection"
	cookies    = "holds cookies, of which there are none"
	sender     = "says where a request comes from"
	method     = "gives the request another method"
)

// whyReserved says why a guest may not set a header, or nothing. An underscore counts as a hyphen, as it does for many
// servers.
func whyReserved(name string) string {
	name = http.CanonicalHeaderKey(strings.ReplaceAll(name, "_", "-"))
	switch {
	case strings.HasPrefix(name, "Proxy-"):
		return connection
	case strings.HasPrefix(name, "X-Forwarded-"):
		return sender
	}
	return reserved[name]
}

// checkHeader finds all that is wrong with the headers that a guest wants to send, and returns those that are the guest's
// to set.
func checkHeader(header http.Header) (http.Header, []string) {
	var faults []string
	out := http.Header{}
	for _, name := range slices.Sorted(maps.Keys(header)) {
		switch why := whyReserved(name); {
		case strings.Contains(name, opening):
			faults = append(faults, "there is a handle of a secret in the name of a header, and handles are for their values")
			continue
		case !isToken(name):
			faults = append(faults, quoted(name)+" is no name of a header")
			continue
		case why != "":
			faults = append(faults, "the header "+named(name)+" "+why)
			continue
		}
		key := http.CanonicalHeaderKey(name)
		for _, value := range header[name] {
			if !isFieldValue(value) {
				faults = append(faults, "the header "+named(name)+" has control characters")
			}
			out[key] = append(out[key], value)
		}
	}
	return out, faults
}

// fillHeader puts the secrets into headers, and returns which headers had any.
func fillHeader(header http.Header, s secrets) (filled http.Header, with []string, err error) {
	filled = make(http.Header, len(header))
	total := 0
	for _, name := range slices.Sorted(maps.Keys(header)) {
		for _, value := range header[name] {
			text, secret, err := s.fill(value)
			if err != nil {
				return nil, nil, err
			}
			if secret && !slices.Contains(with, name) {
				with = append(with, name)
			}
			if total += len(name) + len(text) + len(": \r\n"); total > maxHeader {
				return nil, nil, &DeniedError{
					Origin: s.origin.String(), Reason: "its headers, with secrets put in, have more than " + size(maxHeader),
					Remedy: "send less in headers",
				}
			}
			filled[name] = append(filled[name], text)
		}
	}
	return filled, with, nil
}

// answerHeader are the headers of an answer as the guest gets them.
func (c *Client) answerHeader(header http.Header) http.Header {
	out := make(http.Header, len(header))
	for name, values := range header {
		switch name {
		case "Set-Cookie", "Set-Cookie2":
			continue
		}
		if c.hider.shows(name) {
			continue
		}
		for _, value := range values {
			out[name] = append(out[name], c.hider.text(value))
		}
	}
	return out
}

// tokens are the characters of methods and of names of headers (RFC 9110, section 5.6.2).
const tokens = "!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// isToken tells whether a text may be a method or the name of a header.
func isToken(text string) bool { return text != "" && strings.Trim(text, tokens) == "" }

// isFieldValue tells whether a text may be the value of a header: no control characters but the tab.
func isFieldValue(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) < 0
}

// headerFaults is the reason for a denial because of headers.
func headerFaults(faults []string) string {
	if len(faults) == 1 {
		return faults[0]
	}
	const most = 10
	text := strings.Join(faults[:min(len(faults), most)], "; ")
	if len(faults) > most {
		text += "; and others"
	}
	return fmt.Sprintf("%d things are wrong with its headers (%s)", len(faults), text)
}
