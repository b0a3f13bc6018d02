package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/weft-run/weft/pdk/go/pdktest"
)

// searxng is an instance that takes what SearXNG takes, and answers as it does.
func searxng(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	switch {
	case r.Method != http.MethodGet || r.URL.Path != "/search" || q.Get("q") == "":
		http.Error(w, "No query", http.StatusBadRequest)
	case q.Get("format") != "json":
		http.Error(w, "", http.StatusForbidden)
	default:
		answer(w, map[string]any{
			"query": q.Get("q"), "answers": []any{}, "corrections": []any{}, "infoboxes": []any{}, "suggestions": []any{},
			"unresponsive_engines": [][]string{{"one", "timeout"}},
			"results": []map[string]any{{
				"url": "https://found.example/?q=" + q.Get("language"), "title": "Found: " + q.Get("q"), "content": "<b>x</b> &amp; y", "engine": "two",
				"parsed_url": []string{"https", "found.example", "/", "", "", ""}, "engines": []string{"two"}, "positions": []int{1}, "score": 1.0,
			}},
		})
	}
}

// brave takes what Brave Search takes, and answers as it does.
func brave(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	failed := func(status int, code, detail string) {
		w.WriteHeader(status)
		answer(w, map[string]any{"type": "ErrorResponse", "time": 1, "error": map[string]any{
			"id": "5d832250", "status": status, "code": code, "detail": detail, "meta": map[string]any{},
		}})
	}
	switch {
	case r.Method != http.MethodGet || r.URL.Path != "/res/v1/web/search":
		failed(http.StatusNotFound, "NOT_FOUND", "There is nothing here.")
	case r.Header.Get("X-Subscription-Token") != "{{secret.api_key}}": // which a host replaces
		failed(http.StatusUnprocessableEntity, "SUBSCRIPTION_TOKEN_INVALID", "The provided subscription token is invalid.")
	case q.Get("q") == "" || len(strings.Fields(q.Get("q"))) > 50 || len([]rune(q.Get("q"))) > 400 || q.Get("search_lang") == "xx":
		failed(http.StatusUnprocessableEntity, "VALIDATION", "Unable to validate request parameter(s)")
	default:
		answer(w, map[string]any{"type": "search", "query": map[string]any{"original": q.Get("q")}, "web": map[string]any{
			"type": "search", "family_friendly": true, "results": []map[string]any{{
				"title": "Found: " + q.Get("q"), "url": "https://found.example/", "description": "<strong>x</strong> &amp; y", "language": "en",
			}},
		}})
	}
}

func answer(w http.ResponseWriter, body any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(body)
}

// run is a run of the agent with the plugin before a server.
func run(t *testing.T, handler http.HandlerFunc, config, question string) string {
	t.Helper()
	server := httptest.NewServer(handler)
	defer server.Close()
	client := server.Client()
	client.Timeout = time.Second
	client.CheckRedirect = func(r *http.Request, _ []*http.Request) error {
		if "http://"+r.URL.Host != server.URL {
			return fmt.Errorf("%s is denied", r.URL.Host) // as a host does
		}
		return nil
	}
	host := pdktest.Host{HTTP: pdktest.Through(client)}
	input, _ := json.Marshal(question) // a string alone
	return host.Run(beforeRun, fmt.Sprintf(
		`{"hook": "before_run", "config": {"endpoint": %q, "context_prompt": ""%s}, "input": [{"role": "user", "text": %s}]}`,
		server.URL, config, input)).Output
}

const foundOne = `{"extend_messages":[{"role":"user","text":"[%s § Found: %s]\nx & y","properties":{"title":"Found: %s","url":"%s"}}]}`

func TestAServerOfEachKindIsSearched(t *testing.T) {
	want := fmt.Sprintf(foundOne, "https://found.example/?q=de", "weft", "weft", "https://found.example/?q=de")
	if out := run(t, searxng, `, "language": "de"`, "weft"); out != want {
		t.Errorf("want %s\nhave %s", want, out)
	}
	want = fmt.Sprintf(foundOne, "https://found.example/", "weft", "weft", "https://found.example/")
	if out := run(t, brave, `, "api": "brave"`, "weft"); out != want {
		t.Errorf("want %s\nhave %s", want, out)
	}
	if out := run(t, brave, `, "api": "brave", "language": "xx"`, "weft"); !strings.Contains(out, `"invalid_input","message":"Brave Search answered 422`) {
		t.Error(out)
	}
}

func TestAQuestionOfAnyLengthIsSearchedFor(t *testing.T) {
	for _, question := range []string{
		strings.Repeat("word ", 100_000), strings.Repeat("x", 100_000), strings.Repeat("織", 50_000), strings.Repeat("a ", 399) + "b",
		strings.Repeat("Überschwänglich ", 60),
	} {
		if out := run(t, brave, `, "api": "brave"`, question); !strings.Contains(out, "https://found.example/") {
			t.Errorf("%.20s…: %s", question, out)
		}
	}
}

func TestHostileServers(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("elsewhere is asked") }))
	defer elsewhere.Close()
	for name, c := range map[string]struct {
		handler http.HandlerFunc
		want    string
	}{
		"slow": {func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body) // else the server does not see that the client is gone
			<-r.Context().Done()
		}, `"code":"unavailable","message":"http://127.0.0.1:`},
		"redirects elsewhere": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere.URL, http.StatusFound)
		}, `"code":"unavailable"`},
		"endless": {func(w http.ResponseWriter, _ *http.Request) {
			for {
				if _, err := io.WriteString(w, strings.Repeat("[", 1<<16)); err != nil {
					return
				}
			}
		}, `"code":"unavailable"`},
		"cut off": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000")
			_, _ = io.WriteString(w, `{"results":[`)
		}, `"code":"unavailable"`},
		"deep": {func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"results":`+strings.Repeat("[", 100_000)+strings.Repeat("]", 100_000)+`}`)
		}, `nest deeper than 512 levels`},
		"many": {func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"results":[`+strings.Repeat(`{"url":"https://a.example/","title":"t","content":"c"},`, 15_000)+`{}]}`)
		}, `{"extend_messages":[{"role":"user","text":"[https://a.example/ § t]\nc","properties":{"title":"t","url":"https://a.example/"}}]}`},
		"large": {func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"results":[{"url":"https://a.example/","title":"`+strings.Repeat("<a ", 100_000)+`","content":"`+strings.Repeat("&#x41;", 100_000)+`"}]}`)
		}, strings.Repeat("A", 997) + "…"},
		"no Unicode": {func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "{\"results\":[{\"url\":\"https://a.example/\",\"title\":\"\xff\"}]}")
		}, `valid UTF-8`},
	} {
		t.Run(name, func(t *testing.T) {
			if out := run(t, c.handler, ``, "weft"); !strings.Contains(out, c.want) {
				t.Errorf("want %s\nhave %.300s", c.want, out)
			}
		})
	}
}
