package conformance

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/wasm"
	"github.com/weft-run/weft/host/wasm/engine"
	"github.com/weft-run/weft/message"
)

// pluginGrants are all rights: what a scripted provider does natively it may do as a plugin.
var pluginGrants = wasm.Grants{
	Read:  []string{"input", "response", "options", "metadata", "context:*"},
	Add:   []string{"messages", "instructions", "metadata"},
	Roles: message.Roles,
}

// pluginTime bounds every call of a plugin. A scenario asks what is done and not how fast, so a busy machine must not
// change its outcome.
const pluginTime = time.Minute

// pluginLimits are wide where the defaults could be felt in a scenario: native providers have none.
var pluginLimits = wasm.Limits{
	Start: pluginTime, Init: pluginTime, CPU: pluginTime, Text: engine.Unlimited, State: engine.Unlimited,
	Input: engine.Unlimited, Output: engine.Unlimited, LogLines: engine.Unlimited, LogLine: engine.Unlimited,
}

// errNoGuest tells a caller what playing with plugins needs.
var errNoGuest = errors.New("to play with plugins takes Options.Guest, the module that guests/script is built into")

// pluginProvider loads the scripted guest with a scripted provider's JSON as its configuration.
func (p *play) pluginProvider(ctx context.Context, script Provider) (host.Provider, error) {
	if len(p.options.Guest) == 0 {
		return nil, errNoGuest
	}
	if p.options.Engine == nil {
		e := engine.New(engine.Options{})
		p.options.Engine = e
		p.closers = append(p.closers, e.Close)
	}
	provider, err := wasm.Load(ctx, p.options.Engine, wasm.Config{
		Module: p.options.Guest, SourceID: script.SourceID, Config: script.Config, Grants: pluginGrants,
		Limits: pluginLimits, Logger: slog.New(p.warnings), OnLog: p.pluginLog,
	})
	if err != nil {
		return nil, err
	}
	p.closers = append(p.closers, provider.Close)
	return provider, nil
}

// pluginLog takes a line that the guest logged: a JSON string for the scenario's log. What else a plugin logs is kept
// as it is, so that it is seen in the comparison.
func (p *play) pluginLog(_, text string) {
	var line string
	if err := json.Unmarshal([]byte(text), &line); err != nil {
		line = text
	}
	p.logLine(line)
}

// close frees what playing took, last first.
func (p *play) close(ctx context.Context) error {
	var all []error
	for i := len(p.closers) - 1; i >= 0; i-- {
		all = append(all, p.closers[i](context.WithoutCancel(ctx)))
	}
	return errors.Join(all...)
}
