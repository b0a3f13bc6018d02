package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/message"
)

// What is said in every run.
const (
	question = "a question of some length, as people ask them"
	reply    = "ok"
	toolName = "look_up"
)

var (
	errNoStream = errors.New("this model does not stream")
	errOther    = errors.New("the answer is not the expected one")
)

// script is a model that asks for the tool where there is one, and replies once it has the result.
type script struct {
	// takes is how long each answer takes: none unless set.
	takes time.Duration
	// saw, where not nil, is shown each request; its error is the model's.
	saw func(r *host.ChatRequest) error
}

var _ host.ChatClient = script{}

// Complete is one step of the script.
func (s script) Complete(ctx context.Context, r *host.ChatRequest) (*host.Response, error) {
	if s.takes > 0 {
		select {
		case <-time.After(s.takes):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if s.saw != nil {
		if err := s.saw(r); err != nil {
			return nil, err
		}
	}
	if len(r.Tools) == 0 || r.Messages[len(r.Messages)-1].Role == message.RoleTool {
		return host.NewResponse(reply), nil
	}
	call := message.FunctionCall{CallID: "1", Name: toolName, Arguments: jsontext.Value(`{"key":"weft"}`)}
	return &host.Response{Messages: []*message.Message{message.New(message.RoleAssistant, call)}, FinishReason: host.FinishToolCalls}, nil
}

// Stream is not used.
func (script) Stream(context.Context, *host.ChatRequest) iter.Seq2[*host.Update, error] {
	return func(yield func(*host.Update, error) bool) { yield(nil, errNoStream) }
}

// loads is a history that adds the conversation and stores nothing, so that it has the same length in each run.
func loads() host.Provider {
	return host.NewInMemoryHistory(host.HistoryConfig{SkipInputs: true, SkipOutputs: true})
}

// newAgent is an agent with what is measured, behind a history that loads.
func newAgent(model script, middleware host.Middleware, providers ...host.Provider) (*host.Agent, error) {
	return host.NewAgent(host.AgentConfig{
		Name: "bench", Client: model, Providers: append([]host.Provider{loads()}, providers...), Middleware: middleware, Logger: quiet,
	})
}

// newSession is a conversation of that many messages.
func newSession(ctx context.Context, messages int) (*host.Session, error) {
	agent, err := host.NewAgent(host.AgentConfig{
		Client: script{}, Logger: quiet,
		Providers: []host.Provider{host.NewInMemoryHistory(host.HistoryConfig{LoadMessages: host.LoadNever})},
	})
	if err != nil {
		return nil, err
	}
	s := agent.CreateSession("")
	for range messages / 2 {
		if err := runOnce(ctx, agent, s); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// runOnce makes one run, and fails where its answer is not the right one.
func runOnce(ctx context.Context, agent *host.Agent, s *host.Session) error {
	return runTraced(ctx, agent, s, nil)
}

// runTraced is runOnce with somebody who follows.
func runTraced(ctx context.Context, agent *host.Agent, s *host.Session, tracer host.Tracer) error {
	response, err := agent.Run(ctx, host.Text(question), host.RunConfig{Session: s, Tracer: tracer})
	if err != nil {
		return err
	}
	if response.Text() != reply {
		return fmt.Errorf("%w: %q", errOther, response.Text())
	}
	return nil
}
