package host_test

import (
	"context"
	"errors"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/message"
)

func callWith(id, name, arguments string) *host.Response {
	return &host.Response{Messages: []*message.Message{message.New(message.RoleAssistant,
		message.FunctionCall{CallID: id, Name: name, Arguments: jsontext.Value(arguments)})}}
}

func TestStandingRulesOutliveTheRunAndTheSave(t *testing.T) {
	const rejected = "Error: Tool call invocation was rejected by user."
	for name, c := range map[string]struct {
		approve  bool
		remember message.Remember
		second   string // arguments of the next call
		asks     bool
		result   string
	}{
		"this tool":                     {true, message.RememberTool, `{"a":2}`, false, "ap-ok"},
		"never this tool":               {false, message.RememberTool, `{"a":2}`, false, rejected},
		"these arguments":               {true, message.RememberArguments, `{"b":[1],"a":1.0}`, false, "ap-ok"},
		"other arguments":               {true, message.RememberArguments, `{"a":1.0,"b":[2]}`, true, ""},
		"never these arguments":         {false, message.RememberArguments, `{"b":[1], "a":1.0}`, false, rejected},
		"numbers are the same by digit": {true, message.RememberArguments, `{"a":1.00,"b":[1]}`, true, ""},
		"only this once":                {true, "", `{"a":1.0,"b":[1]}`, true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			runs := 0
			model := &script{replies: []*host.Response{
				callWith("1", "ap", `{"a":1.0,"b":[1]}`), host.NewResponse("done"), callWith("2", "ap", c.second),
			}}
			agent := newAgent(t, host.AgentConfig{Client: model, Tools: []host.Tool{newAsking("ap", &runs)}})
			session := agent.CreateSession("")
			r, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{Session: session})
			require.NoError(t, err)
			_, err = agent.Run(t.Context(), answer(asked(r)[0].RespondAlways(c.approve, c.remember)), host.RunConfig{Session: session})
			require.NoError(t, err)

			saved, err := session.MarshalJSON()
			require.NoError(t, err)
			session, err = host.RestoreSession(saved)
			require.NoError(t, err)
			r, err = agent.Run(t.Context(), host.Text("again"), host.RunConfig{Session: session})
			require.NoError(t, err)
			require.Len(t, asked(r), map[bool]int{true: 1}[c.asks])
			if !c.asks {
				require.Equal(t, []string{c.result}, results(r))
			}
		})
	}
}

func TestRuleAnswersWhatIsStillOpen(t *testing.T) {
	runs := 0
	model := &script{replies: []*host.Response{calls("ap", "ap", "ap")}}
	agent := newAgent(t, host.AgentConfig{Client: model, Tools: []host.Tool{newAsking("ap", &runs)}})
	session := agent.CreateSession("")
	r, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{Session: session})
	require.NoError(t, err)
	require.Len(t, asked(r), 3)
	r, err = agent.Run(t.Context(), answer(asked(r)[1].RespondAlways(true, message.RememberTool)), host.RunConfig{Session: session})
	require.NoError(t, err)
	require.Equal(t, "done", r.Text())
	require.Equal(t, 3, runs)

	rules, err := session.ApprovalRules()
	require.NoError(t, err)
	require.Equal(t, []host.ApprovalRule{{Tool: "ap", Approved: true}}, rules)
}

func TestRulesAreReadAndWritten(t *testing.T) {
	runs := 0
	agent := newAgent(t, host.AgentConfig{
		Client: &script{replies: []*host.Response{calls("ap")}}, Tools: []host.Tool{newAsking("ap", &runs)},
	})
	session := agent.CreateSession("")
	rules, err := session.ApprovalRules()
	require.NoError(t, err)
	require.Empty(t, rules)
	require.Error(t, session.SetApprovalRules([]host.ApprovalRule{{Tool: "ap", Arguments: "[]"}}))
	require.Error(t, session.SetApprovalRules([]host.ApprovalRule{{Approved: true}}))

	require.NoError(t, session.SetApprovalRules([]host.ApprovalRule{
		{Tool: "ap", Approved: false}, {Tool: "ap", Arguments: "{ }", Approved: true}, {Tool: "ap", Arguments: `{"a":1}`}, {Tool: "ap"},
	}))
	r, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{Session: session})
	require.NoError(t, err)
	require.Equal(t, []string{"ap-ok"}, results(r), "the rule with arguments goes first")
	r, err = newAgent(t, host.AgentConfig{
		Client: &script{replies: []*host.Response{calls("ap")}}, Tools: []host.Tool{newAsking("ap", &runs)},
		ApprovalPolicy: func(context.Context, *host.Session, host.OfferedTool, message.FunctionCall) (host.Approval, error) {
			return host.ApprovalAsk, nil
		},
	}).Run(t.Context(), host.Text("hi"), host.RunConfig{Session: session})
	require.NoError(t, err)
	_, err = agent.Run(t.Context(), answer(asked(r)[0].RespondAlways(false, message.RememberArguments)), host.RunConfig{Session: session})
	require.NoError(t, err)
	rules, err = session.ApprovalRules()
	require.NoError(t, err)
	require.Equal(t, []host.ApprovalRule{
		{Tool: "ap"}, {Tool: "ap", Arguments: `{"a":1}`}, {Tool: "ap"}, {Tool: "ap", Arguments: "{}"},
	}, rules, "a new decision takes the place of the old one for the same calls")

	_, err = newAgent(t, host.AgentConfig{
		Client: &script{replies: []*host.Response{calls("ap")}}, Tools: []host.Tool{newAsking("ap", &runs)},
	}).Run(t.Context(), host.Text("hi"), host.RunConfig{Session: host.NewSession("")})
	require.NoError(t, err)
	require.NoError(t, session.SetApprovalRules(nil))
	rules, err = session.ApprovalRules()
	require.NoError(t, err)
	require.Empty(t, rules)
}

func TestPolicyGoesBeforeRulesAndTools(t *testing.T) {
	runs := 0
	say := host.ApprovalUndecided
	agent := func() *host.Agent {
		return newAgent(t, host.AgentConfig{
			Client: &script{replies: []*host.Response{calls("ap")}}, Tools: []host.Tool{newAsking("ap", &runs)},
			ApprovalPolicy: func(_ context.Context, s *host.Session, tool host.OfferedTool, call message.FunctionCall) (host.Approval, error) {
				require.NotNil(t, s)
				require.Equal(t, tool.Definition().Name, call.Name)
				if say == "broken" {
					return "", errors.New("cannot tell")
				}
				return say, nil
			},
		})
	}
	allowed := host.NewSession("")
	require.NoError(t, allowed.SetApprovalRules([]host.ApprovalRule{{Tool: "ap", Approved: true}}))
	for _, c := range []struct {
		say     host.Approval
		session *host.Session
		asks    int
		results []string
	}{
		{host.ApprovalUndecided, host.NewSession(""), 1, nil},
		{host.ApprovalUndecided, allowed, 0, []string{"ap-ok"}},
		{host.ApprovalAllow, host.NewSession(""), 0, []string{"ap-ok"}},
		{host.ApprovalDeny, allowed, 0, []string{"Error: Tool call invocation was rejected by policy."}},
		{host.ApprovalAsk, allowed, 1, nil},
	} {
		say = c.say
		r, err := agent().Run(t.Context(), host.Text("hi"), host.RunConfig{Session: c.session})
		require.NoError(t, err)
		require.Len(t, asked(r), c.asks, "%s", c.say)
		require.Equal(t, c.results, results(r), "%s", c.say)
	}
	for _, wrong := range []host.Approval{"broken", "perhaps"} {
		say = wrong
		_, err := agent().Run(t.Context(), host.Text("hi"), host.RunConfig{Session: host.NewSession("")})
		require.ErrorContains(t, err, "approval policy: tool ap")
	}
}

// A call that the policy refused waits with its batch, and never runs; one that it refuses by the time of the answer
// does not run either.
func TestPolicyWithinAWaitingBatch(t *testing.T) {
	runs := 0
	deny := map[string]bool{"u": true}
	agent := newAgent(t, host.AgentConfig{
		Client: &script{replies: []*host.Response{calls("ap", "t", "u", "ap")}},
		Tools:  []host.Tool{newAsking("ap", &runs), saying("t"), saying("u")},
		ApprovalPolicy: func(_ context.Context, _ *host.Session, _ host.OfferedTool, call message.FunctionCall) (host.Approval, error) {
			if deny[call.Name] {
				return host.ApprovalDeny, nil
			}
			return host.ApprovalUndecided, nil
		},
	})
	session := agent.CreateSession("")
	r, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{Session: session})
	require.NoError(t, err)
	requests := asked(r)
	require.Len(t, requests, 2)
	delete(deny, "u") // what was refused stays refused
	deny["ap"] = true
	r, err = agent.Run(t.Context(), answer(requests[0].Respond(true), requests[1].Respond(false)), host.RunConfig{Session: session})
	require.NoError(t, err)
	const byPolicy = "Error: Tool call invocation was rejected by policy."
	require.Equal(t, []string{byPolicy, "t-ok", byPolicy, "Error: Tool call invocation was rejected by user."}, results(r))
	require.Zero(t, runs)
}
