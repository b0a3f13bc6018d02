package host_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host"
)

func TestStreamEqualsRun(t *testing.T) {
	var log []string
	agent := newAgent(t, host.AgentConfig{Providers: []host.Provider{&recorder{id: "a", log: &log}}})
	whole, err := agent.Run(t.Context(), host.Text("one two three"), host.RunConfig{})
	require.NoError(t, err)

	log = nil
	stream := agent.Stream(t.Context(), host.Text("one two three"), host.RunConfig{})
	require.Empty(t, log, "nothing happens before the stream is read")
	updates := 0
	for u, err := range stream.Updates() {
		require.NoError(t, err)
		if u.Text() != "" {
			updates++
		}
		require.Equal(t, []string{"before a"}, log, "updates come before the run is over")
	}
	require.Equal(t, 3, updates)
	require.Equal(t, []string{"before a", "after a"}, log)
	streamed, err := stream.Response()
	require.NoError(t, err)
	require.Equal(t, whole, streamed)
}

func TestResponseReadsAnUnreadStream(t *testing.T) {
	stream := newAgent(t, host.AgentConfig{}).Stream(t.Context(), host.Text("hi"), host.RunConfig{})
	r, err := stream.Response()
	require.NoError(t, err)
	require.Equal(t, "hi", r.Text())
	for _, err := range stream.Updates() {
		require.ErrorIs(t, err, host.ErrStreamUsed)
	}
}

func TestSetupErrorsArriveInTheStream(t *testing.T) {
	agent := newAgent(t, host.AgentConfig{})
	var errs []error
	for u, err := range agent.Stream(t.Context(), host.Text("hi"), host.RunConfig{Providers: []host.Provider{noHooks{}}}).Updates() {
		require.Nil(t, u)
		errs = append(errs, err)
	}
	require.Len(t, errs, 1)
	require.ErrorContains(t, errs[0], "implements no hook")
}

func TestStoppingEarlyIsACancelledRun(t *testing.T) {
	var log []string
	agent := newAgent(t, host.AgentConfig{Providers: []host.Provider{
		host.NewInMemoryHistory(host.HistoryConfig{}), &recorder{id: "a", log: &log},
	}})
	session := agent.CreateSession("")
	stream := agent.Stream(t.Context(), host.Text("one two three"), host.RunConfig{Session: session})
	for range stream.Updates() {
		break
	}
	require.Equal(t, []string{"before a", "failed a: " + host.ErrStopped.Error()}, log)
	_, err := stream.Response()
	require.ErrorIs(t, err, host.ErrStopped)

	r, err := agent.Run(t.Context(), host.Text("next"), host.RunConfig{Session: session})
	require.NoError(t, err)
	require.Equal(t, "next", r.Text(), "nothing of the stopped run was stored")
}

func TestCancelledContextEndsTheStream(t *testing.T) {
	var log []string
	agent := newAgent(t, host.AgentConfig{Providers: []host.Provider{&recorder{id: "a", log: &log}}})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var last error
	for _, err := range agent.Stream(ctx, host.Text("one two three"), host.RunConfig{}).Updates() {
		cancel()
		last = err
	}
	require.ErrorIs(t, last, context.Canceled)
	require.Equal(t, []string{"before a", "failed a: context canceled"}, log)
}

// The consumer's own panic is the consumer's: the agent must not turn it into an error of the model.
func TestConsumerPanicPassesThrough(t *testing.T) {
	agent := newAgent(t, host.AgentConfig{})
	require.PanicsWithError(t, "mine", func() {
		for range agent.Stream(t.Context(), host.Text("one two"), host.RunConfig{}).Updates() {
			panic(errors.New("mine"))
		}
	})
}

func TestAfterRunErrorsComeLastInTheStream(t *testing.T) {
	var log []string
	agent := newAgent(t, host.AgentConfig{Providers: []host.Provider{
		&recorder{id: "a", log: &log, after: func(*host.SessionContext) error { return errors.New("boom") }},
	}})
	stream := agent.Stream(t.Context(), host.Text("hi"), host.RunConfig{})
	var last error
	for _, err := range stream.Updates() {
		last = err
	}
	require.ErrorContains(t, last, "boom")
	r, err := stream.Response()
	require.ErrorContains(t, err, "boom")
	require.Equal(t, "hi", r.Text())
}

// A stream may be left, or its context cancelled, at each of its updates: nothing is stored, nothing more is yielded,
// providers hear of it.
func TestLeavingAndCancellingAtAnyUpdate(t *testing.T) {
	for _, how := range []string{"leave", "cancel"} {
		for at := 0; ; at++ {
			var log []string
			m := onStream("agent", host.StreamHooks{Update: func(u *host.Update, emit func(*host.Update) error) error { return emit(u) }})
			m.Chat = []host.ChatMiddleware{host.ChatFunc(func(ctx context.Context, c *host.ChatContext, next host.Next) error {
				c.OnStream(holding())
				return next(ctx)
			})}
			agent := newAgent(t, host.AgentConfig{
				Client: &script{replies: []*host.Response{calls("t", "u"), host.NewResponse("done")}},
				Tools:  []host.Tool{saying("t"), saying("u")}, Middleware: m,
				Providers: []host.Provider{host.NewInMemoryHistory(host.HistoryConfig{}), &recorder{id: "a", log: &log}},
			})
			session := agent.CreateSession("")
			ctx, cancel := context.WithCancel(t.Context())
			stream := agent.Stream(ctx, host.Text("hi"), host.RunConfig{Session: session})
			seen, over := 0, false
			for u, err := range stream.Updates() {
				require.False(t, over, "yielded after the consumer left")
				if err != nil {
					require.ErrorIs(t, err, context.Canceled)
					continue
				}
				require.NotNil(t, u)
				if seen++; seen <= at {
					continue
				}
				if how == "leave" {
					over = true
					break
				}
				cancel()
			}
			cancel()
			_, err := stream.Response()
			stored, storedErr := host.StoredMessages(session.State("in_memory"))
			require.NoError(t, storedErr)
			if seen <= at { // the whole stream was read
				require.NoError(t, err)
				require.Len(t, stored, 4)
				require.Greater(t, at, 5)
				break
			}
			require.Error(t, err, "%s at %d", how, at)
			require.Empty(t, stored, "%s at %d", how, at)
			require.Equal(t, []string{"before a", "failed a: " + err.Error()}, log, "%s at %d", how, at)
		}
	}
}
