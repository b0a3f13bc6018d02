package host

import (
	"context"
	"runtime/debug"
)

// consumer is who reads a stream.
type consumer struct {
	ctx     context.Context // the stream's, which the consumer may end while it reads
	yield   func(*Update) bool
	stopped bool // it wants no more
	inside  bool // the consumer's code is on the stack
}

// take gives one update to the consumer. It returns [ErrStopped] where that wants no more, and the context's error where
// the consumer ended that, so that a run can be cancelled at any update.
func (c *consumer) take(u *Update) error {
	c.inside = true
	more := c.yield(u)
	c.inside = false
	if !more {
		c.stopped = true
		return ErrStopped
	}
	return c.ctx.Err()
}

// emitter hands updates on to the consumer of a stream, through hooks where there are any. A nil emitter belongs to a run
// that is not streamed. It is used by one goroutine, the consumer's own.
type emitter struct {
	root  *consumer
	shown int // updates so far

	up      *emitter // nil for the one next to the consumer
	hooks   []StreamHooks
	left    collector // what the hooks let through
	changed bool      // that is not what came in
}

// leftErr reports whether the consumer left the stream, or ended its context: also where whoever stood between kept the
// error to himself.
func (e *emitter) leftErr() error {
	switch {
	case e == nil:
		return nil
	case e.root.stopped:
		return ErrStopped
	}
	return e.root.ctx.Err()
}

// show gives one update to the hooks, and what they let through to the consumer.
func (e *emitter) show(u *Update) error {
	e.shown++
	if e.up != nil {
		return e.through(0, u)
	}
	return e.root.take(u)
}

// showAll streams a response that came as a whole.
func (e *emitter) showAll(r *Response) error {
	if e == nil || r == nil {
		return nil
	}
	for _, u := range updatesOf(r) {
		if err := e.show(u); err != nil {
			return err
		}
	}
	return nil
}

// guard calls code that was handed to the agent and turns a panic into an error. A panic of the consumer of a stream,
// whose loop body runs inside the call, is let through.
func guard(out *emitter, f func() error) (err error) {
	defer func() {
		if out != nil && out.root.inside {
			return
		}
		if v := recover(); v != nil {
			err = &PanicError{Value: v, Stack: debug.Stack()}
		}
	}()
	return f()
}
