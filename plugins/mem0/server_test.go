package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weft-run/weft/pdk/go/pdktest"
)

// ids are whose memories something is about.
type ids struct {
	User  string `json:"user_id,omitempty"`
	Agent string `json:"agent_id,omitempty"`
	App   string `json:"app_id,omitempty"`
	Run   string `json:"run_id,omitempty"`
}

// fits reports whether a memory is one that a filter asks for.
func (kept ids) fits(asked ids) bool {
	same := func(asked, kept string) bool { return asked == "" || asked == kept || asked == "*" }
	return same(asked.User, kept.User) && same(asked.Agent, kept.Agent) && same(asked.App, kept.App) && same(asked.Run, kept.Run)
}

// service takes what Mem0's platform takes, and remembers what users said, at once and word for word.
type service struct {
	memories []remembered
}

type remembered struct {
	ids
	ID     string  `json:"id"`
	Memory string  `json:"memory"`
	Score  float64 `json:"score"`
}

func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	switch {
	case r.Header.Get("Authorization") != "Token {{secret.api_key}}": // which a host replaces
		says(w, http.StatusUnauthorized, map[string]any{"detail": "Invalid API key."})
	case r.Method != http.MethodPost:
		says(w, http.StatusMethodNotAllowed, map[string]any{"detail": "Method not allowed."})
	case r.URL.Path == "/v3/memories/add/":
		s.add(w, d)
	case r.URL.Path == "/v3/memories/search/":
		s.search(w, d)
	default:
		http.NotFound(w, r)
	}
}

func (s *service) add(w http.ResponseWriter, d *json.Decoder) {
	var in struct {
		ids
		Messages []struct{ Role, Content string } `json:"messages"`
		Infer    *bool                            `json:"infer"`
	}
	if d.Decode(&in) != nil || len(in.Messages) == 0 || in.ids == (ids{}) {
		says(w, http.StatusBadRequest, map[string]any{"error": "400 Bad Request", "details": map[string]any{"message": "Invalid input data."}})
		return
	}
	for _, m := range in.Messages {
		if m.Role != "user" {
			continue
		}
		kept := remembered{ID: fmt.Sprint(len(s.memories)), Memory: m.Content, Score: 0.9}
		// What is known of a user is kept apart from what is known of an agent.
		if in.User != "" {
			kept.ids = ids{User: in.User, App: in.App, Run: in.Run}
			s.memories = append(s.memories, kept)
		}
		if in.Agent != "" {
			kept.ids = ids{Agent: in.Agent, App: in.App, Run: in.Run}
			s.memories = append(s.memories, kept)
		}
	}
	says(w, http.StatusOK, map[string]any{"message": "Memory processing has been queued", "status": "PENDING", "event_id": "e1"})
}

func (s *service) search(w http.ResponseWriter, d *json.Decoder) {
	var in struct {
		Query     string `json:"query"`
		Filters   struct{ AND []ids }
		TopK      int      `json:"top_k"`
		Threshold *float64 `json:"threshold"`
		Rerank    *bool    `json:"rerank"`
	}
	if d.Decode(&in) != nil || in.Query == "" || len(in.Filters.AND) == 0 || in.TopK < 1 {
		says(w, http.StatusBadRequest, map[string]any{"error": "At least one entity ID is required in filters."})
		return
	}
	found := []remembered{}
	for _, m := range s.memories {
		if !slices.ContainsFunc(in.Filters.AND, func(asked ids) bool { return !m.fits(asked) }) {
			found = append(found, m)
		}
	}
	says(w, http.StatusOK, map[string]any{"results": found})
}

func says(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

// agent is an agent with the plugin before a server.
type agent struct {
	host   pdktest.Host
	url    string
	config string
}

func newAgent(t *testing.T, handler http.Handler, config string) *agent {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	client := server.Client()
	client.Timeout = time.Second
	return &agent{host: pdktest.Host{HTTP: pdktest.Through(client)}, url: server.URL, config: config}
}

// says is one run: what the user says is searched for and then remembered. It returns what was recalled.
func (a *agent) says(t *testing.T, session, text string) string {
	t.Helper()
	common := fmt.Sprintf(`"run": {"run_id": "r", "agent": "guide", "session_id": %q}, "config": {"endpoint": %q, "context_prompt": "", %s},
		"input": [{"role": "user", "text": %q}]`, session, a.url, a.config, text)
	out := a.host.Call(t, beforeRun, `{"hook": "before_run", `+common+`}`)
	a.host.Call(t, afterRun, `{"hook": "after_run", `+common+`, "response": {"messages": [{"role": "assistant", "text": "Noted."}]}}`)
	var told struct {
		Messages []struct{ Text string } `json:"extend_messages"`
	}
	if err := json.Unmarshal([]byte(out), &told); err != nil || len(told.Messages) > 1 {
		t.Fatalf("%s: %v", out, err)
	}
	if told.Messages == nil {
		return ""
	}
	return told.Messages[0].Text
}

func TestWhatWasSaidIsRecalledToTheSameUserAlone(t *testing.T) {
	a := newAgent(t, &service{}, `"user_id": "{session_id}"`)
	for _, c := range []struct{ session, says, recalled string }{
		{"alice", "I am a vegetarian.", ""},
		{"bob", "I eat everything.", ""},
		{"alice", "What can I eat?", "- I am a vegetarian."},
		{"bob", "What can I eat?", "- I eat everything."},
		{"carol", "What can I eat?", ""},
	} {
		if have := a.says(t, c.session, c.says); have != c.recalled {
			t.Errorf("%s says %q: want %q, have %q", c.session, c.says, c.recalled, have)
		}
	}
}

func TestAUserAndAnAgentAreSearchedForEachAlone(t *testing.T) {
	s := &service{}
	a := newAgent(t, s, `"user_id": "{session_id}", "agent_id": "guide", "app_id": "shop"`)
	a.says(t, "alice", "I am a vegetarian.")
	if have := a.says(t, "bob", "Hello."); have != "- I am a vegetarian." {
		t.Errorf("the agent knows it: %q", have)
	}
	a.config = `"user_id": "{session_id}", "app_id": "shop"`
	if have := a.says(t, "bob", "Hello again."); have != "- Hello." {
		t.Errorf("without the agent a user knows what that user said: %q", have)
	}
	a.config = `"user_id": "{session_id}", "app_id": "another"`
	if have := a.says(t, "alice", "Hello."); have != "" {
		t.Errorf("another application has memories of its own: %q", have)
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
				if _, err := io.WriteString(w, `{"results":[`); err != nil {
					return
				}
			}
		}, `"code":"unavailable"`},
		"cut off": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000")
			_, _ = io.WriteString(w, `{"results":[]}`)
		}, `"code":"unavailable"`},
		"very many": {func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"results":[`)
			for i := range 5000 {
				fmt.Fprintf(w, `{"id":"%d","memory":"memory number %d"},`, i, i)
			}
			_, _ = io.WriteString(w, `{}]}`)
		}, `- memory number 8\n- memory number 9"`},
		"very long": {func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"results":[{"id":"1","memory":"`+strings.Repeat("x\\n", 200_000)+`"}]}`)
		}, `- x x x`},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAgent(t, c.handler, "")
			out := a.host.Run(beforeRun, fmt.Sprintf(
				`{"hook": "before_run", "config": {"endpoint": %q, "user_id": "a"}, "input": [{"role": "user", "text": "hi"}]}`, a.url)).Output
			if !strings.Contains(out, c.want) || len(out) > 9000 {
				t.Errorf("want %s\nhave %d bytes: %.300s", c.want, len(out), out)
			}
		})
	}
}
