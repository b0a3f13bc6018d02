package host

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/weft-run/weft/message"
)

// FunctionInvocation says how the model's tool calls are answered. The zero value answers them with the defaults that
// its fields name.
type FunctionInvocation struct {
	// Disabled hands calls to the caller.
	Disabled bool
	// MaxIterations is how many replies with calls are answered: 40 unless set. After that one more model call is made,
	// with tool_choice none.
	MaxIterations int
	// MaxFunctionCalls is how many calls are answered in one run; 0 means any number. It is looked at between batches.
	MaxFunctionCalls int
	// MaxConcurrentCalls is how many calls of one reply run at the same time; 0 means all of them.
	MaxConcurrentCalls int
	// MaxConsecutiveErrors is how many batches with a failing call may follow each other: 3 unless set.
	MaxConsecutiveErrors int
	// TerminateOnUnknownCalls ends the run with an error where the model calls a tool that does not exist. By default the
	// model is told.
	TerminateOnUnknownCalls bool
	// AdditionalTools can be called and are not offered.
	AdditionalTools []Tool
	// IncludeDetailedErrors tells the model the text of errors.
	IncludeDetailedErrors bool
}

// Defaults of [FunctionInvocation].
const (
	defaultMaxIterations        = 40
	defaultMaxConsecutiveErrors = 3
)

// check reports numbers below zero: what they might mean differs from field to field.
func (f FunctionInvocation) check() error {
	var faults []error
	for _, n := range []struct {
		name  string
		value int
	}{
		{"max_iterations", f.MaxIterations},
		{"max_function_calls", f.MaxFunctionCalls},
		{"max_concurrent_calls", f.MaxConcurrentCalls},
		{"max_consecutive_errors", f.MaxConsecutiveErrors},
	} {
		if n.value < 0 {
			faults = append(faults, fmt.Errorf("function_invocation: %s is %d, and must be 0 for its default, or more", n.name, n.value))
		}
	}
	return errors.Join(faults...)
}

func (f FunctionInvocation) withDefaults() FunctionInvocation {
	if f.MaxIterations == 0 {
		f.MaxIterations = defaultMaxIterations
	}
	if f.MaxConsecutiveErrors == 0 {
		f.MaxConsecutiveErrors = defaultMaxConsecutiveErrors
	}
	return f
}

// The results that the model gets in place of a tool's.
const (
	functionFailed   = "Error: Function failed."
	argumentsInvalid = "Error: Argument parsing failed."
)

// invoke answers all calls at the same time. Every call finishes, whatever happens to its siblings.
func (r *run) invoke(ctx context.Context, b *batch, tools map[string]OfferedTool) error {
	prepared := make([]*prepared, len(b.calls))
	for i, call := range b.calls {
		if b.results[i].refused {
			continue // it was refused
		}
		p, err := r.prepare(ctx, call, tools, &b.results[i])
		if err != nil {
			return err
		}
		prepared[i] = p
	}
	if err := r.runAll(ctx, b, prepared, tools); err != nil {
		return err
	}
	r.distrustCalls(ctx, b, prepared)
	for _, o := range b.results {
		if o.fatal != nil {
			return o.fatal
		}
	}
	if err := ctx.Err(); err != nil || !r.listens {
		return err
	}
	for i, call := range b.calls {
		inv := &Invocation{Call: call, Tool: tools[call.Name], Result: b.results[i].result}
		if err := r.afterFunction(ctx, inv); err != nil {
			return err
		}
		if inv.Result.Result != nil && !inv.Result.Result.IsValid() {
			r.afterErrs = append(r.afterErrs, fmt.Errorf("after_function: the result of call %s is not JSON: %.80q", call.CallID, inv.Result.Result))
			continue
		}
		b.results[i].untrusted = b.results[i].untrusted || inv.untrusted
		b.results[i].result = inv.Result
		b.results[i].result.CallID = call.CallID
	}
	return nil
}

// prepared is a call that is ready to run.
type prepared struct {
	tool      OfferedTool
	arguments jsontext.Value
}

// prepare finds a call's tool, checks its arguments and asks the before_function hooks. Where the call is not to run, it
// returns nil and the outcome stands.
func (r *run) prepare(ctx context.Context, call message.FunctionCall, tools map[string]OfferedTool, o *outcome) (*prepared, error) {
	offered, ok := tools[call.Name]
	if !ok {
		*o = failure(call, fmt.Sprintf("Error: Requested function %q not found.", call.Name), nil, false)
		return nil, nil
	}
	arguments, err := checkArguments(offered.Tool, call.Arguments)
	if err != nil {
		*o = failure(call, argumentsInvalid, err, r.agent.invocation.IncludeDetailedErrors)
		return nil, nil
	}
	if r.listens {
		inv := &Invocation{Call: call, Tool: offered}
		if err := r.beforeFunction(ctx, inv); err != nil {
			return nil, err
		}
		if inv.blocked != nil && !inv.blocked.IsValid() {
			return nil, fmt.Errorf("before_function: the result given for call %s is not JSON: %.80q", call.CallID, *inv.blocked)
		}
		if inv.blocked != nil {
			*o = outcome{untrusted: inv.untrusted, result: message.FunctionResult{CallID: call.CallID, Result: *inv.blocked}}
			return nil, nil
		}
	}
	return &prepared{offered, arguments}, nil
}

// errNoReturn is what a call comes to whose tool ended its goroutine.
var errNoReturn = errors.New("the tool ended without a result")

// runAll runs the calls that are ready, all at the same time.
func (r *run) runAll(ctx context.Context, b *batch, ready []*prepared, tools map[string]OfferedTool) error {
	ctx = r.withUntrusted(ctx)
	ends := make([]func(), 0, len(ready))
	err := r.relay(ctx, func(ctx context.Context) func() {
		var wg sync.WaitGroup
		free := make(chan struct{}, cmp.Or(r.agent.invocation.MaxConcurrentCalls, len(ready)))
		for i, p := range ready {
			ctx := r.eventsFrom(ctx, tools[b.calls[i].Name].SourceID)
			if len(r.tracers) > 0 {
				var end func()
				ctx, end = r.traceCall(ctx, &b.calls[i], &b.results[i], tools[b.calls[i].Name])
				ends = append(ends, end)
			}
			if p == nil {
				continue
			}
			wg.Go(func() {
				free <- struct{}{}
				defer func() { <-free }()
				if r.agent.invocation.MaxConcurrentCalls > 0 && ctx.Err() != nil { // while the call stood in the queue
					b.results[i] = outcome{fatal: ctx.Err()}
					return
				}
				start := time.Now()
				returned := false
				defer func() {
					if !returned {
						b.results[i] = failure(b.calls[i], functionFailed, errNoReturn, r.agent.invocation.IncludeDetailedErrors)
					}
				}()
				b.results[i] = r.answer(ctx, b.calls[i], p)
				b.results[i].duration, returned = time.Since(start), true
			})
		}
		return wg.Wait
	})
	for _, end := range ends {
		end()
	}
	return err
}

// traceCall begins the trace of one call.
func (r *run) traceCall(ctx context.Context, call *message.FunctionCall, o *outcome, tool OfferedTool) (context.Context, func()) {
	t := r.trace("function")
	t.SourceID, t.Tool, t.Call = tool.SourceID, call.Name, call
	ctx, end := r.tracers.start(ctx, &t)
	return ctx, func() {
		t.Duration, t.Result, t.Err = o.duration, &o.result, errors.Join(o.err, o.fatal)
		end()
	}
}

// answer runs one call inside its function middleware.
func (r *run) answer(ctx context.Context, call message.FunctionCall, p *prepared) outcome {
	detailed := r.agent.invocation.IncludeDetailedErrors
	fc := &FunctionContext{RunID: r.id, AgentName: r.agent.name, Session: r.session, Tool: p.tool, CallID: call.CallID, Arguments: p.arguments}
	wrappers := r.functionMiddleware()
	terminated, err := (&layer{
		name: "function", middleware: len(wrappers),
		call: func(ctx context.Context, i int, next Next) error {
			return wrappers[i].ProcessFunction(ctx, fc, next)
		},
		describe: func(i int) any { return wrappers[i] },
		core: func(ctx context.Context) error {
			tool, runs := fc.Tool.Tool.(FunctionTool)
			if !runs {
				return fmt.Errorf("middleware put %T in place of the tool, which cannot be called", fc.Tool.Tool)
			}
			return guard(nil, func() (err error) {
				fc.Result, err = tool.Call(context.WithValue(ctx, callIDKey{}, fc.CallID), fc.Arguments)
				return err
			})
		},
		tracers: r.tracers, trace: r.trace,
	}).run(ctx)
	fatal, isFatal := errors.AsType[*fatalError](err)
	switch {
	case isFatal:
		return outcome{fatal: fatal.err}
	case err != nil && ctx.Err() != nil:
		return outcome{fatal: ctx.Err()}
	case err != nil:
		return failure(call, functionFailed, err, detailed)
	case fc.Result != nil && !fc.Result.IsValid():
		return failure(call, functionFailed, fmt.Errorf("the result of tool %s is not JSON: %.80q", call.Name, fc.Result), detailed)
	}
	if fc.Result == nil {
		fc.SetText("")
	}
	return outcome{result: message.FunctionResult{CallID: call.CallID, Result: fc.Result}, terminated: terminated}
}

// checkArguments holds a call's arguments against the tool's schema.
func checkArguments(t Tool, arguments jsontext.Value) (jsontext.Value, error) {
	if len(bytes.TrimSpace(arguments)) == 0 {
		arguments = jsontext.Value("{}")
	}
	if arguments.Kind() == '"' { // what was no JSON is kept as a text; the text is what is wrong
		if err := checkObject([]byte(valueText(arguments))); err != nil {
			return nil, fmt.Errorf("arguments must be one JSON object: %w", err)
		}
	}
	if err := checkObject(arguments); err != nil {
		return nil, fmt.Errorf("arguments must be one JSON object: %w", err)
	}
	if schema := t.Definition().Parameters; schema != nil {
		return arguments, schema.Validate(arguments)
	}
	return arguments, nil
}

func textValue(text string) jsontext.Value {
	raw, err := jsontext.AppendQuote(nil, text)
	if err != nil { // not valid UTF-8; what can be read of it is kept
		raw, _ = jsontext.AppendQuote(nil, string(bytes.ToValidUTF8([]byte(text), []byte("\uFFFD"))))
	}
	return raw
}

func valueText(v jsontext.Value) string {
	var text string
	if jsonv2.Unmarshal(v, &text) == nil {
		return text
	}
	return string(v)
}
