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
	require.Equal(t, []string{"before a", "failed a: model: context canceled"}, log)
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
