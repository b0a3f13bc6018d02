package host

import (
	"context"
	"errors"
	"iter"
	"sync/atomic"

	"github.com/weft-run/weft/message"
)

// ErrStreamUsed is returned where a stream is read a second time.
var ErrStreamUsed = errors.New("the stream was read already: a stream is one run and can be read once")

// Stream is a run whose answer arrives in pieces. Nothing happens until it is read. It belongs to one goroutine.
type Stream struct {
	ctx      context.Context
	run      func(ctx context.Context, out *emitter) (*Response, error)
	used     atomic.Bool
	hooks    []StreamHooks
	response *Response
	err      error
}

// Stream gives the input to the agent; reading the stream is what carries the run out. Errors of any kind, those of
// the configuration too, arrive in the stream.
//
//	stream := agent.Stream(ctx, host.Text("hi"), host.RunConfig{Session: session})
//	for update, err := range stream.Updates() {
//		if err != nil { … }
//		fmt.Print(update.Text())
//	}
//	response, err := stream.Response()
func (a *Agent) Stream(ctx context.Context, input []*message.Message, c RunConfig) *Stream {
	return &Stream{ctx: ctx, run: func(ctx context.Context, out *emitter) (*Response, error) {
		return a.execute(ctx, input, c, out)
	}}
}

// OnStream registers hooks for the updates on their way to the consumer; those registered first come first. It is to be
// called before the stream is read.
func (s *Stream) OnStream(h StreamHooks) { s.hooks = append(s.hooks, h) }

// Updates yields the pieces of the answer, and at most one error, as the last element. Reading to the end finishes the
// run, AfterRun hooks included. Leaving the loop earlier is a cancelled run: the model call ends, RunFailed hooks are
// called with [ErrStopped], nothing is stored.
func (s *Stream) Updates() iter.Seq2[*Update, error] {
	return func(yield func(*Update, error) bool) {
		if !s.used.CompareAndSwap(false, true) {
			yield(nil, ErrStreamUsed)
			return
		}
		ctx, cancel := context.WithCancel(s.ctx)
		defer cancel()
		s.err = errors.New("the stream is being read: the response is there when it is over")
		stopped := false
		var err error
		out := &emitter{root: &consumer{ctx: ctx, yield: func(u *Update) bool {
			if !stopped {
				stopped = !yield(u, nil)
			}
			return !stopped
		}}}
		if len(s.hooks) == 0 {
			s.response, err = s.run(ctx, out)
		} else {
			var afterErr error
			err = guard(out, func() error {
				return hookedStream(&out, s.hooks, func() (err error) {
					if s.response, err = s.run(ctx, out); s.response != nil {
						afterErr, err = err, nil // what only after_run hooks failed at does not undo the run
					}
					return err
				}, func() *Response { return s.response }, func(r *Response) { s.response = r })
			})
			if err == nil {
				err = afterErr
			} else {
				s.response = nil
			}
		}
		s.err = err
		if err != nil && !stopped {
			yield(nil, err)
		}
	}
}

// Response is the final response: what [Agent.Run] would have returned. It reads what is left of a stream that was not
// read yet.
func (s *Stream) Response() (*Response, error) {
	if !s.used.Load() {
		s.Updates()(func(*Update, error) bool { return true }) // reading is what runs the agent
	}
	return s.response, s.err
}
