package main

import (
	"context"
	"fmt"
	"iter"
	"log/slog"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/message"
)

// weftAgent is the scenario in Weft's own terms, the ones that the others are fitted to: an in-memory history, four native
// context providers that add a message each, two chat middleware, one tool. It is the agent of BenchmarkRun in package host,
// whose history loads only, so that it has the same length in each run. The others' turns are stored, so this one's are
// too, in a second history that only stores and is emptied after each run. That is one provider more than the others have.
type weftAgent struct{ agent, fill *host.Agent }

// turnsID is the source id of the history that stores the turns.
const turnsID = "turns"

func openWeft(_ context.Context, s *script) (agent, error) {
	a := &weftAgent{}
	providers := []host.Provider{
		host.NewInMemoryHistory(host.HistoryConfig{SkipInputs: true, SkipOutputs: true}),
		host.NewInMemoryHistory(host.HistoryConfig{SourceID: turnsID, LoadMessages: host.LoadNever}),
	}
	for i := range contexts {
		providers = append(providers, host.BeforeRunFunc(fmt.Sprint("context-", i), func(_ context.Context, sc *host.SessionContext) error {
			sc.ExtendMessages(message.User(contextText))
			return nil
		}))
	}
	pass := host.ChatFunc(func(ctx context.Context, _ *host.ChatContext, next host.Next) error {
		s.wrapped.Add(1)
		return next(ctx)
	})
	quiet := slog.New(slog.DiscardHandler)
	var err error
	if a.agent, err = host.NewAgent(host.AgentConfig{
		Client: weftModel{s}, Tools: []host.Tool{weftTool{s}}, Providers: providers, Logger: quiet,
		Middleware: host.Middleware{Chat: []host.ChatMiddleware{pass, pass}},
	}); err != nil {
		return nil, err
	}
	a.fill, err = host.NewAgent(host.AgentConfig{
		Client: weftModel{&script{}}, Logger: quiet,
		Providers: []host.Provider{host.NewInMemoryHistory(host.HistoryConfig{LoadMessages: host.LoadNever})},
	})
	return a, err
}

func (a *weftAgent) converse(ctx context.Context, history int) (conversation, error) {
	c := &weftConversation{agent: a.agent, session: a.agent.CreateSession("")}
	for range history / 2 {
		if _, err := a.fill.Run(ctx, host.Text(question), host.RunConfig{Session: c.session}); err != nil {
			return nil, err
		}
	}
	return c, nil
}

type weftConversation struct {
	agent   *host.Agent
	session *host.Session
}

func (c *weftConversation) turn(ctx context.Context) (string, error) {
	response, err := c.agent.Run(ctx, host.Text(input), host.RunConfig{Session: c.session})
	if err != nil {
		return "", err
	}
	return response.Text(), nil
}

func (c *weftConversation) rewind(context.Context) error {
	return host.EditStoredMessages(c.session.State(turnsID), func([]*message.Message) []*message.Message { return nil })
}

func (c *weftConversation) stored(context.Context) (int, error) {
	n := 0
	for _, id := range []string{host.DefaultHistoryID, turnsID} {
		messages, err := host.StoredMessages(c.session.State(id))
		if err != nil {
			return 0, err
		}
		n += len(messages)
	}
	return n, nil
}

type weftModel struct{ *script }

var _ host.ChatClient = weftModel{}

// Complete asks for the tool where there is one and its result is not there yet.
func (m weftModel) Complete(_ context.Context, r *host.ChatRequest) (*host.Response, error) {
	m.saw(len(r.Messages), func(i int) string { return r.Messages[i].Text() })
	if len(r.Tools) == 0 || r.Messages[len(r.Messages)-1].Role == message.RoleTool {
		return host.NewResponse(reply), nil
	}
	call := message.New(message.RoleAssistant, message.FunctionCall{CallID: callID, Name: toolName, Arguments: jsontext.Value(`{}`)})
	return &host.Response{Messages: []*message.Message{call}, FinishReason: host.FinishToolCalls}, nil
}

// Stream is not used.
func (m weftModel) Stream(context.Context, *host.ChatRequest) iter.Seq2[*host.Update, error] {
	return func(yield func(*host.Update, error) bool) { yield(nil, errNoStream) }
}

type weftTool struct{ *script }

var _ host.FunctionTool = weftTool{}

// Definition names the tool.
func (weftTool) Definition() host.ToolDefinition { return host.ToolDefinition{Name: toolName} }

// Call is the tool's work.
func (t weftTool) Call(context.Context, jsontext.Value) (jsontext.Value, error) {
	return jsontext.AppendQuote(nil, t.tool())
}
