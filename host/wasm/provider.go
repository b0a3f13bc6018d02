package wasm

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/weft-run/weft/abi"
	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/wasm/engine"
)

// Provider is a plugin in an agent's list of providers. It is safe for use by many goroutines and may serve several
// agents. Close it when no agent uses it any more.
type Provider struct {
	sourceID    string
	file        string
	name        string // what errors of the engine begin with
	module      *engine.Module
	description abi.Description
	hooks       []abi.Hook
	config      jsontext.Value
	grants      abi.Grants
	limits      Limits
	policy      host.ErrorPolicy
	log         *slog.Logger
	onLog       func(level, text string)
	unknown     atomic.Int64
}

var (
	_ host.ContextProvider    = (*Provider)(nil)
	_ host.RunFailedHook      = (*Provider)(nil)
	_ host.SessionCreatedHook = (*Provider)(nil)
	_ host.ErrorPolicyOf      = (*Provider)(nil)
	_ host.SourceTypeOf       = (*Provider)(nil)
	_ host.HookSet            = (*Provider)(nil)
)

// SourceID is the configured one, else what the plugin describes, else the file's name.
func (p *Provider) SourceID() string { return p.sourceID }

// SourceType is "plugin:" and the plugin's name.
func (p *Provider) SourceType() string {
	if p.description.Name != "" {
		return "plugin:" + p.description.Name
	}
	return "plugin:" + p.sourceID
}

// ErrorPolicy is the configured one.
func (p *Provider) ErrorPolicy() host.ErrorPolicy { return p.policy }

// Hooks are the run hooks that the plugin exports: what is exported is what is called.
func (p *Provider) Hooks() []string {
	names := make([]string, 0, len(p.hooks))
	for _, h := range p.hooks {
		if slices.Contains(abi.RunHooks, h) {
			names = append(names, string(h))
		}
	}
	return names
}

// Description is what the plugin says of itself; empty where it does not export describe.
func (p *Provider) Description() abi.Description { return p.description }

// Grants are the rights in force, defaults included.
func (p *Provider) Grants() abi.Grants { return p.grants }

// File is the path that the plugin was loaded from; empty for one that came as bytes.
func (p *Provider) File() string { return p.file }

// Info is what the engine knows of the module.
func (p *Provider) Info() *engine.Info { return p.module.Info() }

// Stats counts the plugin's instances.
func (p *Provider) Stats() engine.Stats { return p.module.Stats() }

// UnknownMembers counts the members of the plugin's output that the host did not know and passed over.
func (p *Provider) UnknownMembers() int64 { return p.unknown.Load() }

// Close frees the plugin. It waits for calls under way, or for ctx.
func (p *Provider) Close(ctx context.Context) error { return p.module.Close(ctx) }

// SessionCreated calls the plugin's session_created.
func (p *Provider) SessionCreated(ctx context.Context, sc *host.SessionContext) error {
	return p.call(ctx, sc, abi.HookSessionCreated, p.newView(abi.HookSessionCreated, sc))
}

// BeforeRun calls the plugin's before_run.
func (p *Provider) BeforeRun(ctx context.Context, sc *host.SessionContext) error {
	v := p.newView(abi.HookBeforeRun, sc)
	v.input(p.grants, sc)
	v.context(p.grants, sc)
	v.shared(p.grants, sc)
	return p.call(ctx, sc, abi.HookBeforeRun, v)
}

// AfterRun calls the plugin's after_run.
func (p *Provider) AfterRun(ctx context.Context, sc *host.SessionContext) error {
	v := p.newView(abi.HookAfterRun, sc)
	v.input(p.grants, sc)
	v.context(p.grants, sc)
	v.shared(p.grants, sc)
	v.response(p.grants, sc.Response())
	return p.call(ctx, sc, abi.HookAfterRun, v)
}

// RunFailed calls the plugin's run_failed.
func (p *Provider) RunFailed(ctx context.Context, sc *host.SessionContext, cause error) error {
	v := p.newView(abi.HookRunFailed, sc)
	v.input(p.grants, sc)
	v.context(p.grants, sc)
	v.shared(p.grants, sc)
	v.failure(cause)
	return p.call(ctx, sc, abi.HookRunFailed, v)
}

// call calls one hook with a view and puts what it returns into the run. The plugin's state is as before unless it
// returned properly.
func (p *Provider) call(ctx context.Context, sc *host.SessionContext, hook abi.Hook, v *view) error {
	input, err := v.done()
	if err != nil {
		return &CallError{Plugin: p.sourceID, Hook: hook, Err: fmt.Errorf("its input cannot be written as JSON: %w", err)}
	}
	result, err := p.module.Call(ctx, engine.Call{
		Export: string(hook), Input: input, Timeout: p.limits.CPU, TimeoutOption: "limits.cpu", Log: p.logger(ctx, hook),
	})
	sc.ReportCost(p.costs(result.Usage)...)
	if err == nil {
		err = p.take(sc, hook, result)
	}
	if err != nil && ctx.Err() == nil {
		return &CallError{Plugin: p.sourceID, Hook: hook, Err: err, Printed: result.Printed, module: p.name}
	}
	return err
}

// take reads what a hook that returned has returned.
func (p *Provider) take(sc *host.SessionContext, hook abi.Hook, result engine.Result) error {
	if result.Code != 0 {
		return reportedFailure(result)
	}
	out, err := abi.DecodeOut(hook, result.Output)
	if err != nil {
		return err
	}
	if out.Unknown > 0 && p.unknown.Add(int64(out.Unknown)) == int64(out.Unknown) {
		p.log.Debug("the plugin returned members that this host does not know; they are passed over",
			"plugin", p.sourceID, "hook", hook, "count", out.Unknown)
	}
	return p.apply(sc, out)
}

// reportedFailure is the error of a hook that returned something else than 0 (clause ERR-3).
func reportedFailure(result engine.Result) error {
	if result.Error == "" {
		return &abi.Error{
			Code:    abi.CodeFailed,
			Message: fmt.Sprintf("the hook returned %d and set no error text; 0 means done", result.Code),
		}
	}
	return abi.DecodeErrorText(result.Error)
}

func (p *Provider) costs(u engine.Usage) []host.Cost {
	limits := p.module.Limits()
	cpu := host.Cost{Name: "cpu", Used: int64(u.Duration), Limit: positive(int64(p.limits.CPU)), Unit: "ns"}
	if p.limits.Fuel > 0 {
		cpu = host.Cost{Name: "cpu", Used: u.Fuel, Limit: p.limits.Fuel, Unit: "fuel"}
	}
	return []host.Cost{
		cpu,
		{Name: "memory", Used: u.Memory, Limit: positive(limits.Memory), Unit: "bytes"},
		{Name: "output", Used: int64(u.Output), Limit: positive(limits.Output), Unit: "bytes"},
	}
}

func positive(n int64) int64 { return max(n, 0) }

// logger hands on what the plugin logs during one call.
func (p *Provider) logger(ctx context.Context, hook abi.Hook) func(level, text string) {
	if p.onLog != nil {
		return p.onLog
	}
	return func(level, text string) {
		p.log.LogAttrs(ctx, slogLevel(level), text, slog.String("plugin", p.sourceID), slog.String("hook", string(hook)))
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
