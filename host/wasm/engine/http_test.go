package engine_test

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host/wasm/engine"
)

// webServer answers in ways good and bad. Requests are counted.
func webServer(t *testing.T) (url string, client *http.Client, requests *atomic.Int64) {
	t.Helper()
	requests = &atomic.Int64{}
	mux := http.NewServeMux()
	mux.HandleFunc("/echo", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("X-Seen", r.Header.Get("X-Mark"))
		w.Header().Add("X-Two", "a")
		w.Header().Add("X-Two", "b")
		w.WriteHeader(http.StatusCreated)
		fmt.Fprintf(w, "%s %s", r.Method, body)
	})
	mux.HandleFunc("/large", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, strings.Repeat("x", 2000))
	})
	mux.HandleFunc("/bomb", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		zipped := gzip.NewWriter(w)
		_, _ = zipped.Write(make([]byte, 4<<20))
		_ = zipped.Close()
	})
	mux.HandleFunc("/endless", func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusOK)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	mux.HandleFunc("/empty", func(http.ResponseWriter, *http.Request) {})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return server.URL, server.Client(), requests
}

func request(t *testing.T, fields map[string]any) []byte {
	t.Helper()
	text, err := json.Marshal(fields)
	require.NoError(t, err)
	return text
}

func TestHTTPRequest(t *testing.T) {
	url, client, _ := webServer(t)
	m := load(t, "fetches", engine.Spec{HTTP: client})
	post := request(t, map[string]any{"url": url + "/echo", "method": "post", "headers": map[string]string{"X-Mark": "m"}})
	result := call(t, m, "post", string(post))
	require.EqualValues(t, 201, result.Code)
	require.Equal(t, "POST "+string(post), string(result.Output))

	get := string(request(t, map[string]any{"url": url + "/echo"}))
	require.Equal(t, "GET ", string(call(t, m, "fetch", get).Output), "the method is GET where none is named")

	var headers map[string]string
	require.NoError(t, json.Unmarshal(call(t, m, "head", string(post)).Output, &headers))
	require.Equal(t, "m", headers["x-seen"], "names are in lower case")
	require.Equal(t, "a,b", headers["x-two"])

	empty := call(t, m, "fetch", string(request(t, map[string]any{"url": url + "/empty"})))
	require.EqualValues(t, 200, empty.Code)
	require.Empty(t, empty.Output)
	require.Zero(t, call(t, m, "asks_for_nothing", "").Code, "a call knows nothing of an earlier one's request")
}

func TestHTTPLimits(t *testing.T) {
	url, client, requests := webServer(t)
	get := func(path string) []byte { return request(t, map[string]any{"url": url + path}) }
	m := load(t, "fetches", engine.Spec{HTTP: client, Limits: engine.Limits{
		HTTPBody: 2000, HTTPRequests: 3,
	}})
	require.Len(t, call(t, m, "fetch", string(get("/large"))).Output, 2000)
	err := callFails(t, m, engine.Call{Export: "fetch", Input: get("/bomb")})
	require.ErrorIs(t, err, engine.ErrHTTPLimit)
	require.EqualError(t, err, "fetches: fetch was sent an answer of more than 2.0 KiB: raise limits.http_body, or ask for less")

	requests.Store(0)
	err = callFails(t, m, engine.Call{Export: "without_end", Input: get("/empty")})
	require.ErrorIs(t, err, engine.ErrHTTPLimit)
	require.EqualError(t, err, "fetches: without_end made more than 3 HTTP requests in one call: "+
		"raise limits.http_requests, or ask for more at once")
	require.EqualValues(t, 3, requests.Load())

	m = load(t, "fetches", engine.Spec{HTTP: client, Limits: engine.Limits{HTTPTime: 50 * time.Millisecond}})
	err = callFails(t, m, engine.Call{Export: "fetch", Input: get("/endless")})
	require.ErrorIs(t, err, engine.ErrTrap)
	require.ErrorContains(t, err, "http_request: no answer within 50ms: raise limits.http_time")
}

func TestHTTPEndsWithTheCall(t *testing.T) {
	url, client, requests := webServer(t)
	m := load(t, "fetches", engine.Spec{HTTP: client})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		_, err := m.Call(ctx, engine.Call{Export: "fetch", Input: request(t, map[string]any{"url": url + "/endless"})})
		ended <- err
	}()
	require.Eventually(t, func() bool { return requests.Load() == 1 }, 5*time.Second, time.Millisecond)
	cancel()
	require.Equal(t, context.Canceled, <-ended)
}

func TestHTTPRequestsThatAreNone(t *testing.T) {
	_, client, requests := webServer(t)
	m := load(t, "fetches", engine.Spec{HTTP: client})
	for input, want := range map[string]string{
		`{`:                             "http_request: the request is not the JSON of one",
		`{"url":"http://[::1"}`:         "http_request: ",
		`{"url":"a","method":"G T"}`:    "http_request: ",
		`{"url":"http://127.0.0.1:1/"}`: "http_request: ",
	} {
		err := callFails(t, m, engine.Call{Export: "fetch", Input: []byte(input)})
		require.ErrorIs(t, err, engine.ErrTrap, input)
		require.ErrorContains(t, err, want, input)
	}
	require.Zero(t, requests.Load())
}
