package middleware_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/middleware"
	"github.com/weft-run/weft/message"
)

func TestPIIInInputIsSeenByNobody(t *testing.T) {
	bothWays(t, func(t *testing.T, streaming bool) {
		client := says("fine")
		var provider string
		agent := newAgent(t, host.AgentConfig{
			Client: client, Middleware: middleware.NewPII(middleware.PIIConfig{}),
			Providers: []host.Provider{
				host.NewInMemoryHistory(host.HistoryConfig{}),
				host.BeforeRunFunc("memory", func(_ context.Context, sc *host.SessionContext) error {
					provider = message.JoinText(sc.Input())
					sc.ExtendMessages(message.User("earlier: old@example.com"))
					sc.ExtendInstructions("The user is at 10.0.0.1.")
					return nil
				}),
			},
		})
		session := agent.CreateSession("")
		_, _, err := run(t, agent, streaming, "I am john@example.com", host.RunConfig{Session: session})
		require.NoError(t, err)
		require.Equal(t, "I am [EMAIL]", provider)
		require.Equal(t, "earlier: [EMAIL]I am [EMAIL]", message.JoinText(client.requests[0].Messages))
		require.Equal(t, "The user is at [IP].", client.requests[0].Instructions)
		saved, err := session.MarshalJSON()
		require.NoError(t, err)
		require.NotContains(t, string(saved), "john@")
	})
}

// What was stored before the guard was there goes to the model redacted, also where new input would be blocked.
func TestPIIInOldHistoryDoesNotReachTheModel(t *testing.T) {
	session := host.NewSession("")
	plain := newAgent(t, host.AgentConfig{})
	_, err := plain.Run(t.Context(), host.Text("I am john@example.com"), host.RunConfig{Session: session})
	require.NoError(t, err)

	client := says("fine")
	agent := newAgent(t, host.AgentConfig{Client: client, Middleware: middleware.NewPII(middleware.PIIConfig{Input: middleware.PIIBlock})})
	_, err = agent.Run(t.Context(), host.Text("hello"), host.RunConfig{Session: session})
	require.NoError(t, err)
	require.Contains(t, message.JoinText(client.requests[0].Messages), "I am [EMAIL]")
	stored, err := host.StoredMessages(session.State(host.DefaultHistoryID))
	require.NoError(t, err)
	require.Equal(t, "I am john@example.com", stored[0].Text(), "what is stored already stays")

	_, err = agent.Run(t.Context(), host.Text("now from x@y.de"), host.RunConfig{Session: session})
	require.ErrorIs(t, err, middleware.ErrPII)
	require.NotContains(t, err.Error(), "x@y.de")
	require.Equal(t, 1, client.calls())
}

func TestPIIKeepInstructions(t *testing.T) {
	client := says("fine")
	agent := newAgent(t, host.AgentConfig{
		Client: client, Instructions: "Send them to help@acme.com.", Middleware: middleware.NewPII(middleware.PIIConfig{KeepInstructions: true}),
	})
	_, err := agent.Run(t.Context(), []*message.Message{message.User("a@b.de")}, host.RunConfig{})
	require.NoError(t, err)
	require.Equal(t, "Send them to help@acme.com.", client.requests[0].Instructions)
	require.Equal(t, "[EMAIL]", client.requests[0].Messages[0].Text())
}

func TestPIIInToolResults(t *testing.T) {
	result := jsontext.Value(`{"mail":"a@b.de","card":4111111111111111,"n":1.50,"c@d.de":1,"e@f.de":2,"list":["+49 30 123456",null]}`)
	look := &tool{"look", func(context.Context, jsontext.Value) (jsontext.Value, error) { return result, nil }}
	bad := failing("bad", errors.New("no user a@b.de"))
	bothWays(t, func(t *testing.T, streaming bool) {
		client := script([]call{{"look", `{"who":"z@z.de"}`}, {"bad", `{}`}})
		agent := newAgent(t, host.AgentConfig{
			Client: client, Tools: []host.Tool{look, bad}, Middleware: middleware.NewPII(middleware.PIIConfig{}),
			FunctionInvocation: host.FunctionInvocation{IncludeDetailedErrors: true},
		})
		session := agent.CreateSession("")
		r, _, err := run(t, agent, streaming, "hi", host.RunConfig{Session: session})
		require.NoError(t, err)
		require.Equal(t, []string{
			`{"mail":"[EMAIL]","card":"[CREDIT_CARD]","n":1.50,"[EMAIL]":1,"[EMAIL] 2":2,"list":["[PHONE]",null]}`,
			"Error: Function failed. Exception: no user [EMAIL]",
		}, results(r))
		require.Equal(t, results(r), results(&host.Response{Messages: client.requests[1].Messages}))
		saved, err := session.MarshalJSON()
		require.NoError(t, err)
		require.NotContains(t, string(saved), "a@b.de")
		require.Contains(t, string(saved), "z@z.de", "arguments of calls are what the tool was called with")

		agent = newAgent(t, host.AgentConfig{
			Client: script([]call{{"look", `{}`}}), Tools: []host.Tool{look}, Middleware: middleware.NewPII(middleware.PIIConfig{ToolResults: middleware.PIIBlock}),
		})
		_, _, err = run(t, agent, streaming, "hi", host.RunConfig{})
		var found *middleware.PIIError
		require.ErrorAs(t, err, &found)
		require.Equal(t, "tool result", found.Where)
	})
}

// rich is a model that says contents of many kinds in pieces, in two messages.
func rich() *model {
	text := func(id, s string) *host.Update {
		return &host.Update{MessageID: id, Contents: []message.Content{message.Text{Text: s}}}
	}
	return &model{reply: func(_ context.Context, _ int, _ *host.ChatRequest, yield func(*host.Update) bool) error {
		for _, u := range []*host.Update{
			{MessageID: "1", ResponseID: "r", Contents: []message.Content{message.Reasoning{Text: "he is jo"}}},
			{MessageID: "1", Contents: []message.Content{message.Reasoning{Text: "hn@example.com I think"}}},
			text("1", "mail jo"), text("1", "hn@exam"),
			{Model: "m"},
			text("1", "ple.com or +49 30 12"), text("1", "3456"),
			{MessageID: "1", Contents: []message.Content{message.URI{URI: "https://x.org/?q=a@b.de"}, message.Text{Text: " bye"}}},
			text("2", "second x@"),
			{MessageID: "2", FinishReason: host.FinishStop, Contents: []message.Content{message.Text{Text: "y.de"}}},
			{Usage: &host.Usage{InputTokens: 1, OutputTokens: 2}},
		} {
			if !yield(u) {
				return nil
			}
		}
		return nil
	}}
}

func TestPIIInOutputIsTheSameInAStream(t *testing.T) {
	agent := newAgent(t, host.AgentConfig{Client: rich(), Middleware: middleware.NewPII(middleware.PIIConfig{})})
	session, streamedSession := agent.CreateSession("s"), agent.CreateSession("s")
	whole, _, err := run(t, agent, false, "hi", host.RunConfig{Session: session})
	require.NoError(t, err)
	require.Equal(t, []message.Content{
		message.Reasoning{Text: "he is [EMAIL] I think"},
		message.Text{Text: "mail [EMAIL] or [PHONE]"},
		message.URI{URI: "https://x.org/?q=[EMAIL]"},
		message.Text{Text: " bye"},
	}, whole.Messages[0].Contents)
	require.Equal(t, "second [EMAIL]", whole.Messages[1].Text())

	streamed, updates, err := run(t, agent, true, "hi", host.RunConfig{Session: streamedSession})
	require.NoError(t, err)
	require.Equal(t, whole.Messages, streamed.Messages)
	require.Equal(t, whole.Usage, streamed.Usage)
	require.Equal(t, host.FinishStop, streamed.FinishReason)
	require.Equal(t, whole.Text(), textOf(updates))
	left := ""
	for i, u := range updates {
		left += fmt.Sprint(u.Contents)
		require.NotRegexp(t, `john|a@b|x@y|12345`, left)
		if u.FinishReason != "" {
			require.Empty(t, textOf(updates[i+1:]), "the end is told of last")
		}
	}
	require.Equal(t, saved(t, session), saved(t, streamedSession), "what is stored is the same")
}

func saved(t *testing.T, s *host.Session) string {
	t.Helper()
	b, err := s.MarshalJSON()
	require.NoError(t, err)
	return string(b)
}

func TestPIIBlocksOutputBeforeItLeaves(t *testing.T) {
	bothWays(t, func(t *testing.T, streaming bool) {
		agent := newAgent(t, host.AgentConfig{
			Client: says("write to ", "joh", "n@example", ".com", " now"), Middleware: middleware.NewPII(middleware.PIIConfig{Output: middleware.PIIBlock}),
		})
		session := agent.CreateSession("")
		_, updates, err := run(t, agent, streaming, "hi", host.RunConfig{Session: session})
		require.ErrorIs(t, err, middleware.ErrPII)
		require.NotContains(t, textOf(updates), "joh")
		require.NotContains(t, saved(t, session), "joh")
	})
}

// What does not come from a model call is looked at as well: a provider's own answer, and what middleware terminates with.
func TestPIIOfOtherAnswers(t *testing.T) {
	bothWays(t, func(t *testing.T, streaming bool) {
		for name, c := range map[string]host.AgentConfig{
			"provider": {Providers: []host.Provider{host.WrapFunc("cache", func(_ context.Context, sc *host.SessionContext, _ host.Next) error {
				return sc.SetResponse(host.NewResponse("cached for a@b.de"))
			})}},
			"terminated": {Middleware: host.Middleware{Chat: []host.ChatMiddleware{host.ChatFunc(func(_ context.Context, c *host.ChatContext, _ host.Next) error {
				c.Result = host.NewResponse("cached for a@b.de")
				return host.ErrTerminate
			})}}},
		} {
			c.Middleware = middleware.Join(middleware.NewPII(middleware.PIIConfig{}), c.Middleware)
			r, updates, err := run(t, newAgent(t, c), streaming, "hi", host.RunConfig{})
			require.NoError(t, err, name)
			require.Equal(t, "cached for [EMAIL]", r.Text(), name)
			if streaming {
				require.Equal(t, "cached for [EMAIL]", textOf(updates), name)
			}
		}
	})
}

func TestPIIPassChangesNothing(t *testing.T) {
	bothWays(t, func(t *testing.T, streaming bool) {
		client := says("it is ", "a@b.de")
		pass := middleware.PIIPass
		agent := newAgent(t, host.AgentConfig{Client: client, Middleware: middleware.NewPII(middleware.PIIConfig{Input: pass, ToolResults: pass, Output: pass})})
		r, updates, err := run(t, agent, streaming, "c@d.de", host.RunConfig{})
		require.NoError(t, err)
		require.Equal(t, "it is a@b.de", r.Text())
		require.Equal(t, "c@d.de", client.requests[0].Messages[0].Text())
		if streaming {
			require.Len(t, updates, 2)
		}
	})
}

func TestPIITextThatEndsBeforeACallStandsBeforeIt(t *testing.T) {
	first := []message.Content{message.FunctionCall{CallID: "1", Name: "look"}}
	client := &model{reply: func(_ context.Context, n int, _ *host.ChatRequest, yield func(*host.Update) bool) error {
		if n > 1 {
			yield(host.TextUpdate("done"))
			return nil
		}
		if yield(host.TextUpdate("asking john")) {
			yield(&host.Update{Contents: first})
		}
		return nil
	}}
	look, _ := counting("look")
	agent := newAgent(t, host.AgentConfig{Client: client, Tools: []host.Tool{look}, Middleware: middleware.NewPII(middleware.PIIConfig{})})
	_, updates, err := run(t, agent, true, "hi", host.RunConfig{})
	require.NoError(t, err)
	var order []string
	for _, u := range updates {
		for _, c := range u.Contents {
			order = append(order, string(c.Kind()))
		}
	}
	require.Equal(t, "text text function_call function_result text", strings.Join(order, " "))
}

// Content that comes whole is looked at each time, also where the same kind was found before.
func TestPIIInEachContentOfAStream(t *testing.T) {
	client := &model{reply: func(_ context.Context, _ int, _ *host.ChatRequest, yield func(*host.Update) bool) error {
		for _, mail := range []string{"a@b.de", "c@d.de", "e@f.de"} {
			if !yield(&host.Update{Contents: []message.Content{message.URI{URI: "mailto:" + mail}, message.Error{Message: "no " + mail}}}) {
				return nil
			}
		}
		return nil
	}}
	_, updates, err := run(t, newAgent(t, host.AgentConfig{Client: client, Middleware: middleware.NewPII(middleware.PIIConfig{})}), true, "hi", host.RunConfig{})
	require.NoError(t, err)
	require.Len(t, updates, 3)
	for _, u := range updates {
		require.Equal(t, []message.Content{message.URI{URI: "mailto:[EMAIL]"}, message.Error{Message: "no [EMAIL]"}}, u.Contents)
	}
}
