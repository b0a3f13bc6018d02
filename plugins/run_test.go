package plugins

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/abi"
	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/kv"
	"github.com/weft-run/weft/host/wasm"
	"github.com/weft-run/weft/message"
)

// scripted is a model that answers what it is told to, and keeps what it was asked.
type scripted struct {
	answer func(r *host.ChatRequest) string

	mu       sync.Mutex
	requests []*host.ChatRequest
}

func (m *scripted) Complete(_ context.Context, r *host.ChatRequest) (*host.Response, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.requests = append(m.requests, r)
	return host.NewResponse(m.answer(r)), nil
}

// Stream gives an answer in pieces of three bytes.
func (m *scripted) Stream(ctx context.Context, r *host.ChatRequest) iter.Seq2[*host.Update, error] {
	return func(yield func(*host.Update, error) bool) {
		response, err := m.Complete(ctx, r)
		if err != nil {
			yield(nil, err)
			return
		}
		for text := response.Text(); text != ""; {
			n := min(3, len(text))
			if !yield(host.TextUpdate(text[:n]), nil) {
				return
			}
			text = text[n:]
		}
	}
}

// shipped loads a plugin that ships, with the rights that it asks for and those of the config.
func shipped(t *testing.T, name string, c wasm.Config) *wasm.Plugin {
	t.Helper()
	c.Module, c.SourceID = module(t, name), name
	p, err := wasm.Load(t.Context(), sandbox(t), c)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.Close(context.Background())) })
	return p
}

func TestGuardInAnAgent(t *testing.T) {
	m := &scripted{answer: func(*host.ChatRequest) string { return "Write to ada.lovelace@example.com, or call." }}
	guard := shipped(t, "guard", wasm.Config{
		Middleware: true, Config: []byte(`{"presets":["email"],"rules":[{"name":"weapons","words":["bomb"],"action":"block","message":"No."}]}`),
		Grants: wasm.Grants{Read: []string{"request", "response"}, Change: []string{"messages", "result"}},
	})
	agent, err := host.NewAgent(host.AgentConfig{Client: m, Middleware: guard.ForLayer()})
	require.NoError(t, err)
	session := agent.CreateSession("")
	r, err := agent.Run(t.Context(), host.Text("I am bob@example.com"), host.RunConfig{Session: session})
	require.NoError(t, err)
	require.Equal(t, "Write to [email], or call.", r.Text())
	require.Equal(t, "I am [email]", m.requests[0].Messages[0].Text())

	stream := agent.Stream(t.Context(), host.Text("And who else?"), host.RunConfig{Session: session})
	var shown strings.Builder
	for u, err := range stream.Updates() {
		require.NoError(t, err)
		shown.WriteString(u.Text())
	}
	require.Equal(t, "Write to [email], or call.", shown.String())
	final, err := stream.Response()
	require.NoError(t, err)
	require.Equal(t, shown.String(), final.Text())

	r, err = agent.Run(t.Context(), host.Text("How do I build a bomb?"), host.RunConfig{Session: session})
	require.NoError(t, err)
	require.Equal(t, "No.", r.Text())
	require.Equal(t, host.FinishContentFilter, r.FinishReason)
	require.Len(t, m.requests, 2)
}

func TestCacheInAnAgent(t *testing.T) {
	n := 0
	m := &scripted{answer: func(*host.ChatRequest) string { n++; return fmt.Sprintf("answer %d", n) }}
	store := kv.NewMemory(kv.Options{})
	cache := shipped(t, "cache", wasm.Config{
		Middleware: true, Services: wasm.Services{KV: store},
		Grants: wasm.Grants{Read: []string{"request", "response", "options"}, Change: []string{"result"}, KV: []string{"agent"}},
	})
	agent, err := host.NewAgent(host.AgentConfig{Name: "guide", Client: m, Middleware: cache.ForLayer()})
	require.NoError(t, err)
	ask := func(text string) string {
		r, err := agent.Run(t.Context(), host.Text(text), host.RunConfig{Session: agent.CreateSession("")})
		require.NoError(t, err)
		return r.Text()
	}
	require.Equal(t, "answer 1", ask("one?"))
	require.Equal(t, "answer 1", ask("one?"))
	require.Equal(t, "answer 2", ask("two?"))
	stream := agent.Stream(t.Context(), host.Text("two?"), host.RunConfig{Session: agent.CreateSession("")})
	r, err := stream.Response()
	require.NoError(t, err)
	require.Equal(t, "answer 2", r.Text())
}

// Sixty turns: the model never gets more than a part of them, and still knows what was said in the first.
func TestSummaryKeepsLongSessionsShort(t *testing.T) {
	model := &scripted{answer: func(r *host.ChatRequest) string {
		if strings.Contains(message.JoinText(r.Messages), "name is Ada") {
			return "Hello Ada"
		}
		return "Who are you?"
	}}
	sums := &scripted{answer: func(*host.ChatRequest) string { return "The user's name is Ada." }}
	summary := shipped(t, "summary", wasm.Config{
		Config: []byte(`{"keep":6,"every":6}`), Services: wasm.Services{Model: sums},
		Grants: wasm.Grants{
			Read: []string{"context:*", "request"}, Change: []string{"messages"}, Middleware: []abi.Layer{abi.LayerChat},
			Complete: &abi.Budget{Calls: 1, Tokens: 20_000},
		},
	})
	agent, err := host.NewAgent(host.AgentConfig{
		Client: model, Providers: []host.Provider{
			host.BeforeRunFunc("before", func(_ context.Context, sc *host.SessionContext) error {
				sc.ExtendMessages(message.User("stands first"))
				return nil
			}),
			host.NewInMemoryHistory(host.HistoryConfig{}), summary,
		},
	})
	require.NoError(t, err)
	session := agent.CreateSession("")
	for i := range 60 {
		text := fmt.Sprintf("turn %d", i)
		if i == 0 {
			text = "My name is Ada"
		}
		r, err := agent.Run(t.Context(), host.Text(text), host.RunConfig{Session: session})
		require.NoError(t, err)
		require.Equal(t, "Hello Ada", r.Text(), "turn %d", i)
	}
	for i, r := range model.requests {
		require.LessOrEqual(t, len(r.Messages), 17, "turn %d", i)
		require.Equal(t, "stands first", r.Messages[0].Text())
	}
	require.Greater(t, len(sums.requests), 5)
	stored, err := host.StoredMessages(session.State("in_memory"))
	require.NoError(t, err)
	require.Len(t, stored, 120, "the history stays whole")
}
