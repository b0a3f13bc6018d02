package host_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/message"
)

type raw struct {
	name string
	out  string
}

func (r *raw) Definition() host.ToolDefinition { return host.ToolDefinition{Name: r.name} }

func (r *raw) Call(context.Context, jsontext.Value) (jsontext.Value, error) {
	return jsontext.Value(r.out), nil
}

func TestInvalidResult(t *testing.T) {
	for name, tool := range map[string]host.Tool{"tool": &raw{"t", "not json"}} {
		agent := newAgent(t, host.AgentConfig{Client: &script{replies: []*host.Response{calls("t")}}, Tools: []host.Tool{tool}})
		s := agent.CreateSession("")
		_, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{Session: s})
		require.NoError(t, err)
		_, err = s.MarshalJSON()
		require.NoError(t, err, name)
	}
}

func TestInvalidArguments(t *testing.T) {
	agent := newAgent(t, host.AgentConfig{Client: &script{replies: []*host.Response{callWith("1", "t", "not json")}}, Tools: []host.Tool{saying("t")}})
	s := agent.CreateSession("")
	_, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{Session: s})
	require.NoError(t, err)
	b, err := s.MarshalJSON()
	require.NoError(t, err)
	_, err = host.RestoreSession(b)
	require.NoError(t, err)
}

type panics struct{ function }

func (p *panics) NeedsApproval(message.FunctionCall) bool { panic("needs") }

type panicDef struct{}

func (panicDef) Compact(context.Context, []*message.Message, *message.Message) ([]*message.Message, error) {
	panic("compact")
}

type panicSource struct{}

func (panicSource) SourceID() string { return "x" }

func (panicSource) Tools(context.Context) ([]host.Tool, error) { panic("source") }

type panicSchema struct{}

func (panicSchema) JSON() []byte { return []byte(`{}`) }

func (panicSchema) Validate(jsontext.Value) error { panic("schema") }

type schemaTool struct{ raw }

func (s *schemaTool) Definition() host.ToolDefinition {
	return host.ToolDefinition{Name: "t", Parameters: panicSchema{}}
}

func TestPanics(t *testing.T) {
	cases := map[string]func() (host.AgentConfig, host.RunConfig){
		"needs approval": func() (host.AgentConfig, host.RunConfig) {
			return host.AgentConfig{Client: &script{replies: []*host.Response{calls("t")}}, Tools: []host.Tool{&panics{*saying("t")}}}, host.RunConfig{}
		},
		"compactor": func() (host.AgentConfig, host.RunConfig) {
			return host.AgentConfig{Client: &script{}, Compaction: panicDef{}}, host.RunConfig{}
		},
		"source": func() (host.AgentConfig, host.RunConfig) {
			return host.AgentConfig{Client: &script{}, ToolSources: []host.ToolSource{panicSource{}}}, host.RunConfig{}
		},
		"nil source": func() (host.AgentConfig, host.RunConfig) {
			return host.AgentConfig{Client: &script{}}, host.RunConfig{ToolSources: []host.ToolSource{nil}}
		},
		"schema": func() (host.AgentConfig, host.RunConfig) {
			return host.AgentConfig{Client: &script{replies: []*host.Response{calls("t")}}, Tools: []host.Tool{&schemaTool{}}}, host.RunConfig{}
		},
		"nil message of a client": func() (host.AgentConfig, host.RunConfig) {
			return host.AgentConfig{Client: &script{replies: []*host.Response{{Messages: []*message.Message{nil}}}}, Tools: []host.Tool{saying("t")}}, host.RunConfig{}
		},
		"factory": func() (host.AgentConfig, host.RunConfig) {
			return host.AgentConfig{Client: &script{}, Providers: []host.Provider{host.PerSession("p", func(context.Context, *host.Session) (host.Provider, error) { panic("f") })}}, host.RunConfig{}
		},
		"tracer": func() (host.AgentConfig, host.RunConfig) {
			return host.AgentConfig{Client: &script{}, Tracer: host.TraceFunc(func(context.Context, host.HookTrace) { panic("t") })}, host.RunConfig{}
		},
	}
	for name, make := range cases {
		t.Run(name, func(t *testing.T) {
			c, rc := make()
			agent := newAgent(t, c)
			require.NotPanics(t, func() { _, err := agent.Run(t.Context(), host.Text("hi"), rc); t.Log(err) })
		})
	}
}

func TestSubAgentEvents(t *testing.T) {
	emit := func(name string) *function {
		return &function{name: name, f: func(ctx context.Context) (string, error) {
			for range 50 {
				if err := host.Emit(ctx, name, 1); err != nil {
					return "", err
				}
			}
			return "", nil
		}}
	}
	sub := newAgent(t, host.AgentConfig{Client: &script{replies: []*host.Response{calls("a", "b", "c", "d")}}, Tools: []host.Tool{emit("a"), emit("b"), emit("c"), emit("d")}})
	outer := newAgent(t, host.AgentConfig{Client: &script{}, Providers: []host.Provider{host.BeforeRunFunc("p", func(ctx context.Context, _ *host.SessionContext) error {
		_, err := sub.Run(ctx, host.Text("x"), host.RunConfig{})
		return err
	})}})
	n := 0
	for u, err := range outer.Stream(t.Context(), host.Text("hi"), host.RunConfig{}).Updates() {
		require.NoError(t, err)
		if u.Event != nil {
			n++
		}
	}
	require.Equal(t, 200, n)
}

type iterHook struct {
	host.BaseHooks
	failed error
	after  func(ctx context.Context)
}

func (*iterHook) SourceID() string { return "it" }

func (h *iterHook) AfterIteration(ctx context.Context, _ *host.SessionContext, _ *host.Iteration) error {
	h.after(ctx)
	return nil
}

func (h *iterHook) RunFailed(_ context.Context, _ *host.SessionContext, err error) error {
	h.failed = err
	return nil
}

func TestStopOnAnEventIsACancelledRun(t *testing.T) {
	h := &iterHook{after: func(ctx context.Context) { _ = host.Emit(ctx, "e", 1) }}
	agent := newAgent(t, host.AgentConfig{Client: &script{}, Providers: []host.Provider{h}, DefaultHistory: host.HistoryWhenMissing})
	s := agent.CreateSession("")
	for u := range agent.Stream(t.Context(), host.Text("hi"), host.RunConfig{Session: s}).Updates() {
		if u.Event != nil {
			break
		}
	}
	stored, err := host.StoredMessages(s.State(host.DefaultHistoryID))
	require.NoError(t, err)
	require.Empty(t, stored, "nothing of a cancelled run is stored")
	require.ErrorIs(t, h.failed, host.ErrStopped)
}

func TestStopSwallowedByMiddleware(t *testing.T) {
	fallback := host.ChatFunc(func(ctx context.Context, c *host.ChatContext, next host.Next) error {
		if err := next(ctx); err != nil {
			c.Result = host.NewResponse("sorry")
		}
		return nil
	})
	agent := newAgent(t, host.AgentConfig{Client: &script{}, Middleware: host.Middleware{Chat: []host.ChatMiddleware{fallback}}})
	s := agent.CreateSession("")
	for range agent.Stream(t.Context(), host.Text("hi"), host.RunConfig{Session: s}).Updates() {
		break
	}
	stored, err := host.StoredMessages(s.State(host.DefaultHistoryID))
	require.NoError(t, err)
	require.Empty(t, stored)
}

func perCall(t *testing.T, model host.ChatClient, h host.HistoryConfig, tools ...host.Tool) *host.Agent {
	return newAgent(t, host.AgentConfig{Client: model, Tools: tools, PerServiceCallHistory: true, Providers: []host.Provider{host.NewInMemoryHistory(h)}})
}

func shape(r *host.ChatRequest) (out []string) {
	for _, m := range r.Messages {
		for _, c := range m.Contents {
			out = append(out, fmt.Sprint(m.Role, " ", c.Kind()))
		}
	}
	return out
}

func TestPerCallSkips(t *testing.T) {
	for name, c := range map[string]host.HistoryConfig{"inputs": {SkipInputs: true}, "outputs": {SkipOutputs: true}} {
		model := &script{replies: []*host.Response{calls("t")}}
		agent := perCall(t, model, c, saying("t"))
		_, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{Session: agent.CreateSession("")})
		require.NoError(t, err)
		t.Log(name, shape(model.requests[1]))
		if len(model.requests[1].Messages) != 3 {
			t.Errorf("%s: %v", name, shape(model.requests[1]))
		}
	}
}

func TestPerCallShowsApprovals(t *testing.T) {
	runs := 0
	model := &script{replies: []*host.Response{callWith("1", "ap", `{}`), callWith("2", "t", `{}`)}}
	agent := perCall(t, model, host.HistoryConfig{}, newAsking("ap", &runs), saying("t"))
	s := agent.CreateSession("")
	r, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{Session: s})
	require.NoError(t, err)
	_, err = agent.Run(t.Context(), answer(asked(r)[0].Respond(true)), host.RunConfig{Session: s})
	require.NoError(t, err)
	for _, q := range model.requests {
		t.Log(shape(q))
		require.NotContains(t, shape(q), "user "+string(message.KindApprovalResponse))
	}
}

func TestPerCallWaitingCallsShown(t *testing.T) {
	runs := 0
	model := &script{replies: []*host.Response{callWith("1", "ap", `{}`), callWith("2", "t", `{}`)}}
	agent := perCall(t, model, host.HistoryConfig{}, newAsking("ap", &runs), saying("t"))
	s := agent.CreateSession("")
	_, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{Session: s})
	require.NoError(t, err)
	_, err = agent.Run(t.Context(), host.Text("something else"), host.RunConfig{Session: s})
	require.NoError(t, err)
	require.Equal(t, []string{"user text", "user text", "assistant function_call", "tool function_result"}, shape(model.requests[2]))
}

type sofar struct {
	host.BaseHooks
	seen []int
}

func (*sofar) SourceID() string { return "s" }

func (h *sofar) BeforeIteration(_ context.Context, _ *host.SessionContext, it *host.Iteration) error {
	if it.SoFar.Usage != nil {
		h.seen = append(h.seen, it.SoFar.Usage.InputTokens)
	}
	return nil
}

func (h *sofar) AfterIteration(_ context.Context, _ *host.SessionContext, it *host.Iteration) error {
	if it.SoFar.Usage != nil {
		h.seen = append(h.seen, it.SoFar.Usage.InputTokens)
	}
	return nil
}

func TestSoFar(t *testing.T) {
	a, b := callWith("1", "t", `{}`), host.NewResponse("x")
	a.Usage, b.Usage = &host.Usage{InputTokens: 10}, &host.Usage{InputTokens: 5}
	h := &sofar{}
	agent := newAgent(t, host.AgentConfig{Client: &script{replies: []*host.Response{a, b}}, Tools: []host.Tool{saying("t")}, Providers: []host.Provider{h}})
	_, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{})
	require.NoError(t, err)
	require.Equal(t, []int{10, 10}, h.seen)
}

func TestQueuedCallsAfterCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var n atomic.Int32
	agent := newAgent(t, host.AgentConfig{
		Client: &script{replies: []*host.Response{calls("t", "t", "t")}}, FunctionInvocation: host.FunctionInvocation{MaxConcurrentCalls: 1},
		Tools: []host.Tool{&function{name: "t", f: func(context.Context) (string, error) { n.Add(1); cancel(); return "", nil }}},
	})
	_, err := agent.Run(ctx, host.Text("hi"), host.RunConfig{})
	require.Error(t, err)
	require.EqualValues(t, 1, n.Load())
}

func TestResponseInside(t *testing.T) {
	agent := newAgent(t, host.AgentConfig{Client: &script{}})
	st := agent.Stream(t.Context(), host.Text("a"), host.RunConfig{})
	for range st.Updates() {
		r, err := st.Response()
		require.False(t, r == nil && err == nil)
	}
}

func TestAfterErrsOfFirstTry(t *testing.T) {
	n := 0
	agent := newAgent(t, host.AgentConfig{Client: &script{}, Providers: []host.Provider{host.AfterRunFunc("p", func(context.Context, *host.SessionContext) error {
		if n++; n == 1 {
			return errors.New("once")
		}
		return nil
	})}, Middleware: host.Middleware{Agent: []host.AgentMiddleware{host.AgentFunc(func(ctx context.Context, c *host.AgentContext, next host.Next) error {
		_ = next(ctx)
		return next(ctx)
	})}}})
	_, err := agent.Run(t.Context(), host.Text("a"), host.RunConfig{})
	require.NoError(t, err)
}

// greeter tells of each new session.
type greeter struct{}

func (greeter) SourceID() string { return "g" }

func (greeter) SessionCreated(ctx context.Context, _ *host.SessionContext) error {
	return host.Emit(ctx, "hello", 1)
}

func TestCreatedDeadlock(t *testing.T) {
	agent := newAgent(t, host.AgentConfig{Client: &script{}, Providers: []host.Provider{greeter{}}})
	s := agent.CreateSession("")
	done := make(chan struct{})
	go func() {
		defer close(done)
		for u := range agent.Stream(context.Background(), host.Text("hi"), host.RunConfig{Session: s}).Updates() {
			if u.Event != nil {
				ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
				_, err := agent.Run(ctx, host.Text("second"), host.RunConfig{Session: s})
				assert.ErrorIs(t, err, context.DeadlineExceeded, "a run waits for another one's session_created no longer than it may")
				cancel()
			}
		}
	}()
	select {
	case <-done:
	case <-time.After(4 * time.Second):
		t.Fatal("deadlock: a run within the loop of the first waits for ever, its context notwithstanding")
	}
}

func TestHookPanicIsNoModelError(t *testing.T) {
	agent := newAgent(t, host.AgentConfig{Client: &script{}})
	st := agent.Stream(t.Context(), host.Text("hi"), host.RunConfig{})
	st.OnStream(host.StreamHooks{Update: func(*host.Update, func(*host.Update) error) error { panic("hook") }})
	_, err := st.Response()
	require.Error(t, err)
	_, is := errors.AsType[*host.ModelError](err)
	require.False(t, is, "%v", err)
}

func TestEmitAfterStop(t *testing.T) {
	left := make(chan struct{})
	var second error
	agent := newAgent(t, host.AgentConfig{Client: &script{replies: []*host.Response{calls("a", "b")}}, Tools: []host.Tool{
		&function{name: "a", f: func(ctx context.Context) (string, error) { return "", host.Emit(ctx, "e", 1) }},
		&function{name: "b", f: func(ctx context.Context) (string, error) {
			<-left
			second = host.Emit(context.WithoutCancel(ctx), "e", 1)
			return "", nil
		}},
	}})
	for u := range agent.Stream(t.Context(), host.Text("x"), host.RunConfig{}).Updates() {
		if u.Event != nil {
			close(left)
			break
		}
	}
	require.ErrorIs(t, second, host.ErrStopped)
}

func TestPerCallHistoryStoresTheInputOfTwoTriesOnce(t *testing.T) {
	model := &failOnce{script: script{replies: []*host.Response{callWith("1", "t", `{}`)}}, at: 2}
	agent := newAgent(t, host.AgentConfig{
		Client: model, Tools: []host.Tool{saying("t")}, PerServiceCallHistory: true,
		Providers: []host.Provider{
			host.WrapFunc("again", func(ctx context.Context, _ *host.SessionContext, next host.Next) error {
				if err := next(ctx); err != nil {
					return next(ctx)
				}
				return nil
			}),
			host.NewInMemoryHistory(host.HistoryConfig{}),
		},
	})
	s := agent.CreateSession("")
	_, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{Session: s})
	require.NoError(t, err)
	require.Equal(t, []string{"user text"}, shape(model.requests[len(model.requests)-1]), "the second try starts from the question")
	stored, err := host.StoredMessages(s.State(host.DefaultHistoryID))
	require.NoError(t, err)
	n := 0
	for _, m := range stored {
		if m.Text() == "hi" {
			n++
		}
	}
	require.Equal(t, 1, n)
}

// A crash between a call and its result leaves the call in the store; no model is sent it, in any call of the next run.
func TestPerCallHistoryAfterACrash(t *testing.T) {
	model := &failOnce{script: script{replies: []*host.Response{callWith("1", "t", `{}`), callWith("2", "t", `{}`)}}, at: 2}
	agent := perCall(t, model, host.HistoryConfig{}, saying("t"))
	s := agent.CreateSession("")
	_, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{Session: s})
	require.Error(t, err)
	first := len(model.requests)
	_, err = agent.Run(t.Context(), host.Text("go on"), host.RunConfig{Session: s})
	require.NoError(t, err)
	for _, r := range model.requests[first:] {
		for _, m := range r.Messages {
			for _, c := range m.Contents {
				if call, ok := c.(message.FunctionCall); ok {
					require.NotEqual(t, "1", call.CallID)
				}
			}
		}
	}
}

// Two messages without ids stay two, also where hooks on the stream build the response anew.
func TestMessagesWithoutIdsStayApartInAStream(t *testing.T) {
	two := func(_ context.Context, c *host.ChatContext, _ host.Next) error {
		c.Result = &host.Response{Messages: []*message.Message{message.Assistant("one"), message.Assistant("two")}}
		return nil
	}
	var log []string
	m := onStream("agent", upper(&log))
	m.Chat = []host.ChatMiddleware{host.ChatFunc(two)}
	r, err := newAgent(t, host.AgentConfig{Middleware: m}).Stream(t.Context(), host.Text("hi"), host.RunConfig{}).Response()
	require.NoError(t, err)
	require.Len(t, r.Messages, 2)
	require.Equal(t, "ONETWO", r.Text())
}
