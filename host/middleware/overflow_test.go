package middleware_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/compaction"
	"github.com/weft-run/weft/host/middleware"
	"github.com/weft-run/weft/message"
)

// forgetful is a model that reads so many messages and no more.
func forgetful(most int) *model {
	return &model{reply: func(_ context.Context, _ int, r *host.ChatRequest, yield func(*host.Update) bool) error {
		if len(r.Messages) > most {
			return modelError(host.ErrContextLength)
		}
		yield(host.TextUpdate("done"))
		return nil
	}}
}

// talked is an agent's history of so many messages, with the last of which as the run's own question.
func talked(n int) []*message.Message {
	var input []*message.Message
	for i := range n {
		if i%2 == 0 {
			input = append(input, message.User("question"))
		} else {
			input = append(input, message.Assistant("answer"))
		}
	}
	return input
}

func TestOverflowCompactsOnce(t *testing.T) {
	log := slog.New(slog.DiscardHandler)
	for name, c := range map[string]struct {
		compactor host.Compactor
		most      int
		calls     int
		sent      int // with the second call
		says      string
	}{
		"the older half goes": {most: 5, calls: 2, sent: 5},
		"a given compactor":   {compactor: compaction.SlidingWindow{KeepLastGroups: 2}, most: 5, calls: 2, sent: 2},
		"not enough":          {most: 4, calls: 2, sent: 5, says: "after compaction from 9 to 5 messages"},
		"nothing may go":      {compactor: compaction.SlidingWindow{KeepLastGroups: 20}, most: 5, calls: 1, says: "nothing of 9 messages that may go"},
		"it fits":             {most: 9, calls: 1},
		"the compactor fails": {compactor: badCompactor{}, most: 5, calls: 1, says: "no idea"},
	} {
		t.Run(name, func(t *testing.T) {
			bothWays(t, func(t *testing.T, streaming bool) {
				client := forgetful(c.most)
				agent := newAgent(t, host.AgentConfig{Client: client, Middleware: middleware.NewOverflow(middleware.OverflowConfig{Compactor: c.compactor, Logger: log})})
				_, err := agent.Run(t.Context(), talked(9), host.RunConfig{})
				if streaming {
					client = forgetful(c.most)
					agent = newAgent(t, host.AgentConfig{Client: client, Middleware: middleware.NewOverflow(middleware.OverflowConfig{Compactor: c.compactor, Logger: log})})
					_, err = agent.Stream(t.Context(), talked(9), host.RunConfig{}).Response()
				}
				require.Equal(t, c.calls, client.calls())
				if c.sent > 0 {
					require.Len(t, client.requests[1].Messages, c.sent)
				}
				if c.says == "" {
					require.NoError(t, err)
					return
				}
				require.ErrorContains(t, err, c.says)
				require.ErrorIs(t, err, host.ErrContextLength)
				require.ErrorAs(t, err, new(*host.ModelError))
			})
		})
	}
}

type badCompactor struct{}

func (badCompactor) Compact(context.Context, []*message.Message, *message.Message) ([]*message.Message, error) {
	return nil, errors.New("no idea")
}

// What is stored stays whole, and the run's own question is always sent.
func TestOverflowKeepsTheStoreAndTheQuestion(t *testing.T) {
	client := forgetful(4)
	agent := newAgent(t, host.AgentConfig{Client: client, Middleware: middleware.NewOverflow(middleware.OverflowConfig{
		Compactor: compaction.SlidingWindow{KeepLastGroups: 1}, Logger: slog.New(slog.DiscardHandler),
	})})
	session := agent.CreateSession("")
	for range 5 {
		_, err := agent.Run(t.Context(), host.Text("my question"), host.RunConfig{Session: session})
		require.NoError(t, err)
	}
	stored, err := host.StoredMessages(session.State(host.DefaultHistoryID))
	require.NoError(t, err)
	require.Len(t, stored, 10)
	last := client.requests[len(client.requests)-1]
	require.Equal(t, "my question", last.Messages[0].Text())
}

func TestOverflowAfterOutputOrOfAServicesConversation(t *testing.T) {
	client := &model{reply: func(_ context.Context, _ int, _ *host.ChatRequest, yield func(*host.Update) bool) error {
		yield(host.TextUpdate("I"))
		return modelError(host.ErrContextLength)
	}}
	agent := newAgent(t, host.AgentConfig{Client: client, Middleware: middleware.NewOverflow(middleware.OverflowConfig{})})
	_, err := agent.Stream(t.Context(), talked(9), host.RunConfig{}).Response()
	require.ErrorIs(t, err, host.ErrContextLength)
	require.Equal(t, 1, client.calls())

	client = forgetful(1)
	agent = newAgent(t, host.AgentConfig{Client: client, Middleware: middleware.NewOverflow(middleware.OverflowConfig{})})
	_, err = agent.Run(t.Context(), talked(9), host.RunConfig{Options: host.Options{ConversationID: "conv"}})
	require.ErrorContains(t, err, "the service keeps the conversation conv")
	require.Equal(t, 1, client.calls())
}
