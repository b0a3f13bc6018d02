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

// searchRequest is the body of a search, as far as this plugin sends it.
type searchRequest struct {
	Search                *string `json:"search"`
	QueryType             string  `json:"queryType"`
	SemanticConfiguration string  `json:"semanticConfiguration"`
	SemanticQuery         string  `json:"semanticQuery"`
	Captions              string  `json:"captions"`
	Answers               string  `json:"answers"`
	Filter                string  `json:"filter"`
	SearchFields          string  `json:"searchFields"`
	Select                string  `json:"select"`
	Top                   int     `json:"top"`
	VectorQueries         []struct {
		Kind   string    `json:"kind"`
		Vector []float64 `json:"vector"`
		Text   string    `json:"text"`
		Fields string    `json:"fields"`
		K      int       `json:"k"`
	} `json:"vectorQueries"`
}

// fault is what the service has against a request; empty for nothing.
func (s *searchRequest) fault() string {
	switch {
	case s.Search == nil && len(s.VectorQueries) == 0:
		return "There is nothing to search for."
	case s.QueryType == "semantic" && s.SemanticConfiguration == "":
		return "semanticConfiguration must be set for queryType semantic."
	case s.QueryType != "semantic" && (s.Captions != "" || s.Answers != "" || s.SemanticQuery != ""):
		return "captions, answers and semanticQuery take queryType semantic."
	case s.Select != "" && strings.Contains(s.Select, " "):
		return "Could not find a property."
	}
	for _, v := range s.VectorQueries {
		switch {
		case v.Kind != "vector" && v.Kind != "text" || (v.Kind == "vector") != (len(v.Vector) > 0) || (v.Kind == "text") != (v.Text != ""):
			return "A vector query is of kind vector, with a vector, or text, with a text."
		case v.Fields == "" || v.K < 1:
			return "A vector query needs fields and k."
		case v.Kind == "vector" && len(v.Vector) != 3:
			return "The vector field 'contentVector', with dimension 3, expects the same number of dimensions."
		}
	}
	return ""
}

// service takes what Azure AI Search takes, and answers as it does. It keeps the last request.
func service(last *searchRequest) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		failed := func(status int, code, message string) {
			w.WriteHeader(status)
			answers(w, map[string]any{"error": map[string]any{"code": code, "message": message}})
		}
		d := json.NewDecoder(r.Body)
		d.DisallowUnknownFields()
		*last = searchRequest{}
		switch {
		case r.Header.Get("api-key") != "{{secret.api_key}}": // which a host replaces
			failed(http.StatusForbidden, "Forbidden", "Access denied.")
		case r.URL.Path != "/indexes('handbook')/docs/search.post.search":
			failed(http.StatusNotFound, "", "The index 'nothing' for service 'weaving' was not found.")
		case r.Method != http.MethodPost || r.URL.Query().Get("api-version") != "2024-07-01":
			failed(http.StatusBadRequest, "", "The api-version is not known.")
		case !strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") || d.Decode(last) != nil:
			failed(http.StatusBadRequest, "", "The request is invalid.")
		case last.fault() != "":
			failed(http.StatusBadRequest, "InvalidRequestParameter", last.fault())
		default:
			document := map[string]any{"@search.score": 1.5, "id": "1", "title": "Threads", "content": "The weft.", "contentVector": []float64{1, 0, 0}}
			if last.QueryType == "semantic" {
				document["@search.rerankerScore"] = 2.5
			}
			if last.Captions != "" {
				document["@search.captions"] = []map[string]any{{"text": "A caption.", "highlights": nil}}
			}
			found := map[string]any{"@odata.context": "x", "value": []any{document}}
			if last.Answers != "" {
				found["@search.answers"] = []map[string]any{{"key": "1", "text": "An answer.", "highlights": "x", "score": 0.9}}
			}
			answers(w, found)
		}
	}
}

func answers(w http.ResponseWriter, body any) {
	w.Header().Set("Content-Type", "application/json; odata.metadata=minimal")
	_ = json.NewEncoder(w).Encode(body)
}

// run is a run of the agent with the plugin before a server.
func run(t *testing.T, handler http.HandlerFunc, config string) string {
	t.Helper()
	server := httptest.NewServer(handler)
	defer server.Close()
	client := server.Client()
	client.Timeout = time.Second
	host := pdktest.Host{HTTP: pdktest.Through(client), Functions: map[string]func(string) string{
		"embed": func(string) string { return `{"vectors": [[0.5, -0.25, 1e-9]]}` },
	}}
	return host.Run(beforeRun, fmt.Sprintf(
		`{"hook": "before_run", "config": {"endpoint": %q, "index": "handbook", "context_prompt": ""%s}, "input": [{"role": "user", "text": "What's (a) weft?"}]}`,
		server.URL, config)).Output
}

func TestEachModeAsksWhatTheServiceTakes(t *testing.T) {
	for _, c := range []struct{ config, asked, told string }{
		{``, `What\'s \(a\) weft?|simple||0`, "The weft."},
		{`, "query_type": "full", "select": ["id", "content"], "filter": "x eq 1"`, `What's (a) weft?|full||0`, "The weft."},
		{`, "mode": "hybrid", "vector_fields": ["contentVector"]`, `What\'s \(a\) weft?|simple||1 text What's (a) weft?`, "The weft."},
		{`, "mode": "hybrid", "vector_fields": ["contentVector"], "vectorizer": "host"`, `What\'s \(a\) weft?|simple||1 vector `, "The weft."},
		{`, "mode": "vector", "vector_fields": ["contentVector"], "vectorizer": "host"`, `<nil>|||1 vector `, "The weft."},
		{`, "mode": "semantic", "semantic_configuration": "s"`, `What\'s \(a\) weft?|semantic|What's (a) weft?|0`, "The weft."},
		{`, "mode": "semantic", "semantic_configuration": "s", "passages": "captions"`, `What\'s \(a\) weft?|semantic|What's (a) weft?|0`, "A caption."},
		{
			`, "mode": "semantic", "semantic_configuration": "s", "answers": 1, "vector_fields": ["contentVector"]`,
			`What\'s \(a\) weft?|semantic|What's (a) weft?|1 text What's (a) weft?`, "An answer.",
		},
	} {
		var last searchRequest
		out := run(t, service(&last), c.config)
		search := "<nil>"
		if last.Search != nil {
			search = *last.Search
		}
		asked := fmt.Sprintf("%s|%s|%s|%d", search, last.QueryType, last.SemanticQuery, len(last.VectorQueries))
		for _, v := range last.VectorQueries {
			asked += " " + v.Kind + " " + v.Text
		}
		if asked != c.asked || !strings.Contains(out, c.told) {
			t.Errorf("%s\nwant %s, %s\nhave %s, %s", c.config, c.asked, c.told, asked, out)
		}
	}
}

func TestWhatTheServiceRefusesIsTold(t *testing.T) {
	for config, want := range map[string]string{
		`, "index": "nothing"`: `"code":"not_found","message":"Azure AI Search answered 404 Not Found, and says \"The index 'nothing' for service 'weaving' was not found.\": ` +
			`check endpoint and index in the config: there is no index nothing"`,
		`, "api_version": "1999-01-01"`: `"code":"invalid_input"`,
	} {
		if out := run(t, service(&searchRequest{}), config); !strings.Contains(out, want) {
			t.Errorf("want %s\nhave %s", want, out)
		}
	}
}

func TestHostileServers(t *testing.T) {
	for name, c := range map[string]struct {
		handler http.HandlerFunc
		want    string
	}{
		"slow": {func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body) // else the server does not see that the client is gone
			<-r.Context().Done()
		}, `"code":"unavailable","message":"http://127.0.0.1:`},
		"endless": {func(w http.ResponseWriter, _ *http.Request) {
			for {
				if _, err := io.WriteString(w, `{"value":[`); err != nil {
					return
				}
			}
		}, `"code":"unavailable"`},
		"cut off": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000")
			_, _ = io.WriteString(w, `{"value":[`)
		}, `"code":"unavailable"`},
		"vectors without end": {func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"value":[{"@search.score":1,"id":"1","v":[`+strings.Repeat("0.25,", 150_000)+`1],"content":"x"}]}`)
		}, `{"extend_messages":[{"role":"user","text":"[handbook § 1]\nx"`},
		"more than was asked for": {func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"value":[`+strings.Repeat(`{"@search.score":1,"id":"1","content":"y"},`, 20_000)+`{"@search.score":1}]}`)
		}, strings.Repeat(`{"role":"user","text":"[handbook § 1]\ny","properties":{"id":"1","index":"handbook","score":1}},`, 4)},
		"a long text": {func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"value":[{"@search.score":1,"id":"1","content":"`+strings.Repeat("織", 300_000)+`"}]}`)
		}, `織…"`},
	} {
		t.Run(name, func(t *testing.T) {
			out := run(t, c.handler, ``)
			if !strings.Contains(out, c.want) || len(out) > 16_000 {
				t.Errorf("want %s\nhave %.300s", c.want, out)
			}
		})
	}
}
