package host_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/message"
)

func TestWrappingWithoutNextAndResultIsAnError(t *testing.T) {
	var log []string
	agent := newAgent(t, host.AgentConfig{Providers: []host.Provider{
		&recorder{id: "a", log: &log},
		host.WrapFunc("w", func(context.Context, *host.SessionContext, host.Next) error { return nil }),
	}})
	_, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{})
	require.ErrorIs(t, err, host.ErrNoResult)
	require.Equal(t, []string{"before a", "failed a: provider w: process: no result"}, log)
}

func TestOnlyWrappingProvidersSetTheResponse(t *testing.T) {
	agent := newAgent(t, host.AgentConfig{Providers: []host.Provider{
		host.BeforeRunFunc("p", func(_ context.Context, sc *host.SessionContext) error {
			return sc.SetResponse(host.NewResponse("mine"))
		}),
	}})
	_, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{})
	require.ErrorContains(t, err, "only a wrapping provider may set the response")
}

// Each try starts from the context as it stood: what the failed try's providers added is gone, what the wrapping
// provider added between the tries is there.
func TestWrappingRetriesFromTheContextAsItStood(t *testing.T) {
	model := &echo{fail: errors.New("down")}
	var log []string
	agent := newAgent(t, host.AgentConfig{Client: model, Providers: []host.Provider{
		host.WrapFunc("w", func(ctx context.Context, sc *host.SessionContext, next host.Next) error {
			sc.ExtendMessages(message.User("one"))
			if err := next(ctx); err == nil {
				return errors.New("the first try should fail")
			}
			model.fail = nil
			sc.ExtendMessages(message.User("two"))
			return next(ctx)
		}),
		&recorder{id: "b", log: &log, before: func(sc *host.SessionContext) error {
			sc.ExtendMessages(message.User("b"))
			sc.ExtendInstructions("ib")
			return nil
		}},
	}})
	r, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{})
	require.NoError(t, err)
	require.Equal(t, "(ib) one two b hi", r.Text())
	require.Equal(t, []string{"before b", "failed b: model: down", "before b", "after b"}, log)
}

func TestErrorFromBelowIsToldOnce(t *testing.T) {
	agent := newAgent(t, host.AgentConfig{Client: &echo{fail: errors.New("down")}, Providers: []host.Provider{
		host.WrapFunc("w", func(ctx context.Context, _ *host.SessionContext, next host.Next) error { return next(ctx) }),
	}})
	_, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{})
	require.EqualError(t, err, "model: down")
}

// skipping wraps a wrapping provider in the policy skip.
type skipping struct{ host.WrappingProvider }

func (skipping) ErrorPolicy() host.ErrorPolicy { return host.OnErrorSkip }

func TestSkippedWrappingProviderLetsTheRestRun(t *testing.T) {
	slogger, _ := logger()
	broken := host.WrapFunc("w", func(context.Context, *host.SessionContext, host.Next) error { return errors.New("boom") })
	agent := newAgent(t, host.AgentConfig{Logger: slogger, Providers: []host.Provider{skipping{broken.(host.WrappingProvider)}}})
	r, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{})
	require.NoError(t, err)
	require.Equal(t, "hi", r.Text())
}

func TestSetResponseIsStreamedAsUpdates(t *testing.T) {
	agent := newAgent(t, host.AgentConfig{Providers: []host.Provider{
		host.WrapFunc("cache", func(_ context.Context, sc *host.SessionContext, _ host.Next) error {
			return sc.SetResponse(host.NewResponse("cached"))
		}),
	}})
	stream := agent.Stream(t.Context(), host.Text("hi"), host.RunConfig{})
	var texts []string
	for u, err := range stream.Updates() {
		require.NoError(t, err)
		texts = append(texts, u.Text())
	}
	require.Equal(t, []string{"cached"}, texts)
	r, err := stream.Response()
	require.NoError(t, err)
	require.Equal(t, "cached", r.Text())
}
