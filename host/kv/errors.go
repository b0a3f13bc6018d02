package kv

import (
	"errors"
	"fmt"
)

// Targets for errors.Is.
var (
	// ErrConflict: the entry does not have the version that the write was for. See ConflictError.
	ErrConflict = errors.New("conflict")
	// ErrLimit: a limit is in the way. See LimitError.
	ErrLimit = errors.New("limit")
	// ErrInvalid: something that was passed to the store is not what it may be. The error says what.
	ErrInvalid = errors.New("invalid")
	// ErrClosed: the store is closed.
	ErrClosed = errors.New("the key-value store is closed")
)

// ConflictError says that an entry does not have the version that a write was for. It is an ErrConflict.
type ConflictError struct {
	// Key is the entry's.
	Key string
	// Want is the version that the write was for, and Have the one that is there. 0 stands for no entry.
	Want, Have int64
}

// Error says what was wanted and what is there.
func (e *ConflictError) Error() string {
	return fmt.Sprintf("key %q: %s was wanted, and %s is there: read it again, and write with the version that you read",
		e.Key, version(e.Want), version(e.Have))
}

// Is says whether target is ErrConflict.
func (e *ConflictError) Is(target error) bool { return target == ErrConflict }

func version(n int64) string {
	if n == 0 {
		return "no entry"
	}
	return fmt.Sprintf("version %d", n)
}

// CheckVersion returns a ConflictError where the version that is there is not the one that is wanted; want may be nil.
func CheckVersion(key string, want *int64, have int64) error {
	if want == nil || *want == have {
		return nil
	}
	return &ConflictError{Key: key, Want: *want, Have: have}
}
