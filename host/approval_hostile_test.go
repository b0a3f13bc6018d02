package host_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/message"
)

type src struct {
	id    string
	tools []host.Tool
}

func (s *src) SourceID() string { return s.id }

func (s *src) Tools(context.Context) ([]host.Tool, error) { return s.tools, nil }

func TestSiblingUnderChangedTool(t *testing.T) {
	runs, rm := 0, 0
	for name, first := range map[string][]host.Tool{"unknown": nil, "safe": {saying("rm")}} {
		rm = 0
		agent := newAgent(t, host.AgentConfig{
			Client: &script{replies: []*host.Response{calls("ap", "rm")}}, Tools: []host.Tool{newAsking("ap", &runs)},
		})
		s := agent.CreateSession("")
		r, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{Session: s, Tools: first})
		require.NoError(t, err)
		require.Len(t, asked(r), 1)
		_, err = agent.Run(t.Context(), answer(asked(r)[0].Respond(true)), host.RunConfig{Session: s, Tools: []host.Tool{newAsking("rm", &rm)}})
		require.NoError(t, err)
		t.Log(name, rm)
		if rm != 0 {
			t.Errorf("%s: rm ran without ever being asked about", name)
		}
	}
}

func TestApprovedToolSwapped(t *testing.T) {
	a, b := 0, 0
	agent := newAgent(t, host.AgentConfig{Client: &script{replies: []*host.Response{calls("del")}}})
	s := agent.CreateSession("")
	r, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{Session: s, ToolSources: []host.ToolSource{&src{"A", []host.Tool{newAsking("del", &a)}}}})
	require.NoError(t, err)
	_, err = agent.Run(t.Context(), answer(asked(r)[0].Respond(true)), host.RunConfig{Session: s, ToolSources: []host.ToolSource{&src{"B", []host.Tool{newAsking("del", &b)}}}})
	require.NoError(t, err)
	require.Zero(t, b, "B's tool ran by approval of A's")
}

func TestRuleOverridesPolicyAsk(t *testing.T) {
	runs := 0
	agent := newAgent(t, host.AgentConfig{
		Client: &script{replies: []*host.Response{calls("ap", "ap")}}, Tools: []host.Tool{newAsking("ap", &runs)},
		ApprovalPolicy: func(context.Context, *host.Session, host.OfferedTool, message.FunctionCall) (host.Approval, error) {
			return host.ApprovalAsk, nil
		},
	})
	s := agent.CreateSession("")
	r, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{Session: s})
	require.NoError(t, err)
	r, err = agent.Run(t.Context(), answer(asked(r)[0].RespondAlways(true, message.RememberTool)), host.RunConfig{Session: s})
	require.NoError(t, err)
	require.Len(t, asked(r), 1, "policy: ask whatever the rules say")
	require.Zero(t, runs)
}

func TestPolicyGoneTool(t *testing.T) {
	runs := 0
	agent := newAgent(t, host.AgentConfig{
		Client: &script{replies: []*host.Response{calls("ap")}},
		ApprovalPolicy: func(_ context.Context, _ *host.Session, tool host.OfferedTool, _ message.FunctionCall) (host.Approval, error) {
			_ = tool.Definition()
			return host.ApprovalUndecided, nil
		},
	})
	s := agent.CreateSession("")
	r, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{Session: s, Tools: []host.Tool{newAsking("ap", &runs)}})
	require.NoError(t, err)
	_, err = agent.Run(t.Context(), answer(asked(r)[0].Respond(true)), host.RunConfig{Session: s})
	require.NoError(t, err)
}

func TestDenyRuleMeanwhile(t *testing.T) {
	runs, safe := 0, 0
	agent := newAgent(t, host.AgentConfig{
		Client: &script{replies: []*host.Response{calls("ap", "safe")}},
		Tools:  []host.Tool{newAsking("ap", &runs), &function{name: "safe", f: func(context.Context) (string, error) { safe++; return "", nil }}},
	})
	s := agent.CreateSession("")
	r, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{Session: s})
	require.NoError(t, err)
	require.NoError(t, s.SetApprovalRules([]host.ApprovalRule{{Tool: "safe"}}))
	_, err = agent.Run(t.Context(), answer(asked(r)[0].Respond(true)), host.RunConfig{Session: s})
	require.NoError(t, err)
	require.Zero(t, safe, "always deny holds for every tool")
}

func TestWrapRetryAfterResume(t *testing.T) {
	runs := 0
	model := &failOnce{script: script{replies: []*host.Response{calls("ap")}}, at: 2}
	agent := newAgent(t, host.AgentConfig{
		Client: model, Tools: []host.Tool{newAsking("ap", &runs)}, DefaultHistory: host.HistoryWhenMissing,
		Providers: []host.Provider{host.WrapFunc("again", func(ctx context.Context, sc *host.SessionContext, next host.Next) error {
			if err := next(ctx); err != nil {
				return next(ctx)
			}
			return nil
		})},
	})
	s := agent.CreateSession("")
	r, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{Session: s})
	require.NoError(t, err)
	r, err = agent.Run(t.Context(), answer(asked(r)[0].Respond(true)), host.RunConfig{Session: s})
	require.NoError(t, err)
	raw, _ := message.AppendList(nil, model.requests[len(model.requests)-1].Messages)
	t.Log(string(raw))
	require.Equal(t, []string{"ap-ok"}, results(r))
	require.Equal(t, 1, runs)
}

func TestConcurrentBatches(t *testing.T) {
	runs := 0
	started, goOn := make(chan struct{}), make(chan struct{})
	slow := &function{name: "slow", f: func(context.Context) (string, error) { close(started); <-goOn; return "", nil }}
	call := func(id, name string) *host.Response { return callWith(id, name, `{}`) }
	a := newAgent(t, host.AgentConfig{Client: &script{replies: []*host.Response{call("s", "slow"), call("a", "ap")}}, Tools: []host.Tool{slow, newAsking("ap", &runs)}})
	b := newAgent(t, host.AgentConfig{Client: &script{replies: []*host.Response{call("b", "ap")}}, Tools: []host.Tool{newAsking("ap", &runs)}})
	s := a.CreateSession("")
	done := make(chan error)
	go func() {
		_, err := a.Run(context.Background(), host.Text("x"), host.RunConfig{Session: s})
		done <- err
	}()
	<-started
	rb, err := b.Run(t.Context(), host.Text("y"), host.RunConfig{Session: s})
	require.NoError(t, err)
	close(goOn)
	require.NoError(t, <-done)
	_, err = b.Run(t.Context(), answer(asked(rb)[0].Respond(true)), host.RunConfig{Session: s})
	require.NoError(t, err)
}

func TestAnsweredTwiceAtOnce(t *testing.T) {
	var n atomic.Int32
	both := make(chan struct{})
	tool := &asking{function{name: "ap", f: func(ctx context.Context) (string, error) {
		if n.Add(1) == 1 {
			<-both
		}
		return "", nil
	}}}
	agent := newAgent(t, host.AgentConfig{Client: &script{replies: []*host.Response{calls("ap")}}, Tools: []host.Tool{tool}})
	s := agent.CreateSession("")
	r, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{Session: s})
	require.NoError(t, err)
	in := answer(asked(r)[0].Respond(true))
	done := make(chan error)
	go func() { _, err := agent.Run(context.Background(), in, host.RunConfig{Session: s}); done <- err }()
	for n.Load() == 0 {
	}
	_, err2 := agent.Run(t.Context(), in, host.RunConfig{Session: s})
	close(both)
	t.Log(<-done, err2)
	require.EqualValues(t, 1, n.Load(), "one approval, one run")
}

func TestAnsweredBatchComesBack(t *testing.T) {
	runs := 0
	started, goOn := make(chan struct{}), make(chan struct{})
	slow := &function{name: "slow", f: func(context.Context) (string, error) { close(started); <-goOn; return "", nil }}
	ag := func(r ...*host.Response) *host.Agent {
		return newAgent(t, host.AgentConfig{Client: &script{replies: r}, Tools: []host.Tool{slow, newAsking("ap", &runs)}})
	}
	s := host.NewSession("")
	r1, err := ag(callWith("1", "ap", `{}`)).Run(t.Context(), host.Text("x"), host.RunConfig{Session: s})
	require.NoError(t, err)
	done := make(chan error)
	go func() {
		_, err := ag(callWith("s", "slow", `{}`), callWith("2", "ap", `{}`)).Run(context.Background(), host.Text("x"), host.RunConfig{Session: s})
		done <- err
	}()
	<-started
	ok := answer(asked(r1)[0].Respond(true))
	_, err = ag().Run(t.Context(), ok, host.RunConfig{Session: s})
	require.NoError(t, err)
	close(goOn)
	require.NoError(t, <-done)
	_, err = ag().Run(t.Context(), ok, host.RunConfig{Session: s})
	require.ErrorIs(t, err, host.ErrApproval)
	require.Equal(t, 1, runs)
}

func TestRequiredResume(t *testing.T) {
	runs := 0
	model := &script{replies: []*host.Response{callWith("1", "ap", `{}`)}}
	agent := newAgent(t, host.AgentConfig{Client: model, Tools: []host.Tool{newAsking("ap", &runs)}, Options: host.Options{ToolChoice: host.ToolChoice{Mode: "required"}}})
	s := agent.CreateSession("")
	r, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{Session: s})
	require.NoError(t, err)
	_, err = agent.Run(t.Context(), answer(asked(r)[0].Respond(true)), host.RunConfig{Session: s})
	require.NoError(t, err)
	require.Len(t, model.requests, 1)
}

func TestTerminateFirstOfTwoBatches(t *testing.T) {
	runs := 0
	model := &script{replies: []*host.Response{callWith("1", "ap", `{}`), callWith("2", "ap", `{}`)}}
	agent := newAgent(t, host.AgentConfig{Client: model, Tools: []host.Tool{newAsking("ap", &runs)}, Middleware: host.Middleware{Function: []host.FunctionMiddleware{
		host.FunctionFunc(func(ctx context.Context, c *host.FunctionContext, next host.Next) error {
			if err := next(ctx); err != nil {
				return err
			}
			return host.ErrTerminate
		}),
	}}})
	s := agent.CreateSession("")
	r1, err := agent.Run(t.Context(), host.Text("a"), host.RunConfig{Session: s})
	require.NoError(t, err)
	r2, err := agent.Run(t.Context(), host.Text("b"), host.RunConfig{Session: s})
	require.NoError(t, err)
	r, err := agent.Run(t.Context(), answer(asked(r1)[0].Respond(true), asked(r2)[0].Respond(true)), host.RunConfig{Session: s})
	require.NoError(t, err)
	require.Len(t, results(r), 2)
	require.Equal(t, 2, runs)
}

func TestEqualIDs(t *testing.T) {
	runs := 0
	model := &script{replies: []*host.Response{callWith("1", "ap", `{"a":1}`), callWith("1", "ap", `{"a":2}`)}}
	agent := newAgent(t, host.AgentConfig{Client: model, Tools: []host.Tool{newAsking("ap", &runs)}})
	s := agent.CreateSession("")
	_, err := agent.Run(t.Context(), host.Text("a"), host.RunConfig{Session: s})
	require.NoError(t, err)
	r2, err := agent.Run(t.Context(), host.Text("b"), host.RunConfig{Session: s})
	require.NoError(t, err)
	_, err = agent.Run(t.Context(), answer(asked(r2)[0].Respond(true)), host.RunConfig{Session: s})
	require.NoError(t, err)
}

type afterFn struct {
	host.BaseHooks
	seen []string
}

func (*afterFn) SourceID() string { return "af" }

func (h *afterFn) AfterFunction(_ context.Context, _ *host.SessionContext, c *host.Invocation) error {
	h.seen = append(h.seen, c.Call.CallID)
	return nil
}

func TestAfterFunctionRejected(t *testing.T) {
	runs := 0
	h := &afterFn{}
	agent := newAgent(t, host.AgentConfig{Client: &script{replies: []*host.Response{calls("ap", "ap")}}, Tools: []host.Tool{newAsking("ap", &runs)}, Providers: []host.Provider{h}})
	s := agent.CreateSession("")
	r, err := agent.Run(t.Context(), host.Text("a"), host.RunConfig{Session: s})
	require.NoError(t, err)
	_, err = agent.Run(t.Context(), answer(asked(r)[0].Respond(false), asked(r)[1].Respond(true)), host.RunConfig{Session: s})
	require.NoError(t, err)
	require.Equal(t, []string{"1", "2"}, h.seen)
}

// After_iteration's emit of a hook's panics in consumer etc. run option conversation.

func TestSecondTryKeepsResults(t *testing.T) {
	runs := 0
	model := &script{replies: []*host.Response{calls("ap")}}
	n := 0
	agent := newAgent(t, host.AgentConfig{
		Client: model, Tools: []host.Tool{newAsking("ap", &runs)}, DefaultHistory: host.HistoryWhenMissing,
		Providers: []host.Provider{host.WrapFunc("again", func(ctx context.Context, sc *host.SessionContext, next host.Next) error {
			if err := next(ctx); err != nil {
				return err
			}
			if n++; n == 2 {
				return next(ctx)
			}
			return nil
		})},
	})
	s := agent.CreateSession("")
	r, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{Session: s})
	require.NoError(t, err)
	r, err = agent.Run(t.Context(), answer(asked(r)[0].Respond(true)), host.RunConfig{Session: s})
	require.NoError(t, err)
	t.Log(shape(model.requests[len(model.requests)-1]))
	require.Equal(t, []string{"ap-ok"}, results(r))
	require.Equal(t, 1, runs)
}
