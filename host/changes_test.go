package host_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/message"
)

// processes runs once with middleware and returns the traces of it, the innermost first.
func processes(t *testing.T, m host.Middleware, stream bool, providers ...host.Provider) []host.HookTrace {
	t.Helper()
	var traces []host.HookTrace
	agent := newAgent(t, host.AgentConfig{
		Middleware: m, Providers: providers,
		Tracer: host.TraceFunc(func(_ context.Context, h host.HookTrace) {
			if h.Hook == "process" {
				traces = append(traces, h)
			}
		}),
	})
	input := append(host.Text("one"), append(host.Text("two"), host.Text("three")...)...)
	var err error
	if stream {
		_, err = agent.Stream(t.Context(), input, host.RunConfig{}).Response()
	} else {
		_, err = agent.Run(t.Context(), input, host.RunConfig{})
	}
	if err != nil {
		require.ErrorIs(t, err, errRefused)
	}
	return traces
}

var errRefused = errors.New("refused")

func TestTheTraceShowsWhatChatMiddlewareChanged(t *testing.T) {
	extra := message.User("extra")
	type chat = func(c *host.ChatContext, next func() error) error
	for name, c := range map[string]struct {
		chat chat
		want host.Changes
	}{
		"nothing": {func(_ *host.ChatContext, next func() error) error { return next() }, host.Changes{}},
		"the same again": {func(c *host.ChatContext, next func() error) error {
			c.Request.Messages = append([]*message.Message(nil), c.Request.Messages...)
			return next()
		}, host.Changes{}},
		"one more": {func(c *host.ChatContext, next func() error) error {
			c.Request.Messages = append(c.Request.Messages, extra)
			return next()
		}, host.Changes{Added: 1}},
		"fewer": {func(c *host.ChatContext, next func() error) error {
			c.Request.Messages = c.Request.Messages[2:]
			return next()
		}, host.Changes{Removed: 2}},
		"none": {func(c *host.ChatContext, next func() error) error { c.Request.Messages = nil; return next() }, host.Changes{Removed: 3}},
		"another in its place": {func(c *host.ChatContext, next func() error) error {
			c.Request.Messages[1] = c.Request.Messages[1].Clone()
			return next()
		}, host.Changes{Replaced: 1}},
		"two for one": {func(c *host.ChatContext, next func() error) error {
			c.Request.Messages = []*message.Message{c.Request.Messages[0], extra, extra.Clone(), c.Request.Messages[2]}
			return next()
		}, host.Changes{Replaced: 1, Added: 1}},
		"one twice": {func(c *host.ChatContext, next func() error) error {
			c.Request.Messages = append(c.Request.Messages, c.Request.Messages[0])
			return next()
		}, host.Changes{Added: 1}},
		"another order": {func(c *host.ChatContext, next func() error) error {
			c.Request.Messages[0], c.Request.Messages[2] = c.Request.Messages[2], c.Request.Messages[0]
			return next()
		}, host.Changes{Reordered: true}},
		"the rest of the request": {func(c *host.ChatContext, next func() error) error {
			c.Request.Instructions, c.Request.ConversationID = "x", "y"
			c.Request.Tools, c.Request.Options.Stop = append(c.Request.Tools, host.OfferedTool{Tool: saying("t")}), []string{"."}
			return next()
		}, host.Changes{Fields: []string{"instructions", "conversation_id", "tools", "options"}}},
		"another request": {func(c *host.ChatContext, next func() error) error {
			c.Request = &host.ChatRequest{Messages: c.Request.Messages, Instructions: "x"}
			return next()
		}, host.Changes{Fields: []string{"instructions"}}},
		"the most of all tries": {func(c *host.ChatContext, next func() error) error {
			all := c.Request.Messages
			c.Request.Messages, c.Request.Instructions = append(all[:3:3], extra), "x"
			_ = next()
			c.Request.Messages, c.Request.Instructions = all[:1], ""
			return next()
		}, host.Changes{Added: 1, Removed: 2, Fields: []string{"instructions"}}},
		"after next alone": {func(c *host.ChatContext, next func() error) error {
			err := next()
			c.Request.Messages = nil
			return err
		}, host.Changes{}},
		"another result": {func(c *host.ChatContext, next func() error) error {
			err := next()
			c.Result = host.NewResponse("x")
			return err
		}, host.Changes{Result: true}},
		"a message of it": {func(c *host.ChatContext, next func() error) error {
			err := next()
			c.Result.Messages[0] = extra
			return err
		}, host.Changes{Result: true}},
		"a field of it":    {func(c *host.ChatContext, next func() error) error { err := next(); c.Result.Model = "x"; return err }, host.Changes{Result: true}},
		"a result without": {func(c *host.ChatContext, _ func() error) error { c.Result = host.NewResponse("x"); return nil }, host.Changes{Result: true}},
		"no request":       {func(c *host.ChatContext, _ func() error) error { c.Request = nil; return errRefused }, host.Changes{}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, stream := range []bool{false, true} {
				pass := host.ChatFunc(func(ctx context.Context, _ *host.ChatContext, next host.Next) error { return next(ctx) })
				traces := processes(t, host.Middleware{Chat: []host.ChatMiddleware{pass, host.ChatFunc(func(ctx context.Context, cc *host.ChatContext, next host.Next) error {
					return c.chat(cc, func() error { return next(ctx) })
				})}}, stream)
				require.Equal(t, c.want, traces[0].Changes, "streaming %t", stream)
				require.Zero(t, traces[1].Changes, "what stands outside changed nothing")
			}
		})
	}
}

func TestTheTraceShowsWhatAgentMiddlewareChanged(t *testing.T) {
	edit := host.AgentFunc(func(ctx context.Context, c *host.AgentContext, next host.Next) error {
		c.Messages = append(c.Messages[1:], message.User("x"), message.User("y"))
		c.Options.Model = "other"
		err := next(ctx)
		c.Result = host.NewResponse("z")
		return err
	})
	traces := processes(t, host.Middleware{Agent: []host.AgentMiddleware{edit}}, false)
	require.Equal(t, host.Changes{Added: 1, Replaced: 1, Fields: []string{"options"}, Result: true}, traces[0].Changes)
}

func TestTheTraceShowsThatHooksOnTheStreamChangedTheResult(t *testing.T) {
	for _, changes := range []bool{false, true} {
		shout := host.ChatFunc(func(ctx context.Context, c *host.ChatContext, next host.Next) error {
			c.OnStream(host.StreamHooks{Update: func(u *host.Update, emit func(*host.Update) error) error {
				if changes {
					u = host.TextUpdate(strings.ToUpper(u.Text()))
				}
				return emit(u)
			}})
			return next(ctx)
		})
		traces := processes(t, host.Middleware{Chat: []host.ChatMiddleware{shout}}, true)
		require.Equal(t, host.Changes{Result: changes}, traces[0].Changes)
	}
}

func TestTheTraceShowsHowOftenNextWasCalled(t *testing.T) {
	for calls := range 4 {
		again := func(ctx context.Context, next host.Next) error {
			for range calls {
				if err := next(ctx); err != nil {
					return err
				}
			}
			return nil
		}
		var traced []host.HookTrace
		agent := newAgent(t, host.AgentConfig{
			Client: &gullible{}, Tools: []host.Tool{saying("t")},
			Middleware: host.Middleware{
				Agent: []host.AgentMiddleware{host.AgentFunc(func(ctx context.Context, c *host.AgentContext, next host.Next) error {
					if calls == 0 {
						c.Result = host.NewResponse("x")
					}
					return again(ctx, next)
				})},
				Function: []host.FunctionMiddleware{host.FunctionFunc(func(ctx context.Context, _ *host.FunctionContext, next host.Next) error { return again(ctx, next) })},
			},
			Tracer: host.TraceFunc(func(_ context.Context, h host.HookTrace) {
				if h.Hook == "process" {
					traced = append(traced, h)
				} else {
					require.Zero(t, h.NextCalls)
				}
			}),
		})
		_, err := agent.Run(t.Context(), host.Text("CALL t"), host.RunConfig{})
		require.NoError(t, err)
		require.Len(t, traced, 1+calls)
		for _, h := range traced {
			require.Equal(t, calls, h.NextCalls, h.Layer)
		}

		traced = nil
		wrap := host.WrapFunc("w", func(ctx context.Context, sc *host.SessionContext, next host.Next) error {
			if err := again(ctx, next); err != nil {
				return err
			}
			return sc.SetResponse(host.NewResponse("x"))
		})
		_, err = agent.Run(t.Context(), host.Text("hi"), host.RunConfig{Providers: []host.Provider{wrap}})
		require.NoError(t, err)
		for _, h := range traced {
			require.Equal(t, calls, h.NextCalls, h.Layer)
		}
		require.Len(t, traced, 1+calls)
	}
}

func TestTheTraceOfAWrapperThatFailsShowsThatItCalledNext(t *testing.T) {
	for _, policy := range []bool{false, true} {
		var called []int
		wrap := host.WrapFunc("w", func(ctx context.Context, _ *host.SessionContext, next host.Next) error {
			if err := next(ctx); err != nil {
				return err
			}
			panic("late")
		})
		if policy {
			wrap = skipping{wrap.(host.WrappingProvider)}
		}
		log, _ := logger()
		agent := newAgent(t, host.AgentConfig{Logger: log, Providers: []host.Provider{wrap}, Tracer: host.TraceFunc(func(_ context.Context, h host.HookTrace) {
			if h.Hook == "process" {
				called = append(called, h.NextCalls)
			}
		})})
		_, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{})
		require.Equal(t, policy, err == nil)
		require.Equal(t, []int{1}, called)
	}
}
