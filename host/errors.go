package host

import (
	"errors"
	"fmt"
	"time"
)

var (
	// ErrNoResult is returned where a wrapping provider neither called next nor set a response.
	ErrNoResult = errors.New("no result")
	// ErrStopped is the cause that RunFailed hooks get where a stream was left before its end.
	ErrStopped = errors.New("the stream was left before its end")
)

// HookError is an error of one provider's hook.
type HookError struct {
	SourceID string
	// Hook is the contract's name of it, such as "before_run".
	Hook string
	Err  error
}

// Error names the provider and the hook.
func (e *HookError) Error() string {
	return fmt.Sprintf("provider %s: %s: %v", e.SourceID, e.Hook, e.Err)
}

// Unwrap is the hook's own error.
func (e *HookError) Unwrap() error { return e.Err }

// What a model call failed of, for [errors.Is]. A client says it as [ModelError.Kind].
var (
	// ErrRateLimited: too many calls or tokens; try again after [ModelError.RetryAfter].
	ErrRateLimited = errors.New("rate limited")
	// ErrUnavailable: the service did not answer, or answered that it cannot; trying again may help.
	ErrUnavailable = errors.New("service unavailable")
	// ErrAuthentication: the key is missing, wrong, or lacks the right.
	ErrAuthentication = errors.New("authentication failed")
	// ErrNotFound: no such model, or no such conversation.
	ErrNotFound = errors.New("not found")
	// ErrInvalidRequest: the service refused the request as it is.
	ErrInvalidRequest = errors.New("invalid request")
	// ErrContextLength: the conversation is longer than the model can read.
	ErrContextLength = errors.New("context too long")
	// ErrContentFilter: the service refused the content.
	ErrContentFilter = errors.New("content filtered")
	// ErrBadReply: the service answered something that its protocol does not know, or stopped in the middle.
	ErrBadReply = errors.New("bad reply")
	// ErrTimeout: the model, or a tool, took longer than it was given.
	ErrTimeout = errors.New("timeout")
)

// ModelError is an error of the chat client. A client that knows more than the text returns one by itself.
type ModelError struct {
	// Kind is one of the errors above, such as [ErrRateLimited]; nil where the client does not tell.
	Kind error
	// Status is the HTTP status; 0 where there is none.
	Status int
	// RetryAfter is how long the service asks to wait; 0 where it does not say.
	RetryAfter time.Duration
	Err        error
}

// Error says that the model failed, and why.
func (e *ModelError) Error() string {
	switch {
	case e.Kind == nil:
		return "model: " + e.Err.Error()
	case e.Err == nil:
		return "model: " + e.Kind.Error()
	}
	return "model: " + e.Kind.Error() + ": " + e.Err.Error()
}

// Unwrap is the kind and the client's own error.
func (e *ModelError) Unwrap() []error {
	var all []error
	if e.Kind != nil {
		all = append(all, e.Kind)
	}
	if e.Err != nil {
		all = append(all, e.Err)
	}
	return all
}

// PanicError is a panic in code that was handed to the agent, caught at the agent's border.
type PanicError struct {
	Value any
	// Stack is where it happened.
	Stack []byte
}

// Error is the value of the panic.
func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v", e.Value) }
