package middleware_test

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"iter"
	"log/slog"
	"sync"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/message"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// model is a client whose calls the test answers: with updates, an error after them, and a moment before each.
type model struct {
	mu       sync.Mutex
	requests []*host.ChatRequest
	reply    func(ctx context.Context, n int, r *host.ChatRequest, yield func(*host.Update) bool) error
}

func (m *model) begin(r *host.ChatRequest) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.requests = append(m.requests, r)
	return len(m.requests)
}

func (m *model) calls() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.requests)
}

// Complete adds the updates up as the host does: neighbouring texts of one message are one.
func (m *model) Complete(ctx context.Context, r *host.ChatRequest) (*host.Response, error) {
	response := &host.Response{}
	err := m.reply(ctx, m.begin(r), r, func(u *host.Update) bool {
		if u.Usage != nil {
			response.Usage = u.Usage
		}
		response.ID, response.Model = cmp.Or(u.ResponseID, response.ID), cmp.Or(u.Model, response.Model)
		response.FinishReason = cmp.Or(u.FinishReason, response.FinishReason)
		for _, c := range u.Contents {
			last := len(response.Messages) - 1
			if last < 0 || response.Messages[last].ID != u.MessageID {
				response.Messages = append(response.Messages, &message.Message{Role: message.RoleAssistant, ID: u.MessageID})
				last++
			}
			into := response.Messages[last]
			if n := len(into.Contents); n > 0 {
				if joined := join(into.Contents[n-1], c); joined != nil {
					into.Contents[n-1] = joined
					continue
				}
			}
			into.Contents = append(into.Contents, c)
		}
		return true
	})
	if err != nil {
		return nil, err
	}
	return response, nil
}

// join is two texts, or two reasonings, as one; nil for anything else.
func join(a, b message.Content) message.Content {
	switch a := a.(type) {
	case message.Text:
		if b, ok := b.(message.Text); ok {
			return message.Text{Text: a.Text + b.Text}
		}
	case message.Reasoning:
		if b, ok := b.(message.Reasoning); ok {
			return message.Reasoning{Text: a.Text + b.Text}
		}
	}
	return nil
}

func (m *model) Stream(ctx context.Context, r *host.ChatRequest) iter.Seq2[*host.Update, error] {
	return func(yield func(*host.Update, error) bool) {
		more := true
		err := m.reply(ctx, m.begin(r), r, func(u *host.Update) bool {
			more = more && yield(u, nil)
			return more
		})
		if err != nil && more {
			yield(nil, err)
		}
	}
}

// says is a model that gives the same text pieces in each call.
func says(pieces ...string) *model {
	return &model{reply: func(_ context.Context, _ int, _ *host.ChatRequest, yield func(*host.Update) bool) error {
		for _, piece := range pieces {
			if !yield(host.TextUpdate(piece)) {
				return nil
			}
		}
		return nil
	}}
}

// call is one tool call that a model asks for.
type call struct{ tool, arguments string }

// script is a model that asks for one batch of calls after the other, and then says "done".
func script(rounds ...[]call) *model {
	return &model{reply: func(_ context.Context, n int, _ *host.ChatRequest, yield func(*host.Update) bool) error {
		if n > len(rounds) {
			yield(host.TextUpdate("done"))
			return nil
		}
		u := &host.Update{Role: message.RoleAssistant}
		for i, c := range rounds[n-1] {
			u.Contents = append(u.Contents, message.FunctionCall{
				CallID: fmt.Sprintf("%d.%d", n, i), Name: c.tool, Arguments: jsontext.Value(c.arguments),
			})
		}
		yield(u)
		return nil
	}}
}

// again is n rounds of one call.
func again(n int, c call) [][]call {
	var rounds [][]call
	for range n {
		rounds = append(rounds, []call{c})
	}
	return rounds
}

// tool is a tool made of a Go function.
type tool struct {
	name string
	run  func(ctx context.Context, arguments jsontext.Value) (jsontext.Value, error)
}

func (t *tool) Definition() host.ToolDefinition { return host.ToolDefinition{Name: t.name} }

func (t *tool) Call(ctx context.Context, arguments jsontext.Value) (jsontext.Value, error) {
	return t.run(ctx, arguments)
}

// counting is a tool that succeeds, and how often it ran.
func counting(name string) (*tool, func() int) {
	var mu sync.Mutex
	n := 0
	t := &tool{name, func(context.Context, jsontext.Value) (jsontext.Value, error) {
		mu.Lock()
		defer mu.Unlock()
		n++
		return jsontext.Value(`"ok"`), nil
	}}
	return t, func() int {
		mu.Lock()
		defer mu.Unlock()
		return n
	}
}

func failing(name string, err error) *tool {
	return &tool{name, func(context.Context, jsontext.Value) (jsontext.Value, error) { return nil, err }}
}

func newAgent(t testing.TB, c host.AgentConfig) *host.Agent {
	t.Helper()
	if c.Client == nil {
		c.Client = says("done")
	}
	agent, err := host.NewAgent(c)
	require.NoError(t, err)
	return agent
}

// run runs an agent in either way. Streamed, it also returns the updates that came.
func run(t testing.TB, agent *host.Agent, streaming bool, input string, c host.RunConfig) (*host.Response, []*host.Update, error) {
	t.Helper()
	if !streaming {
		r, err := agent.Run(t.Context(), host.Text(input), c)
		return r, nil, err
	}
	stream := agent.Stream(t.Context(), host.Text(input), c)
	var updates []*host.Update
	for u, err := range stream.Updates() {
		if err == nil {
			updates = append(updates, u)
		}
	}
	r, err := stream.Response()
	return r, updates, err
}

// bothWays is a test of a run and of a stream.
func bothWays(t *testing.T, f func(t *testing.T, streaming bool)) {
	t.Helper()
	t.Run("run", func(t *testing.T) { f(t, false) })
	t.Run("stream", func(t *testing.T) { f(t, true) })
}

// results are the texts of a response's tool results in order.
func results(r *host.Response) []string {
	var out []string
	for _, m := range r.Messages {
		for _, c := range m.Contents {
			if result, ok := c.(message.FunctionResult); ok {
				fc := host.FunctionContext{Result: result.Result}
				out = append(out, fc.Text())
			}
		}
	}
	return out
}

func textOf(updates []*host.Update) string {
	var b bytes.Buffer
	for _, u := range updates {
		b.WriteString(u.Text())
	}
	return b.String()
}

// logs is a logger and what it wrote.
func logs(level slog.Level) (*slog.Logger, *safeBuffer) {
	b := &safeBuffer{}
	return slog.New(slog.NewJSONHandler(b, &slog.HandlerOptions{Level: level})), b
}

type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *safeBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *safeBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}
