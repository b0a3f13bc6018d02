package conformance

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/weft-run/weft/abi"
	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/wasm"
	"github.com/weft-run/weft/host/wasm/engine"
	"github.com/weft-run/weft/message"
)

// pluginGrants are all rights that the operations of a scenario need: what is scripted may do as a plugin what it may do
// natively.
var pluginGrants = wasm.Grants{
	Read:       []string{"input", "response", "options", "metadata", "request", "calls", "context:*"},
	Add:        abi.Additions,
	Roles:      message.Roles,
	Change:     abi.Changes,
	Middleware: abi.Layers,
}

// pluginTime bounds every call of a plugin. A scenario asks what is done and not how fast, so a busy machine must not
// change its outcome.
const pluginTime = time.Minute

// pluginLimits are wide where the defaults could be felt in a scenario: what is native has none.
var pluginLimits = wasm.Limits{
	Start: pluginTime, Init: pluginTime, CPU: pluginTime, CallTool: pluginTime, Text: engine.Unlimited, State: engine.Unlimited,
	Input: engine.Unlimited, Output: engine.Unlimited, LogLines: engine.Unlimited, LogLine: engine.Unlimited,
	Tools: engine.Unlimited, ToolSchema: engine.Unlimited, NextCalls: engine.Unlimited,
}

// errNoGuest tells a caller what playing with plugins needs.
var errNoGuest = errors.New("to play with plugins takes Options.Guest, the module that guests/script is built into")

// pluginProvider loads the scripted guest with a scripted provider's JSON as its configuration.
func (p *play) pluginProvider(ctx context.Context, script Provider) (host.Provider, error) {
	module := p.options.Guest
	if script.Script["process"] != nil && len(module) > 0 {
		// A plugin that has these hooks is no wrapping provider (clause EXP-4).
		var err error
		if module, err = withoutExports(module, "before_run", "after_run"); err != nil {
			return nil, err
		}
	}
	return p.plugin(ctx, wasm.Config{Module: module, SourceID: script.SourceID, Config: script.Config})
}

// pluginMiddleware loads the scripted guest once for each of scripted middleware, with its JSON as the configuration.
func (p *play) pluginMiddleware(ctx context.Context, scripts []Middleware) (m host.Middleware, err error) {
	for _, script := range scripts {
		plugin, err := p.plugin(ctx, wasm.Config{
			Module: p.options.Guest, SourceID: fmt.Sprintf("middleware_%d", len(p.closers)), Config: script.Config,
			Middleware: true, Layer: abi.Layer(script.Layer),
		})
		if err != nil {
			return m, err
		}
		one := plugin.ForLayer()
		m.Agent = append(m.Agent, one.Agent...)
		m.Chat = append(m.Chat, one.Chat...)
		m.Function = append(m.Function, one.Function...)
	}
	return m, nil
}

// plugin loads the guest, and sees to it that it is closed.
func (p *play) plugin(ctx context.Context, c wasm.Config) (*wasm.Plugin, error) {
	if len(p.options.Guest) == 0 {
		return nil, errNoGuest
	}
	if p.options.Engine == nil {
		e := engine.New(engine.Options{})
		p.options.Engine = e
		p.closers = append(p.closers, e.Close)
	}
	c.Grants, c.Limits, c.Logger, c.OnLog = pluginGrants, pluginLimits, slog.New(p.warnings), p.pluginLog
	plugin, err := wasm.Load(ctx, p.options.Engine, c)
	if err != nil {
		return nil, err
	}
	p.closers = append(p.closers, plugin.Close)
	return plugin, nil
}

// pluginLog takes a line that the guest logged: a JSON string for the scenario's log, or an object that tells of the
// execution of a tool. What else a plugin logs is kept as it is, so that it is seen in the comparison.
func (p *play) pluginLog(_, text string) {
	var line string
	if json.Unmarshal([]byte(text), &line) == nil {
		p.logLine(line)
		return
	}
	var run struct {
		Name      string `json:"tool_run"`
		Arguments string `json:"arguments"`
	}
	if json.Unmarshal([]byte(text), &run, json.RejectUnknownMembers(true)) == nil && run.Name != "" {
		p.toolRan(run.Name, jsontext.Value(run.Arguments))
		return
	}
	p.logLine(text)
}

// close frees what playing took, last first.
func (p *play) close(ctx context.Context) error {
	var all []error
	for i := len(p.closers) - 1; i >= 0; i-- {
		all = append(all, p.closers[i](context.WithoutCancel(ctx)))
	}
	return errors.Join(all...)
}
