package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/tetratelabs/wazero/sys"

	"github.com/weft-run/weft/host/wasm/engine/pool"
)

// stackLimit is how much of a guest's stack is kept in a TrapError, in bytes.
const stackLimit = 4 * kib

// reasonLimit is how much of a reason is kept, in bytes. What a guest passed to a host function stands in some.
const reasonLimit = 1 * kib

// classify turns what the runtime says about a guest that did not return into an error of this package.
func (i *instance) classify(err error, b bounds) error {
	var fault *hostFault
	var exit *sys.ExitError
	isFault, isExit := errors.As(err, &fault), errors.As(err, &exit)

	// The end of a context shows as an exit with a code that any guest may use too. So the context is asked.
	ended := isFault && fault == errEnded || isExit && i.release != nil && i.context.Err() != nil &&
		(exit.ExitCode() == sys.ExitCodeContextCanceled || exit.ExitCode() == sys.ExitCodeDeadlineExceeded)
	switch {
	case ended:
		return i.whyEnded(b)
	case isFault && fault == errOutOfFuel:
		return i.outOfFuel(b)
	case isFault && fault == errOverflow:
		return i.module.limitError("stack", i.export, size(i.module.limits.Stack), "", "limits.stack")
	case !isFault && strings.HasPrefix(err.Error(), "stack overflow"): // of the runtime, which no limit changes
		return i.module.limitError("stack", i.export, "", "", "")
	case isFault && fault.cause != nil:
		return fault.cause
	case i.budget.refused != 0:
		return i.noMemory(i.export, i.budget.refused)
	case i.kernel != nil && i.kernel.Refused():
		return i.noMemory(i.export, i.budget.kernel)
	case isExit:
		return &ExitError{Name: i.module.name, Export: i.export, Code: exit.ExitCode()}
	}
	if i.kernel != nil {
		if f, ok := i.kernel.Fault(); ok {
			return i.kernelFault(f, b)
		}
	}
	reason, stack := parseTrap(err.Error())
	if isFault {
		reason = fault.reason
	}
	reason, _ = cut(printable(reason[:min(len(reason), reasonLimit)]), reasonLimit)
	return &TrapError{Name: i.module.name, Export: i.export, Reason: reason, Stack: stack}
}

func (i *instance) outOfFuel(b bounds) error {
	return i.module.limitError("fuel", i.export, count(int(b.fuel)), "", b.fuelOption)
}

// noMemory is why a guest did not go on that got no memory.
func (i *instance) noMemory(export string, why refusal) error {
	if why == byEngine {
		return i.module.limitError("host memory", export, size(i.budget.ledger.limit), "", hostMemory)
	}
	return i.module.limitError("memory", export, size(i.budget.limit), "", "limits.memory")
}

// noHostMemory is why there is no other instance, which needs so many bytes.
func (i *instance) noHostMemory(needed int64) error {
	return i.module.limitError("host memory", "", size(i.budget.ledger.limit), size(needed), hostMemory)
}

// hostMemory is the option that changes what all instances may hold together.
const hostMemory = "Options.Memory"

// whyEnded is why a call was ended by the host: it was told so, the caller's context is over, or its time is up.
func (i *instance) whyEnded(b bounds) error {
	if stopped := i.meter.stopped.Load(); stopped != nil {
		if errors.Is(*stopped, pool.ErrClosed) {
			return fmt.Errorf("%s: %w", i.module.name, ErrClosed)
		}
		return *stopped
	}
	if err := i.context.Err(); err != nil && !errors.Is(context.Cause(i.context.Context), i.deadline) {
		return err
	}
	return i.module.limitError(b.limit, i.export, b.time.String(), "", b.timeOption)
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
		option, export = "limits.start", ""
	}
	return &LimitError{Name: m.name, Export: export, Limit: limit, Value: value, Seen: seen, Option: option}
}
