package conformance

import (
	"context"
	"fmt"
	"log/slog"
	"sync"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/compaction"
	"github.com/weft-run/weft/host/wasm/engine"
	"github.com/weft-run/weft/message"
)

// Options say how a scenario is played. The zero value plays it natively.
type Options struct {
	// Wasm plays each scripted provider, and each scripted middleware, as a plugin.
	Wasm bool
	// Guest is that plugin: the module that guests/script is built into. Mandatory with Wasm.
	Guest []byte
	// Engine runs the plugins. It may be shared by many scenarios and stays open. Default: one for this scenario alone,
	// which then compiles the guest anew.
	Engine *engine.Engine
}

// play is one playing of a scenario.
type play struct {
	scenario *Scenario
	options  Options
	result   *Result
	model    *scriptedModel
	warnings warnings
	agent    *host.Agent
	sessions map[string]*host.Session
	closers  []func(context.Context) error

	requests map[string]message.ApprovalRequest // by call id, as responses carried them

	mu       sync.Mutex
	log      []string
	toolRuns []ToolRun
}

// Play plays a scenario and compares what was seen with what it expects. It may be called for many scenarios at once.
// What goes wrong is in the result: also that the agent could not be built.
func Play(ctx context.Context, s *Scenario, o Options) *Result {
	result := &Result{File: s.File, Name: s.Name}
	if result.Missing = s.Missing(o.Wasm); len(result.Missing) > 0 {
		result.Status = Unsupported
		return result
	}
	p := &play{
		scenario: s, options: o, result: result, model: &scriptedModel{model: s.Model}, warnings: newWarnings(),
		sessions: map[string]*host.Session{}, requests: map[string]message.ApprovalRequest{},
	}
	p.playAll(ctx)
	if err := p.close(ctx); err != nil {
		result.differ("/agent/providers", "plugins that can be closed", err.Error())
	}
	return result.finish()
}

// playAll builds the agent, plays the turns and compares.
func (p *play) playAll(ctx context.Context) {
	built := p.build(ctx)
	if want := p.scenario.Expect.BuildError; want.Set || built != nil {
		p.compareError("/expect/build_error", want, built)
		return
	}
	for i := range p.scenario.Turns {
		p.turn(ctx, i)
	}
	p.compare()
}

// build makes the agent.
func (p *play) build(ctx context.Context) error {
	a := &p.scenario.Agent
	tools, err := p.tools(a.Tools)
	if err != nil {
		return err
	}
	middleware, err := p.middleware(ctx, a.Middleware)
	if err != nil {
		return err
	}
	config := host.AgentConfig{
		Name: a.Name, Instructions: a.Instructions, Client: p.model, Tools: tools, Options: a.Options,
		Middleware: middleware, FunctionInvocation: a.FunctionInvocation, Compaction: a.Compaction,
		PerServiceCallHistory: a.PerServiceCallHistory,
		DefaultHistory:        a.DefaultHistory, Logger: slog.New(p.warnings),
	}
	for _, script := range a.Providers {
		provider, err := p.provider(ctx, script)
		if err != nil {
			return err
		}
		config.Providers = append(config.Providers, provider)
	}
	p.agent, err = host.NewAgent(config)
	return err
}

// provider makes one provider of the agent. Histories and compaction are native however the scenario is played.
func (p *play) provider(ctx context.Context, script Provider) (host.Provider, error) {
	switch {
	case script.Kind == KindHistory:
		return host.NewInMemoryHistory(script.History), nil
	case script.Kind == KindCompaction:
		return compaction.NewProvider(script.Compaction), nil
	case p.options.Wasm:
		return p.pluginProvider(ctx, script)
	}
	return p.nativeProvider(script), nil
}

// logLine appends to the scenario's log.
func (p *play) logLine(line string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.log = append(p.log, line)
}

// seenTurn is what came out of one turn.
type seenTurn struct {
	response *host.Response
	err      error
	updates  []*message.Message
	stopped  bool
}

// turn plays one turn and compares what is expected of it.
func (p *play) turn(ctx context.Context, i int) {
	t := &p.scenario.Turns[i]
	path := fmt.Sprintf("/turns/%d", i)
	session, err := p.session(t)
	if err != nil {
		p.result.differ(path+"/session", "a session", err.Error())
		return
	}
	middleware, err := p.middleware(ctx, t.Middleware)
	if err != nil {
		p.result.differ(path+"/middleware", "plugins that can be loaded", err.Error())
		return
	}
	config := host.RunConfig{Session: session, Options: t.Options, Middleware: middleware}
	input, err := p.input(t)
	if err != nil {
		p.result.differ(path+"/approve", "a request that an earlier response carried", err.Error())
		return
	}
	var seen seenTurn
	if t.Stream {
		seen = p.stream(ctx, t, input, config)
	} else {
		seen.response, seen.err = p.agent.Run(ctx, input, config)
	}
	for _, r := range approvalRequests(seen.response) {
		p.requests[r.Call.CallID] = r
	}
	p.compareTurn(path+"/expect", t.Expect, seen)
}

// stream reads a streamed turn to its end, or for as many updates as the turn says.
func (p *play) stream(ctx context.Context, t *Turn, input []*message.Message, config host.RunConfig) (seen seenTurn) {
	stream := p.agent.Stream(ctx, input, config)
	for u, err := range stream.Updates() {
		if err != nil {
			break // the response's error is the same
		}
		if len(u.Contents) == 0 {
			continue // usage and the like
		}
		role := u.Role
		if role == "" {
			role = message.RoleAssistant
		}
		piece := message.New(role, u.Contents...)
		if _, visible := showOne(piece); !visible {
			continue // requests for approval
		}
		seen.updates = append(seen.updates, piece)
		if t.StopAfter > 0 && len(seen.updates) == t.StopAfter {
			seen.stopped = true
			break
		}
	}
	seen.response, seen.err = stream.Response()
	if seen.stopped {
		seen.err = nil // leaving it was the turn's own doing
	}
	return seen
}

// session is the turn's session, made at its first use; nil for none.
func (p *play) session(t *Turn) (*host.Session, error) {
	if t.Session == "" {
		return nil, nil
	}
	s := p.sessions[t.Session]
	if s == nil {
		s = p.agent.GetSession(t.ServiceSessionID, t.Session)
	}
	if t.Reload {
		data, err := s.MarshalJSON()
		if err != nil {
			return nil, fmt.Errorf("serialise: %w", err)
		}
		if s, err = host.RestoreSession(data); err != nil {
			return nil, err
		}
	}
	p.sessions[t.Session] = s
	return s, nil
}
