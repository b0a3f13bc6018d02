package egress_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"regexp"
	"strings"
	"testing"

	"github.com/weft-run/weft/host/wasm/egress"
)

// target is a rule of the fuzz test, and a second opinion about which URLs mean it: a pattern that nothing but these match.
type target struct {
	origin, address, host string
	means                 *regexp.Regexp
}

const urlRest = `(?:[/?#](?s:.*))?$`

var targets = []target{
	{
		origin: "http://allowed.test", address: publicIP + ":80", host: "allowed.test",
		means: regexp.MustCompile(`^(?i:http)://(?i:allowed\.test)\.?(?::0*80|:)?` + urlRest),
	},
	{
		origin: "http://allowed.test:8080", address: publicIP + ":8080", host: "allowed.test:8080",
		means: regexp.MustCompile(`^(?i:http)://(?i:allowed\.test)\.?:0*8080` + urlRest),
	},
	{
		origin: "http://10.1.2.3", address: "10.1.2.3:80", host: "10.1.2.3",
		means: regexp.MustCompile(`^(?i:http)://(?:10\.1\.2\.3\.?|\[([0-9A-Fa-f:.]+)\])(?::0*80|:)?` + urlRest),
	},
}

// mean tells whether a URL means a target, as far as a second opinion can say.
func (o target) mean(raw string) bool {
	found := o.means.FindStringSubmatch(raw)
	if found == nil {
		return false
	}
	if len(found) > 1 && found[1] != "" {
		ip := net.ParseIP(found[1])
		return ip != nil && ip.Equal(net.IPv4(10, 1, 2, 3))
	}
	return true
}

// FuzzOriginNeverMatchesAnother takes whatever URL a guest gives. If it is allowed, a target is meant by it in the eyes of a
// second opinion, and it is that target's host that is looked up, its address that is dialled and its name that is sent. If a
// target is meant, and it is a URL at all, it is allowed.
func FuzzOriginNeverMatchesAnother(f *testing.F) {
	for _, twin := range twins {
		f.Add(strings.ReplaceAll(strings.ReplaceAll(twin.url, "example.com", "allowed.test"), "127.0.0.1", "10.1.2.3"))
	}
	for _, seed := range []string{
		"http://allowed.test/", "HTTP://ALLOWED.TEST.:080/x", "http://allowed.test:8080?q", "http://10.1.2.3", "http://[::ffff:10.1.2.3]/",
		"http://[::ffff:a01:203]:80#", `http://allowed.test\@evil.test/`, "http://allowed.test%2f@evil.test", "http://allowed.test\t/",
		"http:///allowed.test", "http:\\\\allowed.test", "http://allowed.test:80:8080", "http://[allowed.test]/", "http://allowed.test%00.evil.test",
	} {
		f.Add(seed)
	}
	var lookups, dials []string
	var sent *http.Request
	policy := egress.Policy{
		Resolver: resolverFunc(func(host string) []netip.Addr {
			lookups = append(lookups, host)
			return []netip.Addr{netip.MustParseAddr(publicIP)}
		}),
		Dial: func(_ context.Context, _, address string) (net.Conn, error) {
			dials = append(dials, address)
			ours, theirs := net.Pipe()
			go answerOnce(theirs, &sent)
			return ours, nil
		},
	}
	for _, o := range targets {
		policy.Rules = append(policy.Rules, egress.Rule{Origin: o.origin, Private: true})
	}
	c, err := egress.New(policy)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(c.CloseIdle)
	f.Fuzz(func(t *testing.T, raw string) {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, raw, nil)
		if err != nil || strings.Contains(raw, "secret") {
			return // The engine passes no such request on; secrets in URLs are another matter.
		}
		lookups, dials, sent = nil, nil, nil
		response, err := c.Do(request)
		meant := ""
		for _, o := range targets {
			if !o.mean(raw) {
				continue
			}
			meant = o.origin
			if err != nil {
				t.Fatalf("%q means %s, and is refused: %v", raw, o.origin, err)
			}
			if len(dials) != 1 || dials[0] != o.address || sent.Host != o.host {
				t.Fatalf("%q means %s, and %v was dialled with Host %q", raw, o.origin, dials, sent.Host)
			}
		}
		if meant == "" {
			var denied *egress.DeniedError
			if !errors.As(err, &denied) || len(lookups)+len(dials) > 0 {
				t.Fatalf("%q means no target: %v, looked up %v, dialled %v", raw, err, lookups, dials)
			}
			return
		}
		_ = response.Body.Close()
		if len(lookups) > 0 && lookups[0] != "allowed.test" {
			t.Fatalf("%q looked up %v", raw, lookups)
		}
	})
}

// answerOnce reads a request, answers it and hangs up.
func answerOnce(conn net.Conn, sent **http.Request) {
	defer conn.Close()
	request, err := http.ReadRequest(bufio.NewReader(conn))
	if err != nil {
		return
	}
	*sent = request
	_, _ = io.WriteString(conn, "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")
}
