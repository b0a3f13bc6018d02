package host_test

import (
	"context"
	"errors"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host"
	hosttool "github.com/weft-run/weft/host/tool"
	"github.com/weft-run/weft/message"
)

func TestASummaryOfUntrustedTextIsUntrusted(t *testing.T) {
	own := message.User("mine")
	for name, c := range map[string]struct {
		replace func(all []*message.Message) []*message.Message
		want    []string // the texts that are untrusted
	}{
		"nothing is left out": {func(all []*message.Message) []*message.Message { return append(all, message.User("new")) }, []string{order}},
		"a summary of it": {func(all []*message.Message) []*message.Message {
			return []*message.Message{all[0], message.User("new")}
		}, []string{"new"}},
		"a summary of it, marked": {func(all []*message.Message) []*message.Message {
			return []*message.Message{all[0], all[1].WithExcluded(true), message.User("new")}
		}, []string{order, "new"}},
		"a mark alone": {func(all []*message.Message) []*message.Message {
			return []*message.Message{all[0].WithExcluded(true), all[1].WithExcluded(true)}
		}, []string{order}},
		"a summary of what was trusted": {func(all []*message.Message) []*message.Message {
			return []*message.Message{message.User("new"), all[1]}
		}, []string{order}},
		"untrusted text that is cleared": {func(all []*message.Message) []*message.Message {
			c := all[1].Clone()
			c.Untrusted = false
			return []*message.Message{all[0], c}
		}, []string{order}},
	} {
		t.Run(name, func(t *testing.T) {
			labelled := func(messages []*message.Message) (texts []string) {
				for _, m := range messages {
					if m.Untrusted {
						texts = append(texts, m.Text())
					}
				}
				return texts
			}
			var ran []string
			model := &gullible{}
			agent := trusting(t, &ran, host.AgentConfig{Client: model, Providers: []host.Provider{
				adds("mine", own.Text()), web(order),
				host.BeforeRunFunc("thin", func(_ context.Context, sc *host.SessionContext) error {
					sc.ReplaceMessages(c.replace(sc.Messages(host.Filter{}))...)
					return nil
				}),
			}})
			_, err := agent.Run(t.Context(), host.Text("CALL erase"), host.RunConfig{})
			require.NoError(t, err)
			require.Empty(t, ran)
			require.Equal(t, c.want, labelled(model.requests[0].Messages), "in the context of a run")

			state := host.NewSession("s").State("h")
			theirs := message.User(order)
			theirs.Untrusted = true
			require.NoError(t, host.EditStoredMessages(state, func([]*message.Message) []*message.Message { return []*message.Message{own, theirs} }))
			require.NoError(t, host.EditStoredMessages(state, c.replace))
			stored, err := host.StoredMessages(state)
			require.NoError(t, err)
			require.Equal(t, c.want, labelled(stored), "in a history")
		})
	}
}

func TestMiddlewareOfTheAgentMayBringUntrustedText(t *testing.T) {
	var ran []string
	fetched := message.User(order)
	fetched.Untrusted, fetched.SourceID = true, "rag"
	agent := trusting(t, &ran, host.AgentConfig{Middleware: host.Middleware{Chat: []host.ChatMiddleware{
		host.ChatFunc(func(ctx context.Context, c *host.ChatContext, next host.Next) error {
			c.Request.Messages = append(c.Request.Messages, fetched)
			return next(ctx)
		}),
	}}})
	r, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{Session: host.NewSession("s")})
	require.NoError(t, err)
	require.Empty(t, ran)
	require.Contains(t, asked(r)[0].Reason, "untrusted text of rag")
}

func TestAConversationThatAServiceKeepsStaysUntrusted(t *testing.T) {
	var ran []string
	agent := trusting(t, &ran, host.AgentConfig{Client: &gullible{conversation: "c1"}})
	session := host.NewSession("s")
	_, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{Session: session, Providers: []host.Provider{web("a page")}})
	require.NoError(t, err)
	session = restored(t, session)
	r, err := agent.Run(t.Context(), host.Text("CALL erase"), host.RunConfig{Session: session})
	require.NoError(t, err)
	require.Empty(t, ran)
	require.Contains(t, asked(r)[0].Reason, "untrusted text of web")

	session = host.NewSession("other")
	_, err = agent.Run(t.Context(), host.Text("hi"), host.RunConfig{Session: session})
	require.NoError(t, err)
	_, err = agent.Run(t.Context(), host.Text("CALL erase"), host.RunConfig{Session: session})
	require.NoError(t, err)
	require.Equal(t, []string{""}, ran, "and one that never was is not")
}

func TestAllSourcesOfAConversationThatAServiceKeepsAreRemembered(t *testing.T) {
	var ran []string
	fetch := hosttool.Must(hosttool.New(hosttool.Config{Name: "fetch", Untrusted: true}, func(context.Context, hosttool.None) (string, error) { return "a page", nil }))
	model := &gullible{conversation: "c1"}
	agent := trusting(t, &ran, host.AgentConfig{Client: model, Tools: []host.Tool{fetch}})
	session := host.NewSession("s")
	_, err := agent.Run(t.Context(), host.Text("CALL fetch"), host.RunConfig{Session: session, Providers: []host.Provider{web("another page")}})
	require.NoError(t, err)
	require.Len(t, model.requests, 2, "one before the tool ran, one after it")
	r, err := agent.Run(t.Context(), host.Text("CALL erase"), host.RunConfig{Session: restored(t, session)})
	require.NoError(t, err)
	require.Contains(t, asked(r)[0].Reason, "untrusted text of web, fetch,")
}

func TestUntrustedTextGoesFromAgentToAgent(t *testing.T) {
	var ran []string
	inner, err := hosttool.Agent(newAgent(t, host.AgentConfig{Name: "reader", Client: &echo{}, Providers: []host.Provider{web(order)}}), hosttool.AgentConfig{})
	require.NoError(t, err)
	agent := trusting(t, &ran, host.AgentConfig{Client: &script{replies: []*host.Response{
		callWith("1", "reader", `{"task":"read"}`), calls("erase"),
	}}, Tools: []host.Tool{inner}})
	r, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{Session: host.NewSession("s")})
	require.NoError(t, err)
	require.Empty(t, ran, "what an agent answers, which read a page, is untrusted")
	require.Contains(t, asked(r)[0].Reason, "untrusted text of web")
	require.True(t, r.Messages[1].Untrusted)

	inner, err = hosttool.Agent(trusting(t, &ran, host.AgentConfig{Name: "cleaner"}), hosttool.AgentConfig{})
	require.NoError(t, err)
	outer := func(providers ...host.Provider) *host.Agent {
		return newAgent(t, host.AgentConfig{
			Client: &script{replies: []*host.Response{callWith("1", "cleaner", `{"task":"CALL erase"}`)}}, Tools: []host.Tool{inner}, Providers: providers,
			FunctionInvocation: host.FunctionInvocation{IncludeDetailedErrors: true},
		})
	}
	r, err = outer(web(order)).Run(t.Context(), host.Text("hi"), host.RunConfig{})
	require.NoError(t, err)
	require.Empty(t, ran, "an agent is told what its caller had seen")
	require.Contains(t, results(r)[0], "waits for approval")
	_, err = outer().Run(t.Context(), host.Text("hi"), host.RunConfig{})
	require.NoError(t, err)
	require.Equal(t, []string{""}, ran)
}

// meddler is an untrusted provider with hooks of the loop.
type meddler struct {
	before func(it *host.Iteration)
	tools  func(it *host.Iteration)
	call   func(call *host.Invocation)
	after  func(call *host.Invocation)
}

func (*meddler) SourceID() string { return "meddler" }
func (*meddler) Untrusted() bool  { return true }

func (m *meddler) BeforeIteration(_ context.Context, _ *host.SessionContext, it *host.Iteration) error {
	if m.before != nil && it.Number == 1 {
		m.before(it)
	}
	return nil
}

func (m *meddler) BeforeTools(_ context.Context, _ *host.SessionContext, it *host.Iteration) error {
	if m.tools != nil {
		m.tools(it)
	}
	return nil
}

func (m *meddler) BeforeFunction(_ context.Context, _ *host.SessionContext, call *host.Invocation) error {
	if m.call != nil && call.Call.Name == "t" {
		m.call(call)
	}
	return nil
}

func (m *meddler) AfterFunction(_ context.Context, _ *host.SessionContext, call *host.Invocation) error {
	if m.after != nil && call.Call.Name == "t" {
		m.after(call)
	}
	return nil
}

func TestWhatAStrangerPutsInTheModelsOrAToolsPlaceIsUntrusted(t *testing.T) {
	for name, m := range map[string]*meddler{
		"a reply that calls":     {before: func(it *host.Iteration) { it.Skip(calls("erase")) }},
		"a result":               {call: func(call *host.Invocation) { call.BlockText(order) }},
		"a result that it wrote": {after: func(call *host.Invocation) { call.Result.Result = jsontext.Value(`"` + order + `"`) }},
		"an error in a result": {after: func(call *host.Invocation) {
			call.Result.Error = order
			call.Result.Result = jsontext.Value(`"` + order + `"`)
		}},
		"a reply for all calls":    {tools: func(it *host.Iteration) { it.Skip(host.NewResponse(order)) }},
		"nothing, but it is there": {},
	} {
		t.Run(name, func(t *testing.T) {
			var ran []string
			agent := trusting(t, &ran, host.AgentConfig{Tools: []host.Tool{saying("t")}, Providers: []host.Provider{
				host.NewInMemoryHistory(host.HistoryConfig{}), host.Provider(m),
			}})
			session := host.NewSession("s")
			r, err := agent.Run(t.Context(), host.Text("CALL t"), host.RunConfig{Session: session})
			require.NoError(t, err)
			switch name {
			case "a reply for all calls":
				require.True(t, r.Messages[len(r.Messages)-1].Untrusted)
			case "nothing, but it is there":
				require.NotContains(t, saved(t, session), "untrusted")
			default:
				require.Len(t, asked(r), 1)
				require.Contains(t, asked(r)[0].Reason, "untrusted text of meddler")
			}
			require.Empty(t, ran)
		})
	}
}

// strangeWrapper answers by itself, and nobody vouches for it.
type strangeWrapper struct{ host.WrappingProvider }

func (strangeWrapper) Untrusted() bool { return true }

func TestTheAnswerOfAStrangerWhoWrapsIsUntrusted(t *testing.T) {
	for _, own := range []bool{true, false} {
		wrap := host.WrapFunc("w", func(ctx context.Context, sc *host.SessionContext, next host.Next) error {
			if own {
				return sc.SetResponse(host.NewResponse(order))
			}
			return next(ctx)
		})
		session := host.NewSession("s")
		agent := newAgent(t, host.AgentConfig{Providers: []host.Provider{
			host.NewInMemoryHistory(host.HistoryConfig{}), strangeWrapper{wrap.(host.WrappingProvider)},
		}})
		r, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{Session: session})
		require.NoError(t, err)
		require.Equal(t, own, r.Messages[0].Untrusted)
		require.Equal(t, own, stored(t, session)[1].Untrusted)
	}
}

func TestResultsThatAreOwedKeepTheirLabel(t *testing.T) {
	var ran []string
	model := &gullible{conversation: "c1"}
	fetch := hosttool.Must(hosttool.New(hosttool.Config{Name: "fetch", Untrusted: true}, func(context.Context, hosttool.None) (string, error) { return "a page", nil }))
	fails := host.ChatFunc(func(ctx context.Context, c *host.ChatContext, next host.Next) error {
		if len(model.requests) == 1 {
			return errors.New("down")
		}
		return next(ctx)
	})
	agent := trusting(t, &ran, host.AgentConfig{Client: model, Tools: []host.Tool{fetch}, Middleware: host.Middleware{Chat: []host.ChatMiddleware{fails}}})
	session := host.NewSession("s")
	_, err := agent.Run(t.Context(), host.Text("CALL fetch"), host.RunConfig{Session: session})
	require.ErrorContains(t, err, "down")
	model.requests = append(model.requests, nil)
	r, err := agent.Run(t.Context(), host.Text("CALL erase"), host.RunConfig{Session: restored(t, session)})
	require.NoError(t, err)
	require.Empty(t, ran)
	require.Len(t, asked(r), 1)
}

func TestAStreamHasTheSameLabelsAsARun(t *testing.T) {
	var ran []string
	agent := trusting(t, &ran, host.AgentConfig{Providers: []host.Provider{web("a page")}})
	r, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{})
	require.NoError(t, err)
	streamed, err := agent.Stream(t.Context(), host.Text("hi"), host.RunConfig{}).Response()
	require.NoError(t, err)
	require.True(t, streamed.Messages[0].Untrusted)
	require.Equal(t, r, streamed)
}
