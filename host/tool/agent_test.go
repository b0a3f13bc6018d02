package tool_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/tool"
	"github.com/weft-run/weft/message"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// echo is a model that says how many messages it was sent, and the last of them.
func echo(_ context.Context, r *host.ChatRequest) (*host.Response, error) {
	response := host.NewResponse(string(rune('0'+len(r.Messages))) + ": " + r.Messages[len(r.Messages)-1].Text())
	response.Usage = &host.Usage{OutputTokens: 3}
	return response, nil
}

func agentOf(t *testing.T, c host.AgentConfig) *host.Agent {
	t.Helper()
	a, err := host.NewAgent(c)
	require.NoError(t, err)
	return a
}

func TestAnAgentAsATool(t *testing.T) {
	inner := agentOf(t, host.AgentConfig{Name: "Trip planner!", Description: "Plans trips.", Client: model(echo)})
	used := 0
	f, err := tool.Agent(inner, tool.AgentConfig{OnResponse: func(_ context.Context, r *host.Response) { used += r.Usage.OutputTokens }})
	require.NoError(t, err)
	d := f.Definition()
	require.Equal(t, "Trip_planner", d.Name)
	require.Equal(t, "Plans trips.", d.Description)
	require.JSONEq(t, `{"type":"object","additionalProperties":false,"required":["task"],"properties":{"task":{"type":"string",
		"description":"What the agent is to do, with all that it needs to know."}}}`, string(d.Parameters.JSON()))

	outer := agentOf(t, host.AgentConfig{Name: "outer", Client: callsOnce("Trip_planner", `{"task":"to Bonn"}`), Tools: []host.Tool{f}})
	for range 2 {
		response, err := outer.Run(context.Background(), host.Text("go"), host.RunConfig{})
		require.NoError(t, err)
		require.Equal(t, `heard "1: to Bonn"`, response.Text(), "without a session nothing is remembered")
	}
	require.Equal(t, 6, used)
}

func TestAnAgentAsAToolWithASession(t *testing.T) {
	inner := agentOf(t, host.AgentConfig{Name: "inner", Client: model(echo)})
	session := inner.CreateSession("")
	f, err := tool.Agent(inner, tool.AgentConfig{
		Name: "ask", Argument: "question", ArgumentDescription: "One question.", Session: func(context.Context) *host.Session { return session },
	})
	require.NoError(t, err)
	require.Contains(t, string(f.Definition().Parameters.JSON()), "One question.")
	require.Equal(t, "Asks the agent inner.", f.Definition().Description)
	for _, want := range []string{`"1: a"`, `"3: a"`} {
		out, err := f.Call(context.Background(), []byte(`{"question":"a"}`))
		require.NoError(t, err)
		require.Equal(t, want, string(out))
	}
}

func TestAgentsWithoutAUsableName(t *testing.T) {
	_, err := tool.Agent(agentOf(t, host.AgentConfig{Name: "агент", Client: model(echo)}), tool.AgentConfig{})
	require.ErrorIs(t, err, host.ErrToolName)
	require.ErrorContains(t, err, "AgentConfig.Name")
	_, err = tool.Agent(agentOf(t, host.AgentConfig{Client: model(echo)}), tool.AgentConfig{Name: "a b"})
	require.ErrorIs(t, err, host.ErrToolName)
	_, err = tool.Agent(nil, tool.AgentConfig{})
	require.ErrorContains(t, err, "nil")
}

// TestAgentsThatCallEachOther: two agents that each ask the other end, and with few model calls.
func TestAgentsThatCallEachOther(t *testing.T) {
	for limit, want := range map[int]int64{0: 16, 3: 3} {
		var calls atomic.Int64
		asks := func(name string) model {
			return func(context.Context, *host.ChatRequest) (*host.Response, error) {
				calls.Add(1)
				return reply(name, `{"task":"you do it"}`), nil
			}
		}
		var fromTwo host.FunctionTool
		late := host.ToolSource(lateSource{&fromTwo})
		one := agentOf(t, host.AgentConfig{Name: "one", Client: asks("two"), ToolSources: []host.ToolSource{late}})
		toOne, err := tool.Agent(one, tool.AgentConfig{MaxDepth: limit})
		require.NoError(t, err)
		two := agentOf(t, host.AgentConfig{Name: "two", Client: asks("one"), Tools: []host.Tool{toOne}})
		fromTwo, err = tool.Agent(two, tool.AgentConfig{MaxDepth: limit})
		require.NoError(t, err)

		_, err = one.Run(context.Background(), host.Text("go"), host.RunConfig{})
		require.ErrorIs(t, err, tool.ErrDepth)
		require.Equal(t, want+1, calls.Load(), "nobody tries again")
	}
}

// lateSource offers a tool that does not exist yet when the source is made.
type lateSource struct{ tool *host.FunctionTool }

func (lateSource) SourceID() string { return "late" }
func (s lateSource) Tools(context.Context) ([]host.Tool, error) {
	return []host.Tool{*s.tool}, nil
}

func TestAnInnerAgentThatAsksItsCaller(t *testing.T) {
	pay := tool.Must(tool.New(tool.Config{Name: "pay", NeedsApproval: tool.Always}, func(context.Context, tool.None) (tool.None, error) {
		t.Error("it was called")
		return tool.None{}, nil
	}))
	show := tool.Must(tool.Declared("show", "", nil))
	for name, says := range map[string]string{
		"pay":  "its call of pay waits for approval",
		"show": "its call of show is not one that the agent can make itself",
	} {
		inner := agentOf(t, host.AgentConfig{Name: "inner", Client: callsOnce(name, ""), Tools: []host.Tool{pay, show}})
		f, err := tool.Agent(inner, tool.AgentConfig{})
		require.NoError(t, err)
		_, err = f.Call(context.Background(), []byte(`{"task":"a"}`))
		require.ErrorIs(t, err, tool.ErrUnanswered)
		require.ErrorContains(t, err, says)
	}
	guarded, err := tool.Agent(agentOf(t, host.AgentConfig{Name: "inner", Client: model(echo)}), tool.AgentConfig{NeedsApproval: tool.Always})
	require.NoError(t, err)
	require.True(t, guarded.(host.ApprovalTool).NeedsApproval(message.FunctionCall{}))
}

func TestErrorsAndCancellationOfAnInnerAgent(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	inner := agentOf(t, host.AgentConfig{Name: "inner", Client: model(func(ctx context.Context, _ *host.ChatRequest) (*host.Response, error) {
		cancel()
		<-ctx.Done()
		return nil, &host.ModelError{Kind: host.ErrUnavailable, Err: context.Cause(ctx)}
	})})
	f, err := tool.Agent(inner, tool.AgentConfig{})
	require.NoError(t, err)
	_, err = f.Call(ctx, []byte(`{"task":"a"}`))
	require.ErrorIs(t, err, host.ErrUnavailable)
	require.ErrorContains(t, err, `agent "inner"`)

	ctx, cancel = context.WithCancel(context.Background())
	defer cancel()
	outer := agentOf(t, host.AgentConfig{Name: "outer", Client: callsOnce("inner", `{"task":"a"}`), Tools: []host.Tool{f}})
	_, err = outer.Run(ctx, host.Text("go"), host.RunConfig{})
	require.ErrorIs(t, err, context.Canceled)
}

func TestManyGoroutinesCallOneAgent(t *testing.T) {
	var used atomic.Int64
	f, err := tool.Agent(agentOf(t, host.AgentConfig{Name: "inner", Client: model(echo)}), tool.AgentConfig{
		OnResponse: func(_ context.Context, r *host.Response) { used.Add(int64(r.Usage.OutputTokens)) },
	})
	require.NoError(t, err)
	var wg sync.WaitGroup
	for range 64 {
		wg.Go(func() {
			out, err := f.Call(context.Background(), []byte(`{"task":"a"}`))
			assert.NoError(t, err)
			assert.Equal(t, `"1: a"`, string(out))
		})
	}
	wg.Wait()
	require.EqualValues(t, 64*3, used.Load())
}
