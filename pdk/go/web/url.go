package web

import (
	"strconv"
	"strings"

	"github.com/weft-run/weft/pdk/go/json"
)

const hex = "0123456789ABCDEF"

// Escape writes a text as it stands in a part of a URL's path and in its query.
func Escape(text string) string {
	var b strings.Builder
	b.Grow(len(text) + 16)
	for i := range len(text) {
		switch c := text[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '-', c == '_', c == '.', c == '~':
			b.WriteByte(c)
		default:
			b.WriteByte('%')
			b.WriteByte(hex[c>>4])
			b.WriteByte(hex[c&15])
		}
	}
	return b.String()
}

// Query writes names and values in turn as the query of a URL, without the question mark. A name without a value, and one
// whose value is empty, is left out.
func Query(namesAndValues ...string) string {
	var b strings.Builder
	for i := 0; i+1 < len(namesAndValues); i += 2 {
		if namesAndValues[i+1] == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('&')
		}
		b.WriteString(Escape(namesAndValues[i]) + "=" + Escape(namesAndValues[i+1]))
	}
	return b.String()
}

// Endpoint reads the address of a service from a config: scheme, host, and possibly a path, to which the plugin adds that
// of the call. It returns it without a slash at its end; anything else is a fault of r.
func Endpoint(r *json.Reader) string {
	text := r.String()
	if r.Err() != nil {
		return ""
	}
	rest, ok := strings.CutPrefix(text, "https://")
	if !ok {
		rest, ok = strings.CutPrefix(text, "http://")
	}
	host, _, _ := strings.Cut(rest, "/")
	// A text with an @ is not shown: it may hold a password.
	switch {
	case strings.Contains(host, "@"):
		r.Fail("an address without user and password was wanted; give those as a secret in a header")
	case !ok || host == "" || strings.ContainsAny(text, "?#{}\\ \"<>") || Line(text, len(text)) != text:
		r.Fail("an address such as https://api.example.com was wanted, without a query, and " + strconv.Quote(Line(text, 100)) + " is there")
	}
	return strings.TrimRight(text, "/")
}

// Link returns the address of a page on the web as it can stand in a line, or "" for what is none: another scheme, spaces,
// more than 2,000 bytes.
func Link(text string) string {
	const longest = 2000
	rest, ok := strings.CutPrefix(text, "https://")
	if !ok {
		rest, ok = strings.CutPrefix(text, "http://")
	}
	if !ok || rest == "" || rest[0] == '/' || len(text) > longest || strings.ContainsRune(text, ' ') || Line(text, len(text)) != text {
		return ""
	}
	return linkReplacer.Replace(text)
}

// linkReplacer escapes what would end the line or the markup in which an address stands.
var linkReplacer = strings.NewReplacer("[", "%5B", "]", "%5D", "<", "%3C", ">", "%3E", `"`, "%22", "`", "%60")
