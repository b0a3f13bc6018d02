package telemetry

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/weft-run/weft/host"
)

// errorTypes are the errors that have a name of their own. The first that fits is told: why a run ended goes before
// where it ended.
var errorTypes = []struct {
	target error
	name   string
}{
	{host.ErrStopped, "stopped"},
	{context.Canceled, "canceled"},
	{context.DeadlineExceeded, "timeout"},
	{host.ErrTimeout, "timeout"},
	{host.ErrRateLimited, "rate_limited"},
	{host.ErrUnavailable, "unavailable"},
	{host.ErrAuthentication, "authentication"},
	{host.ErrContextLength, "context_length"},
	{host.ErrContentFilter, "content_filter"},
	{host.ErrBadReply, "bad_reply"},
	{host.ErrNotFound, "not_found"},
	{host.ErrInvalidRequest, "invalid_request"},
	{host.ErrApproval, "approval"},
	{host.ErrDuplicateTool, "duplicate_tool"},
	{host.ErrToolName, "tool_name"},
	{host.ErrNoResult, "no_result"},
}

// typedError is an error that knows the name of its kind.
type typedError interface {
	error
	ErrorType() string
}

// errorType is a name of an error's kind, out of a short list, so that failures can be counted.
func errorType(err error) string {
	for _, known := range errorTypes {
		if errors.Is(err, known.target) {
			return known.name
		}
	}
	if _, ok := errors.AsType[*host.PanicError](err); ok {
		return "panic"
	}
	if named, ok := errors.AsType[typedError](err); ok && isTypeName(named.ErrorType()) {
		return named.ErrorType()
	}
	if model, ok := errors.AsType[*host.ModelError](err); ok {
		if model.Status != 0 {
			return strconv.Itoa(model.Status)
		}
		return "model"
	}
	if _, ok := errors.AsType[*host.HookError](err); ok {
		return "hook"
	}
	return unknownName
}

// isTypeName keeps texts out of a place that is for kinds.
func isTypeName(name string) bool {
	return name != "" && len(name) <= 64 && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789_.") == ""
}
