package host_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"sync"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/schema"
	"github.com/weft-run/weft/message"
)

// script is a model that gives one reply after the other; past the last it says "done".
type script struct {
	mu       sync.Mutex
	replies  []*host.Response
	requests []*host.ChatRequest
}

func (s *script) Complete(_ context.Context, r *host.ChatRequest) (*host.Response, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r)
	if n := len(s.requests) - 1; n < len(s.replies) {
		return s.replies[n], nil
	}
	return host.NewResponse("done"), nil
}

func (s *script) Stream(ctx context.Context, r *host.ChatRequest) iter.Seq2[*host.Update, error] {
	return func(yield func(*host.Update, error) bool) {
		response, err := s.Complete(ctx, r)
		if err != nil {
			yield(nil, err)
			return
		}
		for _, m := range response.Messages {
			if !yield(&host.Update{Role: m.Role, Contents: m.Contents, FinishReason: response.FinishReason}, nil) {
				return
			}
		}
	}
}

// calls is a reply that calls tools, each with its own id.
func calls(names ...string) *host.Response {
	m := message.New(message.RoleAssistant)
	for i, name := range names {
		m.Contents = append(m.Contents, message.FunctionCall{CallID: fmt.Sprint(i + 1), Name: name, Arguments: jsontext.Value(`{}`)})
	}
	return &host.Response{Messages: []*message.Message{m}}
}

// function is a tool made of a Go function.
type function struct {
	name   string
	schema string
	f      func(ctx context.Context) (string, error)
}

func (f *function) Definition() host.ToolDefinition {
	if f.schema == "" {
		return host.ToolDefinition{Name: f.name}
	}
	return host.ToolDefinition{Name: f.name, Parameters: schemaOf(f.schema)}
}

func (f *function) Call(ctx context.Context, _ jsontext.Value) (jsontext.Value, error) {
	text, err := f.f(ctx)
	raw, _ := json.Marshal(text)
	return raw, err
}

func schemaOf(document string) host.Schema {
	s, err := schema.Parse([]byte(document))
	if err != nil {
		panic(err)
	}
	return s
}

func saying(name string) *function {
	return &function{name: name, f: func(context.Context) (string, error) { return name + "-ok", nil }}
}

// results are the texts of a response's tool results in order.
func results(r *host.Response) []string {
	var out []string
	for _, m := range r.Messages {
		for _, c := range m.Contents {
			if result, ok := c.(message.FunctionResult); ok {
				var text string
				_ = json.Unmarshal(result.Result, &text)
				out = append(out, text)
			}
		}
	}
	return out
}

// All calls of a reply run at the same time: each of these waits for all others.
func TestCallsOfOneReplyRunAtTheSameTime(t *testing.T) {
	const n = 50
	var all sync.WaitGroup
	all.Add(n)
	model, tools, names := &script{}, []host.Tool{}, []string{}
	var want []string
	for i := range n {
		name := fmt.Sprintf("t%02d", i)
		names, want = append(names, name), append(want, name)
		tools = append(tools, &function{name: name, f: func(context.Context) (string, error) {
			all.Done()
			all.Wait()
			return name, nil
		}})
	}
	model.replies = []*host.Response{calls(names...)}
	r, err := newAgent(t, host.AgentConfig{Client: model, Tools: tools}).Run(t.Context(), host.Text("hi"), host.RunConfig{})
	require.NoError(t, err)
	require.Equal(t, want, results(r), "results stand in call order")
	require.Equal(t, "done", r.Text())
}

func TestPanicsAndErrorsOfToolsAreResults(t *testing.T) {
	model := &script{replies: []*host.Response{calls("bad", "worse", "good")}}
	agent := newAgent(t, host.AgentConfig{Client: model, Tools: []host.Tool{
		&function{name: "bad", f: func(context.Context) (string, error) { return "", errors.New("secret detail") }},
		&function{name: "worse", f: func(context.Context) (string, error) { panic("ouch") }},
		saying("good"),
	}})
	r, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{})
	require.NoError(t, err)
	require.Equal(t, []string{"Error: Function failed.", "Error: Function failed.", "good-ok"}, results(r))
	raw, err := message.AppendList(nil, r.Messages)
	require.NoError(t, err)
	require.NotContains(t, string(raw), "secret", "details are not for the model")
}

func TestFatalErrorsEndTheRun(t *testing.T) {
	boom := errors.New("boom")
	var log []string
	agent := newAgent(t, host.AgentConfig{
		Client: &script{replies: []*host.Response{calls("t")}}, Providers: []host.Provider{&recorder{id: "p", log: &log}},
		Tools: []host.Tool{&function{name: "t", f: func(context.Context) (string, error) { return "", host.Fatal(boom) }}},
	})
	_, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{})
	require.ErrorIs(t, err, boom)
	require.Equal(t, []string{"before p", "failed p: boom"}, log)
}

func TestArgumentsThatDoNotFitNeverReachTheTool(t *testing.T) {
	bad := func(arguments string) *host.Response {
		return &host.Response{Messages: []*message.Message{message.New(message.RoleAssistant,
			message.FunctionCall{CallID: "1", Name: "t", Arguments: jsontext.Value(arguments)})}}
	}
	model := &script{replies: []*host.Response{bad(`{"n":"x"}`), bad(`[1]`), bad(`not json`), bad(`{"n":1,"n":2}`), bad(`{"n":1}`)}}
	ran := 0
	agent := newAgent(t, host.AgentConfig{
		Client: model, FunctionInvocation: host.FunctionInvocation{MaxConsecutiveErrors: 10, IncludeDetailedErrors: true},
		Tools: []host.Tool{&function{
			name: "t", schema: `{"type":"object","properties":{"n":{"type":"integer"}}}`,
			f: func(context.Context) (string, error) { ran++; return "ok", nil },
		}},
	})
	r, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{})
	require.NoError(t, err)
	require.Equal(t, 1, ran)
	for _, text := range results(r)[:4] {
		require.Contains(t, text, "Error: Argument parsing failed. Exception: ")
	}
}

func TestLimitsOfTheLoop(t *testing.T) {
	endless := func() *script {
		s := &script{}
		for range 100 {
			s.replies = append(s.replies, calls("t"))
		}
		return s
	}
	for name, c := range map[string]struct {
		limits host.FunctionInvocation
		calls  int
	}{
		"default":            {host.FunctionInvocation{}, 41},
		"max_iterations":     {host.FunctionInvocation{MaxIterations: 3}, 4},
		"max_function_calls": {host.FunctionInvocation{MaxFunctionCalls: 2}, 3},
	} {
		model := endless()
		agent := newAgent(t, host.AgentConfig{Client: model, Tools: []host.Tool{saying("t")}, FunctionInvocation: c.limits})
		r, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{})
		require.NoError(t, err, name)
		require.Len(t, model.requests, c.calls, name)
		require.Equal(t, host.ToolChoiceNone, model.requests[c.calls-1].Options.ToolChoice.Mode, name)
		require.Contains(t, r.Text(), "limit reached", name)
	}
}

// A cancelled run waits for its tools, which obey the context, and ends with its error.
func TestCancelDuringATool(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	agent := newAgent(t, host.AgentConfig{
		Client: &script{replies: []*host.Response{calls("t")}},
		Tools: []host.Tool{&function{name: "t", f: func(ctx context.Context) (string, error) {
			cancel()
			<-ctx.Done()
			return "", ctx.Err()
		}}},
	})
	_, err := agent.Run(ctx, host.Text("hi"), host.RunConfig{})
	require.ErrorIs(t, err, context.Canceled)
}

func TestStreamedLoopEqualsRun(t *testing.T) {
	config := func() host.AgentConfig {
		return host.AgentConfig{Client: &script{replies: []*host.Response{calls("t", "u")}}, Tools: []host.Tool{saying("t"), saying("u")}}
	}
	whole, err := newAgent(t, config()).Run(t.Context(), host.Text("hi"), host.RunConfig{})
	require.NoError(t, err)
	streamed, err := newAgent(t, config()).Stream(t.Context(), host.Text("hi"), host.RunConfig{}).Response()
	require.NoError(t, err)
	wholeJSON, err := message.AppendList(nil, whole.Messages)
	require.NoError(t, err)
	streamedJSON, err := message.AppendList(nil, streamed.Messages)
	require.NoError(t, err)
	require.Equal(t, string(wholeJSON), string(streamedJSON))
}

func TestNamedToolChoiceReturnsAfterTheTool(t *testing.T) {
	model := &script{replies: []*host.Response{calls("t")}}
	agent := newAgent(t, host.AgentConfig{Client: model, Tools: []host.Tool{saying("t")}})
	options, err := host.ParseOptions([]byte(`{"tool_choice":{"mode":"required","function":"t"}}`))
	require.NoError(t, err)
	r, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{Options: options})
	require.NoError(t, err)
	require.Equal(t, []string{"t-ok"}, results(r))
	require.Len(t, model.requests, 1)
	require.Equal(t, "t", model.requests[0].Options.ToolChoice.Function)

	for _, bad := range []string{`"maybe"`, `{"mode":"none","function":"t"}`, `{"mode":"required","name":"t"}`, `7`} {
		_, err := host.ParseOptions([]byte(`{"tool_choice":` + bad + `}`))
		require.Error(t, err, bad)
	}
}

// Calls that will not be answered are not shown in a stream either.
func TestDroppedCallsAreNotStreamed(t *testing.T) {
	agent := newAgent(t, host.AgentConfig{Client: &script{replies: []*host.Response{calls("t")}}, Tools: []host.Tool{saying("t")}})
	options := host.Options{ToolChoice: host.ToolChoice{Mode: host.ToolChoiceNone}}
	for u, err := range agent.Stream(t.Context(), host.Text("hi"), host.RunConfig{Options: options}).Updates() {
		require.NoError(t, err)
		for _, c := range u.Contents {
			require.NotEqual(t, message.KindFunctionCall, c.Kind())
		}
	}
}

// Chat middleware may write into its request: the next call of the loop starts from what it did not touch.
func TestRequestsOfALoopShareNothingThatMiddlewareCanChange(t *testing.T) {
	model := &script{replies: []*host.Response{calls("t")}}
	scribble := host.ChatFunc(func(ctx context.Context, c *host.ChatContext, next host.Next) error {
		c.Request.Messages[0] = message.User("scribbled " + c.Request.Messages[0].Text())
		*c.Request.Options.Temperature++
		return next(ctx)
	})
	agent := newAgent(t, host.AgentConfig{
		Client: model, Tools: []host.Tool{saying("t")}, Options: host.Options{Temperature: new(1.0)},
		Middleware: host.Middleware{Chat: []host.ChatMiddleware{scribble}},
	})
	_, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{})
	require.NoError(t, err)
	for _, r := range model.requests {
		require.Equal(t, "scribbled hi", r.Messages[0].Text())
		require.InEpsilon(t, 2.0, *r.Options.Temperature, 1e-9)
	}
}

// With histories that store each step, the context of other providers is stored with the first one only.
func TestPerCallHistoryStoresTheContextOnce(t *testing.T) {
	agent := newAgent(t, host.AgentConfig{
		Client: &script{replies: []*host.Response{calls("t")}}, Tools: []host.Tool{saying("t")}, PerServiceCallHistory: true,
		Providers: []host.Provider{
			host.BeforeRunFunc("rag", func(_ context.Context, sc *host.SessionContext) error {
				sc.ExtendMessages(message.User("doc"))
				return nil
			}),
			host.NewInMemoryHistory(host.HistoryConfig{StoreContextMessages: true}),
		},
	})
	session := agent.CreateSession("")
	_, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{Session: session})
	require.NoError(t, err)
	stored, err := host.StoredMessages(session.State(host.DefaultHistoryID))
	require.NoError(t, err)
	var roles []string
	for _, m := range stored {
		roles = append(roles, string(m.Role)+" "+m.Text())
	}
	require.Equal(t, []string{"user doc", "user hi", "assistant ", "tool ", "assistant done"}, roles)
}
