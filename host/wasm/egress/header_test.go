package egress_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host/wasm/egress"
)

func TestAGuestMayNotSetHeadersOfTheConnection(t *testing.T) {
	c, s := reading(t, egress.Policy{}, says("ok"))
	for _, name := range []string{
		"Host", "Connection", "Content-Length", "Transfer-Encoding", "TE", "Trailer", "Upgrade", "Expect", "Keep-Alive", "HTTP2-Settings",
		"Proxy-Authorization", "Proxy-Connection", "Cookie", "Cookie2", "Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-IP",
		"X-HTTP-Method", "X-HTTP-Method-Override", "X-Method-Override",
	} {
		for _, spelling := range []string{name, strings.ToLower(name), strings.ToUpper(name), strings.ReplaceAll(name, "-", "_")} {
			r := newRequest(t, http.MethodGet, "http://a.test/", "")
			r.Header[spelling] = []string{"x"}
			e := denied(t, c, r)
			require.Contains(t, e.Reason, "the header "+spelling+" ")
			require.Equal(t, "leave that to the host", e.Remedy)
		}
	}
	require.Empty(t, s.seen())
}

func TestAllFaultsOfHeadersAreNamedAtOnce(t *testing.T) {
	c, _ := reading(t, egress.Policy{}, says("ok"))
	r := newRequest(t, http.MethodGet, "http://a.test/", "")
	r.Header["Host"] = []string{"evil.example"}
	r.Header["X-Split"] = []string{"a\r\nX-Other: b"}
	r.Header["no name"] = []string{"x"}
	require.Equal(t, `3 things are wrong with its headers (the header Host belongs to the connection; the header X-Split has control characters; `+
		`"no name" is no name of a header)`, denied(t, c, r).Reason)

	for i := range 1000 {
		r.Header[fmt.Sprintf("X-Forwarded-%d-%s", i, strings.Repeat("x", 60))] = []string{"x"}
	}
	reason := denied(t, c, r).Reason
	require.Contains(t, reason, "1003 things are wrong")
	require.Less(t, len(reason), 2000, "an error is not as long as what a guest sends")
}

func TestAHeaderWithControlCharactersIsDenied(t *testing.T) {
	c, s := reading(t, egress.Policy{}, says("ok"))
	for _, value := range []string{"a\nb", "a\rb", "a\x00b", "a\x7fb", "a\x1bb"} {
		require.Equal(t, "the header X-Mark has control characters", deniedGet(t, c, "http://a.test/", "X-Mark", value).Reason)
	}
	require.Empty(t, s.seen())
	mustGet(t, c, "http://a.test/", "X-Mark", "a\tb \u00e9")
}

func TestOtherHeadersAreSentAsTheyAre(t *testing.T) {
	c, s := reading(t, egress.Policy{}, says("ok"))
	mustGet(t, c, "http://a.test/", "X-Mark", "m", "Authorization", "Basic dTpw", "Accept", "text/plain", "Accept-Encoding", "br")
	header := s.seen()[0].Header
	require.Equal(t, http.Header{
		"X-Mark": {"m"}, "Authorization": {"Basic dTpw"}, "Accept": {"text/plain"},
		"Accept-Encoding": {"gzip"}, "User-Agent": {"weft"},
	}, header, "no cookies, no Referer, and nothing else")
	mustGet(t, c, "http://a.test/", "User-Agent", "mine")
	require.Equal(t, "mine", s.seen()[1].Header.Get("User-Agent"))
}

func TestABodyIsSent(t *testing.T) {
	var got []string
	c, s := reading(t, egress.Policy{}, func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got = append(got, string(body))
	})
	_, err := send(t, c, newRequest(t, http.MethodPost, "http://a.test/", "some text"))
	require.NoError(t, err)
	require.EqualValues(t, 9, s.seen()[0].ContentLength)
	_, err = send(t, c, newRequest(t, http.MethodPost, "http://a.test/", ""))
	require.NoError(t, err)
	require.Equal(t, []string{"some text", ""}, got)
}

func TestCookiesAreNeitherKeptNorShown(t *testing.T) {
	c, s := reading(t, egress.Policy{}, func(w http.ResponseWriter, r *http.Request) {
		http.SetCookie(w, &http.Cookie{Name: "session", Value: "abc", Path: "/"})
		w.Header().Set("Set-Cookie2", "session=abc")
		if r.URL.Path == "/old" {
			redirects(http.StatusFound, "/new")(w, r)
		}
	})
	a := mustGet(t, c, "http://a.test/old")
	require.NotContains(t, a.Header, "Set-Cookie")
	require.NotContains(t, a.Header, "Set-Cookie2")
	mustGet(t, c, "http://a.test/")
	require.Len(t, s.seen(), 3)
	for _, r := range s.seen() {
		require.Empty(t, r.Cookies())
	}
}

func TestProxiesOfTheEnvironmentAreIgnored(t *testing.T) {
	proxy, err := http.ProxyFromEnvironment(newRequest(t, http.MethodGet, "http://a.test/", ""))
	require.NoError(t, err)
	require.NotNil(t, proxy, "the environment names one")
	c, s := reading(t, egress.Policy{}, says("directly"))
	require.Equal(t, "directly", mustGet(t, c, "http://a.test/path").text)
	require.Equal(t, "/path", s.seen()[0].RequestURI, "a proxy would get the whole URL")
}

func TestHeadersOfAnAnswerAreBounded(t *testing.T) {
	for _, lines := range []int{1, 2000} {
		c, _ := reading(t, egress.Policy{}, raw(func(*http.Request) string {
			return "HTTP/1.1 200 OK\r\n" + strings.Repeat("X-Long: "+strings.Repeat("x", 70_000/lines)+"\r\n", lines) + "\r\n"
		}))
		_, err := get(t, c, "http://a.test/")
		require.ErrorContains(t, err, "http://a.test: ")
		require.ErrorContains(t, err, "server response headers exceeded 65536 bytes")
	}
}

func TestAServerThatChangesTheProtocolIsAnError(t *testing.T) {
	c, _ := reading(t, egress.Policy{}, raw(func(*http.Request) string {
		return "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n"
	}))
	_, err := get(t, c, "http://a.test/")
	require.ErrorContains(t, err, "the server answered 101")
}

func TestTheLengthOfAHeadIsTheServers(t *testing.T) {
	c, _ := reading(t, egress.Policy{}, func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Length", "1234") })
	a, err := send(t, c, newRequest(t, http.MethodHead, "http://a.test/", ""))
	require.NoError(t, err)
	require.Equal(t, "1234", a.Header.Get("Content-Length"))
}
