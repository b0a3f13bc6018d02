package host

import (
	"errors"
	"fmt"
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

// ModelError is an error of the chat client.
type ModelError struct{ Err error }

// Error says that the model failed, and why.
func (e *ModelError) Error() string { return "model: " + e.Err.Error() }

// Unwrap is the client's own error.
func (e *ModelError) Unwrap() error { return e.Err }

// PanicError is a panic in code that was handed to the agent, caught at the agent's border.
type PanicError struct {
	Value any
	// Stack is where it happened.
	Stack []byte
}

// Error is the value of the panic.
func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v", e.Value) }
