package host_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/message"
)

func agentLogger(log *[]string, name string) host.AgentFunc {
	return func(ctx context.Context, _ *host.AgentContext, next host.Next) error {
		*log = append(*log, name+" in")
		if err := next(ctx); err != nil {
			return err
		}
		*log = append(*log, name+" out")
		return nil
	}
}

func TestAgentMiddlewareStandsAgentFirstThenRun(t *testing.T) {
	var log []string
	agent := newAgent(t, host.AgentConfig{
		Middleware: host.Middleware{Agent: []host.AgentMiddleware{agentLogger(&log, "a"), agentLogger(&log, "b")}},
		Providers:  []host.Provider{&recorder{id: "p", log: &log}},
	})
	_, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{
		Middleware: host.Middleware{Agent: []host.AgentMiddleware{agentLogger(&log, "r")}},
	})
	require.NoError(t, err)
	require.Equal(t, []string{"a in", "b in", "r in", "before p", "after p", "r out", "b out", "a out"}, log)

	log = nil
	_, err = agent.Run(t.Context(), host.Text("hi"), host.RunConfig{})
	require.NoError(t, err)
	require.NotContains(t, log, "r in", "a run's middleware is that run's alone")
}

func TestTerminateSkipsOuterMiddlewareAndIsNoError(t *testing.T) {
	var log []string
	stop := host.AgentFunc(func(_ context.Context, c *host.AgentContext, _ host.Next) error {
		c.Result = host.NewResponse("stopped")
		return host.ErrTerminate
	})
	agent := newAgent(t, host.AgentConfig{Middleware: host.Middleware{Agent: []host.AgentMiddleware{agentLogger(&log, "a"), stop}}})
	r, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{})
	require.NoError(t, err)
	require.Equal(t, "stopped", r.Text())
	require.Equal(t, []string{"a in"}, log)
}

func TestMiddlewareErrorsAndPanicsReachTheCaller(t *testing.T) {
	boom := errors.New("boom")
	for name, m := range map[string]host.Middleware{
		"agent": {Agent: []host.AgentMiddleware{host.AgentFunc(func(context.Context, *host.AgentContext, host.Next) error { return boom })}},
		"chat":  {Chat: []host.ChatMiddleware{host.ChatFunc(func(context.Context, *host.ChatContext, host.Next) error { return boom })}},
	} {
		_, err := newAgent(t, host.AgentConfig{Middleware: m}).Run(t.Context(), host.Text("hi"), host.RunConfig{})
		require.ErrorIs(t, err, boom, name)
	}
	for name, m := range map[string]host.Middleware{
		"agent": {Agent: []host.AgentMiddleware{host.AgentFunc(func(context.Context, *host.AgentContext, host.Next) error { panic("ouch") })}},
		"chat":  {Chat: []host.ChatMiddleware{host.ChatFunc(func(context.Context, *host.ChatContext, host.Next) error { panic("ouch") })}},
	} {
		_, err := newAgent(t, host.AgentConfig{Middleware: m}).Run(t.Context(), host.Text("hi"), host.RunConfig{})
		require.ErrorAs(t, err, new(*host.PanicError), name)
	}
	_, err := host.NewAgent(host.AgentConfig{Client: &echo{}, Middleware: host.Middleware{Chat: []host.ChatMiddleware{nil}}})
	require.ErrorContains(t, err, "chat/0 is nil")
}

func TestNeitherNextNorResultIsAnErrorThatNamesTheLayer(t *testing.T) {
	idle := host.Middleware{Chat: []host.ChatMiddleware{host.ChatFunc(func(context.Context, *host.ChatContext, host.Next) error { return nil })}}
	_, err := newAgent(t, host.AgentConfig{Middleware: idle}).Run(t.Context(), host.Text("hi"), host.RunConfig{})
	require.ErrorIs(t, err, host.ErrNoResult)
	require.ErrorContains(t, err, "chat middleware")
}

// What chat middleware changes is that call's alone.
func TestChatMiddlewareChangesItsOwnCallOnly(t *testing.T) {
	model := &echo{}
	note := host.ChatFunc(func(ctx context.Context, c *host.ChatContext, next host.Next) error {
		c.Request.Messages = append(c.Request.Messages, message.System("note"))
		c.Request.Options.Temperature = new(2.0)
		return next(ctx)
	})
	agent := newAgent(t, host.AgentConfig{
		Client: model, Middleware: host.Middleware{Chat: []host.ChatMiddleware{note}}, Options: host.Options{Temperature: new(1.0)},
	})
	session := agent.CreateSession("")
	for range 2 {
		_, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{Session: session})
		require.NoError(t, err)
	}
	require.Equal(t, "hi note", message.JoinText(model.requests[0].Messages[:1])+" "+model.requests[0].Messages[1].Text())
	require.Len(t, model.requests[1].Messages, 4, "history of two, input and note: the note was not stored")
	require.InEpsilon(t, 2.0, *model.requests[1].Options.Temperature, 1e-9)
}

// wrapped is a client that brings middleware along.
type wrapped struct {
	echo
	chat host.ChatMiddleware
}

func (w *wrapped) ChatMiddleware() []host.ChatMiddleware { return []host.ChatMiddleware{w.chat} }

func TestChatMiddlewareOrderClientAgentRunProvider(t *testing.T) {
	var log []string
	named := func(name string) host.ChatMiddleware {
		return host.ChatFunc(func(ctx context.Context, _ *host.ChatContext, next host.Next) error {
			log = append(log, name)
			return next(ctx)
		})
	}
	agent := newAgent(t, host.AgentConfig{
		Client:     &wrapped{chat: named("client")},
		Middleware: host.Middleware{Chat: []host.ChatMiddleware{named("agent")}},
		Providers: []host.Provider{host.BeforeRunFunc("p", func(_ context.Context, sc *host.SessionContext) error {
			return sc.ExtendMiddleware(host.Middleware{Chat: []host.ChatMiddleware{named("provider")}})
		})},
	})
	_, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{Middleware: host.Middleware{Chat: []host.ChatMiddleware{named("run")}}})
	require.NoError(t, err)
	require.Equal(t, []string{"client", "agent", "run", "provider"}, log)
}

func TestStreamedResultOfMiddlewareIsOneUpdate(t *testing.T) {
	cache := host.ChatFunc(func(_ context.Context, c *host.ChatContext, _ host.Next) error {
		require.True(t, c.Streaming)
		c.Result = host.NewResponse("cached")
		return nil
	})
	stream := newAgent(t, host.AgentConfig{Middleware: host.Middleware{Chat: []host.ChatMiddleware{cache}}}).
		Stream(t.Context(), host.Text("hi"), host.RunConfig{})
	updates := 0
	for u, err := range stream.Updates() {
		require.NoError(t, err)
		require.Equal(t, "cached", u.Text())
		updates++
	}
	require.Equal(t, 1, updates)
}

// Only middleware terminates its layer: the same error from what runs inside is an error like any other.
func TestTerminateOfAProviderIsAnError(t *testing.T) {
	var log []string
	for name, m := range map[string]host.Middleware{
		"without middleware": {}, "with middleware": {Agent: []host.AgentMiddleware{agentLogger(&log, "a")}},
	} {
		agent := newAgent(t, host.AgentConfig{Middleware: m, Providers: []host.Provider{
			host.BeforeRunFunc("p", func(context.Context, *host.SessionContext) error { return host.ErrTerminate }),
		}})
		r, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{})
		require.Nil(t, r, name)
		require.ErrorContains(t, err, "provider p: before_run", name)
	}
}
