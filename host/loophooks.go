package host

import (
	"bytes"
	"context"
	"errors"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/weft-run/weft/message"
)

// A provider may listen to the finer moments of a run: the hooks of this file, each an interface of its own. Before-hooks
// are called in the order of the providers, after-hooks in reverse. What a loop hook adds to the context changes no
// request any more; its state is written at once, and the next hook sees it.
//
// An error of a before-hook ends the run, unless the provider's [ErrorPolicy] says skip. After-hooks are all called,
// whichever fails: the caller gets the response and the joined errors.

// BeforeIterationHook is called before each model call of a run. It may answer in the model's place.
type BeforeIterationHook interface {
	BeforeIteration(ctx context.Context, sc *SessionContext, it *Iteration) error
}

// BeforeToolsHook is called when a reply calls tools, before any of them runs or anybody is asked for approval. It may
// end the run with a reply of its own in place of all the calls.
type BeforeToolsHook interface {
	BeforeTools(ctx context.Context, sc *SessionContext, it *Iteration) error
}

// BeforeFunctionHook is called before each tool call whose tool exists and whose arguments fit, in the order of the calls,
// before the first of them runs. It may block that call.
type BeforeFunctionHook interface {
	BeforeFunction(ctx context.Context, sc *SessionContext, call *Invocation) error
}

// AfterFunctionHook is called for each call with its result, failed and blocked ones too, in the order of the calls, when
// the last of them is done. It may rewrite the result.
type AfterFunctionHook interface {
	AfterFunction(ctx context.Context, sc *SessionContext, call *Invocation) error
}

// AfterIterationHook is called after each model call, when the calls in its reply are answered. It is not called where
// the model call failed.
type AfterIterationHook interface {
	AfterIteration(ctx context.Context, sc *SessionContext, it *Iteration) error
}

// Hooks is every hook of a run. [BaseHooks] implements it with hooks that do nothing.
type Hooks interface {
	SessionCreatedHook
	BeforeRunHook
	AfterRunHook
	RunFailedHook
	BeforeIterationHook
	BeforeToolsHook
	BeforeFunctionHook
	AfterFunctionHook
	AfterIterationHook
}

// BaseHooks is to be embedded by a provider that wants to be a [Hooks] and writes only some of them. A hook that a later
// version adds is then there too. It is not needed: a provider that implements some hooks alone is called for those
// alone. It cannot be embedded by a [WrappingProvider].
type BaseHooks struct{}

var _ Hooks = BaseHooks{}

// SessionCreated does nothing.
func (BaseHooks) SessionCreated(context.Context, *SessionContext) error { return nil }

// BeforeRun does nothing.
func (BaseHooks) BeforeRun(context.Context, *SessionContext) error { return nil }

// AfterRun does nothing.
func (BaseHooks) AfterRun(context.Context, *SessionContext) error { return nil }

// RunFailed does nothing.
func (BaseHooks) RunFailed(context.Context, *SessionContext, error) error { return nil }

// BeforeIteration does nothing.
func (BaseHooks) BeforeIteration(context.Context, *SessionContext, *Iteration) error { return nil }

// BeforeTools does nothing.
func (BaseHooks) BeforeTools(context.Context, *SessionContext, *Iteration) error { return nil }

// BeforeFunction does nothing.
func (BaseHooks) BeforeFunction(context.Context, *SessionContext, *Invocation) error { return nil }

// AfterFunction does nothing.
func (BaseHooks) AfterFunction(context.Context, *SessionContext, *Invocation) error { return nil }

// AfterIteration does nothing.
func (BaseHooks) AfterIteration(context.Context, *SessionContext, *Iteration) error { return nil }

// Iteration is one model call of a run, and the calls in its reply. What it holds is shared and read-only.
type Iteration struct {
	// Number counts the model calls of the run from 1.
	Number int
	// Request is what the model is sent, before chat middleware.
	Request *ChatRequest
	// SoFar is what the run came to before this iteration: replies, results and usage.
	SoFar *Response
	// Reply is the model's; nil before it answered.
	Reply *Response
	// Calls are the calls in the reply, each id once; Results are theirs, in after_iteration.
	Calls   []message.FunctionCall
	Results []message.FunctionResult

	instead *Response
}

// hookIteration calls a hook of an iteration; what an untrusted provider gives in place of a reply is distrusted.
func (r *run) hookIteration(s *slot, it *Iteration, hook func() error) error {
	before := it.instead
	err := hook()
	if s.untrusted && it.instead != before {
		r.distrust(s.sourceID)
	}
	return err
}

// Skip gives the reply instead. In before_iteration the model is not called; calls in the reply are answered as if it were
// the model's. In before_tools no call of the reply runs, each gets a fixed result, and the run ends with this reply,
// whose own calls are dropped. Later hooks are called all the same, and the last one that skips wins. After the model
// answered it does nothing.
func (it *Iteration) Skip(reply *Response) { it.instead = reply }

// Skipped is the reply that an earlier hook gave; nil where none did.
func (it *Iteration) Skipped() *Response { return it.instead }

// Invocation is one tool call, as the loop's hooks see it.
type Invocation struct {
	// Call is what the model asked for; Tool is what answers it. Tool is empty for a tool that does not exist.
	Call message.FunctionCall
	Tool OfferedTool
	// Result is the call's, in after_function. What stands there afterwards is what the model gets.
	Result message.FunctionResult

	blocked   *jsontext.Value
	untrusted bool // an untrusted provider gave the result
}

// hookInvocation calls a hook of a call; what an untrusted provider makes of its result is distrusted.
func (r *run) hookInvocation(s *slot, call *Invocation, hook func() error) error {
	blocked, result := call.blocked, call.Result
	err := hook()
	changed := call.blocked != blocked || !bytes.Equal(call.Result.Result, result.Result) || call.Result.Error != result.Error
	if s.untrusted && changed {
		call.untrusted = true
		r.distrust(s.sourceID)
	}
	return err
}

// Block gives a result, any JSON value, in place of the tool's, which is not called. Later hooks are called all the same,
// and the last one that blocks wins. In after_function it does nothing.
func (i *Invocation) Block(result jsontext.Value) { i.blocked = &result }

// BlockText is Block with a text.
func (i *Invocation) BlockText(text string) { i.Block(textValue(text)) }

// skippedCall is the result of a call that a before_tools hook skipped.
const skippedCall = "Error: Tool call was skipped."

// beforeEach calls a before-hook of all providers that have it, in order.
func (r *run) beforeEach(ctx context.Context, name string, of func(s *slot) func(context.Context, *SessionContext) error) error {
	for i := range r.slots {
		call := of(r.slots[i])
		if call == nil || r.gone[i] {
			continue
		}
		if skipped, err := r.hook(ctx, i, name, call); err != nil && !skipped {
			return err
		}
	}
	return nil
}

// afterEach calls an after-hook of all providers that have it, the last first.
func (r *run) afterEach(ctx context.Context, name string, of func(s *slot) func(context.Context, *SessionContext) error) error {
	for i := len(r.slots) - 1; i >= 0; i-- {
		call := of(r.slots[i])
		if call == nil || r.gone[i] {
			continue
		}
		skipped, err := r.hook(ctx, i, name, call)
		if errors.Is(err, ErrStopped) || ctx.Err() != nil {
			return errors.Join(err, ctx.Err())
		}
		if err != nil && !skipped {
			r.afterErrs = append(r.afterErrs, err)
		}
	}
	return nil
}

func (r *run) beforeIteration(ctx context.Context, it *Iteration) error {
	return r.beforeEach(ctx, "before_iteration", func(s *slot) func(context.Context, *SessionContext) error {
		if s.beforeIteration == nil {
			return nil
		}
		return func(ctx context.Context, sc *SessionContext) error {
			return r.hookIteration(s, it, func() error { return s.beforeIteration.BeforeIteration(ctx, sc, it) })
		}
	})
}

func (r *run) beforeTools(ctx context.Context, it *Iteration) error {
	return r.beforeEach(ctx, "before_tools", func(s *slot) func(context.Context, *SessionContext) error {
		if s.beforeTools == nil {
			return nil
		}
		return func(ctx context.Context, sc *SessionContext) error {
			return r.hookIteration(s, it, func() error { return s.beforeTools.BeforeTools(ctx, sc, it) })
		}
	})
}

func (r *run) beforeFunction(ctx context.Context, call *Invocation) error {
	return r.beforeEach(ctx, "before_function", func(s *slot) func(context.Context, *SessionContext) error {
		if s.beforeFunction == nil {
			return nil
		}
		return func(ctx context.Context, sc *SessionContext) error {
			return r.hookInvocation(s, call, func() error { return s.beforeFunction.BeforeFunction(ctx, sc, call) })
		}
	})
}

func (r *run) afterFunction(ctx context.Context, call *Invocation) error {
	return r.afterEach(ctx, "after_function", func(s *slot) func(context.Context, *SessionContext) error {
		if s.afterFunction == nil {
			return nil
		}
		return func(ctx context.Context, sc *SessionContext) error {
			return r.hookInvocation(s, call, func() error { return s.afterFunction.AfterFunction(ctx, sc, call) })
		}
	})
}

func (r *run) afterIteration(ctx context.Context, it *Iteration) error {
	return r.afterEach(ctx, "after_iteration", func(s *slot) func(context.Context, *SessionContext) error {
		if s.afterIteration == nil {
			return nil
		}
		return func(ctx context.Context, sc *SessionContext) error {
			return s.afterIteration.AfterIteration(ctx, sc, it)
		}
	})
}
