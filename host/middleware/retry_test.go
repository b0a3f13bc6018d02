package middleware_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/middleware"
	"github.com/weft-run/weft/message"
)

// flaky is a model that fails as often as there are errors, and then answers.
func flaky(failures ...error) *model {
	return &model{reply: func(_ context.Context, n int, _ *host.ChatRequest, yield func(*host.Update) bool) error {
		if n <= len(failures) {
			return failures[n-1]
		}
		yield(host.TextUpdate("done"))
		return nil
	}}
}

func modelError(kind error) error { return &host.ModelError{Kind: kind, Err: errors.New("said no")} }

func half() float64 { return 0.5 }

func TestRetryWaitsLongerEachTime(t *testing.T) {
	bothWays(t, func(t *testing.T, streaming bool) {
		synctest.Test(t, func(t *testing.T) {
			logger, logged := logs(slog.LevelWarn)
			client := flaky(modelError(host.ErrRateLimited), modelError(host.ErrUnavailable), modelError(host.ErrTimeout), modelError(host.ErrBadReply))
			agent := newAgent(t, host.AgentConfig{Client: client, Middleware: middleware.NewRetry(middleware.RetryConfig{
				MaxAttempts: 5, BaseDelay: time.Second, MaxDelay: 4 * time.Second, Rand: half, Logger: logger,
			})})
			start := time.Now()
			r, _, err := run(t, agent, streaming, "hi", host.RunConfig{})
			require.NoError(t, err)
			require.Equal(t, "done", r.Text())
			// Half of 1, 2, 4 and 4 seconds, and a quarter of them by chance.
			require.Equal(t, (750+1500+3000+3000)*time.Millisecond, time.Since(start))
			require.Equal(t, 4, strings.Count(logged.String(), `"level":"WARN"`))
			require.Contains(t, logged.String(), `"attempt":2`)
		})
	})
}

func TestRetryGivesUp(t *testing.T) {
	unavailable := modelError(host.ErrUnavailable)
	for name, c := range map[string]struct {
		failures []error
		calls    int
		says     string
		within   time.Duration // the run's deadline
		waited   time.Duration
	}{
		"after three attempts":           {failures: []error{unavailable, unavailable, unavailable, unavailable}, calls: 3, says: "after 3 attempts", waited: 1125 * time.Millisecond},
		"refused requests":               {failures: []error{modelError(host.ErrInvalidRequest)}, calls: 1, says: "invalid request"},
		"too long a context":             {failures: []error{modelError(host.ErrContextLength)}, calls: 1, says: "context too long"},
		"an unknown kind":                {failures: []error{errors.New("odd")}, calls: 1, says: "odd"},
		"asked to wait too long":         {failures: []error{&host.ModelError{Kind: host.ErrRateLimited, RetryAfter: 31 * time.Second}}, calls: 1, says: "asks to wait 31s and the longest wait is 30s"},
		"the deadline would pass":        {failures: []error{unavailable, unavailable}, calls: 1, says: "the run's deadline is in 100ms", within: 100 * time.Millisecond},
		"as long as the service asks":    {failures: []error{&host.ModelError{Kind: host.ErrRateLimited, RetryAfter: 20 * time.Second}}, calls: 2, waited: 20125 * time.Millisecond},
		"never longer than the longest":  {failures: []error{&host.ModelError{Kind: host.ErrRateLimited, RetryAfter: 30 * time.Second}}, calls: 2, waited: 30 * time.Second},
		"a reply that cannot be read":    {failures: []error{modelError(host.ErrBadReply)}, calls: 2, waited: 375 * time.Millisecond},
		"the model's time and not a run": {failures: []error{context.DeadlineExceeded}, calls: 1, says: "deadline"},
	} {
		t.Run(name, func(t *testing.T) {
			bothWays(t, func(t *testing.T, streaming bool) {
				synctest.Test(t, func(t *testing.T) {
					client := flaky(c.failures...)
					agent := newAgent(t, host.AgentConfig{Client: client, Middleware: middleware.Join(
						deadline(c.within), middleware.NewRetry(middleware.RetryConfig{Rand: half, Logger: slog.New(slog.DiscardHandler)}))})
					start := time.Now()
					_, _, err := run(t, agent, streaming, "hi", host.RunConfig{})
					require.Equal(t, c.waited, time.Since(start))
					require.Equal(t, c.calls, client.calls())
					if c.says == "" {
						require.NoError(t, err)
						return
					}
					require.ErrorContains(t, err, c.says)
					require.ErrorIs(t, err, c.failures[0])
				})
			})
		})
	}
}

// deadline is middleware that gives the run a deadline.
func deadline(d time.Duration) host.Middleware {
	return host.Middleware{Agent: []host.AgentMiddleware{host.AgentFunc(func(ctx context.Context, _ *host.AgentContext, next host.Next) error {
		if d > 0 {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, d)
			defer cancel()
		}
		return next(ctx)
	})}}
}

func TestRetryNeverRepeatsWhatWasShown(t *testing.T) {
	for name, first := range map[string]*host.Update{"text": host.TextUpdate("I"), "no content": {ResponseID: "r"}} {
		client := &model{reply: func(_ context.Context, _ int, _ *host.ChatRequest, yield func(*host.Update) bool) error {
			yield(first)
			return modelError(host.ErrUnavailable)
		}}
		agent := newAgent(t, host.AgentConfig{Client: client, Middleware: middleware.NewRetry(middleware.RetryConfig{})})
		_, updates, err := run(t, agent, true, "hi", host.RunConfig{})
		require.ErrorIs(t, err, host.ErrUnavailable, name)
		require.Len(t, updates, 1, name)
		require.Equal(t, 1, client.calls(), name)
	}
}

func TestRetryStopsWithTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		client := flaky(modelError(host.ErrUnavailable))
		agent := newAgent(t, host.AgentConfig{Client: client, Middleware: middleware.NewRetry(middleware.RetryConfig{
			BaseDelay: time.Hour, MaxDelay: time.Hour, Logger: slog.New(slog.DiscardHandler),
		})})
		time.AfterFunc(time.Second, cancel)
		start := time.Now()
		_, err := agent.Run(ctx, host.Text("hi"), host.RunConfig{})
		require.ErrorIs(t, err, context.Canceled)
		require.ErrorIs(t, err, host.ErrUnavailable)
		require.Equal(t, time.Second, time.Since(start))
	})
}

// What middleware further in adds to a request stands in it once, however often the call is made.
func TestRetryBeginsWithTheRequestAsItStood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := flaky(modelError(host.ErrUnavailable), modelError(host.ErrUnavailable))
		note := host.Middleware{Chat: []host.ChatMiddleware{host.ChatFunc(func(ctx context.Context, c *host.ChatContext, next host.Next) error {
			c.Request.Messages = append(c.Request.Messages, message.System("note"))
			return next(ctx)
		})}}
		retry := middleware.NewRetry(middleware.RetryConfig{Logger: slog.New(slog.DiscardHandler)})
		_, err := newAgent(t, host.AgentConfig{Client: client, Middleware: middleware.Join(retry, note)}).Run(t.Context(), host.Text("hi"), host.RunConfig{})
		require.NoError(t, err)
		require.Len(t, client.requests[2].Messages, 2)
	})
}
