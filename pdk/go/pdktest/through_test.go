package pdktest

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/weft-run/weft/pdk/go"
)

func TestRequestsGoThroughAClient(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/large":
			_, _ = io.WriteString(w, strings.Repeat("x", maxBody+1))
		case "/cut":
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, "x")
		default:
			body, _ := io.ReadAll(r.Body)
			w.Header().Add("X-Two", "a")
			w.Header().Add("X-Two", "b")
			w.WriteHeader(http.StatusTeapot)
			fmt.Fprintf(w, "%s %s %s %s", r.Method, r.URL.Path, r.Header.Get("X-Key"), body)
		}
	}))
	defer server.Close()
	ask := Through(server.Client())
	got := ask(pdk.HTTPRequest{Method: "PUT", URL: server.URL + "/a", Headers: map[string]string{"x-key": "k"}, Body: []byte("body")})
	if got.Status != http.StatusTeapot || got.Body != "PUT /a k body" || got.Headers["x-two"] != "a,b" {
		t.Errorf("%+v", got)
	}
	if got := ask(pdk.HTTPRequest{URL: server.URL}); got.Body != "GET /  " {
		t.Errorf("%+v", got)
	}
	for _, url := range []string{server.URL + "/large", server.URL + "/cut", "http://127.0.0.1:1/", "http://[::1"} {
		if got := ask(pdk.HTTPRequest{URL: url}); got.Status != 0 {
			t.Errorf("%s: no answer was wanted: %+v", url, got)
		}
	}
}
