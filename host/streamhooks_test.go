package host_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/message"
)

// upper makes the texts of updates loud, and notes when it is closed.
func upper(log *[]string) host.StreamHooks {
	return host.StreamHooks{
		Update: func(u *host.Update, emit func(*host.Update) error) error {
			loud := *u
			loud.Contents = nil
			for _, c := range u.Contents {
				if t, ok := c.(message.Text); ok {
					c = message.Text{Text: strings.ToUpper(t.Text)}
				}
				loud.Contents = append(loud.Contents, c)
			}
			return emit(&loud)
		},
		Close: func(err error) { *log = append(*log, fmt.Sprint("closed ", err)) },
	}
}

// holding lets nothing out before the end of the stream.
func holding() host.StreamHooks {
	var held []*host.Update
	return host.StreamHooks{
		Update: func(u *host.Update, _ func(*host.Update) error) error {
			held = append(held, u)
			return nil
		},
		End: func(emit func(*host.Update) error) error {
			if err := emit(host.TextUpdate("<")); err != nil {
				return err
			}
			for _, u := range held {
				if err := emit(u); err != nil {
					return err
				}
			}
			return emit(host.TextUpdate(">"))
		},
	}
}

// onStream is middleware of both layers that registers hooks.
func onStream(layer string, hooks ...host.StreamHooks) host.Middleware {
	if layer == "agent" {
		return host.Middleware{Agent: []host.AgentMiddleware{host.AgentFunc(func(ctx context.Context, c *host.AgentContext, next host.Next) error {
			for _, h := range hooks {
				c.OnStream(h)
			}
			return next(ctx)
		})}}
	}
	return host.Middleware{Chat: []host.ChatMiddleware{host.ChatFunc(func(ctx context.Context, c *host.ChatContext, next host.Next) error {
		for _, h := range hooks {
			c.OnStream(h)
		}
		return next(ctx)
	})}}
}

func TestStreamHooksChangeUpdatesAndTheFinalResponse(t *testing.T) {
	for _, layer := range []string{"agent", "chat"} {
		t.Run(layer, func(t *testing.T) {
			var log []string
			agent := newAgent(t, host.AgentConfig{
				Middleware: onStream(layer, holding(), upper(&log)), DefaultHistory: host.HistoryWhenMissing,
			})
			session := agent.CreateSession("")
			stream := agent.Stream(t.Context(), host.Text("one two"), host.RunConfig{Session: session})
			var seen []string
			for u, err := range stream.Updates() {
				require.NoError(t, err)
				seen = append(seen, u.Text())
			}
			r, err := stream.Response()
			require.NoError(t, err)
			require.Equal(t, strings.Join(seen, ""), r.Text(), "the response is what was shown")
			require.Equal(t, "<ONE TWO>", r.Text())
			require.Equal(t, []string{"closed <nil>"}, log)
			stored, err := host.StoredMessages(session.State("in_memory"))
			require.NoError(t, err)
			if layer == "chat" {
				require.Equal(t, "<ONE TWO>", stored[1].Text(), "chat hooks stand below what is stored")
			} else {
				require.Equal(t, "one two", stored[1].Text(), "agent hooks stand above what is stored")
			}
		})
	}
}

func TestStreamHooksSeeResultsThatCameAsAWhole(t *testing.T) {
	var log []string
	m := onStream("chat", upper(&log))
	m.Chat = append(m.Chat, host.ChatFunc(func(_ context.Context, c *host.ChatContext, _ host.Next) error {
		c.Result = host.NewResponse("cached")
		return nil
	}))
	stream := newAgent(t, host.AgentConfig{Middleware: m}).Stream(t.Context(), host.Text("hi"), host.RunConfig{})
	var seen []string
	for u, err := range stream.Updates() {
		require.NoError(t, err)
		seen = append(seen, u.Text())
	}
	require.Equal(t, []string{"CACHED"}, seen)
	r, err := stream.Response()
	require.NoError(t, err)
	require.Equal(t, "CACHED", r.Text())
}

func TestStreamHooksOfTheConsumer(t *testing.T) {
	var log []string
	stream := newAgent(t, host.AgentConfig{}).Stream(t.Context(), host.Text("one two"), host.RunConfig{})
	stream.OnStream(upper(&log))
	stream.OnStream(host.StreamHooks{Response: func(r *host.Response) (*host.Response, error) {
		return host.NewResponse(r.Text() + "!"), nil
	}})
	r, err := stream.Response()
	require.NoError(t, err)
	require.Equal(t, "ONE TWO!", r.Text())
}

func TestErrorsOfStreamHooksEndTheRun(t *testing.T) {
	broken := errors.New("broken")
	for name, h := range map[string]host.StreamHooks{
		"update":   {Update: func(*host.Update, func(*host.Update) error) error { return broken }},
		"end":      {End: func(func(*host.Update) error) error { return broken }},
		"response": {Response: func(*host.Response) (*host.Response, error) { return nil, broken }},
		"panic":    {Update: func(*host.Update, func(*host.Update) error) error { panic(broken) }},
	} {
		for _, layer := range []string{"agent", "chat", "stream"} {
			t.Run(name+" "+layer, func(t *testing.T) {
				var log, closed []string
				h := h
				h.Close = func(err error) { closed = append(closed, fmt.Sprint(err != nil)) }
				c := host.AgentConfig{Providers: []host.Provider{&recorder{id: "a", log: &log}}}
				if layer != "stream" {
					c.Middleware = onStream(layer, h)
				}
				stream := newAgent(t, c).Stream(t.Context(), host.Text("hi"), host.RunConfig{})
				if layer == "stream" {
					stream.OnStream(h)
				}
				r, err := stream.Response()
				require.Nil(t, r)
				require.ErrorContains(t, err, "broken")
				require.Equal(t, []string{"true"}, closed)
				var failure *host.ModelError
				if name != "panic" {
					require.False(t, errors.As(err, &failure), "the model did nothing wrong: %v", err)
				}
				if layer == "chat" {
					require.Equal(t, "before a", log[0])
					require.Contains(t, log[1], "failed a")
				}
			})
		}
	}
}

func TestLeavingAStreamClosesItsHooks(t *testing.T) {
	var log []string
	stream := newAgent(t, host.AgentConfig{Middleware: onStream("chat", upper(&log))}).
		Stream(t.Context(), host.Text("one two"), host.RunConfig{})
	for range stream.Updates() {
		break
	}
	require.Equal(t, []string{"closed " + host.ErrStopped.Error()}, log)
}

func TestStreamHooksDoNothingInARunThatIsNotStreamed(t *testing.T) {
	var log []string
	r, err := newAgent(t, host.AgentConfig{Middleware: onStream("chat", upper(&log))}).
		Run(t.Context(), host.Text("hi"), host.RunConfig{})
	require.NoError(t, err)
	require.Equal(t, "hi", r.Text())
	require.Empty(t, log)
}

// Hooks hold for one call of next: a second try has the hooks that were registered for it, and what comes after has none.
func TestStreamHooksHoldForOneCallOfNext(t *testing.T) {
	var log []string
	agent := newAgent(t, host.AgentConfig{Middleware: host.Middleware{Chat: []host.ChatMiddleware{
		host.ChatFunc(func(ctx context.Context, c *host.ChatContext, next host.Next) error {
			c.OnStream(upper(&log))
			if err := next(ctx); err != nil {
				return err
			}
			return next(ctx)
		}),
	}}})
	stream := agent.Stream(t.Context(), host.Text("one"), host.RunConfig{})
	var seen []string
	for u, err := range stream.Updates() {
		require.NoError(t, err)
		if u.Text() != "" {
			seen = append(seen, u.Text())
		}
	}
	require.Equal(t, []string{"ONE", "one"}, seen)
	require.Len(t, log, 1)
}
