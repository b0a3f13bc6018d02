package middleware

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/weft-run/weft/host"
)

// Join puts middleware together, layer by layer: what is given first stands outermost in each. The lists are copies.
func Join(all ...host.Middleware) host.Middleware {
	var joined host.Middleware
	for _, m := range all {
		joined.Agent = append(joined.Agent, m.Agent...)
		joined.Chat = append(joined.Chat, m.Chat...)
		joined.Function = append(joined.Function, m.Function...)
	}
	return joined
}

// perRun is agent middleware that gives each run a value of its own. It travels in the run's context, where the chat and
// function layers of the same guard find it: the guard itself, which all runs share, stays as it is.
type perRun[T any] struct {
	guard string
	begin func() *T
}

// runKey tells the values of several guards apart, also those of one kind.
type runKey[T any] struct{ of *perRun[T] }

// SourceType is that of the guard.
func (p *perRun[T]) SourceType() string { return p.guard }

// ProcessAgent begins the run's value.
func (p *perRun[T]) ProcessAgent(ctx context.Context, _ *host.AgentContext, next host.Next) error {
	return next(context.WithValue(ctx, runKey[T]{p}, p.begin()))
}

// in finds the run's value. Without one the guard cannot count, and must not let things pass uncounted.
func (p *perRun[T]) in(ctx context.Context) (*T, error) {
	if v, ok := ctx.Value(runKey[T]{p}).(*T); ok {
		return v, nil
	}
	return nil, fmt.Errorf("%s: its agent layer did not run: put the whole host.Middleware that the constructor returned into the agent's or the run's, not one list of it", p.guard)
}

// orDefault is the value, or the default in place of zero.
func orDefault[T comparable](value, byDefault T) T {
	var zero T
	if value == zero {
		return byDefault
	}
	return value
}

// logger is the one that was injected, or the program's.
func logger(l *slog.Logger) *slog.Logger {
	if l == nil {
		return slog.Default()
	}
	return l
}
