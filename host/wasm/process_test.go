package wasm_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/abi"
	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/wasm"
	"github.com/weft-run/weft/message"
)

// all are the rights that middleware may want.
var all = wasm.Grants{
	Read:       []string{"input", "response", "options", "metadata", "context:*", "request", "calls"},
	Add:        []string{"messages", "instructions", "metadata", "tools"},
	Change:     []string{"messages", "options", "arguments", "result"},
	Middleware: []abi.Layer{abi.LayerContext, abi.LayerChat, abi.LayerFunction},
}

// around loads a script as middleware of a layer.
func around(t *testing.T, s script, layer abi.Layer, c wasm.Config) (*wasm.Plugin, *answers) {
	t.Helper()
	c.Middleware, c.Layer = true, layer
	if c.Grants.Read == nil {
		c.Grants = all
	}
	return s.load(t, c)
}

func agentWith(t *testing.T, client host.ChatClient, m host.Middleware, providers ...host.Provider) *host.Agent {
	t.Helper()
	a, err := host.NewAgent(host.AgentConfig{Name: "guide", Client: client, Middleware: m, Providers: providers})
	require.NoError(t, err)
	return a
}

func TestChatMiddlewareChangesTheRequestAndTheResult(t *testing.T) {
	m := &model{}
	p, heard := around(t, script{"process": {
		next(`{"splice":[{"insert":[{"role":"system","text":"Be kind."}],"start":0}],"options":{"temperature":0.5}}`),
		out(`{"response":{"text":"changed"}}`),
	}}, abi.LayerChat, wasm.Config{})
	r, err := agentWith(t, m, p.ForLayer()).Run(t.Context(), host.Text("hi"), host.RunConfig{})
	require.NoError(t, err)
	require.Equal(t, "changed", r.Text())
	require.Len(t, m.requests[0].Messages, 2)
	require.Equal(t, "Be kind.", m.requests[0].Messages[0].Text())
	require.Equal(t, "p", m.requests[0].Messages[0].SourceID)
	require.InDelta(t, 0.5, *m.requests[0].Options.Temperature, 0)
	require.Len(t, heard.all(), 1)
	require.JSONEq(t, `{"response":{"messages":[{"role":"assistant","contents":[{"type":"text","text":"ok"}]}],"finish_reason":"stop"}}`, heard.all()[0])
}

func TestMiddlewareAnswersWithoutTheModel(t *testing.T) {
	for _, layer := range []abi.Layer{abi.LayerAgent, abi.LayerChat} {
		t.Run(string(layer), func(t *testing.T) {
			m := &model{}
			p, _ := around(t, script{"process": {out(`{"response":{"text":"from memory"}}`)}}, layer, wasm.Config{})
			r, err := agentWith(t, m, p.ForLayer()).Run(t.Context(), host.Text("hi"), host.RunConfig{})
			require.NoError(t, err)
			require.Equal(t, "from memory", r.Text())
			require.Empty(t, m.requests)
		})
	}
}

func TestMiddlewareThatNeitherCallsNextNorAnswers(t *testing.T) {
	for _, layer := range []abi.Layer{abi.LayerAgent, abi.LayerChat} {
		t.Run(string(layer), func(t *testing.T) {
			m := &model{}
			p, _ := around(t, script{"process": {out(`{}`)}}, layer, wasm.Config{})
			_, err := agentWith(t, m, p.ForLayer()).Run(t.Context(), host.Text("hi"), host.RunConfig{})
			require.ErrorIs(t, err, host.ErrNoResult)
			require.ErrorContains(t, err, "no result")
			require.Empty(t, m.requests)
		})
	}
}

// Two plugins, the same plugin twice, and native middleware between them: each sees what the one inside came to.
func TestCallNextRunsTheRestOfTheChain(t *testing.T) {
	m := &model{}
	again, heard := around(t, script{"process": {next(`{}`), next(``), out(`{}`)}}, abi.LayerChat, wasm.Config{})
	between := host.ChatFunc(func(ctx context.Context, c *host.ChatContext, next host.Next) error {
		err := next(ctx)
		c.Result = host.NewResponse(c.Result.Text() + "!")
		return err
	})
	stack := host.Middleware{Chat: []host.ChatMiddleware{again.ForLayer().Chat[0], between, again.ForLayer().Chat[0]}}
	r, err := agentWith(t, m, stack).Run(t.Context(), host.Text("hi"), host.RunConfig{})
	require.NoError(t, err)
	require.Equal(t, "ok!", r.Text())
	require.Len(t, m.requests, 4)
	require.Len(t, heard.all(), 6)
	require.Contains(t, heard.all()[5], `"text":"ok!"`)
}

func TestErrorFromBelowIsCaughtOrPassedOnAsItWas(t *testing.T) {
	down := errors.New("the service is down")
	failing := &failingModel{err: down}
	caught, heard := around(t, script{"process": {next(`{}`), out(`{"response":{"text":"sorry"}}`)}}, abi.LayerChat, wasm.Config{})
	r, err := agentWith(t, failing, caught.ForLayer()).Run(t.Context(), host.Text("hi"), host.RunConfig{})
	require.NoError(t, err)
	require.Equal(t, "sorry", r.Text())
	require.JSONEq(t, `{"error":{"code":"model","message":"model: the service is down","cause":1}}`, heard.all()[0])

	passed, _ := around(t, script{"process": {next(`{}`), out(`{"error":{"code":"model","message":"x","cause":1}}`)}}, abi.LayerChat, wasm.Config{})
	_, err = agentWith(t, failing, passed.ForLayer()).Run(t.Context(), host.Text("hi"), host.RunConfig{})
	require.ErrorIs(t, err, down)
	require.NotContains(t, err.Error(), "process")
}

func TestTerminationOfAnInnerPluginDoesNotComeBackToTheOuter(t *testing.T) {
	outer, heard := around(t, script{"process": {next(`{}`), out(`{"response":{"text":"never seen"}}`)}}, abi.LayerChat, wasm.Config{})
	inner, _ := around(t, script{"process": {out(`{"terminate":true,"response":{"text":"stop here"}}`)}}, abi.LayerChat, wasm.Config{SourceID: "q"})
	stack := host.Middleware{Chat: []host.ChatMiddleware{outer.ForLayer().Chat[0], inner.ForLayer().Chat[0]}}
	r, err := agentWith(t, &model{}, stack).Run(t.Context(), host.Text("hi"), host.RunConfig{})
	require.NoError(t, err)
	require.Equal(t, "stop here", r.Text())
	require.Empty(t, heard.all())
	require.Zero(t, outer.Stats().Waiting)
	require.False(t, outer.Stats().Resting)
}

func TestEachChangeNeedsItsRight(t *testing.T) {
	read := []string{"input", "response", "options", "request", "calls"}
	for name, c := range map[string]struct {
		layer abi.Layer
		steps []step
		want  string
	}{
		"messages":     {abi.LayerChat, []step{next(`{"messages":[]}`), out(`{}`)}, "change: [messages]"},
		"instructions": {abi.LayerChat, []step{next(`{"instructions":"x"}`), out(`{}`)}, "change: [messages]"},
		"options":      {abi.LayerChat, []step{next(`{"options":{"temperature":1}}`), out(`{}`)}, "change: [options]"},
		"input":        {abi.LayerAgent, []step{next(`{"input":[]}`), out(`{}`)}, "change: [messages]"},
	} {
		t.Run(name, func(t *testing.T) {
			m := &model{}
			p, heard := around(t, script{"process": c.steps}, c.layer, wasm.Config{Grants: wasm.Grants{Read: read}})
			_, err := agentWith(t, m, p.ForLayer()).Run(t.Context(), host.Text("hi"), host.RunConfig{})
			require.ErrorIs(t, err, host.ErrNoResult, "call_next was refused, so there is nothing to hand on")
			require.Contains(t, heard.all()[0], `"code":"denied"`)
			require.Contains(t, heard.all()[0], c.want)
			require.Empty(t, m.requests)
		})
	}
	p, _ := around(t, script{"process": {next(``), out(`{"response":{"text":"mine"}}`)}}, abi.LayerChat, wasm.Config{Grants: wasm.Grants{Read: read}})
	_, err := agentWith(t, &model{}, p.ForLayer()).Run(t.Context(), host.Text("hi"), host.RunConfig{})
	var refused *wasm.DeniedError
	require.ErrorAs(t, err, &refused)
	require.ErrorContains(t, err, "change: [result]")
}

func TestWhatMayNotBeReadIsNotThere(t *testing.T) {
	p, heard := around(t, script{"process": {next(``), out(`{}`)}}, abi.LayerChat, wasm.Config{Grants: wasm.Grants{Read: []string{"input"}}})
	_, err := agentWith(t, &model{}, p.ForLayer()).Run(t.Context(), host.Text("hi"), host.RunConfig{})
	require.NoError(t, err)
	require.Equal(t, []string{`{}`}, heard.all())
}

func TestASpliceOutsideOfTheMessagesIsRefused(t *testing.T) {
	for _, splice := range []string{`{"start":-2}`, `{"start":2}`, `{"start":0,"delete":2}`, `{"start":0,"delete":-1}`} {
		m := &model{}
		p, heard := around(t, script{"process": {next(`{"splice":[` + splice + `]}`), next(``), out(`{}`)}}, abi.LayerChat, wasm.Config{})
		_, err := agentWith(t, m, p.ForLayer()).Run(t.Context(), host.Text("hi"), host.RunConfig{})
		require.NoError(t, err)
		require.Contains(t, heard.all()[0], `"code":"invalid_input"`, splice)
		require.Len(t, m.requests, 1)
		require.Len(t, m.requests[0].Messages, 1)
	}
}

func TestCallNextBelongsToProcess(t *testing.T) {
	p, heard := script{"before_run": {next(`{}`), out(`{}`)}}.load(t, wasm.Config{})
	_, err := newAgent(t, &model{}, p).Run(t.Context(), host.Text("hi"), host.RunConfig{})
	require.NoError(t, err)
	require.Contains(t, heard.all()[0], "call_next belongs to process, and this is before_run")
}

func TestCallNextIsBounded(t *testing.T) {
	m := &model{}
	p, heard := around(t, script{"process": {next(``), next(``), next(``), out(`{}`)}}, abi.LayerChat, wasm.Config{Limits: wasm.Limits{NextCalls: 2}})
	_, err := agentWith(t, m, p.ForLayer()).Run(t.Context(), host.Text("hi"), host.RunConfig{})
	require.NoError(t, err)
	require.Len(t, m.requests, 2)
	require.Contains(t, heard.all()[2], "limits.next_calls")
}

// An agent that is called from within its own middleware nests until the depth is used up, and no further.
func TestProcessThatLeadsBackIntoItselfEndsAtADepth(t *testing.T) {
	p, heard := around(t, script{"process": {next(``), out(`{}`)}}, abi.LayerAgent, wasm.Config{Limits: wasm.Limits{Depth: 3}})
	var agent *host.Agent
	again := host.AgentFunc(func(ctx context.Context, c *host.AgentContext, _ host.Next) error {
		r, err := agent.Run(ctx, host.Text("again"), host.RunConfig{})
		c.Result = r
		return err
	})
	agent = agentWith(t, &model{}, host.Middleware{Agent: []host.AgentMiddleware{p.ForLayer().Agent[0], again}})
	_, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{})
	require.ErrorContains(t, err, "no result", "the innermost is refused, and each plugin goes on without")
	require.Len(t, heard.all(), 4, "of four runs within each other the innermost called no plugin")
	require.Contains(t, heard.all()[0], "to a depth of 3")
	require.Contains(t, heard.all()[0], "limits.depth")
	require.Zero(t, p.Stats().Waiting)
}

func TestWrappingProvider(t *testing.T) {
	m := &model{}
	p, heard := script{"process": {
		next(`{"extend_messages":[{"role":"user","text":"a fact"}],"extend_instructions":["Be brief."],"state":{"tries":1}}`),
		next(`{}`),
		out(`{"response":{"text":"mine"},"state":{"tries":2}}`),
	}}.load(t, wasm.Config{Grants: all})
	later := host.BeforeRunFunc("later", func(_ context.Context, sc *host.SessionContext) error {
		sc.ExtendMessages(message.User("later"))
		return nil
	})
	agent := newAgent(t, m, p, later)
	session := agent.CreateSession("")
	r, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{Session: session})
	require.NoError(t, err)
	require.Equal(t, "mine", r.Text())
	require.Len(t, m.requests, 2)
	for _, request := range m.requests {
		require.Equal(t, "Be brief.", request.Instructions)
		var texts []string
		for _, m := range request.Messages {
			texts = append(texts, m.Text())
		}
		require.Equal(t, "a fact,later,hi", strings.Join(texts, ","), "each try starts as the plugin left it")
	}
	require.Contains(t, heard.all()[0], `"state":{"tries":1}`)
	require.Contains(t, heard.all()[0], `"context":[{"source_id":"p","count":1},{"source_id":"later","count":1}]`)
	state, err := session.State("p").Raw()
	require.NoError(t, err)
	require.Equal(t, `{"tries":2}`, string(state))
}

func TestWrappingTheRestNeedsAGrant(t *testing.T) {
	_, _, err := script{"process": {out(`{}`)}}.tryLoad(t, wasm.Config{})
	require.ErrorContains(t, err, "middleware: [context]")
}
