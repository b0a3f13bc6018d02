package engine

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/weft-run/weft/host/wasm/engine/kernel"
)

// Call is one call of an exported function.
type Call struct {
	// Export is the function: () -> i32.
	Export string
	// Input is what the guest reads as its input. It is copied, and not kept.
	Input []byte
	// Timeout is how long the guest may run. 0 means DefaultTime, or no limit where there is one on fuel; Unlimited that
	// only the context ends it. Time that passes before the guest runs, and time that it waits in functions of the host
	// (HTTP, Spec.Functions), does not count.
	Timeout time.Duration
	// TimeoutOption is what an error tells people to raise where the guest runs longer or uses more fuel. Empty means
	// Call.Timeout, and of Call.Fuel and limits.fuel the one that set the limit.
	TimeoutOption string
	// Fuel is how much fuel the guest may use. 0 means Limits.Fuel, Unlimited any amount.
	Fuel int64
	// Output is the size that the output may have, in bytes. 0 means Limits.Output, Unlimited any size.
	Output int64
	// World is what the guest can learn about the world outside. Nil means Spec.World.
	World *World
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
	// Queued is the time that the call waited for an instance. Duration is the time in the guest, Waited the time that the
	// guest waited in functions of the host.
	Queued, Duration, Waited time.Duration
	// Fuel is the work that the guest did. A turn of a loop counts with all its instructions, those that it passed by
	// included; see package metering. It is the same for the same module, input and World on every machine. 0 where
	// Options.CloseOnContextDone is set.
	Fuel int64
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

// bounds are the limits of one call, and the words for a call that runs too long.
type bounds struct {
	time         time.Duration
	fuel, output int64
	// limit is the word for the limit on time, timeOption, fuelOption and outputOption are what to raise.
	limit, timeOption, fuelOption, outputOption string
}

// bounds returns the limits of a call.
func (m *Module) bounds(c *Call) bounds {
	b := bounds{
		time: c.Timeout, fuel: or(c.Fuel, m.limits.Fuel), output: or(c.Output, m.limits.Output),
		limit: "time", timeOption: or(c.TimeoutOption, "Call.Timeout"), fuelOption: c.TimeoutOption,
		outputOption: or(option(c.Output, "Call.Output"), "limits.output"),
	}
	b.fuelOption = or(b.fuelOption, or(option(c.Fuel, "Call.Fuel"), "limits.fuel"))
	if !m.artifact.metered() {
		b.fuel = Unlimited // There is none, and something must end the call.
	}
	if b.time == 0 {
		b.time = DefaultTime
		if b.fuel >= 0 {
			b.time = Unlimited
		}
	}
	return b
}

// option is the name of an option that is set, or empty.
func option(value int64, name string) string {
	if value == 0 {
		return ""
	}
	return name
}

// initBounds returns the limits of a call of init.
func (m *Module) initBounds() bounds {
	return bounds{
		time: m.limits.Init, fuel: Unlimited, output: m.limits.Output, limit: "init", timeOption: "limits.init",
		outputOption: "limits.output",
	}
}

// run makes one call on the instance. The instance must be the caller's alone.
func (i *instance) run(ctx context.Context, c *Call, b bounds) (result Result, err error) {
	if !i.busy.CompareAndSwap(false, true) {
		return Result{}, &TrapError{Name: i.module.name, Export: c.Export, Reason: "the instance is at work already"}
	}
	defer i.busy.Store(false)

	i.logs = logs{to: c.Log, lines: i.module.limits.LogLines, length: i.module.limits.LogLine}
	i.world = &i.module.spec.World
	if c.World != nil {
		world := c.World.orReal()
		i.world = &world
	}
	if !i.kernel.Begin(c.Input, b.output) {
		return Result{}, i.noMemory(c.Export, i.budget.kernel)
	}

	i.begin(ctx, c.Export, b)
	defer i.end()
	err = i.function(c.Export).CallWithStack(i.context, i.stack[:])
	result.Usage = Usage{
		Memory: i.used(), Input: len(c.Input), LogLines: i.logs.written, LogDropped: i.logs.dropped,
	}
	result.Usage.Fuel, result.Usage.Duration, result.Usage.Waited = i.meter.end()
	switch {
	case err != nil:
		err = i.classify(err, b)
	case exceeds(result.Usage.Fuel, b.fuel): // by what it did after its last turn of a loop
		err = i.outOfFuel(b)
	}
	i.logs.close()
	result.Printed = printableLines(string(i.printed.buf))
	if err != nil {
		return result, err
	}
	result.Code = int32(uint32(i.stack[0]))
	if result.Output, err = i.takeOutput(); err != nil {
		return result, err
	}
	result.Usage.Output = len(result.Output)
	if text, ok := i.kernel.ErrorText(); ok {
		head, _ := cut(string(text[:min(len(text), errorLimit+1)]), errorLimit)
		result.Error = strings.TrimSpace(printableLines(head))
	}
	return result, nil
}

// takeOutput copies the output. Its length was checked when it was set; its place is checked again, for the guest may
// have written anything since.
func (i *instance) takeOutput() ([]byte, error) {
	output, ok := i.kernel.Output()
	if !ok {
		return nil, &TrapError{Name: i.module.name, Export: i.export, Reason: "the output is not where it was put"}
	}
	if len(output) == 0 {
		return nil, nil
	}
	return append([]byte(nil), output...), nil
}

// kernelFault turns what the kernel says about a guest that misused it into an error.
func (i *instance) kernelFault(f kernel.Fault, b bounds) error {
	var reason string
	switch f.Kind {
	case kernel.TooLarge:
		seen := size(clamp(f.Length))
		if f.Length > math.MaxInt64 {
			seen = "more than can be counted"
		}
		return i.module.limitError("output", i.export, size(b.output), seen, b.outputOption)
	case kernel.OutsideInput:
		reason = fmt.Sprintf("%s at %d of an input of %s", f.Function, f.Offset, size(clamp(f.Length)))
	case kernel.NoBlock:
		reason = fmt.Sprintf("%s of offset %d, where no block begins", f.Function, f.Offset)
	default:
		reason = fmt.Sprintf("%s of %s at offset %d, outside the memory shared with the host", f.Function, size(clamp(f.Length)), f.Offset)
	}
	return &TrapError{Name: i.module.name, Export: i.export, Reason: reason}
}
