package egress_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host/wasm/egress"
)

func TestAnOriginIsReadIntoOneForm(t *testing.T) {
	for text, want := range map[string]egress.Origin{
		"https://api.example.com":           {Scheme: "https", Host: "api.example.com", Port: 443},
		"HTTPS://API.Example.COM":           {Scheme: "https", Host: "api.example.com", Port: 443},
		"https://api.example.com.":          {Scheme: "https", Host: "api.example.com", Port: 443},
		"https://api.example.com:443":       {Scheme: "https", Host: "api.example.com", Port: 443},
		"https://api.example.com:":          {Scheme: "https", Host: "api.example.com", Port: 443},
		"http://api.example.com":            {Scheme: "http", Host: "api.example.com", Port: 80},
		"http://api.example.com:08080":      {Scheme: "http", Host: "api.example.com", Port: 8080},
		"https://xn--bcher-kva.example":     {Scheme: "https", Host: "xn--bcher-kva.example", Port: 443},
		"http://192.0.2.1:8080":             {Scheme: "http", Host: "192.0.2.1", Port: 8080},
		"http://[2001:DB8:0:0::1]":          {Scheme: "http", Host: "2001:db8::1", Port: 80},
		"http://[::ffff:192.0.2.1]:8080":    {Scheme: "http", Host: "192.0.2.1", Port: 8080},
		"http://[0:0:0:0:0:ffff:c000:0201]": {Scheme: "http", Host: "192.0.2.1", Port: 80},
		"http://my_service":                 {Scheme: "http", Host: "my_service", Port: 80},
	} {
		origin, err := egress.ParseOrigin(text)
		require.NoError(t, err, text)
		require.Equal(t, want, origin, text)
		again, err := egress.ParseOrigin(origin.String())
		require.NoError(t, err, origin)
		require.Equal(t, origin, again, "what an origin prints is read as the same")
	}
}

func TestWhatIsNoOriginIsRefusedWithARemedy(t *testing.T) {
	for text, want := range map[string]string{
		"":                                     `has the scheme ""`,
		"api.example.com":                      `has the scheme ""`,
		"ftp://api.example.com":                `has the scheme "ftp" where http or https was wanted: begin it with https://`,
		"https://":                             "has no host",
		"https:api.example.com":                "has no host",
		"https://user@api.example.com":         "has a user or password before the host",
		"https://@api.example.com":             "has a user or password before the host",
		"https://*.example.com":                "has a wildcard: name each host in a rule of its own",
		"https://api.example.com/":             "has more than scheme, host and port: write https://api.example.com",
		"https://api.example.com/v1":           "has more than scheme, host and port: write https://api.example.com",
		"https://api.example.com?":             "has more than scheme, host and port",
		"https://api.example.com#":             "has more than scheme, host and port",
		"https://bücher.example":               "is not ASCII: write it in punycode",
		"https://api.example.com:0":            `has port "0": write a port from 1 to 65535`,
		"https://api.example.com:65536":        `has port "65536"`,
		"https://api.example.com:https":        "is no URL",
		"https://api..example.com":             "has a host with an empty part",
		"https://api.example.com..":            "has a host with an empty part",
		"https://.":                            "has a host with an empty part",
		"https://" + strings.Repeat("a", 64):   "more than 63 characters",
		"https://" + strings.Repeat("a.", 128): "has a host of",
		"https://a\x00b":                       "is no URL",
		"https://a b":                          "is no URL",
		"https://a%41":                         "is no URL",
		"https://a,b":                          `has ',' in its host`,
		"http://0x7f.1":                        "an IPv4 address in an odd form: write four decimal numbers",
		"http://0x7f000001":                    "an IPv4 address in an odd form",
		"http://0X7F.0.0.0x1":                  "an IPv4 address in an odd form",
		"http://017700000001":                  "an IPv4 address in an odd form",
		"http://0177.0.0.1":                    "an IPv4 address in an odd form",
		"http://2130706433":                    "an IPv4 address in an odd form",
		"http://127.1":                         "an IPv4 address in an odd form",
		"http://127.0.0.1.1":                   "an IPv4 address in an odd form",
		"http://1.2.3.4.0x":                    "an IPv4 address in an odd form",
		"http://[192.0.2.1]":                   "is no URL",
		"http://[fe80::1%25eth0]":              "has an address with a zone",
		"http://[::1":                          "is no URL",
	} {
		_, err := egress.ParseOrigin(text)
		require.ErrorContains(t, err, want, text)
	}
	if _, err := egress.ParseOrigin("https://a.example?" + strings.Repeat("x", 10_000)); len(err.Error()) > 300 {
		t.Errorf("an error repeats 10,000 characters: %d", len(err.Error()))
	}
}

// twins are URLs that look like the rule's origin to somebody, and lead to another place for somebody else. All are denied.
var twins = []struct{ name, rule, url, reason string }{
	{"user before another host", "http://example.com", "http://example.com@evil.example/", "it has a user or password before the host"},
	{"user and password before another host", "http://example.com", "http://example.com:80@evil.example/", "it has a user or password before the host"},
	{"user before the host itself", "http://example.com", "http://evil.example@example.com/", "it has a user or password before the host"},
	{"host as the beginning of another", "http://example.com", "http://example.com.evil.example/", "no rule has this origin"},
	{"host as the end of another", "http://example.com", "http://evilexample.com/", "no rule has this origin"},
	{"subdomain", "http://example.com", "http://api.example.com/", "no rule has this origin"},
	{"parent domain", "http://api.example.com", "http://example.com/", "no rule has this origin"},
	{"host in the fragment", "http://example.com", "http://evil.example#@example.com/", "no rule has this origin"},
	{"host in the query", "http://example.com", "http://evil.example?@example.com/", "no rule has this origin"},
	{"other port", "http://example.com", "http://example.com:8080/", "no rule has this origin"},
	{"port of the other scheme", "http://example.com", "http://example.com:443/", "no rule has this origin"},
	{"no port where the rule has one", "http://example.com:8080", "http://example.com/", "no rule has this origin"},
	{"https for http", "http://example.com", "https://example.com/", "no rule has this origin"},
	{"http for https", "https://example.com", "http://example.com/", "no rule has this origin"},
	{"http for https on its port", "https://example.com", "http://example.com:443/", "no rule has this origin"},
	{"file", "http://example.com", "file://example.com/etc/passwd", `it has the scheme "file"`},
	{"ftp", "http://example.com", "ftp://example.com/", `it has the scheme "ftp"`},
	{"gopher", "http://example.com", "gopher://example.com:80/_GET", `it has the scheme "gopher"`},
	{"no scheme", "http://example.com", "//example.com/", `it has the scheme ""`},
	{"opaque", "http://example.com", "http:example.com/", "it has no host"},
	{"letters of another alphabet", "http://example.com", "http://ex\u0430mple.com/", "which is not ASCII"},
	{"wide letters", "http://example.com", "http://\uff45xample.com/", "which is not ASCII"},
	{"wide dot", "http://example.com", "http://example\u3002com/", "which is not ASCII"},
	{"escaped letters of another alphabet", "http://example.com", "http://ex%D0%B0mple.com/", "which is not ASCII"},
	{"soft hyphen", "http://example.com", "http://exam\u00adple.com/", "which is not ASCII"},
	{"punycode of another alphabet", "http://example.com", "http://xn--exmple-4nf.com/", "no rule has this origin"},
	{"two dots at the end", "http://example.com", "http://example.com../", "an empty part"},
	{"IPv4 in hex", "http://127.0.0.1", "http://0x7f.1/", "an IPv4 address in an odd form"},
	{"IPv4 in hex, one number", "http://127.0.0.1", "http://0x7f000001/", "an IPv4 address in an odd form"},
	{"IPv4 in octal", "http://127.0.0.1", "http://0177.0.0.1/", "an IPv4 address in an odd form"},
	{"IPv4 as one decimal number", "http://127.0.0.1", "http://2130706433/", "an IPv4 address in an odd form"},
	{"IPv4 with parts left out", "http://127.0.0.1", "http://127.1/", "an IPv4 address in an odd form"},
	{"IPv4 with zeros before", "http://127.0.0.1", "http://127.000.000.001/", "an IPv4 address in an odd form"},
	{"IPv6 with a zone", "http://[::1]", "http://[::1%25lo]/", "an address with a zone"},
	{"IPv6 that holds a private IPv4 address", "http://example.com", "http://[::ffff:10.0.0.1]/", "it is a private address"},
	{"IPv6 loopback", "http://127.0.0.1", "http://[::1]/", "it is a loopback address"},
	{"metadata", "http://127.0.0.1", "http://169.254.169.254/latest/meta-data/", "it is a cloud's metadata address"},
	{"metadata in IPv6", "http://127.0.0.1", "http://[::ffff:a9fe:a9fe]/", "it is a cloud's metadata address"},
}

func TestAURLThatOnlyLooksLikeAnOriginOfARuleIsDenied(t *testing.T) {
	for _, twin := range twins {
		t.Run(twin.name, func(t *testing.T) {
			net := newInternet(t)
			for _, host := range []string{"example.com", "evil.example", "api.example.com"} {
				net.name(host, publicIP)
			}
			c := net.client(egress.Policy{Rules: []egress.Rule{{Origin: twin.rule, Private: true}}})
			e := deniedGet(t, c, twin.url)
			require.Contains(t, e.Reason, twin.reason)
			require.Empty(t, net.lookups, "nothing was looked up")
			require.Empty(t, net.dials, "nothing was dialled")
		})
	}
}

func TestAnotherSpellingOfAnOriginOfARuleIsAllowed(t *testing.T) {
	net := newInternet(t)
	net.name("example.com", publicIP)
	s := net.serve(publicIP+":80", says("hello"))
	net.servers["127.0.0.1:8080"] = s.Listener.Addr().String()
	c := net.client(egress.Policy{Rules: []egress.Rule{{Origin: "http://example.com"}, {Origin: "http://127.0.0.1:8080", Private: true}}})
	for name, spelling := range map[string]struct{ url, host, path string }{
		"as it is":                {"http://example.com/a?b=c", "example.com", "/a?b=c"},
		"upper case":              {"HTTP://EXAMPLE.COM/A", "example.com", "/A"},
		"dot at the end":          {"http://example.com./a", "example.com", "/a"},
		"port of the scheme":      {"http://example.com:80", "example.com", "/"},
		"empty port":              {"http://example.com:/", "example.com", "/"},
		"fragment":                {"http://example.com/a#b", "example.com", "/a"},
		"path with an @":          {"http://example.com/@evil.example", "example.com", "/@evil.example"},
		"path with a backslash":   {`http://example.com/\evil.example`, "example.com", "/%5Cevil.example"},
		"path with a blank":       {"http://example.com/a b", "example.com", "/a%20b"},
		"query with a version":    {"http://example.com/?a HTTP/1.0", "example.com", "/?a%20HTTP/1.0"},
		"query with other bytes":  {"http://example.com/?\u00e9<>\"{}|%20%zz+&=;?/", "example.com", "/?%C3%A9%3C%3E%22{}|%20%zz+&=;?/"},
		"path with two slashes":   {"http://example.com//evil.example", "example.com", "//evil.example"},
		"address":                 {"http://127.0.0.1:8080/", "127.0.0.1:8080", "/"},
		"IPv6 that holds IPv4":    {"http://[::ffff:127.0.0.1]:8080/", "127.0.0.1:8080", "/"},
		"IPv6 with IPv4 in hex":   {"http://[::ffff:7f00:1]:8080/", "127.0.0.1:8080", "/"},
		"address and a dot after": {"http://127.0.0.1.:8080/", "127.0.0.1:8080", "/"},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, "hello", mustGet(t, c, spelling.url).text)
			seen := s.seen()
			last := seen[len(seen)-1]
			require.Equal(t, spelling.host, last.Host, "the server is told the host of the rule")
			require.Equal(t, spelling.path, last.RequestURI)
		})
	}
}

func TestAnAllowedOriginIsReachedOverHTTPSAndHTTP2(t *testing.T) {
	net := newInternet(t)
	net.name("api.example.com", publicIP)
	s := net.serveTLS(publicIP+":443", says("secure"))
	c := net.client(egress.Policy{Rules: rules("https://api.example.com")})
	a := mustGet(t, c, "https://api.example.com/")
	require.Equal(t, "secure", a.text)
	require.Equal(t, "HTTP/2.0", a.Proto)
	require.Equal(t, "api.example.com", s.seen()[0].TLS.ServerName)
	mustGet(t, c, "HTTPS://API.Example.com.:443/")
	require.Equal(t, "api.example.com", s.seen()[1].Host)
	require.Equal(t, []string{publicIP + ":443"}, net.dials, "another spelling has the same connection")
}

func TestACertificateForAnotherHostIsRefused(t *testing.T) {
	net := newInternet(t)
	net.name("bank.test", publicIP)
	s := net.serveTLS(publicIP+":443", says("secure"))
	c := net.client(egress.Policy{Rules: rules("https://bank.test")})
	_, err := get(t, c, "https://bank.test/")
	require.ErrorContains(t, err, "not bank.test")
	require.Empty(t, s.seen())
}

func TestAMethodThatTheRuleDoesNotListIsDenied(t *testing.T) {
	net := newInternet(t)
	net.name("example.com", publicIP)
	s := net.serve(publicIP+":80", says(""))
	c := net.client(egress.Policy{Rules: []egress.Rule{{Origin: "http://example.com", Methods: []string{"get", "HEAD"}}}})
	e := denied(t, c, newRequest(t, http.MethodDelete, "http://example.com/", ""))
	require.Equal(t, "the method DELETE is not allowed for it", e.Reason)
	require.Equal(t, "if it should be allowed, add grant: {http: [{origin: http://example.com, methods: [GET, HEAD, DELETE]}]}", e.Remedy)
	require.Empty(t, s.seen())
	mustGet(t, c, "http://example.com/")

	all := net.client(egress.Policy{Rules: rules("http://example.com")})
	for _, method := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"} {
		_, err := send(t, all, newRequest(t, method, "http://example.com/", ""))
		require.NoError(t, err, method)
	}
	for method, remedy := range map[string]string{
		"OPTIONS": "methods: [GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS]}]}", "TRACE": "use one of GET, HEAD, ", "CONNECT": "use one of ",
		"get": "use one of ", "PROPFIND": "use one of ", strings.Repeat("X", 10_000): "use one of ",
	} {
		e := denied(t, all, newRequest(t, method, "http://example.com/", ""))
		require.Contains(t, e.Remedy, remedy)
		require.Less(t, len(e.Error()), 500)
	}
	_, err := send(t, net.client(egress.Policy{Rules: []egress.Rule{{Origin: "http://example.com", Methods: []string{"PROPFIND"}}}}),
		newRequest(t, "PROPFIND", "http://example.com/", ""))
	require.NoError(t, err)
}

func TestADenialNamesTheLineThatWouldAllowTheRequest(t *testing.T) {
	c := newInternet(t).client(egress.Policy{})
	for url, want := range map[string]string{
		"https://api.example.com/v1?key=1": "https://api.example.com",
		"http://example.com:8080":          "http://example.com:8080",
		"https://[2001:4860::1]:8443/":     "https://[2001:4860::1]:8443",
	} {
		e := deniedGet(t, c, url)
		require.Equal(t, want, e.Origin)
		require.EqualError(t, e, "a request to "+want+" is denied: no rule has this origin: "+e.Remedy)
		line, found := strings.CutPrefix(e.Remedy, "if it should be allowed, add ")
		require.True(t, found)
		var entry struct {
			Grant struct{ HTTP []struct{ Origin string } }
		}
		require.NoError(t, yaml.Unmarshal([]byte(line), &entry), line)
		require.Equal(t, want, entry.Grant.HTTP[0].Origin)
		_, err := egress.New(egress.Policy{Rules: rules(entry.Grant.HTTP[0].Origin)})
		require.NoError(t, err)
	}
}

func TestAURLThatWasNeverTextIsHeldToTheSameRules(t *testing.T) {
	net := newInternet(t)
	c := net.client(egress.Policy{Rules: rules("http://example.com")})
	for _, u := range []url.URL{
		{Scheme: "http", Host: "[192.0.2.1]"},
		{Scheme: "http", Host: "[example.com]"},
		{Scheme: "http", Host: "example.com:x"},
		{Scheme: "http", Host: "example.com:80:81"},
		{Scheme: "http", Host: "evil.example/@example.com"},
		{Scheme: "http", Host: "evil.example@example.com"},
		{Scheme: "http", Host: "example.com\r\nX: y"},
		{Scheme: "http", Host: "example.com", Opaque: "//evil.example/"},
		{Scheme: "http", Host: "example.com", Path: "@evil.example"},
	} {
		denied(t, c, &http.Request{URL: &u})
	}
	require.Empty(t, net.lookups)

	net.name("example.com", publicIP)
	s := net.serve(publicIP+":80", says("ok"))
	_, err := send(t, c, &http.Request{URL: &url.URL{Scheme: "http", Host: "example.com", RawQuery: "a\r\nX: y#b\x7f"}})
	require.NoError(t, err)
	require.Equal(t, "/?a%0D%0AX:%20y%23b%7F", s.seen()[0].RequestURI)
}

func TestARequestWithoutAURLIsDenied(t *testing.T) {
	c := newInternet(t).client(egress.Policy{})
	e := denied(t, c, &http.Request{})
	require.Equal(t, "there is none", e.Reason)
}
