package tool

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"reflect"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/schema"
	"github.com/weft-run/weft/host/tool/internal/toolname"
	"github.com/weft-run/weft/message"
)

// None is the argument of a function that takes none, and the result of one that has none. The model is told "Done."
type None = struct{}

// done is what the model gets of a function without a result.
const done = "Done."

// Config is what a tool is besides its function.
type Config struct {
	// Name is the tool's name: 1 to 64 letters, digits, _ and -. Mandatory.
	Name string
	// Description tells the model when to call the tool and what to expect of it.
	Description string
	// NeedsApproval decides which calls wait for somebody's approval. It must be quick and safe for many goroutines.
	// Default: none do. [Always] is for all.
	NeedsApproval func(call message.FunctionCall) bool
	// RequiresTrusted lets a call wait for approval where the model had seen untrusted text ([host.TrustRequiredTool]).
	RequiresTrusted bool
	// Untrusted says that nobody vouches for the results, as of a tool that fetches pages ([host.UntrustedSource]).
	Untrusted bool
}

// Always is a [Config.NeedsApproval] for tools of which no call goes through unasked.
func Always(message.FunctionCall) bool { return true }

// New makes a tool of a Go function. In is a struct, or a map with strings as keys; arguments that In has no field for
// are refused before the function is called. A result that is a string is handed to the model as text, any other as JSON.
// The function must be safe for many goroutines and return soon after ctx ended.
//
// All faults of the config and the types are reported at once: [host.ErrToolName] for the name, [schema.ErrType] for a
// type of which no schema can be made.
func New[In, Out any](c Config, f func(ctx context.Context, in In) (Out, error)) (host.FunctionTool, error) {
	var faults []error
	if f == nil {
		faults = append(faults, errors.New("a tool needs a function, and it is nil"))
	}
	in := reflect.TypeFor[In]()
	if in.Kind() != reflect.Struct && in.Kind() != reflect.Map {
		faults = append(faults, fmt.Errorf("%w: arguments are a JSON object, so they are read into a struct or a map, and %s is neither", schema.ErrType, in))
	}
	parameters, err := schema.For[In]()
	if err != nil {
		faults = append(faults, err)
	}
	return build(c, parameters, func(ctx context.Context, arguments jsontext.Value) (jsontext.Value, error) {
		var in In
		if len(bytes.TrimSpace(arguments)) > 0 {
			if err := json.Unmarshal(arguments, &in, json.RejectUnknownMembers(true)); err != nil {
				return nil, fmt.Errorf("arguments of %s: %w", c.Name, err)
			}
		}
		out, err := f(ctx, in)
		if err != nil {
			return nil, err
		}
		return encode(c.Name, out)
	}, faults)
}

// encode makes JSON of a function's result.
func encode(name string, out any) (jsontext.Value, error) {
	if _, nothing := out.(None); nothing {
		out = done
	}
	raw, err := json.Marshal(out, json.Deterministic(true))
	if err != nil {
		return nil, fmt.Errorf("result of %s: %w", name, err)
	}
	return raw, nil
}

// Must is for tools that are made where a program starts: it returns the tool, or panics with the error.
func Must[T host.Tool](t T, err error) T {
	if err != nil {
		panic(err)
	}
	return t
}

// Raw makes a tool of a schema and a function that reads its arguments and writes its result as JSON by itself. The
// arguments fit the schema; nil stands for any object. The function must be safe for many goroutines.
func Raw(c Config, parameters host.Schema, f func(ctx context.Context, arguments jsontext.Value) (jsontext.Value, error)) (host.FunctionTool, error) {
	var faults []error
	if f == nil {
		faults = append(faults, errors.New("a tool needs a function, and it is nil"))
	}
	return build(c, parameters, f, faults)
}

// Declared makes a tool that is offered to the model and that the agent cannot call: a call of it pauses the run and is
// the caller's to answer. nil stands for any object.
func Declared(name, description string, parameters host.Schema) (host.Tool, error) {
	if err := toolname.Check(name); err != nil {
		return nil, fmt.Errorf("tool %q: %w", name, err)
	}
	return declared{host.ToolDefinition{Name: name, Description: description, Parameters: parameters}}, nil
}

// build checks a config and chooses the kind of tool that it asks for.
func build(c Config, parameters host.Schema, call func(context.Context, jsontext.Value) (jsontext.Value, error), faults []error) (host.FunctionTool, error) {
	if err := toolname.Check(c.Name); err != nil {
		faults = append(faults, err)
	}
	if len(faults) > 0 {
		return nil, fmt.Errorf("tool %q: %w", c.Name, errors.Join(faults...))
	}
	f := &function{
		declared: declared{host.ToolDefinition{Name: c.Name, Description: c.Description, Parameters: parameters}},
		call:     call, requiresTrusted: c.RequiresTrusted, untrusted: c.Untrusted,
	}
	if c.NeedsApproval != nil {
		return &guarded{f, c.NeedsApproval}, nil
	}
	return f, nil
}

// declared is a definition alone.
type declared struct {
	definition host.ToolDefinition
}

// function is a definition with what is called.
type function struct {
	declared
	call func(ctx context.Context, arguments jsontext.Value) (jsontext.Value, error)

	requiresTrusted, untrusted bool
}

// guarded is a function of which some calls wait for approval.
type guarded struct {
	*function
	needsApproval func(call message.FunctionCall) bool
}

var (
	_ host.Tool         = declared{}
	_ host.FunctionTool = (*function)(nil)
	_ host.ApprovalTool = (*guarded)(nil)

	_ host.TrustRequiredTool = (*function)(nil)
	_ host.UntrustedSource   = (*function)(nil)
)

func (d declared) Definition() host.ToolDefinition { return d.definition }

func (f *function) RequiresTrusted() bool { return f.requiresTrusted }
func (f *function) Untrusted() bool       { return f.untrusted }

func (f *function) Call(ctx context.Context, arguments jsontext.Value) (jsontext.Value, error) {
	return f.call(ctx, arguments)
}

func (g *guarded) NeedsApproval(call message.FunctionCall) bool { return g.needsApproval(call) }
