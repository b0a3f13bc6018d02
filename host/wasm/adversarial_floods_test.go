package wasm_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/abi"
	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/wasm"
)

// What a plugin adds to one run is bounded over all its calls of call_next.
func TestWhatOneRunIsGivenIsBoundedOverAllCallsOfCallNext(t *testing.T) {
	text := strings.Repeat("x", 40<<10)
	for name, c := range map[string]struct{ effects, want string }{
		"messages":     {`{"extend_messages":[{"role":"user","text":"` + text + `"}]}`, "limits.text"},
		"instructions": {`{"extend_instructions":["` + text + `"]}`, "limits.text"},
		"tools":        {`{"extend_tools":[` + strings.Repeat(`{"name":"a","declaration_only":true},`, 8) + `{"name":"a","declaration_only":true}]}`, "limits.tools"},
		"middleware":   {`{"extend_middleware":[` + strings.Repeat(`{"layer":"function"},`, 8) + `{"layer":"function"}]}`, "at most 16 are possible in one run"},
	} {
		t.Run(name, func(t *testing.T) {
			p, heard := script{"process": {next(c.effects), next(c.effects), out(`{"response":{"text":"mine"}}`)}}.load(t, wasm.Config{Grants: all})
			r, err := newAgent(t, &model{}, p).Run(t.Context(), host.Text("hi"), host.RunConfig{})
			require.NoError(t, err)
			require.Equal(t, "mine", r.Text())
			require.Contains(t, heard.all()[1], c.want)
		})
	}
}

func TestWhatCallNextIsGivenIsBounded(t *testing.T) {
	for name, c := range map[string]struct {
		layer       abi.Layer
		input, want string
	}{
		"bytes":            {abi.LayerChat, `{"instructions":"` + strings.Repeat("x", 2_000) + `"}`, "raise limits.input"},
		"splices":          {abi.LayerChat, `{"splice":[` + strings.Repeat(`{},`, 256) + `{}]}`, "more than 256 splices"},
		"a splice outside": {abi.LayerChat, `{"splice":[{"start":9223372036854775807,"delete":9223372036854775807}]}`, "outside of the messages"},
		"bytes of effects": {abi.LayerContext, `{"extend_instructions":["` + strings.Repeat("x", 2_000) + `"]}`, "raise limits.input"},
	} {
		t.Run(name, func(t *testing.T) {
			s := script{"process": {next(c.input), next(``), out(`{}`)}}
			config := wasm.Config{Grants: all, Limits: wasm.Limits{Input: 1_500}}
			m := &model{}
			var heard *answers
			var agent *host.Agent
			if c.layer == abi.LayerContext {
				p, h := s.load(t, config)
				agent, heard = newAgent(t, m, p), h
			} else {
				p, h := around(t, s, c.layer, config)
				agent, heard = agentWith(t, m, p.ForLayer()), h
			}
			_, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{})
			require.NoError(t, err)
			require.Contains(t, heard.all()[0], c.want)
			require.Len(t, m.requests, 1)
		})
	}
}

// Each plugin makes one piece into many, for the next that does the same: the number for one piece is bounded.
func TestUpdatesThatMultiplyAreRefused(t *testing.T) {
	many := `{"updates":[` + strings.Repeat(`{},`, 64) + `{}]}`
	p, _ := around(t, script{"on_update": {out(many)}}, abi.LayerChat, wasm.Config{})
	_, err := agentWith(t, &model{}, p.ForLayer()).Stream(t.Context(), host.Text("hi"), host.RunConfig{}).Response()
	require.ErrorContains(t, err, "more than 64 updates")
}

func TestWhatOnUpdateCarriesIsBounded(t *testing.T) {
	p, _ := around(t, script{"on_update": {out(`{"carry":"` + strings.Repeat("x", 100) + `"}`)}}, abi.LayerChat, wasm.Config{Limits: wasm.Limits{State: 50}})
	_, err := agentWith(t, &model{}, p.ForLayer()).Stream(t.Context(), host.Text("hi"), host.RunConfig{}).Response()
	require.ErrorContains(t, err, "what it carries to the next update")
}

// Metadata goes to every plugin that may read it, so none may fill it until the others fail.
func TestMetadataOfARunIsBounded(t *testing.T) {
	for _, value := range []int{100 << 10, 200 << 10} {
		filling := host.BeforeRunFunc("native", func(_ context.Context, sc *host.SessionContext) error {
			return sc.SetMetadata("native", strings.Repeat("x", 900<<10))
		})
		p, _ := script{"before_run": {out(`{"metadata":{"m":"` + strings.Repeat("x", value) + `"}}`)}}.load(t, wasm.Config{Grants: all})
		_, err := newAgent(t, &model{}, filling, p).Run(t.Context(), host.Text("hi"), host.RunConfig{})
		if value == 100<<10 {
			require.NoError(t, err)
		} else {
			require.ErrorContains(t, err, "the metadata of the run would have")
		}
	}
}

// To unwind a layer is to answer in the place of the rest, and hides the answer from what stands outside.
func TestTerminatingNeedsTheRightToAnswer(t *testing.T) {
	for _, layer := range []abi.Layer{abi.LayerAgent, abi.LayerChat} {
		p, _ := around(t, script{"process": {next(``), out(`{"terminate":true}`)}}, layer, wasm.Config{Grants: wasm.Grants{Read: all.Read}})
		_, err := agentWith(t, &model{}, p.ForLayer()).Run(t.Context(), host.Text("hi"), host.RunConfig{})
		require.ErrorContains(t, err, "terminate is not granted")
		require.ErrorContains(t, err, "change: [result]")
	}
}

// A plugin that is skipped leaves nothing of what it gave to call_next.
func TestASkippedMiddlewareLeavesTheRequestAsItWas(t *testing.T) {
	m := &failsOnce{}
	p, _ := around(t, script{"process": {next(`{"messages":[{"role":"user","text":"other"}],"instructions":"other","options":{"temperature":1}}`), out(`{"no JSON"`)}},
		abi.LayerChat, wasm.Config{OnError: host.OnErrorSkip})
	_, err := agentWith(t, m, p.ForLayer()).Run(t.Context(), host.Text("hi"), host.RunConfig{})
	require.NoError(t, err)
	require.Len(t, m.requests, 1)
	require.Equal(t, "hi", m.requests[0].Messages[0].Text())
	require.Empty(t, m.requests[0].Instructions)
	require.Nil(t, m.requests[0].Options.Temperature)
}

// failsOnce is a model whose first call fails.
type failsOnce struct {
	model
	failed bool
}

func (m *failsOnce) Complete(ctx context.Context, r *host.ChatRequest) (*host.Response, error) {
	if !m.failed {
		m.failed = true
		return nil, host.ErrUnavailable
	}
	return m.model.Complete(ctx, r)
}

// Events of a plugin are known as its own, wherever it stands, and none passes for one of the host's.
func TestEventsOfAPluginCarryItsNameEverywhere(t *testing.T) {
	steps := []step{{"emit", `{"name":"here"}`}, {"emit", `{"name":"middleware_skipped"}`}, {"emit", `{"name":"provider_skipped"}`}, {"emit", `{"name":"weft.any"}`}}
	grants := all
	grants.Events = []string{"emit"}
	grants.Middleware = append(grants.Middleware, abi.LayerAgent)
	for _, layer := range abi.Layers {
		t.Run(string(layer), func(t *testing.T) {
			s := script{"process": append(append([]step{}, steps...), next(``), out(`{}`))}
			var m host.Middleware
			var providers []host.Provider
			var heard *answers
			if layer == abi.LayerContext {
				p, h := s.load(t, wasm.Config{Grants: grants})
				providers, heard = []host.Provider{p}, h
			} else {
				p, h := around(t, s, layer, wasm.Config{Grants: grants})
				m, heard = p.ForLayer(), h
			}
			tools, _ := offers(`{"name":"add"}`).load(t, wasm.Config{Grants: all, SourceID: "tools"})
			var events []*host.Event
			_, err := agentWith(t, &callsAdd{}, m, append(providers, tools)...).Run(t.Context(), host.Text("hi"), host.RunConfig{
				OnEvent: func(_ context.Context, e *host.Event) { events = append(events, e) },
			})
			require.NoError(t, err)
			require.NotEmpty(t, events)
			for _, e := range events {
				require.Equal(t, "here", e.Name)
				require.Equal(t, "p", e.SourceID)
			}
			for _, answer := range heard.all()[1:4] {
				require.Contains(t, answer, `"code":"invalid_input"`)
			}
		})
	}
}

// What a plugin printed is for the operator, and not for the plugins around it.
func TestWhatAnotherPluginPrintedIsNotTold(t *testing.T) {
	p, heard := script{"run_failed": {hears(), out(`{}`)}}.load(t, wasm.Config{})
	failing := host.BeforeRunFunc("failing", func(context.Context, *host.SessionContext) error {
		return &wasm.CallError{Plugin: "failing", Hook: abi.HookBeforeRun, Err: host.ErrUnavailable, Printed: "key: s3cret\nmore"}
	})
	_, err := newAgent(t, &model{}, p, failing).Run(t.Context(), host.Text("hi"), host.RunConfig{})
	require.ErrorContains(t, err, "s3cret")
	require.Len(t, heard.all(), 1)
	require.Contains(t, heard.all()[0], "service unavailable")
	require.NotContains(t, heard.all()[0], "s3cret")
}

func TestAConfigSchemaThatRefersToItselfIsRefusedHoweverItIsWritten(t *testing.T) {
	for _, schema := range []string{
		`{"$ref":"#"}`, `{"\\u0024ref":"#"}`, `{"$d\\u0065fs":{"a":{"$\\u0072ef":"#"}}}`, `{"$dynamicRef":"#"}`,
		`{"properties":{"a":{"\\u0024ref":"https://evil.example/s.json"}}}`,
	} {
		_, _, err := script{"describe": {out(`{"config_schema":` + strings.ReplaceAll(schema, `\\`, `\`) + `}`)}, "before_run": {out(`{}`)}}.
			tryLoad(t, wasm.Config{})
		require.ErrorContains(t, err, "which a config schema may not", schema)
	}
}
