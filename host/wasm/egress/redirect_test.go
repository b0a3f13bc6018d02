package egress_test

import (
	"io"
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host/wasm/egress"
)

const apiKey = `s3cret-value/of+the=key&"more"`

// twoSites is an internet with a.test and b.test, and a policy with a secret for both.
func twoSites(t *testing.T, a, b http.HandlerFunc) (c *egress.Client, siteA, siteB *site) {
	t.Helper()
	net := newInternet(t)
	net.name("a.test", publicIP)
	net.name("b.test", otherIP)
	siteA, siteB = net.serve(publicIP+":80", a), net.serve(otherIP+":80", b)
	return net.client(egress.Policy{
		Rules: []egress.Rule{
			{Origin: "http://a.test", Secrets: []string{"key"}, Private: true},
			{Origin: "http://b.test", Secrets: []string{"key"}, Private: true},
		},
		Secrets: map[string]egress.Secret{"key": egress.NewSecret(apiKey)},
	}), siteA, siteB
}

func TestARedirectToAnOriginWithoutARuleIsDenied(t *testing.T) {
	for name, location := range map[string]string{
		"another host":       "http://evil.test/",
		"the same, any path": "//evil.test/a",
		"loopback":           "http://127.0.0.1/",
		"private":            "http://10.0.0.1/",
		"metadata":           "http://169.254.169.254/latest/",
		"another port":       "http://a.test:8080/",
		"another scheme":     "https://a.test/",
		"file":               "file:///etc/passwd",
		"user":               "http://a.test@evil.test/",
		"odd IPv4":           "http://0x7f.1/",
	} {
		t.Run(name, func(t *testing.T) {
			net := newInternet(t)
			net.name("a.test", publicIP)
			net.name("evil.test", otherIP)
			net.serve(publicIP+":80", redirects(http.StatusFound, location))
			c := net.client(egress.Policy{Rules: rules("http://a.test")})
			require.Contains(t, deniedGet(t, c, "http://a.test/").Reason, ", to which http://a.test redirects")
			require.Equal(t, []string{publicIP + ":80"}, net.dials)
		})
	}
}

func TestARedirectToAHostWithAPrivateAddressIsDenied(t *testing.T) {
	net := newInternet(t)
	net.name("a.test", publicIP)
	net.name("inside.test", "192.168.1.1")
	net.serve(publicIP+":80", redirects(http.StatusFound, "http://inside.test/"))
	c := net.client(egress.Policy{Rules: rules("http://a.test", "http://inside.test")})
	e := deniedGet(t, c, "http://a.test/")
	require.Equal(t, "http://inside.test", e.Origin)
	require.Equal(t, "its address 192.168.1.1 is a private address", e.Reason)
}

func TestARedirectFromHTTPSToHTTPIsDeniedWithoutARuleForIt(t *testing.T) {
	net := newInternet(t)
	net.name("www.example.com", publicIP)
	net.serveTLS(publicIP+":443", redirects(http.StatusFound, "http://www.example.com/"))
	plain := net.serve(publicIP+":80", says("plain"))
	c := net.client(egress.Policy{Rules: rules("https://www.example.com")})
	require.Equal(t, "http://www.example.com", deniedGet(t, c, "https://www.example.com/").Origin)
	require.Empty(t, plain.seen())

	c = net.client(egress.Policy{Rules: rules("https://www.example.com", "http://www.example.com")})
	require.Equal(t, "plain", mustGet(t, c, "https://www.example.com/").text)
}

func TestARedirectWithinAnOriginKeepsItsHeaders(t *testing.T) {
	c, a, _ := twoSites(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/old" {
			redirects(http.StatusMovedPermanently, "new?x=1")(w, r)
		}
	}, says("b"))
	mustGet(t, c, "http://a.test/old", "X-Key", "{{secret.key}}", "Authorization", "Bearer own", "X-Mark", "m")
	require.Len(t, a.seen(), 2)
	last := a.seen()[1]
	require.Equal(t, "/new?x=1", last.RequestURI)
	require.Equal(t, apiKey, last.Header.Get("X-Key"))
	require.Equal(t, "Bearer own", last.Header.Get("Authorization"))
	require.Equal(t, "m", last.Header.Get("X-Mark"))
	require.Empty(t, last.Header.Get("Referer"))
}

func TestARedirectToAnotherOriginTakesNoSecret(t *testing.T) {
	c, a, b := twoSites(t, redirects(http.StatusTemporaryRedirect, "http://b.test/"), says("b"))
	mustGet(t, c, "http://a.test/", "X-Key", "Key {{secret.key}}", "Authorization", "Bearer own", "X-Mark", "m")
	require.Equal(t, "Key "+apiKey, a.seen()[0].Header.Get("X-Key"))
	header := b.seen()[0].Header
	require.NotContains(t, header, "X-Key", "not even to one that has the secret itself")
	require.NotContains(t, header, "Authorization")
	require.NotContains(t, header, "Referer")
	require.Equal(t, "m", header.Get("X-Mark"))
}

func TestASecretDoesNotComeBackWithARedirect(t *testing.T) {
	c, a, _ := twoSites(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" {
			redirects(http.StatusFound, "http://b.test/")(w, r)
		}
	}, redirects(http.StatusFound, "http://a.test/again"))
	mustGet(t, c, "http://a.test/", "X-Key", "{{secret.key}}")
	require.Len(t, a.seen(), 2)
	require.NotContains(t, a.seen()[1].Header, "X-Key")
}

func TestARedirectToAURLThatShowsASecretIsDenied(t *testing.T) {
	c, _, b := twoSites(t, func(w http.ResponseWriter, r *http.Request) {
		redirects(http.StatusFound, "http://b.test/?key="+url.QueryEscape(r.Header.Get("X-Key")))(w, r)
	}, says("b"))
	e := deniedGet(t, c, "http://a.test/", "X-Key", "{{secret.key}}")
	require.Equal(t, "it redirects to a URL that shows a secret", e.Reason)
	require.Empty(t, b.seen())
}

func TestARedirectLoopEnds(t *testing.T) {
	net := newInternet(t)
	net.name("a.test", publicIP)
	s := net.serve(publicIP+":80", redirects(http.StatusFound, "/again"))
	c := net.client(egress.Policy{Rules: rules("http://a.test")})
	_, err := get(t, c, "http://a.test/")
	var limit *egress.LimitError
	require.ErrorAs(t, err, &limit)
	require.Equal(t, "redirects", limit.Limit)
	require.EqualError(t, err, "http://a.test redirects more than 5 times: raise Policy.Redirects, or ask for the address where that ends")
	require.Len(t, s.seen(), 6, "the first request and five redirects")

	two := net.client(egress.Policy{Rules: rules("http://a.test"), Redirects: 2})
	_, err = get(t, two, "http://a.test/")
	require.ErrorAs(t, err, &limit)
	require.Len(t, s.seen(), 6+3)
}

func TestARedirectIsTheAnswerWhereNoneIsFollowed(t *testing.T) {
	net := newInternet(t)
	net.name("a.test", publicIP)
	s := net.serve(publicIP+":80", redirects(http.StatusFound, "http://evil.test/"))
	c := net.client(egress.Policy{Rules: rules("http://a.test"), Redirects: -1})
	a := mustGet(t, c, "http://a.test/")
	require.Equal(t, http.StatusFound, a.StatusCode)
	require.Equal(t, "http://evil.test/", a.Header.Get("Location"))
	require.Len(t, s.seen(), 1)
}

func TestARedirectWithoutALocationIsTheAnswer(t *testing.T) {
	net := newInternet(t)
	net.name("a.test", publicIP)
	net.serve(publicIP+":80", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusFound) })
	c := net.client(egress.Policy{Rules: rules("http://a.test")})
	require.Equal(t, http.StatusFound, mustGet(t, c, "http://a.test/").StatusCode)
}

func TestARedirectToWhatIsNoURLIsDenied(t *testing.T) {
	net := newInternet(t)
	net.name("a.test", publicIP)
	net.serve(publicIP+":80", redirects(http.StatusFound, "http://[::1"))
	c := net.client(egress.Policy{Rules: rules("http://a.test")})
	require.Equal(t, `it redirects to "http://[::1", which is no URL`, deniedGet(t, c, "http://a.test/").Reason)
}

func TestARedirectKeepsOrChangesTheMethod(t *testing.T) {
	for _, c := range []struct {
		status       int
		method, then string
		body         bool
	}{
		{301, "POST", "GET", false},
		{302, "POST", "GET", false},
		{303, "POST", "GET", false},
		{301, "PUT", "PUT", true},
		{302, "DELETE", "DELETE", true},
		{303, "PUT", "GET", false},
		{303, "HEAD", "HEAD", false},
		{307, "POST", "POST", true},
		{308, "PATCH", "PATCH", true},
		{302, "HEAD", "HEAD", false},
	} {
		net := newInternet(t)
		net.name("a.test", publicIP)
		var bodies []string
		s := net.serve(publicIP+":80", func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			bodies = append(bodies, string(body))
			if r.URL.Path == "/" {
				redirects(c.status, "/then")(w, r)
			}
		})
		text := "text"
		if c.method == "HEAD" {
			text = ""
		}
		_, err := send(t, net.client(egress.Policy{Rules: rules("http://a.test")}),
			newRequest(t, c.method, "http://a.test/", text, "Content-Type", "text/plain", "X-Mark", "m"))
		require.NoError(t, err)
		then := s.seen()[1]
		require.Equal(t, c.then, then.Method, "%d after %s", c.status, c.method)
		require.Equal(t, "m", then.Header.Get("X-Mark"))
		if c.body {
			require.Equal(t, []string{"text", "text"}, bodies)
			require.Equal(t, "text/plain", then.Header.Get("Content-Type"))
		} else {
			require.Empty(t, bodies[1])
		}
		require.Equal(t, c.then == c.method, then.Header.Get("Content-Type") != "", "%d after %s", c.status, c.method)
	}
}

func TestTheMethodOfARedirectIsCheckedByTheRuleOfItsTarget(t *testing.T) {
	net := newInternet(t)
	net.name("a.test", publicIP)
	net.name("b.test", otherIP)
	net.serve(publicIP+":80", redirects(http.StatusPermanentRedirect, "http://b.test/"))
	b := net.serve(otherIP+":80", says("b"))
	c := net.client(egress.Policy{Rules: []egress.Rule{{Origin: "http://a.test"}, {Origin: "http://b.test", Methods: []string{"GET"}}}})
	e := denied(t, c, newRequest(t, http.MethodPost, "http://a.test/", "text"))
	require.Equal(t, "the method POST is not allowed for it, to which http://a.test redirects", e.Reason)
	require.Empty(t, b.seen())
}
