package engine

import (
	"context"
	"errors"
	"strings"

	"github.com/tetratelabs/wazero/sys"
)

// stackLimit is how much of a guest's stack is kept in a TrapError, in bytes.
const stackLimit = 4 * kib

// classify turns what the runtime says about a guest that did not return into an error of this package. ctx is the
// caller's context, call the one that the guest ran under, and limit the word for the time limit of the call.
func (i *instance) classify(ctx, call context.Context, err error, limit string) error {
	var fault *hostFault
	var exit *sys.ExitError
	isFault, isExit := errors.As(err, &fault), errors.As(err, &exit)

	// The end of a context shows as an exit with a code that any guest may use too. So the context is asked.
	byContext := isFault && fault == errEnded ||
		isExit && (exit.ExitCode() == sys.ExitCodeContextCanceled || exit.ExitCode() == sys.ExitCodeDeadlineExceeded)
	if byContext && call.Err() != nil {
		switch cause := context.Cause(call); {
		case errors.Is(cause, errDeadline):
			return i.module.limitError(limit, i.export, "", "", "limits."+limit)
		case errors.Is(cause, ErrClosed):
			return cause
		case ctx.Err() != nil:
			return ctx.Err()
		default:
			return call.Err()
		}
	}
	switch {
	case isFault && fault.cause != nil:
		return fault.cause
	case i.budget.hit:
		return i.module.limitError("memory", i.export, size(i.budget.limit), "", "limits.memory")
	case isExit:
		return &ExitError{Name: i.module.name, Export: i.export, Code: exit.ExitCode()}
	}
	reason, stack := parseTrap(err.Error())
	if isFault {
		reason = printable(fault.reason)
	}
	return &TrapError{Name: i.module.name, Export: i.export, Reason: reason, Stack: stack}
}

// parseTrap takes apart the text of the runtime's error, which has the guest's stack below the reason, and in the case
// of a fault of its own a stack of the host below that. The host's stack is left out: it is nobody's business but the
// host's. The names of functions are the guest's.
func parseTrap(text string) (reason, stack string) {
	reason, stack, _ = strings.Cut(text, "\nwasm stack trace:\n")
	if at := strings.LastIndex(reason, "wasm error: "); at >= 0 {
		reason = reason[at+len("wasm error: "):]
	}
	reason, _, _ = strings.Cut(reason, "\n")
	reason = strings.TrimSuffix(reason, " (recovered by wazero)")
	stack, _, _ = strings.Cut(stack, "\n\n")
	var lines []string
	for line := range strings.SplitSeq(stack, "\n") {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, printable(line))
		}
	}
	stack, _ = cut(strings.Join(lines, "\n"), stackLimit)
	return printable(reason), stack
}

// limitError makes a LimitError for this module.
func (m *Module) limitError(limit, export, value, seen, option string) *LimitError {
	if limit == "start" {
		value, export = m.limits.Start.String(), ""
	}
	return &LimitError{Name: m.name, Export: export, Limit: limit, Value: value, Seen: seen, Option: option}
}
