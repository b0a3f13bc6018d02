package pdk

import (
	"runtime"
	"strconv"
	"strings"

	"github.com/weft-run/weft/pdk/go/internal/extism"
	"github.com/weft-run/weft/pdk/go/json"
)

// Describe is the body of the export describe, which the host calls once, before anything else.
func Describe(d Description) int32 {
	output.Reset()
	d.WriteJSON(output)
	extism.SetOutput(output.Bytes())
	return 0
}

// Init is the body of the export init, which the host calls once, with config and grants. What the hook leaves in memory
// is there in all later calls. An error says that the plugin cannot be used.
func Init(hook func(in *In) error) int32 {
	failed := call(hook, noEffects{})
	prepare()
	return failed
}

// SessionCreated is the body of the export session_created, which the host calls when a session begins.
func SessionCreated(hook func(in *In, out *StateOut) error) int32 {
	out := &StateOut{}
	return call(func(in *In) error { return hook(in, out) }, out)
}

// BeforeRun is the body of the export before_run, which the host calls before the model is asked.
func BeforeRun(hook func(in *In, out *ContextOut) error) int32 {
	out := &ContextOut{}
	return call(func(in *In) error { return hook(in, out) }, out)
}

// AfterRun is the body of the export after_run, which the host calls when a run succeeded; see [In.Response].
func AfterRun(hook func(in *In, out *RunOut) error) int32 {
	out := &RunOut{}
	return call(func(in *In) error { return hook(in, out) }, out)
}

// RunFailed is the body of the export run_failed, which the host calls when a run failed; see [In.Error].
func RunFailed(hook func(in *In, out *RunOut) error) int32 {
	out := &RunOut{}
	return call(func(in *In) error { return hook(in, out) }, out)
}

// output is where all calls put together what they return, so that a long life needs no more memory than a short one.
var output = json.NewWriter(4 << 10)

// call runs a hook and hands its effects, or its failure, to the host. It returns 0 in both cases: a failure is data, and
// as such has a code and leaves the state that was set.
func call(hook func(in *In) error, out effects) int32 {
	panicked, err := guarded(hook)
	if panicked {
		out = noEffects{} // a hook that was cut off has not finished its state
	}
	output.Reset()
	output.Object(func() {
		if err == nil {
			out.write(output)
			return
		}
		out.writeState(output)
		output.Name("error").Value(asError(err))
	})
	extism.SetOutput(output.Bytes())
	return 0
}

// guarded runs a hook and makes a panic an error.
func guarded(hook func(in *In) error) (panicked bool, err error) {
	defer func() {
		if value := recover(); value != nil {
			panicked, err = true, panicError(value)
		}
	}()
	in := &In{}
	r := json.NewReader(extism.Input())
	in.ReadJSON(r)
	if err := r.End(); err != nil {
		return false, NewError(CodeInvalidInput, "the host's input is not what the contract says: "+err.Error())
	}
	return false, hook(in)
}

func panicError(value any) error {
	var reason string
	switch v := value.(type) {
	case *Error:
		return v
	case error:
		reason = v.Error()
	case string:
		reason = v
	default:
		reason = "a value that is neither an error nor text"
	}
	return NewError(CodeFailed, "panic"+place()+": "+reason)
}

// place names the function and the line that panicked: the first below the runtime's own.
func place() string {
	var pcs [32]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	for below := false; ; {
		frame, more := frames.Next()
		switch {
		case strings.HasPrefix(frame.Function, "runtime."):
			below = true
		case below:
			file := frame.File[strings.LastIndexByte(frame.File, '/')+1:]
			return " in " + frame.Function + " (" + file + ":" + strconv.Itoa(frame.Line) + ")"
		}
		if !more {
			return ""
		}
	}
}
