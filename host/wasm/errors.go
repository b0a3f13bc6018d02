package wasm

import (
	"fmt"
	"strings"

	"github.com/weft-run/weft/abi"
	"github.com/weft-run/weft/host"
)

// LoadError lists everything that keeps a plugin from being loaded.
type LoadError struct {
	// Plugin is the file, or the name of a plugin that came as bytes.
	Plugin string
	Faults []Fault
	// Err is the engine's own error where it was the engine that refused the module.
	Err error
}

// Fault is one reason, and how to mend it.
type Fault struct {
	// What is wrong: what was wanted and what was there.
	What string
	// Remedy says how to mend it; it may have several lines.
	Remedy string
}

// Error lists the faults, one a line.
func (e *LoadError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "plugin %s cannot be loaded", e.Plugin)
	for _, f := range e.Faults {
		if len(e.Faults) == 1 {
			b.WriteString(": ")
		} else {
			b.WriteString("\n  - ")
		}
		b.WriteString(f.What)
		if f.Remedy != "" {
			b.WriteString(": ")
			b.WriteString(strings.ReplaceAll(f.Remedy, "\n", "\n    "))
		}
	}
	if len(e.Faults) == 0 && e.Err != nil {
		fmt.Fprintf(&b, ": %v", e.Err)
	}
	return b.String()
}

// Unwrap is the engine's own error, if there is one.
func (e *LoadError) Unwrap() error { return e.Err }

// CallError is a failed call of a hook. The cause tells kinds apart: an [*abi.Error] is a failure that the plugin itself
// reported, an [*abi.OutputError] is output that breaks the contract, a [*DeniedError] an effect without the right for it,
// and the engine's errors are traps, exits and limits.
type CallError struct {
	// Plugin is the plugin's source id.
	Plugin string
	Hook   abi.Hook
	Err    error
	// Printed is what the guest wrote to its standard output and error during the call, cut to 4 KiB.
	Printed string

	module string // what the engine calls the plugin
}

// Error is the cause, and what the guest printed. Provider and hook are named by the [host.HookError] around it.
func (e *CallError) Error() string {
	text := strings.TrimLeft(strings.TrimPrefix(e.Err.Error(), e.module+": "+string(e.Hook)), ": ")
	return text + e.printed()
}

func (e *CallError) printed() string {
	printed := strings.TrimSpace(e.Printed)
	if printed == "" {
		return ""
	}
	return "\n  the plugin printed: " + strings.ReplaceAll(printed, "\n", "\n    ")
}

// Unwrap is the cause.
func (e *CallError) Unwrap() error { return e.Err }

// DeniedError is an effect that the plugin has no right to.
type DeniedError struct {
	// Effect says what the plugin did.
	Effect string
	// Grant is the line that would allow it.
	Grant string
}

// Error names the effect and the grant.
func (e *DeniedError) Error() string {
	return fmt.Sprintf("%s is not granted to this plugin: if it should be, add to its entry\n  grant: {%s}", e.Effect, e.Grant)
}

// SizeError is a limit that this package watches.
type SizeError struct {
	// Limit is its name in limits: "text", "state", "session_state", "tools", "tool_schema"; "carry" is what on_update
	// carries, which has the limit of the state.
	Limit string
	// Value is the limit and Seen what there was, in bytes, or tools.
	Value, Seen int64
}

// Error names the limit, its value and the option that changes it.
func (e *SizeError) Error() string {
	what, unit, option := "the text that it added to the run", "bytes", e.Limit
	switch e.Limit {
	case "state":
		what = "its state"
	case "session_state":
		what = "the state of all plugins in this session"
	case "carry":
		what, option = "what it carries to the next update", "state"
	case "tools":
		what, unit = "what it added to the run", "tools"
	case "tool_schema":
		what = "the schema of a tool"
	}
	return fmt.Sprintf("%s has %d %s, more than its limit of %d: return less, or raise limits.%s", what, e.Seen, unit, e.Value, option)
}

// ConflictError is a state that a plugin wrote where somebody else had changed the bucket since the plugin saw it.
type ConflictError struct{}

// Error says what to do instead.
func (e *ConflictError) Error() string {
	return "its state was changed by another call of the session meanwhile: what many calls write belongs into kv"
}

// Unwrap is [host.ErrConflict].
func (e *ConflictError) Unwrap() error { return host.ErrConflict }
