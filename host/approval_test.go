package host_test

import (
	"context"
	"sync"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/message"
)

// asking is a tool that needs approval.
type asking struct{ function }

func (a *asking) NeedsApproval(message.FunctionCall) bool { return true }

func newAsking(name string, runs *int) *asking {
	var mu sync.Mutex // calls of one reply run at the same time
	return &asking{function{name: name, f: func(context.Context) (string, error) {
		mu.Lock()
		defer mu.Unlock()
		*runs++
		return name + "-ok", nil
	}}}
}

// asked are the requests that a response carries.
func asked(r *host.Response) []message.ApprovalRequest {
	var out []message.ApprovalRequest
	for _, m := range r.Messages {
		for _, c := range m.Contents {
			if request, ok := c.(message.ApprovalRequest); ok {
				out = append(out, request)
			}
		}
	}
	return out
}

func answer(contents ...message.Content) []*message.Message {
	return []*message.Message{message.New(message.RoleUser, contents...)}
}

// A batch stays paused until every request in it is answered, over a save and restore as well.
func TestBatchWaitsForAllItsAnswers(t *testing.T) {
	runs := 0
	model := &script{replies: []*host.Response{calls("ap", "ap2", "t")}}
	agent := newAgent(t, host.AgentConfig{
		Client: model, DefaultHistory: host.HistoryWhenMissing,
		Tools: []host.Tool{newAsking("ap", &runs), newAsking("ap2", &runs), saying("t")},
	})
	session := agent.CreateSession("s")
	r, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{Session: session})
	require.NoError(t, err)
	requests := asked(r)
	require.Len(t, requests, 2)

	r, err = agent.Run(t.Context(), answer(requests[0].Respond(true)), host.RunConfig{Session: session})
	require.NoError(t, err)
	require.Len(t, model.requests, 1, "the model is not called while a request is open")
	require.Equal(t, "2", asked(r)[0].Call.CallID)
	require.Zero(t, runs)

	saved, err := session.MarshalJSON()
	require.NoError(t, err)
	session, err = host.RestoreSession(saved)
	require.NoError(t, err)

	r, err = agent.Run(t.Context(), answer(requests[1].Respond(false)), host.RunConfig{Session: session})
	require.NoError(t, err)
	require.Equal(t, []string{"ap-ok", "Error: Tool call invocation was rejected by user.", "t-ok"}, results(r))
	require.Equal(t, "done", r.Text())
	require.Equal(t, 1, runs)

	_, err = agent.Run(t.Context(), answer(requests[0].Respond(true)), host.RunConfig{Session: session})
	require.ErrorIs(t, err, host.ErrApproval, "an answer counts once")
}

func TestDecisionIsBoundToTheArguments(t *testing.T) {
	runs := 0
	agent := newAgent(t, host.AgentConfig{
		Client: &script{replies: []*host.Response{calls("ap")}}, Tools: []host.Tool{newAsking("ap", &runs)},
	})
	session := agent.CreateSession("")
	r, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{Session: session})
	require.NoError(t, err)
	forged := asked(r)[0].Respond(true)
	forged.Call.Arguments = jsontext.Value(`{"all":true}`)
	_, err = agent.Run(t.Context(), answer(forged), host.RunConfig{Session: session})
	require.ErrorIs(t, err, host.ErrApproval)
	require.ErrorContains(t, err, `{"all":true}`)
	require.Zero(t, runs)

	_, err = agent.Run(t.Context(), answer(asked(r)[0].Respond(true)), host.RunConfig{Session: agent.CreateSession("other")})
	require.ErrorIs(t, err, host.ErrApproval, "another session's request is not answered here")
}

// A run that fails after the tools ran leaves the batch as it was: it can be answered again.
func TestFailedResumeLeavesTheBatchWaiting(t *testing.T) {
	runs := 0
	model := &failOnce{script: script{replies: []*host.Response{calls("ap")}}, at: 2}
	agent := newAgent(t, host.AgentConfig{Client: model, Tools: []host.Tool{newAsking("ap", &runs)}})
	session := agent.CreateSession("")
	r, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{Session: session})
	require.NoError(t, err)
	approval := answer(asked(r)[0].Respond(true))
	_, err = agent.Run(t.Context(), approval, host.RunConfig{Session: session})
	require.ErrorContains(t, err, "down")
	r, err = agent.Run(t.Context(), approval, host.RunConfig{Session: session})
	require.NoError(t, err)
	require.Equal(t, []string{"ap-ok"}, results(r))
}

// failOnce fails at one model call.
type failOnce struct {
	script
	at, calls int
}

func (f *failOnce) Complete(ctx context.Context, r *host.ChatRequest) (*host.Response, error) {
	f.calls++
	if f.calls == f.at {
		return nil, errDown
	}
	return f.script.Complete(ctx, r)
}

// What waits for approval decides which calls run, so no provider can have that part of the session, and a batch that
// nobody answered does not run, whoever put it there.
func TestWaitingCallsAreTheHostsOwn(t *testing.T) {
	_, err := host.NewAgent(host.AgentConfig{Client: &echo{}, Providers: []host.Provider{host.BeforeRunFunc("weft.approvals", nil)}})
	require.ErrorContains(t, err, `names that begin with "weft." are the host's own`)

	runs := 0
	agent := newAgent(t, host.AgentConfig{Client: &script{}, Tools: []host.Tool{newAsking("ap", &runs)}})
	session := agent.CreateSession("")
	require.NoError(t, session.State("weft.approvals").Replace([]byte(`{"batches":[{"calls":[{"call_id":"1","name":"ap"}]}]}`)))
	_, err = agent.Run(t.Context(), host.Text("hi"), host.RunConfig{Session: session})
	require.NoError(t, err)
	require.Zero(t, runs)
}

// With histories that store each step, answers to some of a batch's requests are stored too.
func TestPartialAnswersAreStoredWithEachStep(t *testing.T) {
	runs := 0
	agent := newAgent(t, host.AgentConfig{
		Client: &script{replies: []*host.Response{calls("ap", "ap")}}, Tools: []host.Tool{newAsking("ap", &runs)},
		PerServiceCallHistory: true, Providers: []host.Provider{host.NewInMemoryHistory(host.HistoryConfig{})},
	})
	session := agent.CreateSession("")
	r, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{Session: session})
	require.NoError(t, err)
	_, err = agent.Run(t.Context(), answer(asked(r)[0].Respond(true)), host.RunConfig{Session: session})
	require.NoError(t, err)
	stored, err := host.StoredMessages(session.State(host.DefaultHistoryID))
	require.NoError(t, err)
	require.Len(t, stored, 4, "hi, the calls, the answer, what is still asked")
}
