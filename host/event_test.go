package host_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host"
)

// telling is a provider that emits in before_run and a tool that emits and asks.
func telling(t *testing.T) *host.Agent {
	ask := &function{name: "ask", f: func(ctx context.Context) (string, error) {
		if err := host.Emit(ctx, "progress", map[string]int{"percent": 50}); err != nil {
			return "", err
		}
		answer, answered, err := host.Request(ctx, "colour", "which?", time.Minute)
		return fmt.Sprint(string(answer), answered), err
	}}
	return newAgent(t, host.AgentConfig{
		Client: &script{replies: []*host.Response{calls("ask", "ask")}}, Tools: []host.Tool{ask},
		Providers: []host.Provider{host.BeforeRunFunc("p", func(ctx context.Context, _ *host.SessionContext) error {
			return host.Emit(ctx, "loaded", nil)
		})},
	})
}

func TestEventsOfAStream(t *testing.T) {
	stream := telling(t).Stream(t.Context(), host.Text("hi"), host.RunConfig{})
	var seen []string
	for u, err := range stream.Updates() {
		require.NoError(t, err)
		e := u.Event
		if e == nil {
			continue
		}
		require.Empty(t, u.Contents)
		require.NotEmpty(t, e.RunID)
		seen = append(seen, e.SourceID+" "+e.Name)
		if e.AnswerBy.IsZero() {
			require.ErrorIs(t, e.Answer(1), host.ErrNoAnswerWanted)
			continue
		}
		require.NoError(t, e.Answer("red"), "the waiter is there before the request is seen")
		require.ErrorIs(t, e.Answer("blue"), host.ErrNoAnswerWanted)
	}
	require.Equal(t, "p loaded", seen[0])
	require.ElementsMatch(t, []string{"p loaded", " progress", " progress", " colour", " colour"}, seen)
	r, err := stream.Response()
	require.NoError(t, err)
	require.Equal(t, []string{`"red"true`, `"red"true`}, results(r))
}

func TestEventsOfARun(t *testing.T) {
	var mu sync.Mutex
	names := map[string]int{}
	r, err := telling(t).Run(t.Context(), host.Text("hi"), host.RunConfig{OnEvent: func(_ context.Context, e *host.Event) {
		mu.Lock()
		defer mu.Unlock()
		names[e.Name]++
		if !e.AnswerBy.IsZero() {
			go func() { _ = e.Answer(true) }()
		}
	}})
	require.NoError(t, err)
	require.Equal(t, []string{"truetrue", "truetrue"}, results(r))
	require.Equal(t, map[string]int{"loaded": 1, "progress": 2, "colour": 2}, names)
}

func TestNobodyListensMeansNo(t *testing.T) {
	r, err := telling(t).Run(t.Context(), host.Text("hi"), host.RunConfig{})
	require.NoError(t, err)
	require.Equal(t, []string{"false", "false"}, results(r))
}

func TestRequestThatIsNotAnsweredIsANo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		agent := newAgent(t, host.AgentConfig{Providers: []host.Provider{
			host.BeforeRunFunc("p", func(ctx context.Context, sc *host.SessionContext) error {
				_, answered, err := host.Request(ctx, "may I?", nil, 0)
				require.False(t, answered)
				return err
			}),
		}})
		start := time.Now()
		stream := agent.Stream(t.Context(), host.Text("hi"), host.RunConfig{})
		for u, err := range stream.Updates() {
			require.NoError(t, err)
			if u.Event != nil {
				require.Equal(t, start.Add(5*time.Minute), u.Event.AnswerBy)
			}
		}
		require.Equal(t, 5*time.Minute, time.Since(start), "five minutes unless told otherwise")
	})
}

func TestLeavingAStreamWhileToolsTell(t *testing.T) {
	stopped := make(chan error, 2)
	tool := &function{name: "t", f: func(ctx context.Context) (string, error) {
		var err error
		for err == nil {
			err = host.Emit(ctx, "tick", 1)
		}
		stopped <- err
		return "", err
	}}
	agent := newAgent(t, host.AgentConfig{Client: &script{replies: []*host.Response{calls("t", "t")}}, Tools: []host.Tool{tool}})
	stream := agent.Stream(t.Context(), host.Text("hi"), host.RunConfig{})
	for u := range stream.Updates() {
		if u.Event != nil {
			break
		}
	}
	_, err := stream.Response()
	require.ErrorIs(t, err, host.ErrStopped)
	for range 2 {
		require.Error(t, <-stopped, "tools hear that nobody listens")
	}
}

func TestEventDataMustBeJSON(t *testing.T) {
	require.ErrorContains(t, host.Emit(t.Context(), "x", func() {}), `event "x" cannot be told as JSON`)
	require.NoError(t, host.Emit(t.Context(), "x", 1), "outside of a run nobody listens")
}

// A hook that asks stands on the consumer's own goroutine: an answer out of the loop's body must not block it.
func TestRequestOfAHookIsAnsweredInTheLoop(t *testing.T) {
	var got string
	agent := newAgent(t, host.AgentConfig{Providers: []host.Provider{
		host.BeforeRunFunc("p", func(ctx context.Context, _ *host.SessionContext) error {
			answer, answered, err := host.Request(ctx, "name?", nil, time.Minute)
			got = fmt.Sprint(string(answer), answered)
			return err
		}),
	}})
	for u, err := range agent.Stream(t.Context(), host.Text("hi"), host.RunConfig{}).Updates() {
		require.NoError(t, err)
		if u.Event != nil {
			require.NoError(t, u.Event.Answer("Ada"))
		}
	}
	require.Equal(t, `"Ada"true`, got)
}
