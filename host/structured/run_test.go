package structured_test

import (
	"context"
	"errors"
	"iter"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/structured"
	"github.com/weft-run/weft/message"
)

// thermometer is a tool.
type thermometer struct{ approval bool }

func (*thermometer) Definition() host.ToolDefinition { return host.ToolDefinition{Name: "measure"} }
func (*thermometer) Call(context.Context, jsontext.Value) (jsontext.Value, error) {
	return jsontext.Value(`3`), nil
}
func (t *thermometer) NeedsApproval(message.FunctionCall) bool { return t.approval }

func wishes(text string) *host.Response {
	r := says(text)
	r.FinishReason = host.FinishToolCalls
	r.Messages[0].Contents = append(r.Messages[0].Contents, message.FunctionCall{CallID: "c1", Name: "measure"})
	return r
}

func TestToolsComeBeforeTheAnswer(t *testing.T) {
	both(t, func(t *testing.T, streamed bool) {
		model := &scripted{replies: []*host.Response{wishes("Let me look."), says("3 degrees"), says(good)}}
		out := ask(t, newAgent(t, host.AgentConfig{Client: model, Tools: []host.Tool{&thermometer{}}}), streamed, host.RunConfig{}, structured.Config{})
		require.NoError(t, out.err)
		assert.Equal(t, forecast{"Oslo", 3}, out.value, "what was said before the call is no part of the answer")
		assert.Equal(t, 30, out.response.Usage.InputTokens)
		require.Len(t, out.response.Messages, 3)
		if streamed {
			assert.Equal(t, "Let me look."+good, out.shown)
		}
		assert.Equal(t, []string{"How warm?", "Let me look.", "", "3 degrees"}, texts(model.requests[2].Messages[:4]))
	})
}

func texts(messages []*message.Message) (all []string) {
	for _, m := range messages {
		all = append(all, m.Text())
	}
	return all
}

func TestCallsThatAreForbiddenAreNoExcuse(t *testing.T) {
	both(t, func(t *testing.T, streamed bool) {
		model := &scripted{replies: []*host.Response{wishes(""), wishes("no"), says(good)}}
		out := ask(t, newAgent(t, host.AgentConfig{Client: model, Tools: []host.Tool{&thermometer{}}}), streamed,
			host.RunConfig{Options: host.Options{ToolChoice: host.ToolChoice{Mode: host.ToolChoiceNone}}}, structured.Config{Repairs: new(2)})
		require.NoError(t, out.err)
		assert.Equal(t, good, out.response.Text())
		assert.Len(t, model.requests, 3)
	})
}

func TestARunThatEndsWithCallsHasNoAnswerYet(t *testing.T) {
	both(t, func(t *testing.T, streamed bool) {
		model := &scripted{replies: []*host.Response{wishes("May I?"), says(good)}}
		agent := newAgent(t, host.AgentConfig{Client: model, Tools: []host.Tool{&thermometer{approval: true}}})
		session := agent.CreateSession("")
		out := ask(t, agent, streamed, host.RunConfig{Session: session}, structured.Config{})
		require.ErrorIs(t, out.err, structured.ErrNoAnswer)
		require.NotErrorIs(t, out.err, structured.ErrInvalid)
		contents := out.response.Messages[0].Contents
		request, ok := contents[len(contents)-1].(message.ApprovalRequest)
		require.True(t, ok)

		value, _, err := structured.Run[forecast](t.Context(), agent, []*message.Message{message.New(message.RoleUser, request.Respond(true))},
			host.RunConfig{Session: session}, structured.Config{})
		require.NoError(t, err)
		assert.Equal(t, forecast{"Oslo", 3}, value)

		model = &scripted{replies: []*host.Response{wishes("")}}
		out = ask(t, newAgent(t, host.AgentConfig{Client: model, Tools: []host.Tool{&thermometer{}}}), streamed,
			host.RunConfig{Options: host.Options{ToolChoice: host.ToolChoice{Mode: host.ToolChoiceRequired}}}, structured.Config{})
		require.ErrorIs(t, out.err, structured.ErrNoAnswer)
	})
}

func TestErrorsOfTheRunAreReturnedAsTheyAre(t *testing.T) {
	both(t, func(t *testing.T, streamed bool) {
		out := ask(t, newAgent(t, host.AgentConfig{Client: &scripted{fail: host.ErrRateLimited}}), streamed, host.RunConfig{}, structured.Config{})
		require.ErrorIs(t, out.err, host.ErrRateLimited)
		require.NotErrorIs(t, out.err, structured.ErrInvalid)

		model := &scripted{replies: []*host.Response{says("bad")}, fail: host.ErrUnavailable}
		out = ask(t, newAgent(t, host.AgentConfig{Client: model}), streamed, host.RunConfig{}, structured.Config{})
		require.ErrorIs(t, out.err, host.ErrUnavailable, "the repair fails as any call does")
		assert.Empty(t, out.shown)
	})
}

func TestAfterRunErrorsDoNotTakeTheValueAway(t *testing.T) {
	boom := errors.New("boom")
	agent := newAgent(t, host.AgentConfig{
		Client:    &scripted{replies: []*host.Response{says(good)}},
		Providers: []host.Provider{host.AfterRunFunc("p", func(context.Context, *host.SessionContext) error { return boom })},
	})
	value, response, err := structured.Run[forecast](t.Context(), agent, host.Text("hi"), host.RunConfig{}, structured.Config{})
	require.ErrorIs(t, err, boom)
	assert.NotNil(t, response)
	assert.Equal(t, forecast{"Oslo", 3}, value)
}

func TestAStreamThatIsLeftShowsNothing(t *testing.T) {
	model := &scripted{replies: []*host.Response{says("bad"), says(good)}}
	m, err := structured.Middleware[forecast](structured.Config{})
	require.NoError(t, err)
	stream := newAgent(t, host.AgentConfig{Client: model}).Stream(t.Context(), host.Text("hi"), host.RunConfig{
		Middleware: host.Middleware{Chat: []host.ChatMiddleware{m}},
	})
	for u, err := range stream.Updates() {
		require.NoError(t, err)
		if u.Text() != "" {
			assert.NotContains(t, u.Text(), "bad")
			break
		}
	}
	_, err = stream.Response()
	require.ErrorIs(t, err, host.ErrStopped)
}

func TestABadAnswerIsNotTakenTwice(t *testing.T) {
	both(t, func(t *testing.T, streamed bool) {
		times := 0
		lazy := host.ChatFunc(func(ctx context.Context, _ *host.ChatContext, next host.Next) error {
			if times++; times > 1 {
				return nil // neither next nor a result
			}
			return next(ctx)
		})
		model := &scripted{replies: []*host.Response{says("bad")}}
		out := ask(t, newAgent(t, host.AgentConfig{Client: model}), streamed,
			host.RunConfig{Middleware: host.Middleware{Chat: []host.ChatMiddleware{lazy}}}, structured.Config{})
		require.ErrorIs(t, out.err, host.ErrNoResult)
	})
}

// pulled is a model that counts what was taken of its answer.
type pulled struct {
	scripted
	updates int
}

func (p *pulled) Stream(context.Context, *host.ChatRequest) iter.Seq2[*host.Update, error] {
	return func(yield func(*host.Update, error) bool) {
		for _, u := range []*host.Update{{AuthorName: "somebody"}, host.TextUpdate(good)} {
			if p.updates++; !yield(u, nil) {
				return
			}
		}
	}
}

func TestOnlyTheAnswerIsHeldBack(t *testing.T) {
	m, err := structured.Middleware[forecast](structured.Config{})
	require.NoError(t, err)
	model := &pulled{}
	agent := newAgent(t, host.AgentConfig{Client: model, Middleware: host.Middleware{Chat: []host.ChatMiddleware{m}}})
	for u, err := range agent.Stream(t.Context(), host.Text("hi"), host.RunConfig{}).Updates() {
		require.NoError(t, err)
		require.Equal(t, "somebody", u.AuthorName)
		break
	}
	require.Equal(t, 1, model.updates, "what is no part of the answer leaves before the answer is there")
}
