package host_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
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

// skippingRun is an agent with a provider that fails in two hooks, and is skipped.
func skippingRun(t *testing.T, cause string) *host.Agent {
	log, _ := logger()
	broken := func(*host.SessionContext) error { return errors.New(cause) }
	return newAgent(t, host.AgentConfig{Logger: log, Providers: []host.Provider{
		&recorder{id: "before", log: new([]string), before: broken, policy: host.OnErrorSkip},
		&recorder{id: "fine", log: new([]string)},
		&recorder{id: "after", log: new([]string), after: broken, policy: host.OnErrorSkip},
	}})
}

func TestAProviderThatIsSkippedIsTold(t *testing.T) {
	var seen []string
	note := func(e *host.Event) { seen = append(seen, fmt.Sprint(e.Name, " ", e.SourceID, " ", string(e.Data))) }
	want := []string{
		`provider_skipped before {"hook":"before_run","error":"provider before: before_run: down"}`,
		`provider_skipped after {"hook":"after_run","error":"provider after: after_run: down"}`,
	}
	agent := skippingRun(t, "down")
	_, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{OnEvent: func(_ context.Context, e *host.Event) { note(e) }})
	require.NoError(t, err)
	require.Equal(t, want, seen)

	seen = nil
	for u, err := range agent.Stream(t.Context(), host.Text("hi"), host.RunConfig{}).Updates() {
		require.NoError(t, err)
		if u.Event != nil {
			note(u.Event)
		}
	}
	require.Equal(t, want, seen)
}

func TestTheErrorOfASkippedProviderIsCut(t *testing.T) {
	for _, text := range []string{strings.Repeat("ü", 5000), strings.Repeat("x\xff", 5000)} {
		var length int
		agent := skippingRun(t, text)
		_, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{OnEvent: func(_ context.Context, e *host.Event) {
			var data struct{ Error string }
			require.NoError(t, json.Unmarshal(e.Data, &data), "it is JSON, whatever the error was")
			length = len(data.Error)
		}})
		require.NoError(t, err)
		require.InDelta(t, 700, length, 324)
	}
}

func TestACallerThatLeavesWhenItHearsOfASkippedProviderEndsTheRun(t *testing.T) {
	var log []string
	agent := newAgent(t, host.AgentConfig{Logger: slog.New(slog.DiscardHandler), Providers: []host.Provider{
		&recorder{id: "first", log: &log},
		&recorder{id: "broken", log: new([]string), before: func(*host.SessionContext) error { return errors.New("x") }, policy: host.OnErrorSkip},
		&recorder{id: "third", log: &log},
	}})
	for range agent.Stream(t.Context(), host.Text("hi"), host.RunConfig{}).Updates() {
		break
	}
	require.Equal(t, []string{"before first", "failed first: " + host.ErrStopped.Error()}, log)

	log = nil
	_, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{OnEvent: func(context.Context, *host.Event) { panic("listener") }})
	require.ErrorContains(t, err, "panic: listener")
	require.Equal(t, []string{"before first", "failed first: panic: listener"}, log)
}

func TestNamesOfTheHostsOwnEventsAreRefused(t *testing.T) {
	for _, name := range []string{host.EventProviderSkipped, "weft.", "weft.anything"} {
		agent := newAgent(t, host.AgentConfig{Providers: []host.Provider{host.BeforeRunFunc("p", func(ctx context.Context, _ *host.SessionContext) error {
			_, _, err := host.Request(ctx, name, nil, 0)
			return errors.Join(err, host.Emit(ctx, name, nil))
		})}})
		_, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{})
		require.ErrorIs(t, err, host.ErrEventName)
		require.ErrorContains(t, err, fmt.Sprintf("%q: give it another", name))
	}
}
