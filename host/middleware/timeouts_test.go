package middleware_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/middleware"
)

// caught keeps what tool calls fail with, from outside of other middleware.
func caught(errs *[]error) host.Middleware {
	return host.Middleware{Function: []host.FunctionMiddleware{host.FunctionFunc(func(ctx context.Context, c *host.FunctionContext, next host.Next) error {
		own := c.Tool.Tool
		err := next(ctx)
		*errs = append(*errs, err)
		if c.Tool.Tool != own {
			return host.Fatal(errors.New("the stand-in for the tool was left in its place"))
		}
		return err
	})}}
}

func TestAToolThatIgnoresItsContextIsAbandoned(t *testing.T) {
	bothWays(t, func(t *testing.T, streaming bool) {
		synctest.Test(t, func(t *testing.T) {
			release := make(chan struct{})
			stuck := &tool{"stuck", func(context.Context, jsontext.Value) (jsontext.Value, error) {
				<-release
				return jsontext.Value(`"too late"`), nil
			}}
			var errs []error
			agent := newAgent(t, host.AgentConfig{
				Client: script([]call{{"stuck", `{}`}}), Tools: []host.Tool{stuck},
				Middleware: middleware.Join(caught(&errs), middleware.NewTimeouts(middleware.TimeoutsConfig{})),
			})
			start := time.Now()
			r, _, err := run(t, agent, streaming, "hi", host.RunConfig{})
			require.NoError(t, err)
			require.Equal(t, 30*time.Second+100*time.Millisecond, time.Since(start))
			close(release)
			synctest.Wait()
			require.Equal(t, []string{"Error: Function failed."}, results(r), "the late result is dropped")
			require.ErrorIs(t, errs[0], host.ErrTimeout)
			var late *middleware.ToolTimeoutError
			require.ErrorAs(t, errs[0], &late)
			require.Equal(t, "stuck", late.Tool)
		})
	})
}

func TestAToolThatHonoursItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := &tool{"slow", func(ctx context.Context, _ jsontext.Value) (jsontext.Value, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}}
		var errs []error
		agent := newAgent(t, host.AgentConfig{
			Client: script([]call{{"slow", `{}`}}), Tools: []host.Tool{slow},
			Middleware: middleware.Join(caught(&errs), middleware.NewTimeouts(middleware.TimeoutsConfig{Tools: map[string]time.Duration{"slow": time.Second}})),
		})
		start := time.Now()
		_, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{})
		require.NoError(t, err)
		require.Equal(t, time.Second, time.Since(start), "its own time, and no waiting beyond it")
		require.ErrorIs(t, errs[0], host.ErrTimeout)
		require.ErrorIs(t, errs[0], context.Canceled)
	})
}

func TestACancelledRunLeavesAStuckToolBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		stuck := &tool{"stuck", func(context.Context, jsontext.Value) (jsontext.Value, error) {
			<-release
			return nil, nil
		}}
		agent := newAgent(t, host.AgentConfig{
			Client: script([]call{{"stuck", `{}`}}), Tools: []host.Tool{stuck}, Middleware: middleware.NewTimeouts(middleware.TimeoutsConfig{Tool: -1}),
		})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err := agent.Run(ctx, host.Text("hi"), host.RunConfig{})
		require.ErrorIs(t, err, context.DeadlineExceeded)
		close(release)
	})
}

func TestAPanickingToolIsAnErrorStill(t *testing.T) {
	bad := &tool{"bad", func(context.Context, jsontext.Value) (jsontext.Value, error) { panic("ouch") }}
	var errs []error
	agent := newAgent(t, host.AgentConfig{
		Client: script([]call{{"bad", `{}`}}), Tools: []host.Tool{bad},
		Middleware: middleware.Join(caught(&errs), middleware.NewTimeouts(middleware.TimeoutsConfig{})),
	})
	_, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{})
	require.NoError(t, err)
	require.ErrorAs(t, errs[0], new(*host.PanicError))
}

// pausing is a model that waits before each of its words.
func pausing(pauses ...time.Duration) *model {
	return &model{reply: func(ctx context.Context, _ int, _ *host.ChatRequest, yield func(*host.Update) bool) error {
		for _, d := range pauses {
			select {
			case <-time.After(d):
			case <-ctx.Done():
				return ctx.Err()
			}
			if !yield(host.TextUpdate("word ")) {
				return nil
			}
		}
		return nil
	}}
}

func TestModelTimes(t *testing.T) {
	const s = time.Second
	for name, c := range map[string]struct {
		pauses   []time.Duration
		streamed string // what the error says; empty for none
		whole    string
		ends     time.Duration // of the stream
	}{
		"quick":               {pauses: []time.Duration{s, s}, ends: 2 * s},
		"idle before first":   {pauses: []time.Duration{61 * s}, streamed: "nothing came for 1m0s", ends: 60 * s},
		"idle in the middle":  {pauses: []time.Duration{59 * s, 59 * s, 61 * s}, streamed: "nothing came for 1m0s", ends: 178 * s},
		"too long altogether": {pauses: []time.Duration{59 * s, 59 * s, 59 * s, 59 * s, 59 * s, 59 * s}, streamed: "took longer than 5m0s", whole: "took longer than 5m0s", ends: 300 * s},
	} {
		t.Run(name, func(t *testing.T) {
			bothWays(t, func(t *testing.T, streaming bool) {
				synctest.Test(t, func(t *testing.T) {
					agent := newAgent(t, host.AgentConfig{Client: pausing(c.pauses...), Middleware: middleware.NewTimeouts(middleware.TimeoutsConfig{})})
					start := time.Now()
					_, _, err := run(t, agent, streaming, "hi", host.RunConfig{})
					says := c.whole
					if streaming {
						says = c.streamed
						require.Equal(t, c.ends, time.Since(start))
					}
					if says == "" {
						require.NoError(t, err)
						return
					}
					require.ErrorContains(t, err, says)
					require.ErrorIs(t, err, host.ErrTimeout)
					require.ErrorAs(t, err, new(*host.ModelError))
				})
			})
		})
	}
}

// The consumer's own time is not the model's.
func TestASlowConsumerIsNoSlowModel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		agent := newAgent(t, host.AgentConfig{
			Client: pausing(time.Second, time.Second, time.Second), Middleware: middleware.NewTimeouts(middleware.TimeoutsConfig{Model: 10 * time.Second, Idle: 2 * time.Second}),
		})
		words := 0
		for _, err := range agent.Stream(t.Context(), host.Text("hi"), host.RunConfig{}).Updates() {
			require.NoError(t, err)
			words++
			time.Sleep(time.Hour)
		}
		require.Equal(t, 3, words)
	})
}

func TestARunThatEndsIsNoTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		agent := newAgent(t, host.AgentConfig{
			Client: pausing(time.Hour), Middleware: middleware.Join(deadline(time.Second), middleware.NewTimeouts(middleware.TimeoutsConfig{})),
		})
		_, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{})
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.NotErrorIs(t, err, host.ErrTimeout)
	})
}

// Inside of retries each attempt has its own time.
func TestRetryOfATimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := &model{reply: func(ctx context.Context, n int, _ *host.ChatRequest, yield func(*host.Update) bool) error {
			if n == 1 {
				<-ctx.Done()
				return ctx.Err()
			}
			yield(host.TextUpdate("done"))
			return nil
		}}
		agent := newAgent(t, host.AgentConfig{Client: client, Middleware: middleware.Join(
			middleware.NewRetry(middleware.RetryConfig{Logger: slog.New(slog.DiscardHandler)}), middleware.NewTimeouts(middleware.TimeoutsConfig{}))})
		r, _, err := run(t, agent, true, "hi", host.RunConfig{})
		require.NoError(t, err)
		require.Equal(t, "done", r.Text())
	})
}
