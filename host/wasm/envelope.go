package wasm

import (
	"context"
	"errors"
	"strings"

	"github.com/weft-run/weft/abi"
	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/wasm/engine"
)

// longestCause is how much of an error's text a plugin gets to see.
const longestCause = 1024

// envelope puts the cause of a failed run into the contract's form (clause ERR-2).
func envelope(cause error) *abi.Error {
	e := &abi.Error{Code: abi.CodeInternal, Message: cause.Error()}
	var reported *abi.Error
	var limit *engine.LimitError
	var model *host.ModelError
	var hook *host.HookError
	switch {
	case errors.Is(cause, host.ErrStopped), errors.Is(cause, context.Canceled):
		e.Code = abi.CodeCancelled
	case errors.Is(cause, context.DeadlineExceeded), errors.Is(cause, engine.ErrTimeout):
		e.Code = abi.CodeTimeout
	case errors.As(cause, &limit):
		e.Code = abi.CodeLimit
	case errors.As(cause, &reported):
		e.Code = reported.Code
	case errors.As(cause, &model):
		e.Code = abi.CodeModel
	case errors.As(cause, &hook):
		e.Code = abi.CodeFailed
	}
	if printed, ok := errors.AsType[*CallError](cause); ok { // what another plugin printed is the operator's to read
		e.Message = strings.ReplaceAll(e.Message, printed.printed(), "")
	}
	if len(e.Message) > longestCause {
		e.Message = e.Message[:longestCause]
	}
	e.Message = toValidUTF8(e.Message)
	return e
}
