package host_test

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/message"
)

// BenchmarkRun is a run with five native providers, two chat middleware and one tool round, against a model that answers
// at once, with history of different lengths; the last one over 64 sessions at the same time.
func BenchmarkRun(b *testing.B) {
	for _, n := range []int{10, 1_000, 10_000} {
		b.Run(fmt.Sprintf("history=%d", n), func(b *testing.B) {
			agent, session := benchAgent(b), benchSession(b, n)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := agent.Run(b.Context(), host.Text("hi"), host.RunConfig{Session: session}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("history=10/sessions=64", func(b *testing.B) {
		agent := benchAgent(b)
		var sessions []*host.Session
		for range 64 {
			sessions = append(sessions, benchSession(b, 10))
		}
		b.ReportAllocs()
		b.ResetTimer()
		var wg sync.WaitGroup
		for _, s := range sessions {
			wg.Go(func() {
				for range b.N/64 + 1 {
					if _, err := agent.Run(b.Context(), host.Text("hi"), host.RunConfig{Session: s}); err != nil {
						b.Error(err)
						return
					}
				}
			})
		}
		wg.Wait()
	})
}

// BenchmarkSession saves and restores a session of 10,000 messages.
func BenchmarkSession(b *testing.B) {
	session := benchSession(b, 10_000)
	b.ReportAllocs()
	for b.Loop() {
		data, err := session.MarshalJSON()
		if err != nil {
			b.Fatal(err)
		}
		restored, err := host.RestoreSession(data)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := newBenchAgent(b, host.NewInMemoryHistory(host.HistoryConfig{})).Run(b.Context(), nil, host.RunConfig{Session: restored}); err != nil {
			b.Fatal(err)
		}
	}
}

// quick calls the tool once and answers then.
type quick struct{ echo }

func (*quick) Complete(_ context.Context, r *host.ChatRequest) (*host.Response, error) {
	if len(r.Tools) == 0 || r.Messages[len(r.Messages)-1].Role == message.RoleTool {
		return host.NewResponse("ok"), nil
	}
	return calls("t"), nil
}

func benchAgent(b *testing.B) *host.Agent {
	// The history stores nothing, so that it has the same length in each run.
	providers := []host.Provider{host.NewInMemoryHistory(host.HistoryConfig{SkipInputs: true, SkipOutputs: true})}
	for _, id := range []string{"a", "b", "c", "d"} {
		providers = append(providers, host.BeforeRunFunc(id, func(_ context.Context, sc *host.SessionContext) error {
			sc.ExtendMessages(message.User("context"))
			return nil
		}))
	}
	return newBenchAgent(b, providers...)
}

func newBenchAgent(b *testing.B, providers ...host.Provider) *host.Agent {
	b.Helper()
	pass := host.ChatFunc(func(ctx context.Context, _ *host.ChatContext, next host.Next) error { return next(ctx) })
	agent, err := host.NewAgent(host.AgentConfig{
		Client: &quick{}, Tools: []host.Tool{saying("t")}, Providers: providers, Logger: slog.New(slog.DiscardHandler),
		Middleware: host.Middleware{Chat: []host.ChatMiddleware{pass, pass}},
	})
	if err != nil {
		b.Fatal(err)
	}
	return agent
}

// benchSession holds n messages of history.
func benchSession(b *testing.B, n int) *host.Session {
	b.Helper()
	agent, err := host.NewAgent(host.AgentConfig{Client: &quick{}})
	if err != nil {
		b.Fatal(err)
	}
	session := agent.CreateSession("")
	for range n / 2 {
		if _, err := agent.Run(b.Context(), host.Text("a question of some length, as people ask them"), host.RunConfig{Session: session}); err != nil {
			b.Fatal(err)
		}
	}
	return session
}
