package wasm

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/weft-run/weft/abi"
	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/message"
)

// call is one call of a hook: what the host functions that it calls stand on. It is used by the goroutine of the call.
type call struct {
	version *version
	hook    abi.Hook
	layer   abi.Layer // for process and on_update

	// Where the call belongs. Session is nil for a run without one.
	runID, agent string
	session      *host.Session
	parts        parts

	// next runs the rest of the chain; nil for hooks that have none. It returns the members of what call_next returns.
	next  func(ctx context.Context, input []byte) (*view, error)
	nexts int
	// causes are the errors that call_next returned, by number; passed is one that ended the plugin.
	causes []error
	passed error
	// panicked is what the consumer of a stream panicked with while the plugin waited for it.
	panicked any

	// outer is the call that this one is within, and turn the bucket whose turn it has (turns.go); both may be nil.
	outer *call
	turn  *host.State

	// state says whether what the plugin knows of its bucket is what stands there.
	state uint64

	spending spending
	charged  *call // the call that the costs of this one count with; nil for itself

	events  int // told so far
	removed int // characters that nobody sees

	// What was added to the run by this call of process, over all calls of call_next.
	text, tools, middleware int
	over                    atomic.Bool
}

// parts are the messages that get_messages can give (clause HF-3); what a call has not is nil.
type parts struct {
	sc                       *host.SessionContext
	input, request, response func() []*message.Message
}

type callKey struct{}

// callOf is the call of a hook that a host function was called by.
func callOf(ctx context.Context) (*call, error) {
	c, _ := ctx.Value(callKey{}).(*call)
	if c == nil || c.over.Load() {
		return nil, &abi.Error{Code: abi.CodeDenied, Message: "host functions belong to the hooks of a run, and none is under way"}
	}
	return c, nil
}

// errPanicked ends a plugin through whose call a panic passes.
var errPanicked = errors.New("what the plugin waited for panicked")

// outside calls what leads out of the plugin to code of the caller. A panic of that is no fault of the engine's: it ends the
// plugin, and goes on behind it.
func (c *call) outside(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			c.panicked, c.passed, err = p, errPanicked, errPanicked
		}
	}()
	return f()
}

func (c *call) begin() { c.over.Store(false) }

// end has host functions refuse what comes after the call.
func (c *call) end() { c.over.Store(true) }

// failure is what call_next returns for an error from below (clause PRO-6).
func (c *call) failure(err error) *abi.Error {
	c.causes = append(c.causes, err)
	e := envelope(err)
	e.Cause = len(c.causes)
	return e
}

// reported is the error that a plugin returned: one from below as it was.
func (c *call) reported(e *abi.Error) error {
	if e.Cause > 0 && e.Cause <= len(c.causes) {
		c.passed = c.causes[e.Cause-1]
		return c.passed
	}
	return e
}

// ends reports whether an error from below is none that a plugin may handle: middleware further in terminated, or the run
// is over.
func ends(ctx context.Context, err error) bool {
	return errors.Is(err, host.ErrTerminate) || errors.Is(err, host.ErrStopped) || ctx.Err() != nil
}
