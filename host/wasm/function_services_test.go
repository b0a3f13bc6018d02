package wasm_test

import (
	"bytes"
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/abi"
	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/index"
	"github.com/weft-run/weft/host/kv"
	"github.com/weft-run/weft/host/wasm"
)

// everyRight is what the host functions need.
var everyRight = wasm.Grants{
	Read: []string{"input", "response", "request", "context:*"}, KV: []string{"session", "agent"}, Events: []string{"emit", "request"},
	Complete: &abi.Budget{Calls: 100, Tokens: 100_000}, Embed: &abi.Budget{Calls: 100, Tokens: 100_000},
	Search: []abi.SearchGrant{{Index: "docs", Mode: "rw"}},
}

// everyService is what they stand on.
func everyService(t testing.TB) wasm.Services {
	t.Helper()
	store := kv.NewMemory(kv.Options{})
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	return wasm.Services{Model: &model{}, Embedder: lengths{}, KV: store, Indexes: map[string]*index.Index{"docs": newIndex(t)}}
}

// lengths embeds a text as its length.
type lengths struct{}

func (lengths) Embed(_ context.Context, r *host.EmbedRequest) (*host.EmbedResponse, error) {
	vectors := make([][]float32, len(r.Texts))
	for i, text := range r.Texts {
		vectors[i] = []float32{float32(len(text)), 0.5}
	}
	return &host.EmbedResponse{Vectors: vectors}, nil
}

// lockedBuffer is a log.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func (l *lockedBuffer) logger() *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }

// endsWithTheRun makes sure that a run whose plugin waits in a host function ends when its context does, and not before.
func endsWithTheRun(t *testing.T, p *wasm.Plugin, heard *answers) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	m := &model{}
	_, err := newAgent(t, m, p).Run(ctx, host.Text("hi"), host.RunConfig{})
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.Empty(t, heard.all(), "the plugin does not go on")
	require.Empty(t, m.requests)
	require.Equal(t, p.Stats().Idle, p.Stats().Live, "nothing of the call is left")
}

// Each function is called once and answers; TestMain fails where an answer does not meet the schema.
func TestTheAnswersOfEveryHostFunctionAreHeldAgainstTheSchema(t *testing.T) {
	before := held.Good()
	calls := []step{
		{"get_messages", `{"ranges":[{},{"part":"input"}]}`},
		{"kv_set", `{"scope":"agent","key":"a","value":1}`},
		{"kv_get", `{"scope":"agent","key":"a"}`},
		{"kv_list", `{"scope":"agent","values":true}`},
		{"kv_delete", `{"scope":"agent","key":"a"}`},
		{"complete", `{"messages":[{"role":"user","text":"a"}]}`},
		{"embed", `{"texts":["a","bb"]}`},
		{"index_put", `{"index":"docs","documents":[{"id":"1","text":"weft","url":"u","metadata":{"k":1}}]}`},
		{"search", `{"index":"docs","query":"weft"}`},
		{"index_delete", `{"index":"docs","ids":["1"]}`},
		{"emit", `{"name":"a"}`},
		{"request", `{"name":"a"}`},
	}
	asked(t, wasm.Config{Grants: everyRight, Services: everyService(t)}, calls, adding("docs", "a fact"))
	p, _ := around(t, script{"process": {next(``), out(`{}`)}}, abi.LayerChat, wasm.Config{})
	_, err := agentWith(t, &model{}, p.ForLayer()).Run(t.Context(), host.Text("hi"), host.RunConfig{})
	require.NoError(t, err)
	for _, function := range append(calls, next(``)) {
		require.Greater(t, held.Good()[function.function], before[function.function], function.function)
	}
}

// Every right whose service the host lacks is told at load, all together.
func TestRightsWithoutTheirServiceAreFaultsOfTheLoad(t *testing.T) {
	_, _, err := script{"before_run": {out(`{}`)}}.tryLoad(t, wasm.Config{
		Grants: wasm.Grants{
			Complete: &abi.Budget{Calls: 1, Tokens: 1}, Embed: &abi.Budget{Calls: 1, Tokens: 1},
			Search: []abi.SearchGrant{{Index: "docs"}, {Index: "dosc"}},
			HTTP:   []abi.HTTPGrant{{Origin: "https://api.example.com", Secrets: []string{"api"}}},
		},
		Services: wasm.Services{Indexes: map[string]*index.Index{"docs": newIndex(t), "wiki": newIndex(t), "gone": nil}},
	})
	var refused *wasm.LoadError
	require.ErrorAs(t, err, &refused)
	require.Len(t, refused.Faults, 4)
	for _, want := range []string{
		"grant: complete: this host has no model for its plugins: set Services.Model, or leave complete out of the grant",
		"grant: embed: this host has no model that embeds: set Services.Embedder",
		`grant: search/1: there is no index "dosc"; there is docs, wiki`,
		`grant: http[0].secrets[0]: there is no secret "api": give it a value`,
	} {
		require.ErrorContains(t, err, want)
	}

	_, _, err = script{"before_run": {out(`{}`)}}.tryLoad(t, wasm.Config{Grants: wasm.Grants{Search: []abi.SearchGrant{{Index: "docs"}}}})
	require.ErrorContains(t, err, `there is no index "docs"; there is none`)
}
