package host_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/message"
)

// keeping is a service that keeps the conversation, and takes nothing while a call in it has no result.
type keeping struct {
	script
	fails int // the model call that fails, from 1
	open  map[string]bool
	same  bool // one id for the whole conversation, and not one for each reply
}

func (k *keeping) Complete(ctx context.Context, r *host.ChatRequest) (*host.Response, error) {
	if len(k.requests)+1 == k.fails {
		k.requests = append(k.requests, r)
		return nil, errors.New("no")
	}
	for _, m := range r.Messages {
		for _, c := range m.Contents {
			if result, ok := c.(message.FunctionResult); ok {
				delete(k.open, result.CallID)
			}
		}
	}
	if len(k.open) > 0 {
		return nil, errors.New("a call has no result")
	}
	reply, err := k.script.Complete(ctx, r)
	if err != nil {
		return nil, err
	}
	own := *reply
	own.ConversationID = "c" + string(rune('0'+len(k.requests)))
	if k.same {
		own.ConversationID = "c1"
	}
	for _, m := range own.Messages {
		for _, c := range m.Contents {
			if call, ok := c.(message.FunctionCall); ok {
				k.open[call.CallID] = true
			}
		}
	}
	return &own, nil
}

func restored(t *testing.T, s *host.Session) *host.Session {
	t.Helper()
	saved, err := s.MarshalJSON()
	require.NoError(t, err)
	s, err = host.RestoreSession(saved)
	require.NoError(t, err)
	return s
}

func TestServiceConversationGoesOnAfterARunThatOwesResults(t *testing.T) {
	boom := host.Fatal(errors.New("boom"))
	for name, c := range map[string]struct {
		fails   int
		tool    error
		options host.Options
		want    string // what the next run delivers
	}{
		"the model call with the results failed": {fails: 2, want: "t-ok"},
		"a tool ended the run":                   {tool: boom, want: "Error: The run ended before this call was answered."},
		"the run was done with the tools":        {options: host.Options{ToolChoice: host.ToolChoice{Mode: host.ToolChoiceRequired}}, want: "t-ok"},
	} {
		t.Run(name, func(t *testing.T) {
			model := &keeping{same: true, script: script{replies: []*host.Response{calls("t")}}, fails: c.fails, open: map[string]bool{}}
			tool := &function{name: "t", f: func(context.Context) (string, error) { return "t-ok", c.tool }}
			agent := newAgent(t, host.AgentConfig{Client: model, Tools: []host.Tool{tool}})
			session := agent.CreateSession("")
			_, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{Session: session, Options: c.options})
			require.Equal(t, c.fails > 0 || c.tool != nil, err != nil)
			require.Equal(t, "c1", session.ServiceSessionID(), "the id is written after every model call")

			session = restored(t, session)
			r, err := agent.Run(t.Context(), host.Text("again"), host.RunConfig{Session: session})
			require.NoError(t, err)
			require.Equal(t, "done", r.Text())
			last := model.requests[len(model.requests)-1]
			require.Len(t, last.Messages, 2)
			require.Contains(t, string(last.Messages[0].Contents[0].(message.FunctionResult).Result), c.want)

			_, err = agent.Run(t.Context(), host.Text("more"), host.RunConfig{Session: session})
			require.NoError(t, err)
			require.Len(t, model.requests[len(model.requests)-1].Messages, 1, "it is paid once")
		})
	}
}

func TestOwedResultsOutliveAnotherFailure(t *testing.T) {
	model := &keeping{script: script{replies: []*host.Response{calls("t")}}, fails: 2, open: map[string]bool{}}
	agent := newAgent(t, host.AgentConfig{Client: model, Tools: []host.Tool{saying("t")}})
	session := agent.CreateSession("")
	for range 2 {
		_, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{Session: session})
		require.Error(t, err)
		model.fails++
	}
	model.fails = 0
	_, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{Session: session})
	require.NoError(t, err)
}

func TestPendingApprovalsOfASession(t *testing.T) {
	runs := 0
	model := &keeping{script: script{replies: []*host.Response{calls("ap", "t")}}, open: map[string]bool{}}
	agent := newAgent(t, host.AgentConfig{Client: model, Tools: []host.Tool{newAsking("ap", &runs), saying("t")}})
	session := agent.CreateSession("")
	pending, err := session.PendingApprovals()
	require.NoError(t, err)
	require.Empty(t, pending)
	_, err = agent.Run(t.Context(), host.Text("hi"), host.RunConfig{Session: session})
	require.NoError(t, err)

	session = restored(t, session)
	_, err = agent.Run(t.Context(), host.Text("something else"), host.RunConfig{Session: session})
	require.ErrorIs(t, err, host.ErrApprovalPending, "the service would not take it")
	require.ErrorContains(t, err, "ap:")
	require.Len(t, model.requests, 1)

	pending, err = session.PendingApprovals()
	require.NoError(t, err)
	require.Len(t, pending, 1)
	r, err := agent.Run(t.Context(), answer(pending[0].Respond(true)), host.RunConfig{Session: session})
	require.NoError(t, err)
	require.Equal(t, []string{"ap-ok", "t-ok"}, results(r))
	require.Equal(t, "done", r.Text())
	pending, err = session.PendingApprovals()
	require.NoError(t, err)
	require.Empty(t, pending)
}

func TestNegativeLimitsAreFaults(t *testing.T) {
	_, err := host.NewAgent(host.AgentConfig{Client: &echo{}, FunctionInvocation: host.FunctionInvocation{
		MaxIterations: -1, MaxFunctionCalls: -1, MaxConcurrentCalls: -1, MaxConsecutiveErrors: -1,
	}})
	for _, name := range []string{"max_iterations", "max_function_calls", "max_concurrent_calls", "max_consecutive_errors"} {
		require.ErrorContains(t, err, "function_invocation: "+name+" is -1")
	}
}
