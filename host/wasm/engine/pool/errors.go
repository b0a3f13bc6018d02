package pool

import (
	"errors"
	"fmt"
)

// Targets for errors.Is.
var (
	// ErrBusy: nothing is free, and the caller may not wait for it. Try again later. The error is a *BusyError.
	ErrBusy = errors.New("pool is busy")
	// ErrClosed: the pool is closed.
	ErrClosed = errors.New("pool is closed")
)

// Refusal says why a caller may not wait.
type Refusal uint8

const (
	// QueueFull says that as many callers as may wait do so already.
	QueueFull Refusal = iota
	// WouldBlock says that the caller holds a resource, and everything here is held by calls that wait themselves. See the
	// package's description of nested calls.
	WouldBlock
	// NoWait says that the caller asked not to wait; see Pool.TryGet.
	NoWait
)

// BusyError says what was in use when a caller was turned away.
type BusyError struct {
	// Why is the reason for which the caller could not wait.
	Why Refusal
	// Out is how many places were in use, Most how many there are.
	Out, Most int
	// Waiting is how many callers waited, Queue how many may. Queue is Unlimited where there is no limit.
	Waiting, Queue int
}

// Error says what was in use, and how to mend it.
func (e *BusyError) Error() string {
	switch e.Why {
	case WouldBlock:
		return fmt.Sprintf("pool is busy: all %d are in use by calls that wait themselves, and this call would make them wait "+
			"for each other: nest calls less deeply, or raise the limit of %d", e.Out, e.Most)
	case NoWait:
		return fmt.Sprintf("pool is busy: all %d are in use and %d callers wait: try again later, or raise the limit of %d",
			e.Out, e.Waiting, e.Most)
	default:
		return fmt.Sprintf("pool is busy: all %d are in use and %d callers wait: try again later, or raise the limit of %d "+
			"or the %d who may wait", e.Out, e.Waiting, e.Most, e.Queue)
	}
}

// Is says whether target is ErrBusy.
func (e *BusyError) Is(target error) bool { return target == ErrBusy }

// PanicError says that the function that makes resources panicked.
type PanicError struct {
	// Value is what it panicked with.
	Value any
	// Stack is where, as debug.Stack writes it.
	Stack []byte
}

// Error says what it panicked with, without the stack.
func (e *PanicError) Error() string { return fmt.Sprintf("making a resource panicked: %v", e.Value) }

// Unwrap returns the value of the panic where that is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}
