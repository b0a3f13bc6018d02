package host_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/message"
)

// manyCalls is a reply with n calls of one tool.
func manyCalls(n int, name string) *host.Response {
	m := message.New(message.RoleAssistant)
	for i := range n {
		m.Contents = append(m.Contents, message.FunctionCall{CallID: fmt.Sprint("c", i), Name: name})
	}
	return &host.Response{Messages: []*message.Message{m}}
}

func TestTwoHundredCallsAtOnce(t *testing.T) {
	var running, most atomic.Int64
	all := make(chan struct{})
	tool := &function{name: "t", f: func(ctx context.Context) (string, error) {
		if n := running.Add(1); n == 200 {
			most.Store(n)
			close(all)
		}
		<-all
		return "ok", nil
	}}
	agent := newAgent(t, host.AgentConfig{Client: &script{replies: []*host.Response{manyCalls(200, "t")}}, Tools: []host.Tool{tool}})
	r, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{})
	require.NoError(t, err)
	require.Len(t, results(r), 200)
	require.EqualValues(t, 200, most.Load())
}

func TestConcurrencyOfCallsCanBeLimited(t *testing.T) {
	var running, most atomic.Int64
	tool := &function{name: "t", f: func(context.Context) (string, error) {
		most.Store(max(most.Load(), running.Add(1)))
		running.Add(-1)
		return "ok", nil
	}}
	agent := newAgent(t, host.AgentConfig{
		Client: &script{replies: []*host.Response{manyCalls(200, "t")}}, Tools: []host.Tool{tool},
		FunctionInvocation: host.FunctionInvocation{MaxConcurrentCalls: 1},
	})
	r, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{})
	require.NoError(t, err)
	require.Len(t, results(r), 200)
	require.EqualValues(t, 1, most.Load())
}

func TestArgumentsThatAreNoObject(t *testing.T) {
	for _, arguments := range []string{`{`, `[]`, `"x"`, `null`, `{"a":1,"a":2}`, `{} {}`, "{\"a\":\"\xff\"}", `{"a":NaN}`, strings.Repeat(`{"a":`, 100_000)} {
		ran := false
		tool := &function{name: "t", f: func(context.Context) (string, error) { ran = true; return "", nil }}
		agent := newAgent(t, host.AgentConfig{Client: &script{replies: []*host.Response{callWith("1", "t", arguments)}}, Tools: []host.Tool{tool}})
		r, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{Session: agent.CreateSession("")})
		require.NoError(t, err)
		require.Equal(t, []string{"Error: Argument parsing failed."}, results(r), "%.40s", arguments)
		require.False(t, ran)
	}
}

func TestModelThatCallsForEver(t *testing.T) {
	model := &loops{}
	agent := newAgent(t, host.AgentConfig{Client: model, Tools: []host.Tool{saying("t")}})
	r, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{})
	require.NoError(t, err)
	require.Equal(t, 41, model.calls, "forty replies are answered, and one more call is made")
	require.Contains(t, r.Text(), "limit reached")
}

type loops struct {
	script
	calls int
}

func (l *loops) Complete(context.Context, *host.ChatRequest) (*host.Response, error) {
	l.calls++
	return callWith("1", "t", "{}"), nil
}

// A session that another agent left waiting goes on with an agent that has no such tool: the model is told.
func TestSessionOfAnotherAgent(t *testing.T) {
	runs := 0
	first := newAgent(t, host.AgentConfig{Client: &script{replies: []*host.Response{calls("ap")}}, Tools: []host.Tool{newAsking("ap", &runs)}})
	session := first.CreateSession("")
	r, err := first.Run(t.Context(), host.Text("hi"), host.RunConfig{Session: session})
	require.NoError(t, err)

	model := &script{}
	second := newAgent(t, host.AgentConfig{Client: model})
	r, err = second.Run(t.Context(), answer(asked(r)[0].Respond(true)), host.RunConfig{Session: session})
	require.NoError(t, err)
	require.Equal(t, []string{`Error: Requested function "ap" not found.`}, results(r))
	require.Zero(t, runs)
	for _, m := range model.requests[0].Messages {
		for _, c := range m.Contents {
			require.NotEqual(t, message.KindApprovalResponse, c.Kind(), "models see no decisions")
		}
	}
}

// Tools that are not offered can be called all the same, also where none is offered.
func TestAdditionalToolsAreAnsweredAndNotOffered(t *testing.T) {
	model := &script{replies: []*host.Response{calls("hidden")}}
	agent := newAgent(t, host.AgentConfig{Client: model, FunctionInvocation: host.FunctionInvocation{AdditionalTools: []host.Tool{saying("hidden")}}})
	r, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{})
	require.NoError(t, err)
	require.Equal(t, []string{"hidden-ok"}, results(r))
	require.Empty(t, model.requests[0].Tools)
}

// changing is a source whose tools differ from run to run.
type changing struct {
	tools []host.Tool
	err   error
}

func (*changing) SourceID() string                             { return "server" }
func (c *changing) Tools(context.Context) ([]host.Tool, error) { return c.tools, c.err }

func TestToolSources(t *testing.T) {
	model, source := &script{}, &changing{tools: []host.Tool{saying("a")}}
	agent := newAgent(t, host.AgentConfig{Client: model, Tools: []host.Tool{saying("own")}, ToolSources: []host.ToolSource{source}})
	run := func() error {
		_, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{Tools: []host.Tool{saying("run")}})
		return err
	}
	require.NoError(t, run())
	var names []string
	for _, tool := range model.requests[0].Tools {
		names = append(names, tool.Definition().Name+"/"+tool.SourceID)
	}
	require.Equal(t, []string{"own/", "run/", "a/server"}, names)

	_, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{ToolSources: []host.ToolSource{&changing{tools: []host.Tool{saying("b")}}}})
	require.NoError(t, err)
	require.Len(t, model.requests[1].Tools, 3)

	source.tools = []host.Tool{saying("own"), saying("no good"), nil}
	err = run()
	require.ErrorIs(t, err, host.ErrDuplicateTool)
	require.ErrorContains(t, err, `"own": the agent and source server both have one`)
	require.ErrorIs(t, err, host.ErrToolName)
	require.ErrorContains(t, err, "a tool of source server is nil")

	source.err = fmt.Errorf("gone")
	require.ErrorContains(t, run(), "tools of server: gone")
	require.Len(t, model.requests, 2, "no model call is made with tools that clash")

	_, err = host.NewAgent(host.AgentConfig{Client: model, ToolSources: []host.ToolSource{nil}})
	require.ErrorContains(t, err, "tool_sources/0: a source is nil")
}
