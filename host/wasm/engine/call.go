package engine

import (
	"context"
	"errors"
	"math"
	"strings"
	"time"
)

// Call is one call of an exported function.
type Call struct {
	// Export is the function: () -> i32.
	Export string
	// Input is what the guest reads as its input. It is copied, and not kept.
	Input []byte
	// Timeout is how long the guest may run. 0 means DefaultTime, Unlimited that only the context ends it. What passes
	// before the guest runs, waiting for an instance or making one, does not count.
	Timeout time.Duration
	// TimeoutOption is what an error tells people to raise where the guest runs longer. Empty means limits.time.
	TimeoutOption string
	// Output is the size that the output may have, in bytes. 0 means Limits.Output, Unlimited any size.
	Output int64
	// Log gets what the guest logs, a line at a time, on the goroutine of the call. The level is trace, debug, info, warn
	// or error. The text is one line of valid UTF-8 in which everything that does not print is escaped. Lines beyond the
	// limit are dropped; if any were, a last line of level warn says how many. Nil drops all, and tells the guest that
	// logging is off.
	Log func(level, text string)
}

// Result is what a call gave. It is the zero value where the guest did not run; where it ran and failed, Usage and
// Printed are there and the rest is not.
type Result struct {
	// Code is what the function returned. By the custom of Extism 0 means that all is well; the engine does not care.
	Code int32
	// Output is what the guest put out. The caller owns it.
	Output []byte
	// Error is what the guest set as its error, as valid UTF-8 without characters that do not print, cut to 4 KiB.
	Error string
	Usage Usage
	// Printed is what the guest wrote to its standard output and error, cut to 4 KiB, with everything escaped that does
	// not print. It often says why a guest failed.
	Printed string
}

// Usage is what a call used.
type Usage struct {
	// Duration is the time in the guest, host functions included.
	Duration time.Duration
	// Memory is what the instance held after the call, in bytes: its linear memory and what the host kept for it.
	Memory int64
	// Input and Output are in bytes.
	Input, Output int
	// LogLines is how many lines were logged, LogDropped how many were not.
	LogLines, LogDropped int
	// Instance is "new" for one that was made for this call, and "reused" for one that had served before.
	Instance string
}

// Instances may be new or reused; see Usage.
const (
	instanceNew    = "new"
	instanceReused = "reused"
)

// errorLimit is how much of a guest's error text is kept, in bytes.
const errorLimit = 4 * kib

// run makes one call on the instance. The instance must be the caller's alone. limit and option are the words of the
// LimitError for a call that runs too long.
func (i *instance) run(ctx context.Context, c Call, limit, option string) (result Result, err error) {
	if !i.busy.CompareAndSwap(false, true) {
		return Result{}, &TrapError{Name: i.module.name, Export: c.Export, Reason: "the instance is at work already"}
	}
	defer i.busy.Store(false)

	i.output, i.failure = extent{}, 0
	i.outputLimit = or(c.Output, i.module.limits.Output)
	i.logs = logs{to: c.Log, lines: i.module.limits.LogLines, length: i.module.limits.LogLine}
	var ok bool
	if i.input, ok = i.arena.put(c.Input); !ok {
		return Result{}, i.module.limitError("memory", c.Export, size(i.budget.limit), "", "limits.memory")
	}
	i.arena.pin(i.input)

	function := i.function(c.Export)
	call, end := i.begin(ctx, c.Export, or(c.Timeout, DefaultTime))
	stack := [1]uint64{}
	began := time.Now()
	err = function.CallWithStack(call, stack[:])
	result.Usage = Usage{
		Duration: time.Since(began), Memory: i.used(), Input: len(c.Input),
		LogLines: i.logs.written, LogDropped: i.logs.dropped,
	}
	if err != nil {
		err = i.classify(ctx, call, err, limit)
		var l *LimitError
		if errors.As(err, &l) && l.Limit == limit {
			l.Value, l.Option = or(c.Timeout, DefaultTime).String(), option
		}
	}
	i.late = call.Err() != nil
	end()
	i.logs.close()
	result.Printed = printableLines(string(i.printed.buf))
	if err != nil {
		return result, err
	}
	result.Code = int32(uint32(stack[0]))
	if result.Output, err = i.takeOutput(); err != nil {
		return result, err
	}
	result.Usage.Output = len(result.Output)
	if text, ok := i.arena.block(i.failure); ok {
		head, _ := cut(string(text[:min(len(text), errorLimit+1)]), errorLimit)
		result.Error = strings.TrimSpace(printableLines(head))
	}
	return result, nil
}

// takeOutput copies the output. Its length was checked when it was set; its place is checked again, for the arena may
// have changed since.
func (i *instance) takeOutput() ([]byte, error) {
	if i.output.length == 0 {
		return nil, nil
	}
	from, ok := i.arena.slice(i.output.offset, i.output.length)
	if !ok {
		return nil, &TrapError{Name: i.module.name, Export: i.export, Reason: outside("output_set", i.output.offset, i.output.length).Error()}
	}
	return append([]byte(nil), from...), nil
}

func (i *instance) outputTooLarge(length uint64) error {
	seen := size(clamp(length))
	if length > math.MaxInt64 {
		seen = "more than can be counted"
	}
	return i.module.limitError("output", i.export, size(i.outputLimit), seen, "limits.output")
}
