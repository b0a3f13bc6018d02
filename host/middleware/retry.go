package middleware

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/weft-run/weft/host"
)

// Defaults of [RetryConfig].
const (
	DefaultMaxAttempts = 3
	DefaultBaseDelay   = 500 * time.Millisecond
	DefaultMaxDelay    = 30 * time.Second
)

// RetryConfig says how failing model calls are tried again.
type RetryConfig struct {
	// MaxAttempts is how often a call is made at most, the first included. Default: [DefaultMaxAttempts]. 1: once.
	MaxAttempts int
	// BaseDelay is the longest wait before the second attempt; it doubles with each further one. Default:
	// [DefaultBaseDelay].
	BaseDelay time.Duration
	// MaxDelay is the longest wait of all. Default: [DefaultMaxDelay].
	MaxDelay time.Duration
	// Rand returns numbers from 0 up to but not including 1. It must be safe for many goroutines. Default:
	// [rand.Float64].
	Rand func() float64
	// Logger gets a warning for each retry. Default: slog.Default().
	Logger *slog.Logger
}

func (c RetryConfig) withDefaults() RetryConfig {
	c.MaxAttempts = orDefault(c.MaxAttempts, DefaultMaxAttempts)
	c.BaseDelay = orDefault(c.BaseDelay, DefaultBaseDelay)
	c.MaxDelay = orDefault(c.MaxDelay, DefaultMaxDelay)
	if c.Rand == nil {
		c.Rand = rand.Float64
	}
	c.Logger = logger(c.Logger)
	return c
}

type retry struct{ config RetryConfig }

var _ host.ChatMiddleware = (*retry)(nil)

// NewRetry returns chat middleware that makes a failing model call again. It does so for a [host.ModelError] of the kinds
// [host.ErrRateLimited], [host.ErrUnavailable], [host.ErrTimeout] and [host.ErrBadReply], and for nothing else.
//
// Between attempts it waits, with the delay doubling from BaseDelay on and a random part of it, half to all; or as long
// as the service asked for ([host.ModelError.RetryAfter]) if that is longer. Where the service asks for more than
// MaxDelay, or the run's deadline would pass while waiting, the error is returned at once and says so. A call of which
// any update left towards the consumer is never made again.
func NewRetry(c RetryConfig) host.Middleware {
	return host.Middleware{Chat: []host.ChatMiddleware{&retry{c.withDefaults()}}}
}

// SourceType is what traces call it.
func (*retry) SourceType() string { return "retry" }

// ProcessChat makes the call until it succeeds, or must not be made again.
func (r *retry) ProcessChat(ctx context.Context, c *host.ChatContext, next host.Next) error {
	restore := asItStood(c)
	for attempt := 1; ; attempt++ {
		shown := watchShown(c)
		err := next(ctx)
		failed, ok := retryable(err)
		switch {
		case err == nil, !ok, *shown, ctx.Err() != nil:
			return err
		case attempt >= r.config.MaxAttempts:
			if attempt == 1 {
				return err
			}
			return fmt.Errorf("after %d attempts: %w", attempt, err)
		case failed.RetryAfter > r.config.MaxDelay:
			return fmt.Errorf("not tried again, for the service asks to wait %v and the longest wait is %v: %w", failed.RetryAfter, r.config.MaxDelay, err)
		}
		delay := r.delay(attempt, failed.RetryAfter)
		if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) <= delay {
			return fmt.Errorf("not tried again, for the run's deadline is in %v and the wait would be %v: %w",
				time.Until(deadline).Round(time.Millisecond), delay.Round(time.Millisecond), err)
		}
		r.config.Logger.LogAttrs(ctx, slog.LevelWarn, "a model call failed and is tried again",
			slog.Int("attempt", attempt), slog.Int("max_attempts", r.config.MaxAttempts), slog.Duration("delay", delay), slog.Any("error", err))
		if stopped := wait(ctx, delay); stopped != nil {
			return errors.Join(stopped, err)
		}
		restore()
	}
}

// retryable reports whether an error is one that trying again may mend.
func retryable(err error) (*host.ModelError, bool) {
	failed, ok := errors.AsType[*host.ModelError](err)
	if !ok {
		return nil, false
	}
	for _, kind := range []error{host.ErrRateLimited, host.ErrUnavailable, host.ErrTimeout, host.ErrBadReply} {
		if errors.Is(failed, kind) {
			return failed, true
		}
	}
	return failed, false
}

// delay is the wait after an attempt. What the service asks for is a lower bound, with something random on top, so that
// all who were refused at the same time do not come back at the same time.
func (r *retry) delay(attempt int, asked time.Duration) time.Duration {
	longest := r.config.BaseDelay
	for i := 1; i < attempt && longest < r.config.MaxDelay; i++ {
		longest *= 2
	}
	longest = min(longest, r.config.MaxDelay)
	random := time.Duration(r.config.Rand() * float64(longest/2))
	return min(r.config.MaxDelay, max(longest/2, asked)+random)
}

func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
