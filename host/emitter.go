package host

import "runtime/debug"

// emitter hands updates to the consumer of a stream. A nil emitter belongs to a run that is not streamed. It is used by
// one goroutine, the consumer's own.
type emitter struct {
	yield  func(*Update) bool
	shown  int  // updates so far
	inside bool // the consumer's code is on the stack
}

// show gives one update to the consumer and reports whether it wants more.
func (e *emitter) show(u *Update) bool {
	e.inside = true
	more := e.yield(u)
	e.inside = false
	e.shown++
	return more
}

// showAll streams a response that came as a whole.
func (e *emitter) showAll(r *Response) error {
	if e == nil || r == nil {
		return nil
	}
	for _, u := range updatesOf(r) {
		if !e.show(u) {
			return ErrStopped
		}
	}
	return nil
}

// guard calls code that was handed to the agent and turns a panic into an error. A panic of the consumer of a stream,
// whose loop body runs inside the call, is let through.
func guard(out *emitter, f func() error) (err error) {
	defer func() {
		if out != nil && out.inside {
			return
		}
		if v := recover(); v != nil {
			err = &PanicError{Value: v, Stack: debug.Stack()}
		}
	}()
	return f()
}
