package middleware

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/weft-run/weft/host"
)

// ErrTooManyErrors is what a [ErrorLimitError] is.
var ErrTooManyErrors = errors.New("too many failing tool calls")

// Defaults of [ErrorLimitsConfig].
const (
	DefaultConsecutiveErrors = 3
	DefaultTotalErrors       = 10
)

// ErrorLimitsConfig says how many failing tool calls a run survives.
type ErrorLimitsConfig struct {
	// Consecutive is the failing call that ends the run where no call succeeded in between. Default:
	// [DefaultConsecutiveErrors]. Negative: never.
	Consecutive int
	// Total is the failing call of the whole run that ends it. Default: [DefaultTotalErrors]. Negative: never.
	Total int
}

func (c ErrorLimitsConfig) withDefaults() ErrorLimitsConfig {
	c.Consecutive = orDefault(c.Consecutive, DefaultConsecutiveErrors)
	c.Total = orDefault(c.Total, DefaultTotalErrors)
	return c
}

// ErrorLimitError ended a run in which too many tool calls failed.
type ErrorLimitError struct {
	// Consecutive and Total count the failing calls, the last one included.
	Consecutive, Total int
	// Tool is the tool that failed last, and Err what it failed with.
	Tool string
	Err  error
}

// Error has the counts and the last error.
func (e *ErrorLimitError) Error() string {
	return fmt.Sprintf("%d tool calls in a row failed, %d in the whole run; the last was %q: %v", e.Consecutive, e.Total, e.Tool, e.Err)
}

// Unwrap is [ErrTooManyErrors] and the last call's error.
func (e *ErrorLimitError) Unwrap() []error { return []error{ErrTooManyErrors, e.Err} }

type errorLimits struct {
	config ErrorLimitsConfig
	runs   *perRun[errorCounts]
}

type errorCounts struct {
	mu                 sync.Mutex
	consecutive, total int
}

var _ host.FunctionMiddleware = (*errorLimits)(nil)

// NewErrorLimits returns a guard that ends a run with a typed error where too many tool calls failed: those that returned
// an error further in. It uses the agent and the function layer.
//
// [host.FunctionInvocation.MaxConsecutiveErrors] is the milder limit: it counts replies with a failing call among their
// calls, unknown tools and arguments that do not fit included, which no middleware sees; and when it is reached, the
// model answers without tools and the run succeeds. With the defaults of both, three replies with one failing call each
// reach this limit first. Calls of one reply run at the same time, and count in the order in which they end.
func NewErrorLimits(c ErrorLimitsConfig) host.Middleware {
	l := &errorLimits{config: c.withDefaults(), runs: &perRun[errorCounts]{
		guard: "error_limits", begin: func() *errorCounts { return &errorCounts{} },
	}}
	return host.Middleware{Agent: []host.AgentMiddleware{l.runs}, Function: []host.FunctionMiddleware{l}}
}

// SourceType is what traces call it.
func (*errorLimits) SourceType() string { return "error_limits" }

// ProcessFunction counts how the call ends.
func (l *errorLimits) ProcessFunction(ctx context.Context, c *host.FunctionContext, next host.Next) error {
	counts, err := l.runs.in(ctx)
	if err != nil {
		return host.Fatal(err)
	}
	failed := next(ctx)
	counts.mu.Lock()
	defer counts.mu.Unlock()
	if failed == nil || errors.Is(failed, host.ErrTerminate) {
		counts.consecutive = 0
		return failed
	}
	counts.consecutive++
	counts.total++
	reached := func(limit, count int) bool { return limit > 0 && count >= limit }
	if reached(l.config.Consecutive, counts.consecutive) || reached(l.config.Total, counts.total) {
		return host.Fatal(&ErrorLimitError{
			Consecutive: counts.consecutive, Total: counts.total, Tool: c.Tool.Definition().Name, Err: failed,
		})
	}
	return failed
}
