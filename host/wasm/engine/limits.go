package engine

import (
	"fmt"
	"time"
)

// Unlimited takes a limit away. It is explicit on purpose: zero means the default.
const Unlimited = -1

// DefaultTime is how long a call may run where Call.Timeout is zero.
const DefaultTime = 2 * time.Second

const (
	kib = 1 << 10
	mib = 1 << 20
)

// Limits bounds one module. A field that is zero has the default that DefaultLimits gives; Unlimited takes it away.
type Limits struct {
	// Module is the size of the module, in bytes: 10 MiB, for a Go guest 32 MiB. It is checked before anything else.
	Module int64
	// Memory is what one instance may hold, in bytes: its linear memory and what the host holds on its behalf (input,
	// output, blocks from alloc, vars) together. 32 MiB, for a Go guest 64 MiB. A memory.grow beyond it fails.
	Memory int64
	// Fuel is how much work the guest may do in one call, init excepted, in units of fuel; see Usage.Fuel. Call.Fuel may set
	// another amount for one call. Unlimited by default: time is what bounds a call then. A guest uses as much for the same input on
	// every machine, so that fuel, unlike time, is a budget that can be promised.
	Fuel int64
	// Stack is how deep the guest's calls may nest, in bytes of an estimate that is the same on every machine: 64 for each
	// call, 8 for each of its parameters and locals, and one for each instruction of its function up to 4,096. 4 MiB.
	Stack int64
	// Start is how long the start function and _initialize of one instance may run together: 2 s.
	Start time.Duration
	// Init is how long Spec.Init may run: 30 s.
	Init time.Duration
	// Input is the size of the input of one call, in bytes: 4 MiB.
	Input int64
	// Output is the size of the output of one call, in bytes: 256 KiB. Call.Output may set another one for one call.
	Output int64
	// Vars is the size of what a guest keeps with var_set, names included, in bytes: 1 MiB. It counts as memory, too.
	Vars int64
	// HTTPRequests is how many HTTP requests one call may make: 8.
	HTTPRequests int
	// HTTPBody is the size of the body of one answer, decompressed, in bytes: 1 MiB.
	HTTPBody int64
	// HTTPTime is how long one request may take, from the first byte to the last: 10 s.
	HTTPTime time.Duration
	// FileWrites is how much one call may write into writable folders, in bytes: 16 MiB. What a file grows by counts, also
	// where nothing is written, and each file or folder that is made counts 4 KiB.
	FileWrites int64
	// LogLines is how many lines one call may log: 64. Further ones are counted and dropped.
	LogLines int
	// LogLine is the length of one line, in bytes: 4 KiB. A longer one is cut.
	LogLine int
	// Instances is how many instances of the module may exist at once: 128. Further calls wait.
	Instances int
	// Queue is how many calls may wait for an instance: 1,024. Further ones fail with ErrBusy.
	Queue int
	// Depth is how deep calls of plugins may nest through functions of the host: 16.
	Depth int
	// Faults is how many calls in a row may fail by the guest's doing before the module is rested: 3. Rest is how long
	// that is: 30 s. Calls fail with ErrResting meanwhile; then one is let through, to see. Where either is Unlimited, the
	// module is never rested.
	Faults int
	Rest   time.Duration
	// Idle is how long an instance that no call uses is kept: 5 min.
	Idle time.Duration
	// Functions is how many functions the module may define: 50,000.
	Functions int
	// Body is the size of one function, in bytes: 1 MiB.
	Body int64
	// Branches is how many branches one function may have: blocks, loops, conditions and each target of a br_table. 10,000,
	// for a Go guest 20,000. What they cost the compiler grows with their square.
	Branches int
	// Complexity is what the module may cost the compiler: the sum, over all functions, of the square of their branches and
	// of 150 times an estimate of branches times locals, of which one function may have a twentieth. 1,000,000,000, for a Go
	// guest four times as much, which stands for some seconds up to half a minute.
	Complexity int64
	// Locals is how many locals all the functions of the module may have together: 1,000,000, for a Go guest 4,000,000.
	Locals int
	// Table is how many elements the tables of the module may have together, and how many its segments may: 100,000. One
	// takes 8 bytes.
	Table int
}

// DefaultLimits returns the limits that apply where a Spec sets none. Go guests bring a runtime with them, and get more
// room for it.
func DefaultLimits(goGuest bool) Limits {
	limits := Limits{
		Module:       10 * mib,
		Memory:       32 * mib,
		Fuel:         Unlimited,
		Stack:        4 * mib,
		Start:        2 * time.Second,
		Init:         30 * time.Second,
		Input:        4 * mib,
		Output:       256 * kib,
		Vars:         1 * mib,
		HTTPRequests: 8,
		HTTPBody:     1 * mib,
		HTTPTime:     10 * time.Second,
		FileWrites:   16 * mib,
		LogLines:     64,
		LogLine:      4 * kib,
		Instances:    128,
		Queue:        1024,
		Depth:        16,
		Faults:       3,
		Rest:         30 * time.Second,
		Idle:         5 * time.Minute,
		Functions:    50_000,
		Body:         1 * mib,
		Branches:     10_000,
		Complexity:   1_000_000_000,
		Locals:       1_000_000,
		Table:        100_000,
	}
	if goGuest {
		limits.Module = 32 * mib
		limits.Memory = 64 * mib
		limits.Branches = 20_000
		limits.Complexity = 4_000_000_000
		limits.Locals = 4_000_000
	}
	return limits
}

// orDefaults returns the limits with each zero field replaced by its default.
func (l Limits) orDefaults(goGuest bool) Limits {
	d := DefaultLimits(goGuest)
	return Limits{
		Module:       or(l.Module, d.Module),
		Memory:       or(l.Memory, d.Memory),
		Fuel:         or(l.Fuel, d.Fuel),
		Stack:        or(l.Stack, d.Stack),
		Start:        or(l.Start, d.Start),
		Init:         or(l.Init, d.Init),
		Input:        or(l.Input, d.Input),
		Output:       or(l.Output, d.Output),
		Vars:         or(l.Vars, d.Vars),
		HTTPRequests: or(l.HTTPRequests, d.HTTPRequests),
		HTTPBody:     or(l.HTTPBody, d.HTTPBody),
		HTTPTime:     or(l.HTTPTime, d.HTTPTime),
		FileWrites:   or(l.FileWrites, d.FileWrites),
		LogLines:     or(l.LogLines, d.LogLines),
		LogLine:      or(l.LogLine, d.LogLine),
		Instances:    or(l.Instances, d.Instances),
		Queue:        or(l.Queue, d.Queue),
		Depth:        or(l.Depth, d.Depth),
		Faults:       or(l.Faults, d.Faults),
		Rest:         or(l.Rest, d.Rest),
		Idle:         or(l.Idle, d.Idle),
		Functions:    or(l.Functions, d.Functions),
		Body:         or(l.Body, d.Body),
		Branches:     or(l.Branches, d.Branches),
		Complexity:   or(l.Complexity, d.Complexity),
		Locals:       or(l.Locals, d.Locals),
		Table:        or(l.Table, d.Table),
	}
}

// or returns value, or fallback where value is zero.
func or[T comparable](value, fallback T) T {
	var zero T
	if value == zero {
		return fallback
	}
	return value
}

// exceeds says whether value is above limit. No value is above Unlimited.
func exceeds[T int | int64 | time.Duration](value, limit T) bool {
	return limit >= 0 && value > limit
}

// size writes a number of bytes as people say it: "32 MiB", "4.5 KiB", "17 bytes".
func size(n int64) string {
	switch {
	case n == Unlimited:
		return "unlimited"
	case n == 1:
		return "1 byte"
	case n < kib:
		return fmt.Sprintf("%d bytes", n)
	case n < mib:
		return scaled(n, kib, "KiB")
	case n < 1<<30:
		return scaled(n, mib, "MiB")
	default:
		return scaled(n, 1<<30, "GiB")
	}
}

func scaled(n, unit int64, name string) string {
	if n%unit == 0 {
		return fmt.Sprintf("%d %s", n/unit, name)
	}
	return fmt.Sprintf("%.1f %s", float64(n)/float64(unit), name)
}

// count writes a number with commas between the thousands, as in "50,000".
func count(n int) string {
	digits := fmt.Sprint(n)
	for i := len(digits) - 3; i > 0 && digits[i-1] != '-'; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
