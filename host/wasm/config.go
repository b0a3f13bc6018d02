package wasm

import (
	"log/slog"
	"slices"
	"time"

	"github.com/weft-run/weft/abi"
	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/wasm/engine"
	"github.com/weft-run/weft/message"
)

// Config says which plugin is loaded, and what it may do. Either Path or Module is mandatory.
type Config struct {
	// Path is the plugin's file. It is read once; the bytes that were read are what is checked and run.
	Path string
	// Module is the plugin's bytes, in place of Path.
	Module []byte
	// SHA256, where set, is what the bytes must hash to, in hex.
	SHA256 string
	// SourceID names the provider. Default: what the plugin describes, else the file's name.
	SourceID string
	// Config is the plugin's own configuration, a JSON object. Default: {}.
	Config []byte
	// Grants are the plugin's rights.
	Grants Grants
	// Limits bound the plugin; an unset one has its default.
	Limits Limits
	// OnError says what a failing hook means for the run. Default: [host.OnErrorFail].
	OnError host.ErrorPolicy
	// Shared keeps an instance's memory from one call to the next, across sessions. By default every call starts from
	// the memory as it was after init.
	Shared bool
	// Logger gets what the plugin logs, with the attributes plugin and hook. Default: slog.Default().
	Logger *slog.Logger
	// OnLog, where set, gets what the plugin logs in place of Logger.
	OnLog func(level, text string)
	// Now is the plugin's wall clock. Default: time.Now.
	Now func() time.Time
}

// Grants are rights, given by the operator and never by the plugin. A nil list stands for the default of [abi.DefaultGrants];
// a list replaces the default, so an empty one gives nothing (clause GRA-3).
type Grants struct {
	// Read lists the parts of a run that the plugin receives.
	Read []string
	// Add lists the effects that it may have.
	Add []string
	// Roles lists the roles of messages that it may add.
	Roles []message.Role
	// Files lists folders that it may read.
	Files []Folder
}

// Folder gives a plugin one folder of the host. Nothing outside of it can be reached through it, by links either.
type Folder struct {
	// Host is the folder's path on the host.
	Host string
	// Guest is the path under which the plugin sees it.
	Guest string
	// Mode is "ro", also where empty.
	Mode string
}

// effective are the rights with defaults put in.
func (g Grants) effective() abi.Grants {
	out := abi.DefaultGrants()
	if g.Read != nil {
		out.Read = slices.Clone(g.Read)
	}
	if g.Add != nil {
		out.Add = slices.Clone(g.Add)
	}
	if g.Roles != nil {
		out.Roles = slices.Clone(g.Roles)
	}
	for _, f := range g.Files {
		out.Files = append(out.Files, abi.FileGrant{Guest: f.Guest, Mode: "ro"})
	}
	return out
}

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
	// Instances is how many calls of the plugin may be under way at once: 128.
	Instances int
	// Faults is how many hooks in a row may fail by the plugin's doing (a trap, an exit, a limit) before the plugin is
	// rested, and Rest how long that is: 3 and 30 s. Its hooks fail at once meanwhile; then one is called, to see.
	Faults int
	Rest   time.Duration
}

// Defaults of the limits that this package watches itself (clause LIM-1).
const (
	defaultText  = 64 << 10
	defaultState = 64 << 10
)

func (l Limits) withDefaults() Limits {
	if l.CPU == 0 && l.Fuel <= 0 { // Where there is a limit on fuel, whether time is one too is for the engine to say.
		l.CPU = engine.DefaultTime
	}
	if l.Text == 0 {
		l.Text = defaultText
	}
	if l.State == 0 {
		l.State = defaultState
	}
	return l
}

func (l Limits) engine() engine.Limits {
	return engine.Limits{
		Module: l.Module, Memory: l.Memory, Fuel: l.Fuel, Stack: l.Stack, Vars: l.Vars, Start: l.Start, Init: l.Init, Input: l.Input, Output: l.Output,
		LogLines: l.LogLines, LogLine: l.LogLine, Instances: l.Instances,
		Faults: l.Faults, Rest: l.Rest,
	}
}
