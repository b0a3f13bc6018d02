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

// BenchmarkSession saves and restores a session of 10,000 messages: save encodes all of them, save=turn what one turn added
// since the session was saved last; restore is RestoreSession alone, and save+restore goes on to the messages themselves;
// save+restore+run has a run load them besides.
func BenchmarkSession(b *testing.B) {
	const size = 10_000
	session := benchSession(b, size)
	save := func(b *testing.B) []byte {
		b.Helper()
		data, err := session.MarshalJSON()
		if err != nil {
			b.Fatal(err)
		}
		return data
	}
	restore := func(b *testing.B, data []byte) *host.Session {
		b.Helper()
		restored, err := host.RestoreSession(data)
		if err != nil {
			b.Fatal(err)
		}
		return restored
	}
	b.Run("save", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			benchForget(b, session)
			save(b)
		}
	})
	b.Run("save=turn", func(b *testing.B) {
		agent := benchHistoryAgent(b)
		state := session.State(host.DefaultHistoryID)
		stored, err := host.StoredMessages(state)
		if err != nil {
			b.Fatal(err)
		}
		save(b)
		b.ReportAllocs()
		for b.Loop() {
			benchTurn(b, agent, session)
			save(b)
		}
		if err := host.EditStoredMessages(state, func([]*message.Message) []*message.Message { return stored }); err != nil {
			b.Fatal(err)
		}
	})
	b.Run("restore", func(b *testing.B) {
		data := save(b)
		b.ReportAllocs()
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			restore(b, data)
		}
	})
	b.Run("save+restore", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			benchForget(b, session)
			messages, err := host.StoredMessages(restore(b, save(b)).State(host.DefaultHistoryID))
			if err != nil || len(messages) != size {
				b.Fatal(len(messages), err)
			}
		}
	})
	b.Run("save+restore+run", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			benchForget(b, session)
			restored := restore(b, save(b))
			agent := newBenchAgent(b, host.NewInMemoryHistory(host.HistoryConfig{}))
			if _, err := agent.Run(b.Context(), nil, host.RunConfig{Session: restored}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// benchForget makes the session forget that its messages were ever encoded: another message takes the last one's place.
func benchForget(b *testing.B, session *host.Session) {
	b.Helper()
	err := host.EditStoredMessages(session.State(host.DefaultHistoryID), func(stored []*message.Message) []*message.Message {
		last := len(stored) - 1
		return append(stored[:last:last], stored[last].Clone())
	})
	if err != nil {
		b.Fatal(err)
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
	agent := benchHistoryAgent(b)
	session := agent.CreateSession("")
	for range n / 2 {
		benchTurn(b, agent, session)
	}
	return session
}

// benchHistoryAgent answers at once and keeps the conversation.
func benchHistoryAgent(b *testing.B) *host.Agent {
	b.Helper()
	agent, err := host.NewAgent(host.AgentConfig{Client: &quick{}})
	if err != nil {
		b.Fatal(err)
	}
	return agent
}

// benchTurn adds a question and its answer to a session.
func benchTurn(b *testing.B, agent *host.Agent, session *host.Session) {
	b.Helper()
	if _, err := agent.Run(b.Context(), host.Text("a question of some length, as people ask them"), host.RunConfig{Session: session}); err != nil {
		b.Fatal(err)
	}
}
