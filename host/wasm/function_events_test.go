package wasm_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/wasm"
)

// mayTell are the rights to tell and to ask.
var mayTell = wasm.Grants{Events: []string{"emit", "request"}}

// told runs a script and gives its events to a listener.
func told(t *testing.T, c wasm.Config, calls []step, listen func(*host.Event)) []string {
	t.Helper()
	p, heard := script{"before_run": append(calls, out(`{}`))}.load(t, c)
	_, err := newAgent(t, &model{}, p).Run(t.Context(), host.Text("hi"), host.RunConfig{
		OnEvent: func(_ context.Context, e *host.Event) { listen(e) },
	})
	require.NoError(t, err)
	return heard.all()
}

func TestAPluginTellsTheCallerOfItsRun(t *testing.T) {
	var events []*host.Event
	answers := told(t, wasm.Config{Grants: mayTell}, []step{{"emit", `{"name":"step.one","data":{"n": 1.50}}`}, {"emit", `{"name":"done"}`}},
		func(e *host.Event) { events = append(events, e) })
	require.Equal(t, []string{`{}`, `{}`}, answers)
	require.Len(t, events, 2)
	require.Equal(t, []string{"step.one", "done"}, []string{events[0].Name, events[1].Name})
	require.JSONEq(t, `{"n":1.50}`, string(events[0].Data))
	require.Equal(t, "null", string(events[1].Data))
	require.Equal(t, "p", events[0].SourceID)
	require.ErrorIs(t, events[0].Answer(true), host.ErrNoAnswerWanted)
}

func TestAPluginAsksTheCallerOfItsRun(t *testing.T) {
	answers := told(t, wasm.Config{Grants: mayTell}, []step{
		{"request", `{"name":"ask","data":"sure?"}`}, {"request", `{"name":"nobody","wait_ms":1}`}, {"request", `{"name":"long"}`},
	}, func(e *host.Event) {
		switch e.Name {
		case "ask":
			require.NoError(t, e.Answer(map[string]any{"approved": true}))
		case "long":
			require.InDelta(t, (5 * time.Minute).Seconds(), time.Until(e.AnswerBy).Seconds(), 10)
			require.NoError(t, e.Answer(nil))
		}
	})
	require.Equal(t, []string{`{"answered":true,"answer":{"approved":true}}`, `{"answered":false}`, `{"answered":true,"answer":null}`}, answers)
	require.Equal(t, []string{`{}`, `{"answered":false}`}, asked(t, wasm.Config{Grants: mayTell}, []step{{"emit", `{"name":"a"}`}, {"request", `{"name":"a"}`}}),
		"nobody listens")
}

func TestEventsNeedTheirRightAndKeepTheirLimits(t *testing.T) {
	none := func(e *host.Event) { t.Errorf("%s was told", e.Name) }
	answers := told(t, wasm.Config{}, []step{{"emit", `{"name":"a"}`}, {"request", `{"name":"a"}`}}, none)
	require.Contains(t, answers[0], `"code":"denied","message":"emit is not granted to this plugin: if it should be, add to its entry grant: {events: [emit]}"`)
	require.Contains(t, answers[1], `grant: {events: [request]}`)
	answers = told(t, wasm.Config{Grants: wasm.Grants{Events: []string{"emit"}}}, []step{{"request", `{"name":"a"}`}}, none)
	require.Contains(t, answers[0], `grant: {events: [emit, request]}`)
	answers = told(t, wasm.Config{Grants: mayTell, Limits: wasm.Limits{Output: 200}}, []step{
		{"emit", `{"name":"weft.plugin_skipped"}`}, {"emit", `{"name":"a b"}`}, {"emit", `{"name":"a","data":"` + strings.Repeat("x", 200) + `"}`},
	}, none)
	require.Contains(t, answers[0], `"code":"invalid_input"`)
	require.Contains(t, answers[1], `"code":"invalid_input"`)
	require.Contains(t, answers[2], `"code":"limit","message":"emit: the event has 222 bytes, more than the 200 that it may have: tell less, or raise limits.output"`)

	n := 0
	answers = told(t, wasm.Config{Grants: mayTell, Limits: wasm.Limits{Events: 2}}, []step{
		{"emit", `{"name":"a"}`}, {"request", `{"name":"a","wait_ms":1}`}, {"emit", `{"name":"a"}`}, {"request", `{"name":"a"}`},
	}, func(*host.Event) { n++ })
	require.Equal(t, 2, n)
	require.Contains(t, answers[2], `"code":"limit","message":"emit: one call may tell 2 events: tell fewer, or raise limits.events"`)
	require.Contains(t, answers[3], "raise limits.events")
}

func TestAnAnswerThatIsTooLargeIsALimit(t *testing.T) {
	c := wasm.Config{Grants: mayTell, Limits: wasm.Limits{Input: 2000}}
	answers := told(t, c, []step{{"request", `{"name":"a"}`}}, func(e *host.Event) { require.NoError(t, e.Answer(strings.Repeat("x", 2000))) })
	require.Contains(t, answers[0], `"code":"limit","message":"request: what it would return has more than the 2000 bytes`)
}

func TestEventsStandOnTheStreamInTheirPlace(t *testing.T) {
	p, _ := script{
		"before_run": {{"emit", `{"name":"before"}`}, out(`{}`)}, "after_run": {{"request", `{"name":"after","data":1}`}, out(`{}`)},
	}.load(t, wasm.Config{Grants: mayTell})
	stream := newAgent(t, &model{}, p).Stream(t.Context(), host.Text("hi"), host.RunConfig{})
	var seen []string
	for u := range stream.Updates() {
		if u.Event == nil {
			seen = append(seen, u.Text())
			continue
		}
		seen = append(seen, u.Event.Name+" of "+u.Event.SourceID)
		if u.Event.Name == "after" {
			require.NoError(t, u.Event.Answer(jsontext.Value(`2`)))
		}
	}
	_, err := stream.Response()
	require.NoError(t, err)
	require.Equal(t, []string{"before of p", "ok", "after of p"}, seen)
}

// Who leaves the stream at a plugin's event is not asked to listen any further, and the plugin does not go on.
func TestAStreamThatIsLeftAtAnEventEndsThePlugin(t *testing.T) {
	m := &model{}
	p, heard := script{"before_run": {{"emit", `{"name":"a"}`}, {"emit", `{"name":"b"}`}, out(`{}`)}}.load(t, wasm.Config{Grants: mayTell, OnError: host.OnErrorSkip})
	stream := newAgent(t, m, p).Stream(t.Context(), host.Text("hi"), host.RunConfig{})
	for u := range stream.Updates() {
		require.Equal(t, "a", u.Event.Name)
		break
	}
	_, err := stream.Response()
	require.ErrorIs(t, err, host.ErrStopped)
	require.Empty(t, heard.all())
	require.Empty(t, m.requests)
	require.False(t, p.Stats().Resting)
}

func TestARequestThatNobodyAnswersEndsWithTheRun(t *testing.T) {
	p, heard := script{"before_run": {{"request", `{"name":"a"}`}, out(`{}`)}}.load(t, wasm.Config{Grants: mayTell, OnError: host.OnErrorSkip})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	_, err := newAgent(t, &model{}, p).Run(ctx, host.Text("hi"), host.RunConfig{OnEvent: func(context.Context, *host.Event) { cancel() }})
	require.ErrorIs(t, err, context.Canceled)
	require.Empty(t, heard.all())
}

// A panic of the loop that reads a stream is the loop's: it passes through the plugin that told the event or called next.
func TestAPanicOfTheConsumerPassesThroughAPlugin(t *testing.T) {
	for name, s := range map[string]script{
		"emit":      {"before_run": {{"emit", `{"name":"a"}`}, out(`{}`)}},
		"request":   {"before_run": {{"request", `{"name":"a"}`}, out(`{}`)}},
		"call_next": {"process": {next(``), out(`{}`)}},
	} {
		t.Run(name, func(t *testing.T) {
			g := all
			g.Events = mayTell.Events
			p, heard := s.load(t, wasm.Config{Grants: g, OnError: host.OnErrorSkip, Logger: slog.New(slog.DiscardHandler)})
			agent := newAgent(t, &model{}, p)
			require.PanicsWithValue(t, "the consumer's own", func() {
				for range agent.Stream(t.Context(), host.Text("hi"), host.RunConfig{}).Updates() {
					panic("the consumer's own")
				}
			})
			require.Empty(t, heard.all())
			require.Equal(t, p.Stats().Live, p.Stats().Idle)
			_, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{OnEvent: func(_ context.Context, e *host.Event) { _ = e.Answer(1) }})
			require.NoError(t, err, "the plugin is as good as before")
		})
	}
}
