package wasm

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/weft-run/weft/abi"
	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/wasm/engine"
)

// version is one loaded version of a plugin: one module with its description and its rights.
type version struct {
	sourceID    string
	name        string // what errors of the engine begin with
	digest      string // SHA-256 of the module, in hex
	module      *engine.Module
	description abi.Description
	exported    []abi.Hook // all hooks
	hooks       []abi.Hook // those that are called by themselves where the plugin stands
	layer       abi.Layer
	config      jsontext.Value
	grants      abi.Grants
	limits      Limits
	policy      host.ErrorPolicy
	services    Services
	http        engine.HTTPClient // nil where no origin is granted
	log         *slog.Logger
	onLog       func(level, text string)
	unknown     atomic.Int64
	removed     atomic.Int64 // characters that nobody sees
	turns       *turns       // shared by the versions of a plugin
	schemas     toolSchemas

	asProvider host.Provider

	mu    sync.Mutex
	users int  // runs that are served by it
	dying bool // no further run is
}

// acquire has the version serve a run, unless it was replaced.
func (v *version) acquire() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.dying {
		return false
	}
	v.users++
	return true
}

// release ends the service of a run. The last one closes a version that was replaced.
func (v *version) release() {
	v.mu.Lock()
	v.users--
	last := v.dying && v.users == 0
	v.mu.Unlock()
	if last {
		_ = v.close(context.Background()) // nothing is under way that could keep it
	}
}

// retire lets the runs under way end, and closes the version after the last of them.
func (v *version) retire() {
	v.mu.Lock()
	v.dying = true
	last := v.users == 0
	v.mu.Unlock()
	if last {
		_ = v.close(context.Background()) // nothing is under way that could keep it
	}
}

func (v *version) close(ctx context.Context) error {
	err := v.module.Close(ctx)
	closeIdle(v.http)
	return err
}

// exports reports whether the plugin has a hook, and where it stands calls it.
func (v *version) exports(h abi.Hook) bool { return slices.Contains(v.hooks, h) }

// stands reports whether process may be called at a layer.
func (v *version) stands(layer abi.Layer) bool {
	return v.can(abi.HookProcess) && (len(v.description.Layers) == 0 || slices.Contains(v.description.Layers, layer))
}

// can reports whether the plugin exports a hook, also one that is not called for where the plugin stands.
func (v *version) can(h abi.Hook) bool { return slices.Contains(v.exported, h) }

// wraps reports whether the version wraps the rest of a run.
func (v *version) wraps() bool { return v.layer == abi.LayerContext && v.exports(abi.HookProcess) }

// made makes the provider that the version is.
func (v *version) made() host.Provider {
	if v.wraps() {
		return &wrapping{notices{v}}
	}
	return &hooked{notices{v}}
}

// provider is the version as a provider: one with hooks, or one that wraps.
func (v *version) provider() host.Provider { return v.asProvider }

// SourceType is "plugin:" and the plugin's name.
func (v *version) SourceType() string {
	if v.description.Name != "" {
		return "plugin:" + v.description.Name
	}
	return "plugin:" + v.sourceID
}

// timeout is how long a hook may run, and the option that says so.
func (v *version) timeout(hook abi.Hook) (time.Duration, string) {
	if hook == abi.HookCallTool {
		return v.limits.CallTool, "limits.call_tool"
	}
	return v.limits.CPU, "limits.cpu"
}

// invoke calls one hook with a view, which it releases, and reads what it returns. What the call cost is told to the trace of
// the part of the run that ctx belongs to. The error is a [*CallError], unless the run is over or the error is one from below
// that passed through the plugin.
func (v *version) invoke(ctx context.Context, c *call, in *view) (*abi.Out, error) {
	defer in.release() // the engine copies what it is given
	input, err := in.done()
	if err != nil {
		return nil, v.failed(c, fmt.Errorf("its input cannot be written as JSON: %w", err), "")
	}
	timeout, option := v.timeout(c.hook)
	c.outer, _ = ctx.Value(callKey{}).(*call)
	c.begin()
	result, err := v.module.Call(context.WithValue(ctx, callKey{}, c), engine.Call{
		Export: string(c.hook), Input: input, Timeout: timeout, TimeoutOption: option, Log: v.logger(ctx, c.hook),
	})
	c.end()
	if c.panicked != nil {
		panic(c.panicked)
	}
	var out *abi.Out
	if err == nil {
		out, err = v.decode(c, result)
	}
	v.spent(ctx, c, result.Usage)
	switch {
	case err == nil:
		return out, nil
	case c.passed != nil:
		return nil, c.passed
	case ctx.Err() != nil:
		return nil, err
	}
	return nil, v.failed(c, err, result.Printed)
}

// decode reads what a hook that returned has returned.
func (v *version) decode(c *call, result engine.Result) (*abi.Out, error) {
	if result.Code != 0 {
		return nil, c.reported(reportedFailure(result))
	}
	out, err := abi.DecodeOut(c.hook, c.layer, result.Output)
	if err != nil {
		return nil, err
	}
	if err := v.clean(c, out); err != nil {
		return nil, err
	}
	if out.Unknown > 0 && v.unknown.Add(int64(out.Unknown)) == int64(out.Unknown) {
		v.log.Debug("the plugin returned members that this host does not know; they are passed over",
			"plugin", v.sourceID, "hook", c.hook, "count", out.Unknown)
	}
	return out, nil
}

// failed is the error of a hook.
func (v *version) failed(c *call, err error, printed string) error {
	return &CallError{Plugin: v.sourceID, Hook: c.hook, Err: err, Printed: printed, module: v.name}
}

// reportedFailure is the error of a hook that returned something else than 0 (clause ERR-3).
func reportedFailure(result engine.Result) *abi.Error {
	if result.Error == "" {
		return &abi.Error{
			Code:    abi.CodeFailed,
			Message: fmt.Sprintf("the hook returned %d and set no error text; 0 means done", result.Code),
		}
	}
	return abi.DecodeErrorText(result.Error)
}

// logger hands on what the plugin logs during one call.
func (v *version) logger(ctx context.Context, hook abi.Hook) func(level, text string) {
	if v.onLog != nil {
		return v.onLog
	}
	return func(level, text string) {
		v.log.LogAttrs(ctx, slogLevel(level), text, slog.String("plugin", v.sourceID), slog.String("hook", string(hook)))
	}
}

func slogLevel(level string) slog.Level {
	switch level {
	case "error":
		return slog.LevelError
	case "warn":
		return slog.LevelWarn
	case "info":
		return slog.LevelInfo
	}
	return slog.LevelDebug
}
