package middleware

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/weft-run/weft/host"
)

// Defaults of [TimeoutsConfig].
const (
	DefaultToolTimeout  = 30 * time.Second
	DefaultModelTimeout = 5 * time.Minute
	DefaultIdleTimeout  = 60 * time.Second
)

// abandonAfter is how long a tool call whose context has ended is waited for before it is abandoned.
const abandonAfter = 100 * time.Millisecond

// TimeoutsConfig says how long the parts of a run may take. A negative time means any time.
type TimeoutsConfig struct {
	// Tool is the time of one tool call. Default: [DefaultToolTimeout].
	Tool time.Duration
	// Tools are the times of single tools by name, in place of Tool. Default: none.
	Tools map[string]time.Duration
	// Model is the time of one model call as a whole. Default: [DefaultModelTimeout].
	Model time.Duration
	// Idle is the time of a streamed model call without an update, before the first one too. Default:
	// [DefaultIdleTimeout].
	Idle time.Duration
}

func (c TimeoutsConfig) withDefaults() TimeoutsConfig {
	c.Tool = orDefault(c.Tool, DefaultToolTimeout)
	c.Model = orDefault(c.Model, DefaultModelTimeout)
	c.Idle = orDefault(c.Idle, DefaultIdleTimeout)
	return c
}

// ToolTimeoutError is what a tool call failed with that took longer than it was given.
type ToolTimeoutError struct {
	Tool  string
	After time.Duration
	// Err is what the tool returned when its context ended; nil where it returned nothing and was abandoned.
	Err error
}

// Error names the tool and its time.
func (e *ToolTimeoutError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("the tool %q took longer than %v and did not stop when it was told to: it was abandoned", e.Tool, e.After)
	}
	return fmt.Sprintf("the tool %q took longer than %v: %v", e.Tool, e.After, e.Err)
}

// Unwrap is [host.ErrTimeout], and the tool's own error.
func (e *ToolTimeoutError) Unwrap() []error {
	if e.Err == nil {
		return []error{host.ErrTimeout}
	}
	return []error{host.ErrTimeout, e.Err}
}

type timeouts struct{ config TimeoutsConfig }

var (
	_ host.ChatMiddleware     = (*timeouts)(nil)
	_ host.FunctionMiddleware = (*timeouts)(nil)
)

// NewTimeouts returns a guard that ends what takes too long. It stands at the chat and the function layer, innermost as a
// rule: inside [NewRetry] each attempt has its own time.
//
// A model call's context ends when its time is over, and the call fails with a [host.ModelError] of the kind
// [host.ErrTimeout]. The clocks stand still while the consumer of a stream has an update in hands. A client must
// return soon after its context ended (see [host.ChatClient]).
//
// A tool call's context ends too, and the call's result is an error, a [ToolTimeoutError], so the run goes on. A tool
// that does not return then is abandoned after another 100 ms, and so is one that ignores the end of the run: its
// goroutine lives on until the tool returns, and what it returns is dropped.
func NewTimeouts(c TimeoutsConfig) host.Middleware {
	t := &timeouts{c.withDefaults()}
	return host.Middleware{Chat: []host.ChatMiddleware{t}, Function: []host.FunctionMiddleware{t}}
}

// SourceType is what traces call it.
func (*timeouts) SourceType() string { return "timeouts" }

// ProcessFunction puts a tool in place of the call's own that can be left behind.
func (t *timeouts) ProcessFunction(ctx context.Context, c *host.FunctionContext, next host.Next) error {
	tool, ok := c.Tool.Tool.(host.FunctionTool)
	if !ok {
		return next(ctx)
	}
	name := c.Tool.Definition().Name
	limit, own := t.config.Tools[name]
	if !own || limit == 0 {
		limit = t.config.Tool
	}
	late := &ToolTimeoutError{Tool: name, After: limit} // the cause, which the tool sees; it is not changed
	callCtx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if limit > 0 {
		timer := time.AfterFunc(limit, func() { cancel(late) })
		defer timer.Stop()
	}
	c.Tool.Tool = &abandonable{FunctionTool: tool}
	defer func() { c.Tool.Tool = tool }()
	err := next(callCtx)
	switch {
	case err == nil || !errors.Is(context.Cause(callCtx), late):
		return err
	case errors.Is(err, errAbandoned):
		return late
	}
	return &ToolTimeoutError{Tool: name, After: limit, Err: err}
}

// errAbandoned is what a call comes to that was left behind.
var errAbandoned = errors.New("the tool did not stop when it was told to")

// abandonable is a tool whose calls run on goroutines of their own.
type abandonable struct{ host.FunctionTool }

// Call waits for the tool, and for a moment more once its context ended.
func (a *abandonable) Call(ctx context.Context, arguments jsontext.Value) (jsontext.Value, error) {
	type outcome struct {
		result jsontext.Value
		err    error
	}
	done := make(chan outcome, 1)
	go func() {
		o := outcome{err: errors.New("the tool ended without a result")} // as one does that ends its goroutine
		defer func() {
			if v := recover(); v != nil {
				o = outcome{err: &host.PanicError{Value: v, Stack: debug.Stack()}}
			}
			done <- o
		}()
		o.result, o.err = a.FunctionTool.Call(ctx, arguments)
	}()
	select {
	case o := <-done:
		return o.result, o.err
	case <-ctx.Done():
	}
	grace := time.NewTimer(abandonAfter)
	defer grace.Stop()
	select {
	case o := <-done:
		return o.result, o.err
	case <-grace.C:
		return nil, errors.Join(errAbandoned, ctx.Err())
	}
}

// ProcessChat runs the call under two clocks.
func (t *timeouts) ProcessChat(ctx context.Context, c *host.ChatContext, next host.Next) error {
	callCtx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	idle := t.config.Idle
	if !c.Streaming {
		idle = -1
	}
	clocks := newClocks(t.config.Model, idle, cancel)
	defer clocks.pause()
	c.OnStream(host.StreamHooks{Update: func(u *host.Update, emit func(*host.Update) error) error {
		clocks.pause()
		if late, ok := lateness(callCtx); ok { // it came in the moment in which time was up
			return late
		}
		if err := emit(u); err != nil {
			return err
		}
		clocks.resume()
		return nil
	}})
	clocks.resume()
	err := next(callCtx)
	if late, ok := lateness(callCtx); ok && err != nil {
		return &host.ModelError{Kind: host.ErrTimeout, Err: late}
	}
	return err
}

// lateError is the cause with which a clock ends a model call.
type lateError struct {
	what  string
	limit time.Duration
}

func (e *lateError) Error() string { return fmt.Sprintf("%s %v", e.what, e.limit) }

func lateness(ctx context.Context) (*lateError, bool) {
	return errors.AsType[*lateError](context.Cause(ctx))
}

// clocks are a model call's: the total runs on from where it stood, the idle clock starts anew. They are used by the
// goroutine of the call alone.
type clocks struct {
	left, idle, total time.Duration
	since             time.Time
	timers            [2]*time.Timer
	cancel            context.CancelCauseFunc
}

func newClocks(total, idle time.Duration, cancel context.CancelCauseFunc) *clocks {
	return &clocks{left: total, idle: idle, total: total, cancel: cancel}
}

func (c *clocks) resume() {
	c.since = time.Now()
	if c.total > 0 {
		c.timers[0] = time.AfterFunc(max(c.left, 0), func() { c.cancel(&lateError{"the call took longer than", c.total}) })
	}
	if c.idle > 0 {
		c.timers[1] = time.AfterFunc(c.idle, func() { c.cancel(&lateError{"nothing came for", c.idle}) })
	}
}

func (c *clocks) pause() {
	for i, timer := range c.timers {
		if timer != nil {
			timer.Stop()
			c.timers[i] = nil
		}
	}
	c.left -= time.Since(c.since)
}
