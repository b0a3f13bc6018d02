package wasm

import (
	"time"

	"github.com/weft-run/weft/host/wasm/engine"
)

// Limits bound one plugin. Sizes are bytes. Zero stands for the default, [engine.Unlimited] for no limit. Defaults that
// differ for guests built with Go are given as "32 MiB, Go 64 MiB".
type Limits struct {
	// Module is the size of the file: 10 MiB, Go 32 MiB.
	Module int64
	// Memory is what one instance may hold: 32 MiB, Go 64 MiB.
	Memory int64
	// Input is the JSON into one call: 4 MiB.
	Input int64
	// Output is the JSON out of one call: 256 KiB.
	Output int64
	// Text is what the plugin may add to one run, messages and instructions together: 64 KiB.
	Text int64
	// State is the size of the plugin's bucket: 64 KiB.
	State int64
	// SessionState is the size of the buckets of all plugins in the session together, beyond which the plugin cannot make its own
	// larger: 1 MiB. Histories and other providers of the host do not count.
	SessionState int64
	// CPU is how long one hook may run, what it waits for the host not counted: 2 s, or no limit where Fuel is set.
	CPU time.Duration
	// Fuel is how much work one hook may do, which is counted the same on every machine: no limit.
	Fuel int64
	// Stack is how deep its calls may nest, in bytes: 4 MiB.
	Stack int64
	// Vars is what it may keep with Extism's var_set: 1 MiB.
	Vars int64
	// Start is how long the start of an instance may take: 2 s.
	Start time.Duration
	// Init is how long init may take: 30 s.
	Init time.Duration
	// LogLines and LogLine bound what one call logs: 64 lines of 4 KiB.
	LogLines, LogLine int
	// Tools is how many tools the plugin may add to one run, and ToolSchema the size of the schema of each: 16 and 8 KiB.
	Tools      int
	ToolSchema int64
	// CallTool is how long one call of call_tool may take, in place of CPU: 30 s.
	CallTool time.Duration
	// NextCalls is how often one call of process may call call_next: 16.
	NextCalls int
	// Depth is how deep calls of plugins may nest through call_next, this plugin's among them: 16.
	Depth int
	// KVValue is the size of one value, KVTotal of all values of a scope, and KVKeys their number: 64 KiB, 1 MiB, 10,000.
	KVValue, KVTotal int64
	KVKeys           int
	// Events is how many events one call may tell: 64.
	Events int
	// HTTPRequests is how many requests one call may send, HTTPBody the size of an answer after decompression, and HTTPTime
	// how long one may take: 8, 1 MiB, 10 s.
	HTTPRequests int
	HTTPBody     int64
	HTTPTime     time.Duration
	// FileWrites is how much one call may write into folders, 4 KiB for each file or folder that it makes: 16 MiB.
	FileWrites int64
	// Instances is how many calls of the plugin may be under way at once: 128.
	Instances int
	// Faults is how many hooks in a row may fail by the plugin's doing (a trap, an exit, a limit) before the plugin is
	// rested, and Rest how long that is: 3 and 30 s. Its hooks fail at once meanwhile; then one is called, to see.
	Faults int
	Rest   time.Duration
}

// Defaults of the limits that this package watches itself (clause LIM-1).
const (
	defaultText       = 64 << 10
	defaultState      = 64 << 10
	defaultSession    = 1 << 20
	defaultTools      = 16
	defaultToolSchema = 8 << 10
	defaultCallTool   = 30 * time.Second
	defaultNextCalls  = 16
	defaultKVValue    = 64 << 10
	defaultKVTotal    = 1 << 20
	defaultKVKeys     = 10_000
	defaultEvents     = 64
	defaultInput      = 4 << 20
)

func (l Limits) withDefaults() Limits {
	if l.CPU == 0 && l.Fuel <= 0 { // Where there is a limit on fuel, whether time is one too is for the engine to say.
		l.CPU = engine.DefaultTime
	}
	orDefault(&l.Text, defaultText)
	orDefault(&l.State, defaultState)
	orDefault(&l.SessionState, defaultSession)
	orDefault(&l.Input, defaultInput)
	orDefault(&l.Tools, defaultTools)
	orDefault(&l.ToolSchema, defaultToolSchema)
	orDefault(&l.CallTool, defaultCallTool)
	orDefault(&l.NextCalls, defaultNextCalls)
	orDefault(&l.KVValue, defaultKVValue)
	orDefault(&l.KVTotal, defaultKVTotal)
	orDefault(&l.KVKeys, defaultKVKeys)
	orDefault(&l.Events, defaultEvents)
	return l
}

func (l Limits) engine() engine.Limits {
	return engine.Limits{
		Module: l.Module, Memory: l.Memory, Fuel: l.Fuel, Stack: l.Stack, Vars: l.Vars, Start: l.Start, Init: l.Init, Input: l.Input, Output: l.Output,
		LogLines: l.LogLines, LogLine: l.LogLine, Instances: l.Instances,
		Faults: l.Faults, Rest: l.Rest, HTTPRequests: l.HTTPRequests, HTTPBody: l.HTTPBody, HTTPTime: l.HTTPTime,
		FileWrites: l.FileWrites, Depth: l.Depth,
	}
}

func orDefault[T int | int64 | time.Duration](limit *T, value T) {
	if *limit == 0 {
		*limit = value
	}
}

// beyond reports whether there is more than a limit allows; below 0 it allows anything.
func beyond[T int | int64 | time.Duration](n, limit T) bool { return limit >= 0 && n > limit }
