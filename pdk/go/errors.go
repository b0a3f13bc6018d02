package pdk

import (
	"errors"

	"github.com/weft-run/weft/pdk/go/json"
)

// Code tells kinds of failure apart.
type Code string

// The codes that there are. A plugin chooses from the first five; the others tell what became of a run, or of what the
// plugin asked the host for.
const (
	CodeFailed       Code = "failed"        // the plugin says that it failed; what an error without a code means
	CodeInvalidInput Code = "invalid_input" // what the plugin was given is not what it can work with
	CodeUnavailable  Code = "unavailable"   // something the plugin needs cannot be reached
	CodeNotFound     Code = "not_found"     // what was asked for does not exist
	CodeDenied       Code = "denied"        // a right is missing
	CodeLimit        Code = "limit"         // a limit was reached
	CodeTimeout      Code = "timeout"       // a deadline passed
	CodeCancelled    Code = "cancelled"     // the caller gave up
	CodeConflict     Code = "conflict"      // somebody else was first
	CodeModel        Code = "model"         // the model failed
	CodeInternal     Code = "internal"      // anything else, on the host's side
)

// Error is a failure with a code. Wrapped in another error it keeps its code.
type Error struct {
	Code    Code
	Message string
	// Cause is set where Next returned the error: the number under which the host knows what failed. A hook that returns
	// such an error as it is passes on what failed, and not only its text.
	Cause int
}

// NewError returns an error that the host gets with this code. The message should say what was wanted, what was there and
// how to mend it. It is joined by hand, because package fmt would add 700 KB to a plugin:
//
//	pdk.NewError(pdk.CodeInvalidInput, "timezone "+strconv.Quote(name)+" is not in the time zone database")
func NewError(code Code, message string) *Error { return &Error{Code: code, Message: message} }

// Error is the message.
func (e *Error) Error() string { return e.Message }

// WriteJSON writes the error as the host wants it.
func (e *Error) WriteJSON(w *json.Writer) {
	w.Object(func() {
		w.Name("code").String(string(e.Code))
		w.Name("message").String(e.Message)
		if e.Cause != 0 {
			w.Name("cause").Int(e.Cause)
		}
	})
}

// ReadJSON reads an error as the host writes it.
func (e *Error) ReadJSON(r *json.Reader) {
	for name := range r.Object() {
		switch name {
		case "code":
			e.Code = Code(r.String())
		case "message":
			e.Message = r.String()
		case "cause":
			e.Cause = r.Int()
		}
	}
}

// asError gives any error a code, and a text where it has none. Only one that is returned as it came has a cause: with
// other words around it, it is the plugin's own.
func asError(err error) *Error {
	reported := Error{Code: CodeFailed, Message: err.Error()}
	if coded, ok := errors.AsType[*Error](err); ok && coded.Code != "" {
		reported.Code = coded.Code
		if coded.Message == reported.Message {
			reported.Cause = coded.Cause
		}
	}
	if reported.Message == "" {
		reported.Message = "the plugin failed and did not say why"
	}
	return &reported
}
