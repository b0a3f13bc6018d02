package structured_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/structured"
	"github.com/weft-run/weft/message"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type forecast struct {
	City    string `json:"city"`
	Degrees int    `json:"degrees"`
}

const good = `{"city":"Oslo","degrees":3}`

// scripted gives one reply after the other, and streams each in small pieces.
type scripted struct {
	mu       sync.Mutex
	replies  []*host.Response
	requests []host.ChatRequest
	fail     error
}

func (s *scripted) Complete(_ context.Context, r *host.ChatRequest) (*host.Response, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, *r)
	if len(s.replies) == 0 {
		return nil, errors.Join(s.fail, errors.New("the script is over"))
	}
	reply := s.replies[0]
	s.replies = s.replies[1:]
	return reply, nil
}

func (s *scripted) Stream(ctx context.Context, r *host.ChatRequest) iter.Seq2[*host.Update, error] {
	return func(yield func(*host.Update, error) bool) {
		reply, err := s.Complete(ctx, r)
		if err != nil {
			yield(nil, err)
			return
		}
		for _, m := range reply.Messages {
			for _, c := range m.Contents {
				pieces := []message.Content{c}
				if text, ok := c.(message.Text); ok {
					pieces = nil
					for piece := range strings.SplitAfterSeq(text.Text, ",") {
						pieces = append(pieces, message.Text{Text: piece})
					}
				}
				for _, piece := range pieces {
					if !yield(&host.Update{Role: m.Role, Contents: []message.Content{piece}}, nil) {
						return
					}
				}
			}
		}
		yield(&host.Update{FinishReason: reply.FinishReason, Usage: reply.Usage, ConversationID: reply.ConversationID}, nil)
	}
}

func says(text string) *host.Response {
	r := host.NewResponse(text)
	r.Usage = &host.Usage{InputTokens: 10, OutputTokens: 3, CachedInputTokens: 2, ReasoningTokens: 1}
	return r
}

func finished(text string, reason host.FinishReason) *host.Response {
	r := says(text)
	r.FinishReason = reason
	return r
}

func newAgent(t testing.TB, c host.AgentConfig) *host.Agent {
	t.Helper()
	c.Logger = slog.New(slog.DiscardHandler)
	agent, err := host.NewAgent(c)
	require.NoError(t, err)
	return agent
}

// outcome is what a run came to, and what its consumer saw where it was streamed.
type outcome struct {
	value    forecast
	response *host.Response
	err      error
	shown    string
	usage    host.Usage
}

// ask runs an agent in one of two ways that must come to the same.
func ask(t *testing.T, agent *host.Agent, streamed bool, c host.RunConfig, o structured.Config) (out outcome) {
	t.Helper()
	if !streamed {
		out.value, out.response, out.err = structured.Run[forecast](t.Context(), agent, host.Text("How warm?"), c, o)
		return out
	}
	m, err := structured.Middleware[forecast](o)
	require.NoError(t, err)
	c.Middleware.Chat = append([]host.ChatMiddleware{m}, c.Middleware.Chat...)
	stream := agent.Stream(t.Context(), host.Text("How warm?"), c)
	for u, err := range stream.Updates() {
		if err == nil {
			out.shown += u.Text()
			if u.Usage != nil {
				out.usage.InputTokens += u.Usage.InputTokens
				out.usage.OutputTokens += u.Usage.OutputTokens
			}
		}
	}
	if out.response, out.err = stream.Response(); out.err == nil {
		out.value, out.err = structured.Decode[forecast](out.response)
	}
	return out
}

func both(t *testing.T, f func(t *testing.T, streamed bool)) {
	for _, streamed := range []bool{false, true} {
		t.Run(fmt.Sprintf("streamed=%t", streamed), func(t *testing.T) { f(t, streamed) })
	}
}
