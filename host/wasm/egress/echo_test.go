package egress_test

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host/wasm/egress"
)

func TestASecretThatTheBodyEchoesIsHidden(t *testing.T) {
	c, _, _, _ := keeper(t, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "you sent %s, and again %[1]s", r.Header.Get("X-Key"))
	})
	require.Equal(t, "you sent [hidden], and again [hidden]", mustGet(t, c, "http://a.test/", "X-Key", "{{secret.key}}").text)
}

func TestASecretThatTheBodyEchoesInPiecesIsHidden(t *testing.T) {
	c, _, _, _ := keeper(t, func(w http.ResponseWriter, r *http.Request) {
		key := r.Header.Get("X-Key")
		for _, piece := range []string{"before ", key[:3], key[3:4], key[4:], " after ", key[:len(key)-1], "!"} {
			_, _ = io.WriteString(w, piece)
			w.(http.Flusher).Flush()
		}
	})
	a := mustGet(t, c, "http://a.test/", "X-Key", "{{secret.key}}")
	require.Equal(t, "before [hidden] after "+apiKey[:len(apiKey)-1]+"!", a.text)
}

func TestASecretThatTheBodyEchoesInAnotherFormIsHidden(t *testing.T) {
	inJSON, err := json.Marshal(apiKey)
	require.NoError(t, err)
	for name, form := range map[string]string{
		"upper case":     strings.ToUpper(apiKey),
		"lower case":     strings.ToLower(apiKey),
		"query":          url.QueryEscape(apiKey),
		"path":           url.PathEscape(apiKey),
		"JSON":           string(inJSON[1 : len(inJSON)-1]),
		"JSON of others": strings.NewReplacer("/", `\/`, `"`, `\"`).Replace(apiKey),
		"HTML":           html.EscapeString(apiKey),
		"HTML by name":   strings.NewReplacer("&", "&amp;", `"`, "&quot;").Replace(apiKey),
		"hex":            hex.EncodeToString([]byte(apiKey)),
		"quoted by Go":   strings.ReplaceAll(apiKey, `"`, `\"`),
	} {
		t.Run(name, func(t *testing.T) {
			c, _, _, _ := keeper(t, says("<"+form+">"))
			require.Equal(t, "<[hidden]>", mustGet(t, c, "http://a.test/").text, form)
		})
	}
	for _, before := range []string{"", "u", "us", "user:", "Bearer "} {
		c, _, _, _ := keeper(t, says(base64.StdEncoding.EncodeToString([]byte(before+apiKey+" and more"))))
		text := mustGet(t, c, "http://a.test/").text
		require.Contains(t, text, "[hidden]", "base64 after %q", before)
		require.Less(t, len(text), len(before)*4/3+len("[hidden]")+20)
	}
}

func TestASecretThatAHeaderEchoesIsHidden(t *testing.T) {
	c, _, _, _ := keeper(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Echo", "<"+r.Header.Get("X-Key")+">")
		w.Header()["X-Two"] = []string{"a", r.Header.Get("X-Key")}
		w.Header().Set("X-"+r.Header.Get("X-Name"), "x")
	})
	a := mustGet(t, c, "http://a.test/", "X-Key", "{{secret.key}}", "X-Name", "{{secret.second}}")
	require.Equal(t, "<[hidden]>", a.Header.Get("X-Echo"))
	require.Equal(t, []string{"a", "[hidden]"}, a.Header["X-Two"])
	require.NotContains(t, strings.ToLower(fmt.Sprint(a.Header)), "another-secret")
}

// raw answers with bytes that are not checked by anybody.
func raw(answer func(*http.Request) string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			return
		}
		defer conn.Close()
		_, _ = io.WriteString(conn, answer(r))
	}
}

func TestASecretThatTheStatusEchoesIsHidden(t *testing.T) {
	c, _, _, _ := keeper(t, raw(func(r *http.Request) string {
		return "HTTP/1.1 200 " + r.Header.Get("X-Key") + "\r\nContent-Length: 0\r\n\r\n"
	}))
	require.Equal(t, "200 [hidden]", mustGet(t, c, "http://a.test/", "X-Key", "{{secret.key}}").Status)
}

func TestASecretThatAnErrorEchoesIsHidden(t *testing.T) {
	for name, answer := range map[string]string{
		"status":            "HTTP/1.1 %s OK\r\n\r\n",
		"protocol":          "%s\r\n\r\n",
		"transfer encoding": "HTTP/1.1 200 OK\r\nTransfer-Encoding: %s\r\n\r\n",
		"content encoding":  "HTTP/1.1 200 OK\r\nContent-Encoding: %s\r\nContent-Length: 1\r\n\r\nx",
		"length":            "HTTP/1.1 200 OK\r\nContent-Length: %s\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			c, _, _, _ := keeper(t, raw(func(r *http.Request) string { return fmt.Sprintf(answer, r.Header.Get("X-Key")) }))
			_, err := get(t, c, "http://a.test/", "X-Key", "{{secret.key}}")
			require.ErrorContains(t, err, "[hidden]")
			for ; err != nil; err = unwrap(err) {
				require.NotContains(t, fmt.Sprintf("%v %+v %#v", err, err, err), apiKey)
			}
		})
	}
}

func unwrap(err error) error {
	if e, ok := err.(interface{ Unwrap() error }); ok {
		return e.Unwrap()
	}
	return nil
}

func TestTheAnswerDoesNotLeadToTheRequestWithItsSecrets(t *testing.T) {
	c, _, _, log := keeper(t, says("ok"))
	r := newRequest(t, http.MethodGet, "http://a.test/", "", "X-Key", "{{secret.key}}")
	a, err := send(t, c, r)
	require.NoError(t, err)
	require.Same(t, r, a.Request)
	require.Equal(t, "{{secret.key}}", r.Header.Get("X-Key"), "the guest's request is left as it was")
	require.Empty(t, log.String())
}

func TestASecretThatAnAnswerOfAnotherOriginShowsIsHidden(t *testing.T) {
	net := newInternet(t)
	net.name("a.test", publicIP)
	net.serve(publicIP+":80", says("<"+apiKey+">"))
	c := net.client(egress.Policy{Rules: rules("http://a.test"), Secrets: map[string]egress.Secret{"key": egress.NewSecret(apiKey)}})
	require.Equal(t, "<[hidden]>", mustGet(t, c, "http://a.test/").text)
}
