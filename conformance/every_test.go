package conformance_test

import (
	"context"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/abi"
	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/index"
	"github.com/weft-run/weft/host/wasm"
	"github.com/weft-run/weft/host/wasm/egress"
	"github.com/weft-run/weft/host/wasm/engine"
	"github.com/weft-run/weft/message"
)

// A plugin that uses all of the contract sees and does through package pdk what the contract says: one streamed run, whose
// second model call follows a call of the plugin's own tool.
func TestAPluginThatUsesAllOfTheContract(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("X-Kind", "echo")
		w.WriteHeader(http.StatusTeapot)
		_, _ = io.WriteString(w, r.Method+" "+r.URL.Path+" "+r.Header.Get("Authorization")+" "+string(body))
	}))
	defer server.Close()
	client := &talker{}
	plugin, heard := loadEvery(t, server.URL, client)

	agent, err := host.NewAgent(host.AgentConfig{
		Name: "guide", Client: client, Options: host.Options{Seed: new(7)},
		Providers: []host.Provider{host.NewInMemoryHistory(host.HistoryConfig{}), plugin},
	})
	require.NoError(t, err)
	session, err := host.RestoreSession([]byte(`{"type":"session","session_id":"s","service_session_id":null,"state":{` +
		`"every":{"old":true},"in_memory":{"messages":[{"role":"user","text":"earlier"},{"role":"assistant","text":"indeed"}]}}}`))
	require.NoError(t, err)

	var pieces []string
	stream := agent.Stream(t.Context(), host.Text("hi"), host.RunConfig{Session: session})
	for u, err := range stream.Updates() {
		require.NoError(t, err)
		switch {
		case u.Event != nil:
			pieces = append(pieces, "event "+u.Event.SourceID+" "+u.Event.Name+" "+string(u.Event.Data))
			if u.Event.Name == "sure" {
				require.NoError(t, u.Event.Answer(map[string]bool{"yes": true}))
			}
		case u.Text() != "":
			pieces = append(pieces, u.Text())
		}
	}
	response, err := stream.Response()
	require.NoError(t, err)
	require.Equal(t, []string{
		`event every progress {"done":0.5}`, `event every sure "really?"`, "event every nobody null", "!", "DO", "NE", "!",
	}, pieces)
	require.True(t, strings.HasSuffix(response.Text(), "DONE!"), response.Text())

	require.Equal(t, []string{
		"init session,agent emit,request 1 KEY rw",
		`migrate_state 0 2 {"old":true}`,
		`before_run {"calls":10}`,
		"context in_memory 2 2 indeed",
		"page 1 0 1", "page 1 1 2", "page 2 0 2",
		"response before the run not_found",
		"messages of another denied",
		`kv conflict true true {"n":3} true`,
		`kv all a/1 {"n":3}`, `kv all a/2 "two"`,
		"kv list 1 true false true false",
		"model be brief: and you? 3 limit 2 3 0.5",
		`index 1 warp Warp The warp is held in tension. https://example.com/warp {"n":1} true 1 denied`,
		`events true {"yes":true} false`,
		"notes earlier,run true",
		"http 418 echo POST /v1/echo Bearer [hidden] the body",
		"before_iteration 1 3",
		`process shout {"mark":"!"} true 3 count 7 hi`,
		"on_update chat shout 2",
		"process after next !",
		`before_tools 2 count {"by":5}`,
		"before_function c1 every", "before_function blocked every",
		`call_tool c1 {"by":5} {"base":100} {"calls":10}`,
		`after_function c1 {"calls":15} `, "after_function blocked not this one ",
		"after_iteration 1 2 !",
		"before_iteration 2 5",
		`process shout {"mark":"!"} true 5 count 7 `,
		"on_update chat shout 4",
		"process after next DONE!",
		"after_iteration 2 0 DONE!",
		`after_run {"calls":15} 2 !DONE!`,
	}, heard.all())

	require.Len(t, client.requests, 2)
	for _, r := range client.requests {
		require.Equal(t, "be loud", r.Messages[0].Text())
		require.Equal(t, "every", r.Messages[0].SourceID)
		require.InDelta(t, 0.5, *r.Options.Temperature, 0)
	}
	results := client.requests[1].Messages[len(client.requests[1].Messages)-1].Contents
	require.JSONEq(t, `"{\"calls\":15}?"`, string(results[0].(message.FunctionResult).Result))
	require.JSONEq(t, `"not this one?"`, string(results[1].(message.FunctionResult).Result))
	state, err := session.State("every").Raw()
	require.NoError(t, err)
	require.JSONEq(t, `{"calls":15}`, string(state))
}

// loadEvery builds and loads guests/every.
func loadEvery(t *testing.T, url string, model host.ChatClient) (*wasm.Plugin, *lines) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "every.wasm")
	require.NoError(t, noteSources(filepath.Join("guests", "every"), filepath.Join("..", "pdk", "go")))
	require.NoError(t, buildGuest(t.Context(), "every", out))
	module, err := os.ReadFile(out)
	require.NoError(t, err)
	notes := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(notes, "runs.txt"), []byte("earlier\n"), 0o600))
	documents, err := index.Open(t.Context(), "", index.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, documents.Close()) })
	e := engine.New(engine.Options{})
	t.Cleanup(func() { require.NoError(t, e.Close(context.Background())) })
	heard := &lines{}
	plugin, err := wasm.Load(t.Context(), e, wasm.Config{
		Module: module, Config: []byte(`{"url":"` + url + `"}`), OnLog: heard.add,
		Grants: wasm.Grants{
			Read: []string{"input", "response", "context:in_memory", "request", "calls", "options", "metadata"},
			Add:  abi.Additions, Roles: message.Roles, Change: abi.Changes, Middleware: []abi.Layer{abi.LayerChat}, KV: abi.Scopes,
			Complete: &abi.Budget{Calls: 1, Tokens: 1000}, Embed: &abi.Budget{Calls: 1, Tokens: 1000},
			Search: []abi.SearchGrant{{Index: "docs", Mode: "rw"}}, Events: abi.EventKind,
			HTTP:  []abi.HTTPGrant{{Origin: url, Methods: []string{"POST"}, Secrets: []string{"KEY"}, Private: true}},
			Files: []wasm.Folder{{Host: notes, Guest: "/notes", Mode: "rw"}},
		},
		Secrets:  map[string]egress.Secret{"KEY": egress.NewSecret("sk-not-for-plugins")},
		Services: wasm.Services{Model: model, Embedder: lengths{}, Indexes: map[string]*index.Index{"docs": documents}},
		Limits:   wasm.Limits{Start: engine.Unlimited, Init: engine.Unlimited, CPU: engine.Unlimited, CallTool: engine.Unlimited},
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, plugin.Close(context.Background())) })
	return plugin, heard
}

// talker calls a tool twice at once, and then is done. What it is asked as a whole it repeats.
type talker struct{ requests []*host.ChatRequest }

func (m *talker) Complete(_ context.Context, r *host.ChatRequest) (*host.Response, error) {
	out := host.NewResponse(r.Instructions + ": " + r.Messages[0].Text())
	out.Usage = &host.Usage{InputTokens: 3, OutputTokens: 4}
	return out, nil
}

func (m *talker) Stream(_ context.Context, r *host.ChatRequest) iter.Seq2[*host.Update, error] {
	m.requests = append(m.requests, r)
	pieces := []*host.Update{
		host.TextUpdate("uh "),
		{Role: message.RoleAssistant, Contents: []message.Content{
			message.FunctionCall{CallID: "c1", Name: "count", Arguments: []byte(`{"by":5}`)},
			message.FunctionCall{CallID: "blocked", Name: "count"},
		}},
	}
	if len(m.requests) == 2 {
		pieces = []*host.Update{host.TextUpdate("uh "), host.TextUpdate("do"), host.TextUpdate("ne"), {FinishReason: host.FinishStop}}
	}
	return func(yield func(*host.Update, error) bool) {
		for _, u := range pieces {
			if !yield(u, nil) {
				return
			}
		}
	}
}

// lengths embeds a text as its length.
type lengths struct{}

func (lengths) Embed(_ context.Context, r *host.EmbedRequest) (*host.EmbedResponse, error) {
	out := &host.EmbedResponse{}
	for _, text := range r.Texts {
		out.Vectors = append(out.Vectors, []float32{float32(len(text)), 0.5})
	}
	return out, nil
}

// lines are what a plugin logged.
type lines struct {
	mu   sync.Mutex
	list []string
}

func (l *lines) add(_, text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = append(l.list, text)
}

func (l *lines) all() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string(nil), l.list...)
}
