package host_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/message"
)

func TestStateUpdateIsOneStep(t *testing.T) {
	state := host.NewSession("").State("p")
	var wg sync.WaitGroup
	for range 64 {
		wg.Go(func() {
			for range 100 {
				err := state.Update("n", func(old jsontext.Value) (any, error) {
					n := 0
					if old != nil {
						if err := json.Unmarshal(old, &n); err != nil {
							return nil, err
						}
					}
					return n + 1, nil
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	var n int
	_, err := state.Get("n", &n)
	require.NoError(t, err)
	require.Equal(t, 6400, n)

	broken := errors.New("broken")
	require.ErrorIs(t, state.Update("n", func(jsontext.Value) (any, error) { return 0, broken }), broken)
	require.ErrorContains(t, state.Update("n", func(jsontext.Value) (any, error) { return func() {}, nil }), `state "n" cannot be kept as JSON`)
	_, err = state.Get("n", &n)
	require.NoError(t, err)
	require.Equal(t, 6400, n, "what failed changed nothing")
}

func TestMessagesThatAreNilAreFoundBeforeMiddleware(t *testing.T) {
	agent := newAgent(t, host.AgentConfig{Middleware: onStream("agent", host.StreamHooks{})})
	_, err := agent.Run(t.Context(), []*message.Message{nil}, host.RunConfig{})
	require.ErrorContains(t, err, "input/0: a message is nil")

	var spoilt host.Middleware
	spoilt.Agent = append(spoilt.Agent, host.AgentFunc(func(ctx context.Context, c *host.AgentContext, next host.Next) error {
		c.Messages = append(c.Messages, nil)
		return next(ctx)
	}))
	_, err = newAgent(t, host.AgentConfig{Middleware: spoilt}).Run(t.Context(), host.Text("hi"), host.RunConfig{})
	require.ErrorContains(t, err, "input/1: a message is nil")
}

func TestMiddlewareMayPutAnotherToolInPlace(t *testing.T) {
	for _, c := range []struct {
		other host.Tool
		want  string
	}{{saying("other"), "other-ok"}, {&tool{"declared"}, "Error: Function failed."}} {
		var ids []string
		agent := newAgent(t, host.AgentConfig{
			Client: &script{replies: []*host.Response{calls("t")}}, Tools: []host.Tool{saying("t")},
			Middleware: host.Middleware{
				Agent: []host.AgentMiddleware{host.AgentFunc(func(ctx context.Context, c *host.AgentContext, next host.Next) error {
					ids = append(ids, c.RunID)
					return next(ctx)
				})},
				Chat: []host.ChatMiddleware{host.ChatFunc(func(ctx context.Context, c *host.ChatContext, next host.Next) error {
					ids = append(ids, c.RunID)
					return next(ctx)
				})},
				Function: []host.FunctionMiddleware{host.FunctionFunc(func(ctx context.Context, fc *host.FunctionContext, next host.Next) error {
					ids = append(ids, fc.RunID)
					fc.Tool.Tool = c.other
					return next(ctx)
				})},
			},
		})
		r, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{})
		require.NoError(t, err)
		require.Equal(t, []string{c.want}, results(r))
		require.Len(t, ids, 4)
		require.Equal(t, strings.Repeat(ids[0], 4), strings.Join(ids, ""), "one run has one id")
		require.NotEmpty(t, ids[0])
	}
}
