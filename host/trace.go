package host

import (
	"context"
	"time"

	"github.com/weft-run/weft/message"
)

// HookTrace tells of one part of a run: a hook call, a middleware, a model call, a tool call, or the run itself.
type HookTrace struct {
	RunID string
	// AgentName is the agent's name; SessionID is empty for a run without a session.
	AgentName string
	SessionID string

	SourceID   string
	SourceType string
	// Hook is the contract's name of a hook, such as "before_run"; "process" for what wraps; "model" for a model call,
	// "function" for a tool call, "run" for the whole run.
	Hook string
	// Layer is that of middleware: agent, chat or function; context for a wrapping provider; empty otherwise.
	Layer string
	// Tool is the tool that was called.
	Tool string
	// Streaming says that the answer goes out in pieces.
	Streaming bool

	// Request is a model call's, after all middleware; Call is a tool call's. Shared and read-only.
	Request *ChatRequest
	Call    *message.FunctionCall

	Start    time.Time
	Duration time.Duration
	// Concurrent says that the hook ran beside those of other providers ([IndependentProvider]); its duration is that of its
	// own work.
	Concurrent bool
	// FirstUpdate is how long the first piece of a streamed model call took.
	FirstUpdate time.Duration
	// Messages, Instructions and Tools count what the call added.
	Messages     int
	Instructions int
	Tools        int
	// NextCalls is how often a middleware, or a wrapping provider, called next: 0 for one that answered by itself.
	NextCalls int
	// Changes are what chat or agent middleware made of what passed through it.
	Changes Changes
	// Response is what a model call, or the run, came to; Result is a tool call's. Shared and read-only.
	Response *Response
	Result   *message.FunctionResult
	// Costs are what the part itself used of its limits, without what runs inside of it, where it tells ([ReportCost]); a
	// model call's are its tokens. Each name stands there once.
	Costs []Cost
	// Err is the call's error; Skipped says that the run went on without it.
	Err     error
	Skipped bool
}

// Tracer follows the parts of runs. It must be safe for many goroutines: function middleware of one reply runs at the
// same time. What it is given must not be kept once End returned.
type Tracer interface {
	// Start is called before a part; the part runs in the context that it returns.
	Start(ctx context.Context, t *HookTrace) context.Context
	// End is called when the part is over, with that context. Tool calls end in their order, when the last of a reply is
	// done.
	End(ctx context.Context, t *HookTrace)
}

// TraceFunc is a tracer that hears of each part when it is over.
type TraceFunc func(ctx context.Context, t HookTrace)

var _ Tracer = TraceFunc(nil)

// Start does nothing.
func (TraceFunc) Start(ctx context.Context, _ *HookTrace) context.Context { return ctx }

// End calls the function.
func (f TraceFunc) End(ctx context.Context, t *HookTrace) { f(ctx, *t) }

// quietly calls a tracer. One that panics is passed over: who follows a run does not end it.
func quietly(ctx context.Context, f func() context.Context) (after context.Context) {
	defer func() {
		if recover() != nil || after == nil {
			after = ctx
		}
	}()
	return f()
}

// tracers are the agent's and the run's. None costs nothing.
type tracers []Tracer

// start begins a part for all tracers. The returned end is to be called once.
func (ts tracers) start(ctx context.Context, t *HookTrace) (context.Context, func()) {
	t.Start = time.Now()
	contexts := make([]context.Context, len(ts))
	for i, tracer := range ts {
		ctx = quietly(ctx, func() context.Context { return tracer.Start(ctx, t) })
		contexts[i] = ctx
	}
	costs := &ledger{}
	return ts.within(ctx, costs), func() {
		if t.Duration == 0 {
			t.Duration = time.Since(t.Start)
		}
		t.Costs = costs.close()
		for i := range ts {
			i = len(ts) - 1 - i
			quietly(contexts[i], func() context.Context {
				ts[i].End(contexts[i], t)
				return nil
			})
		}
	}
}
