package engine

import (
	"errors"
	"fmt"
	"strings"
)

// Targets for errors.Is. The errors that Load and Call return carry more: see LoadError, LimitError, TrapError,
// ExitError and ExportError.
var (
	// ErrTimeout: the guest ran longer than it may. A deadline or cancellation of the caller's own context is not an
	// ErrTimeout; it comes back as that context's error.
	ErrTimeout = errors.New("time limit")
	// ErrFuel: the guest used up the fuel that it may use. Unlike time, fuel is the same on every machine.
	ErrFuel = errors.New("fuel limit")
	// ErrStackLimit: the guest's calls were nested too deep.
	ErrStackLimit = errors.New("stack limit")
	// ErrVarsLimit: the guest set vars that together are larger than their limit.
	ErrVarsLimit = errors.New("vars limit")
	// ErrHTTPLimit: the guest made more HTTP requests than one call may make, or got a larger answer than it may get.
	ErrHTTPLimit = errors.New("HTTP limit")
	// ErrFileLimit: the guest wrote more into its folders than one call may write.
	ErrFileLimit = errors.New("file limit")
	// ErrDepth: plugins called each other, through functions of the host, deeper than they may.
	ErrDepth = errors.New("nested too deep")
	// ErrMemoryLimit: the guest needed more memory than it may have, or asks for it in its header.
	ErrMemoryLimit = errors.New("memory limit")
	// ErrOutputTooLarge: the output is larger than its limit. None of it was copied.
	ErrOutputTooLarge = errors.New("output too large")
	// ErrInputTooLarge: the input is larger than its limit. The guest was not called.
	ErrInputTooLarge = errors.New("input too large")
	// ErrModuleTooLarge: the module is larger than its limit. It was not looked at.
	ErrModuleTooLarge = errors.New("module too large")
	// ErrBusy: too many calls wait for an instance already, or the memory for all instances is used up. Try again later.
	ErrBusy = errors.New("busy")
	// ErrResting: the module failed too often in a row, and is rested for a while. See the errors before.
	ErrResting = errors.New("resting")
	// ErrTrap: the guest broke a rule of the machine or of a host function, and was stopped.
	ErrTrap = errors.New("trap")
	// ErrExit: the guest ended itself (proc_exit) in the middle of a call.
	ErrExit = errors.New("exit")
	// ErrClosed: the module or the engine is closed.
	ErrClosed = errors.New("closed")
	// ErrNoExport: the module has no function of that name, or it is not one that can be called.
	ErrNoExport = errors.New("no such export")
)

// LimitError says that a limit was hit: which one, its value, what was seen, and the option that changes it.
type LimitError struct {
	// Name is that of the module, from Spec.Name.
	Name string
	// Export is the function that ran. It is empty where none did.
	Export string
	// Limit is the limit in a word or two: time, fuel, start, init, memory, stack, input, output, vars, HTTP requests,
	// HTTP body, file writes, depth, instances, host memory or faults.
	Limit string
	// Value and Seen are for people, with their units. Seen is empty where nothing was measured.
	Value, Seen string
	// Option is what changes the limit: limits.memory for Limits.Memory, limits.log_lines for Limits.LogLines and so on,
	// Options.Memory, or the field of Call that set it. It is empty where nothing does.
	Option string
}

// Error says in one line what happened to whom, and how to mend it.
func (e *LimitError) Error() string {
	who := subject(e.Name, e.Export)
	switch e.Limit {
	case "time", "init":
		return fmt.Sprintf("%s ran longer than its %s: raise %s, or look for a loop that does not end", who, e.Value, e.Option)
	case "fuel":
		return fmt.Sprintf("%s used up its %s of fuel: raise %s, or look for a loop that does not end", who, e.Value, e.Option)
	case "stack":
		if e.Value == "" {
			return who + " nested its calls deeper than the runtime can follow: look for a recursion that does not end"
		}
		return fmt.Sprintf("%s nested its calls deeper than its stack of %s: raise %s, or look for a recursion that does not end",
			who, e.Value, e.Option)
	case "vars":
		return fmt.Sprintf("%s set %s of vars, and may set %s: raise %s, or keep less", who, e.Seen, e.Value, e.Option)
	case "HTTP requests":
		return fmt.Sprintf("%s made more than %s HTTP requests in one call: raise %s, or ask for more at once", who, e.Value, e.Option)
	case "HTTP body":
		return fmt.Sprintf("%s was sent an answer of more than %s: raise %s, or ask for less", who, e.Value, e.Option)
	case "file writes":
		return fmt.Sprintf("%s wrote more than %s into its folders in one call: raise %s, or write less", who, e.Value, e.Option)
	case "depth":
		return fmt.Sprintf("%s was called at depth %s, and plugins may call each other to a depth of %s: "+
			"look for a plugin that calls itself, or raise %s", who, e.Seen, e.Value, e.Option)
	case "faults":
		if e.Seen == "" {
			return fmt.Sprintf("%s failed %s times in a row, and another call tries at this moment whether it works: "+
				"look at the errors of these calls, or raise %s", who, e.Value, e.Option)
		}
		return fmt.Sprintf("%s failed %s times in a row and rests for another %s: look at the errors of these calls, or raise %s",
			who, e.Value, e.Seen, e.Option)
	case "start":
		return fmt.Sprintf("%s took longer than %s to start: raise %s, or move the work into init", who, e.Value, e.Option)
	case "memory":
		return fmt.Sprintf("%s needed more than its %s of memory: raise %s, or make it hold less at once", who, e.Value, e.Option)
	case "output":
		return fmt.Sprintf("%s put out %s, and may put out %s: raise %s, or let it return less", who, e.Seen, e.Value, e.Option)
	case "input":
		return fmt.Sprintf("%s was given %s, and may be given %s: raise %s, or send less", who, e.Seen, e.Value, e.Option)
	case "instances":
		if e.Seen == "" {
			return fmt.Sprintf("%s has all its %s instances held by calls that wait for this one: nest calls less deeply, or raise %s",
				who, e.Value, e.Option)
		}
		return fmt.Sprintf("%s has all its %s instances at work and %s calls waiting: try again later, or raise %s",
			who, e.Value, e.Seen, e.Option)
	case "host memory":
		needed := "more memory"
		if e.Seen != "" {
			needed = e.Seen + " for another instance"
		}
		return fmt.Sprintf("%s needs %s, and all instances of the engine together may hold %s: try again later, "+
			"lower limits.instances so that fewer are at work, or raise %s", who, needed, e.Value, e.Option)
	default:
		return fmt.Sprintf("%s: %s is %s, and may be %s: raise %s", who, e.Limit, e.Seen, e.Value, e.Option)
	}
}

// Is says whether target stands for this limit.
func (e *LimitError) Is(target error) bool { return limitTarget(e.Limit) == target }

// limitTarget returns the target for errors.Is that stands for a limit, or nil.
func limitTarget(limit string) error {
	switch limit {
	case "time", "start", "init":
		return ErrTimeout
	case "fuel":
		return ErrFuel
	case "stack":
		return ErrStackLimit
	case "vars":
		return ErrVarsLimit
	case "HTTP requests", "HTTP body":
		return ErrHTTPLimit
	case "file writes":
		return ErrFileLimit
	case "depth":
		return ErrDepth
	case "faults":
		return ErrResting
	case "memory":
		return ErrMemoryLimit
	case "output":
		return ErrOutputTooLarge
	case "input":
		return ErrInputTooLarge
	case "module":
		return ErrModuleTooLarge
	case "instances", "host memory":
		return ErrBusy
	default:
		return nil
	}
}

// TrapError says that the guest was stopped because it broke a rule: one of the machine (an access outside its memory,
// an unreachable instruction, a stack that overflows) or one of a host function. The instance is gone.
type TrapError struct {
	// Name is that of the module, Export the function that ran.
	Name, Export string
	// Reason is what rule was broken.
	Reason string
	// Stack holds the guest's functions, innermost first, a line each. The names are the guest's own; control
	// characters in them are escaped. It may be empty.
	Stack string
}

// Error says what happened to whom, without the stack.
func (e *TrapError) Error() string {
	return fmt.Sprintf("%s trapped: %s", subject(e.Name, e.Export), e.Reason)
}

// Is says whether target is ErrTrap.
func (e *TrapError) Is(target error) bool { return target == ErrTrap }

// ExitError says that the guest called proc_exit in the middle of a call. A code of 0 is an error too: the call did not
// return, and what it put out, if anything, cannot be told from half an answer.
type ExitError struct {
	// Name is that of the module, Export the function that ran.
	Name, Export string
	// Code is what the guest passed to proc_exit.
	Code uint32
}

// Error says what happened to whom.
func (e *ExitError) Error() string {
	return fmt.Sprintf("%s exited with code %d instead of returning: return a code from the function, and do not exit",
		subject(e.Name, e.Export), e.Code)
}

// Is says whether target is ErrExit.
func (e *ExitError) Is(target error) bool { return target == ErrExit }

// ExportError says that a function that was to be called is not there, or has another signature than () -> i32.
type ExportError struct {
	// Name is that of the module, Export the function that was asked for.
	Name, Export string
	// Have is what the module has under that name, such as "func (i32) -> i32". It is empty where it has nothing.
	Have string
}

// Error says what was asked for and what is there.
func (e *ExportError) Error() string {
	if e.Have == "" {
		return fmt.Sprintf("%s: no export %s: export a function of that name, () -> i32", e.Name, e.Export)
	}
	return fmt.Sprintf("%s: export %s is %s, and must be func () -> i32", e.Name, e.Export, e.Have)
}

// Is says whether target is ErrNoExport.
func (e *ExportError) Is(target error) bool { return target == ErrNoExport }

// Fault is one thing that is wrong with a module.
type Fault struct {
	// What is the part that is at fault, such as "import env.abort".
	What string
	// Have is what the module has there, Want what it should have. Either may be empty.
	Have, Want string
	// Remedy says how to mend it.
	Remedy string
	// Limit is the limit that the fault breaks, or empty: memory, as in LimitError, or module, functions, body, branches of
	// one function, complexity, locals or table elements.
	Limit string
}

// String says it in one line.
func (f Fault) String() string {
	var b strings.Builder
	b.WriteString(f.What)
	if f.Have != "" {
		b.WriteString(": " + f.Have)
	}
	if f.Want != "" {
		b.WriteString(", want " + f.Want)
	}
	if f.Remedy != "" {
		b.WriteString(": " + f.Remedy)
	}
	return b.String()
}

// LoadError lists everything that is wrong with a module.
type LoadError struct {
	// Name is that of the module, from Spec.Name. Inspect leaves it empty.
	Name string
	// Faults has at least one element.
	Faults []Fault
}

// Error says it in one line where there is one fault, and in a line for each where there are more.
func (e *LoadError) Error() string {
	prefix := ""
	if e.Name != "" {
		prefix = e.Name + ": "
	}
	if len(e.Faults) == 1 {
		return prefix + e.Faults[0].String()
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s%d faults", prefix, len(e.Faults))
	for _, f := range e.Faults {
		b.WriteString("\n\t" + f.String())
	}
	return b.String()
}

// Is says whether one of the faults breaks the limit that target stands for.
func (e *LoadError) Is(target error) bool {
	for _, f := range e.Faults {
		if t := limitTarget(f.Limit); t != nil && t == target {
			return true
		}
	}
	return false
}

// subject names who did something: "clock: before_run", or "clock" where no function ran.
func subject(name, export string) string {
	if export == "" {
		return name
	}
	return name + ": " + export
}
