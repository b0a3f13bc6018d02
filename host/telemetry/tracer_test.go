package telemetry_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/codes"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/telemetry"
	"github.com/weft-run/weft/message"
)

// around are a wrapping provider, a provider with hooks, and middleware of each layer.
func around() ([]host.Provider, host.Middleware) {
	providers := []host.Provider{
		host.WrapFunc("wrapper", func(ctx context.Context, _ *host.SessionContext, next host.Next) error { return next(ctx) }),
		host.BeforeRunFunc("clock", func(_ context.Context, sc *host.SessionContext) error {
			sc.ExtendMessages(message.System("It is noon."))
			sc.ExtendInstructions("Be brief.")
			return nil
		}),
	}
	return providers, host.Middleware{
		Agent:    []host.AgentMiddleware{host.AgentFunc(func(ctx context.Context, _ *host.AgentContext, next host.Next) error { return next(ctx) })},
		Chat:     []host.ChatMiddleware{host.ChatFunc(func(ctx context.Context, _ *host.ChatContext, next host.Next) error { return next(ctx) })},
		Function: []host.FunctionMiddleware{host.FunctionFunc(func(ctx context.Context, _ *host.FunctionContext, next host.Next) error { return next(ctx) })},
	}
}

func TestSpansOfARun(t *testing.T) {
	for _, streamed := range []bool{false, true} {
		t.Run(fmt.Sprintf("streamed=%t", streamed), func(t *testing.T) {
			r := newRig(t, telemetry.Config{Provider: "openai", ServerAddress: "api.example.com", ServerPort: 8443})
			providers, middleware := around()
			agent := newAgent(t, host.AgentConfig{
				Name: "guide", Tracer: r, Providers: providers, Middleware: middleware,
				Client: &scripted{replies: []*host.Response{
					calls(message.FunctionCall{CallID: "c1", Name: "add"}, message.FunctionCall{CallID: "c2", Name: "sub"}), says("Done."),
				}},
				Tools:   []host.Tool{answering("add", "1"), answering("sub", "2")},
				Options: host.Options{Model: "big", Temperature: new(0.5), TopP: new(0.9), MaxTokens: new(100), Seed: new(7), Stop: []string{"END"}},
			})
			session := agent.CreateSession("s1")
			before := time.Now()
			_, err := run(t.Context(), agent, streamed, host.RunConfig{Session: session})
			after := time.Now()
			require.NoError(t, err)

			const (
				inRun = "invoke_agent guide > process agent host.AgentFunc"
				inTry = inRun + " > process wrapper"
			)
			assert.ElementsMatch(t, []string{
				"invoke_agent guide", inRun, inTry,
				inTry + " > before_run clock",
				inTry + " > process chat host.ChatFunc", inTry + " > process chat host.ChatFunc > chat big",
				inTry + " > execute_tool add", inTry + " > execute_tool add > process function host.FunctionFunc",
				inTry + " > execute_tool sub", inTry + " > execute_tool sub > process function host.FunctionFunc",
				inTry + " > process chat host.ChatFunc", inTry + " > process chat host.ChatFunc > chat big",
			}, r.tree())

			whole := r.span(t, "invoke_agent guide")
			assert.Equal(t, trace.SpanKindInternal, whole.SpanKind)
			assert.Equal(t, codes.Unset, whole.Status.Code)
			assert.Equal(t, "https://opentelemetry.io/schemas/1.41.0", whole.InstrumentationScope.SchemaURL)
			have := attributes(whole.Attributes)
			runID := have["weft.run.id"]
			assert.NotEmpty(t, runID)
			assert.Equal(t, map[string]any{
				"weft.run.id": runID, "gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "guide",
				"gen_ai.conversation.id": "s1", "gen_ai.request.stream": streamed, "gen_ai.response.id": "r2", "gen_ai.response.model": "big-1",
				"gen_ai.response.finish_reasons": []string{"stop"}, "gen_ai.usage.input_tokens": int64(30), "gen_ai.usage.output_tokens": int64(12),
				"gen_ai.usage.cache_read.input_tokens": int64(12), "gen_ai.usage.reasoning.output_tokens": int64(3),
			}, have)

			chat := r.span(t, "chat big")
			assert.Equal(t, trace.SpanKindClient, chat.SpanKind)
			have = attributes(chat.Attributes)
			if first, ok := have["gen_ai.response.time_to_first_chunk"]; assert.Equal(t, streamed, ok) && ok {
				assert.Positive(t, first)
				delete(have, "gen_ai.response.time_to_first_chunk")
			}
			assert.Equal(t, map[string]any{
				"weft.run.id": runID, "gen_ai.operation.name": "chat", "gen_ai.provider.name": "openai",
				"server.address": "api.example.com", "server.port": int64(8443), "gen_ai.agent.name": "guide", "gen_ai.conversation.id": "s1",
				"gen_ai.request.stream": streamed, "gen_ai.request.model": "big", "gen_ai.request.temperature": 0.5, "gen_ai.request.top_p": 0.9,
				"gen_ai.request.max_tokens": int64(100), "gen_ai.request.seed": int64(7), "gen_ai.request.stop_sequences": []string{"END"},
				"gen_ai.response.id": "r1", "gen_ai.response.model": "big-1", "gen_ai.response.finish_reasons": []string{"tool_calls"},
				"gen_ai.usage.input_tokens": int64(10), "gen_ai.usage.output_tokens": int64(5),
			}, have)

			assert.Equal(t, map[string]any{
				"weft.run.id": runID, "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "sub", "gen_ai.tool.call.id": "c2",
				"gen_ai.tool.type": "function", "gen_ai.agent.name": "guide", "gen_ai.conversation.id": "s1",
			}, attributes(r.span(t, "execute_tool sub").Attributes))
			assert.Equal(t, map[string]any{
				"weft.run.id": runID, "weft.hook": "before_run", "weft.source.id": "clock", "weft.source.type": "func",
				"weft.added.messages": int64(1), "weft.added.instructions": int64(1), "weft.added.tools": int64(0),
				"gen_ai.agent.name": "guide", "gen_ai.conversation.id": "s1",
			}, attributes(r.span(t, "before_run clock").Attributes))

			assert.False(t, whole.StartTime.Before(before) || whole.EndTime.After(after), "the run lies within the call")
			for _, s := range r.spans.GetSpans() {
				assert.Falsef(t, s.StartTime.Before(whole.StartTime) || s.EndTime.After(whole.EndTime), "%s lies within the run", s.Name)
			}
			assert.Zero(t, r.open.n.Load())
		})
	}
}

func TestARunWithoutASessionNamesNoConversation(t *testing.T) {
	r := newRig(t, telemetry.Config{})
	providers, _ := around()
	agent := newAgent(t, host.AgentConfig{Tracer: r, Providers: providers, Client: &scripted{replies: []*host.Response{says("Hi.")}}})
	_, err := run(t.Context(), agent, false, host.RunConfig{})
	require.NoError(t, err)
	require.NotContains(t, r.everything(t), "gen_ai.conversation.id")

	_, err = run(t.Context(), agent, false, host.RunConfig{Options: host.Options{ConversationID: "kept by the service"}})
	require.NoError(t, err)
	require.Contains(t, r.everything(t), "gen_ai.conversation.id:kept by the service")
}

func TestAnAgentInsideAToolIsInsideItsSpan(t *testing.T) {
	r := newRig(t, telemetry.Config{})
	inner := newAgent(t, host.AgentConfig{Name: "inner", Tracer: r, Client: &scripted{replies: []*host.Response{says("Hi.")}}})
	ask := &tool{"ask", func(ctx context.Context, _ jsontext.Value) (jsontext.Value, error) {
		_, err := inner.Run(ctx, host.Text("hi"), host.RunConfig{})
		return jsontext.Value(`1`), err
	}}
	outer := newAgent(t, host.AgentConfig{Name: "outer", Tracer: r, Tools: []host.Tool{ask}, Client: &scripted{replies: []*host.Response{
		calls(message.FunctionCall{CallID: "c1", Name: "ask"}), says("Done."),
	}}})
	_, err := run(t.Context(), outer, false, host.RunConfig{Session: outer.CreateSession("s1")})
	require.NoError(t, err)
	require.Contains(t, r.tree(), "invoke_agent outer > execute_tool ask > invoke_agent inner > chat")
	require.NotContains(t, attributes(r.span(t, "invoke_agent inner").Attributes), "gen_ai.conversation.id", "the session is the outer run's")
}

// typed is an error that names its kind.
type typed string

func (typed) Error() string       { return "secret" }
func (e typed) ErrorType() string { return string(e) }

func TestErrorTypes(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{errors.New("boom"), "model"},
		{&host.ModelError{Kind: host.ErrRateLimited, Status: 429}, "rate_limited"},
		{&host.ModelError{Kind: host.ErrUnavailable}, "unavailable"},
		{&host.ModelError{Kind: host.ErrAuthentication}, "authentication"},
		{&host.ModelError{Kind: host.ErrNotFound}, "not_found"},
		{&host.ModelError{Kind: host.ErrInvalidRequest}, "invalid_request"},
		{&host.ModelError{Kind: host.ErrContextLength}, "context_length"},
		{&host.ModelError{Kind: host.ErrContentFilter}, "content_filter"},
		{&host.ModelError{Kind: host.ErrBadReply}, "bad_reply"},
		{&host.ModelError{Kind: host.ErrTimeout}, "timeout"},
		{&host.ModelError{Status: 418, Err: errors.New("boom")}, "418"},
		{context.DeadlineExceeded, "timeout"},
		{context.Canceled, "canceled"},
		{host.ErrNoResult, "no_result"},
		{&host.PanicError{Value: "secret"}, "panic"},
		{typed("disk.full"), "disk.full"},
		{typed("A text, not a kind"), "model"},
	} {
		r := newRig(t, telemetry.Config{Provider: "p"})
		agent := newAgent(t, host.AgentConfig{Name: "a", Tracer: r, Client: &scripted{fail: c.err}})
		_, err := run(t.Context(), agent, false, host.RunConfig{})
		require.Error(t, err)
		for _, name := range []string{"chat", "invoke_agent a"} {
			s := r.span(t, name)
			assert.Equal(t, codes.Error, s.Status.Code, name)
			assert.Empty(t, s.Status.Description, name)
			assert.Equal(t, c.want, attributes(s.Attributes)["error.type"], "%s: %v", name, c.err)
		}
		m := r.metrics(t)
		assert.Equal(t, map[string]uint64{"error.type=" + c.want + ",gen_ai.operation.name=chat,gen_ai.provider.name=p": 1}, m["gen_ai.client.operation.duration"])
		assert.Equal(t, map[string]uint64{"error.type=" + c.want + ",gen_ai.agent.name=a": 1}, m["weft.run.duration"])
	}
}

func TestHTTPStatusOfAModel(t *testing.T) {
	r := newRig(t, telemetry.Config{})
	agent := newAgent(t, host.AgentConfig{Tracer: r, Client: &scripted{fail: &host.ModelError{Kind: host.ErrRateLimited, Status: 429}}})
	_, err := run(t.Context(), agent, false, host.RunConfig{})
	require.Error(t, err)
	require.EqualValues(t, 429, attributes(r.span(t, "chat").Attributes)["http.response.status_code"])
}

// skipping is a provider that fails and may be skipped.
type skipping struct{}

func (skipping) SourceID() string                                      { return "weak" }
func (skipping) ErrorPolicy() host.ErrorPolicy                         { return host.OnErrorSkip }
func (skipping) BeforeRun(context.Context, *host.SessionContext) error { return errors.New("boom") }

func TestASkippedHookFailedAndTheRunDidNot(t *testing.T) {
	r := newRig(t, telemetry.Config{})
	agent := newAgent(t, host.AgentConfig{
		Name: "a", Tracer: r, Client: &scripted{replies: []*host.Response{says("Hi.")}}, Providers: []host.Provider{skipping{}},
	})
	_, err := run(t.Context(), agent, false, host.RunConfig{})
	require.NoError(t, err)
	hook := r.span(t, "before_run weak")
	assert.Equal(t, codes.Error, hook.Status.Code)
	assert.Equal(t, "hook", attributes(hook.Attributes)["error.type"])
	assert.Equal(t, true, attributes(hook.Attributes)["weft.skipped"])
	assert.Equal(t, codes.Unset, r.span(t, "invoke_agent a").Status.Code)
}

func TestTerminationIsNoError(t *testing.T) {
	r := newRig(t, telemetry.Config{})
	stop := host.AgentFunc(func(_ context.Context, c *host.AgentContext, _ host.Next) error {
		c.Result = host.NewResponse("stopped")
		return host.ErrTerminate
	})
	agent := newAgent(t, host.AgentConfig{
		Tracer: r, Client: &scripted{}, Middleware: host.Middleware{Agent: []host.AgentMiddleware{stop}},
	})
	_, err := run(t.Context(), agent, false, host.RunConfig{})
	require.NoError(t, err)
	s := r.span(t, "process agent host.AgentFunc")
	assert.Equal(t, codes.Unset, s.Status.Code)
	assert.Equal(t, true, attributes(s.Attributes)["weft.terminated"])
	assert.NotContains(t, attributes(s.Attributes), "error.type")
}

func TestAStreamThatWasLeftEndsAllItsSpans(t *testing.T) {
	for _, how := range []string{"left", "cancelled"} {
		t.Run(how, func(t *testing.T) {
			r := newRig(t, telemetry.Config{})
			providers, middleware := around()
			model := &scripted{replies: []*host.Response{says("A weft is")}, hang: make(chan struct{})}
			agent := newAgent(t, host.AgentConfig{Name: "a", Tracer: r, Client: model, Providers: providers, Middleware: middleware})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			want := "stopped"
			if how == "cancelled" {
				want = "canceled"
				go func() { <-model.hang; cancel() }()
			}
			for _, err := range agent.Stream(ctx, host.Text("hi"), host.RunConfig{}).Updates() {
				if how == "left" {
					break
				}
				if err != nil {
					require.ErrorIs(t, err, context.Canceled)
				}
			}
			require.Zero(t, r.open.n.Load())
			for _, name := range []string{"invoke_agent a", "process agent host.AgentFunc", "process wrapper", "process chat host.ChatFunc", "chat"} {
				s := r.span(t, name)
				if name == "chat" && how == "left" { // the model did nothing wrong
					want = "stopped"
				}
				assert.Equal(t, want, attributes(s.Attributes)["error.type"], name)
			}
		})
	}
}

func TestManyRunsAtOnce(t *testing.T) {
	r := newRig(t, telemetry.Config{Content: true})
	providers, middleware := around()
	var wg sync.WaitGroup
	for i := range 64 {
		wg.Go(func() {
			agent := newAgent(t, host.AgentConfig{
				Name: "guide", Tracer: r, Providers: providers, Middleware: middleware, Tools: []host.Tool{answering("add", "1"), answering("sub", "2")},
				Client: &scripted{replies: []*host.Response{
					calls(message.FunctionCall{CallID: "c1", Name: "add"}, message.FunctionCall{CallID: "c2", Name: "sub"}), says("Done."),
				}},
			})
			_, err := run(t.Context(), agent, i%2 == 0, host.RunConfig{})
			assert.NoError(t, err)
		})
	}
	wg.Wait()
	assert.Zero(t, r.open.n.Load())
	traces := map[trace.TraceID]int{}
	for _, s := range r.spans.GetSpans() {
		traces[s.SpanContext.TraceID()]++
	}
	assert.Len(t, traces, 64)
	for _, spans := range traces {
		assert.Equal(t, 12, spans, "each run has its spans in its own trace")
	}
}

func TestMetrics(t *testing.T) {
	r := newRig(t, telemetry.Config{Provider: "openai", ServerAddress: "api.example.com"})
	providers, middleware := around()
	agent := newAgent(t, host.AgentConfig{
		Name: "guide", Tracer: r, Providers: providers, Middleware: middleware, Options: host.Options{Model: "big"},
		Client: &scripted{replies: []*host.Response{calls(message.FunctionCall{CallID: "c1", Name: "add"}), says("Done.")}},
		Tools:  []host.Tool{answering("add", "1")},
	})
	_, err := run(t.Context(), agent, true, host.RunConfig{})
	require.NoError(t, err)
	const model = "gen_ai.operation.name=chat,gen_ai.provider.name=openai,gen_ai.request.model=big,gen_ai.response.model=big-1,"
	assert.Equal(t, map[string]map[string]uint64{
		"gen_ai.client.token.usage": {
			model + "gen_ai.token.type=input,server.address=api.example.com":  2,
			model + "gen_ai.token.type=output,server.address=api.example.com": 2,
		},
		"gen_ai.client.operation.duration":            {model + "server.address=api.example.com": 2},
		"gen_ai.client.operation.time_to_first_chunk": {model + "server.address=api.example.com": 2},
		"weft.run.duration":                           {"gen_ai.agent.name=guide": 1},
		"weft.hook.duration": {
			"gen_ai.agent.name=guide,weft.hook=before_run,weft.source.id=clock":                                1,
			"gen_ai.agent.name=guide,weft.hook=function":                                                       1,
			"gen_ai.agent.name=guide,weft.hook=process,weft.layer=agent,weft.source.type=host.AgentFunc":       1,
			"gen_ai.agent.name=guide,weft.hook=process,weft.layer=chat,weft.source.type=host.ChatFunc":         2,
			"gen_ai.agent.name=guide,weft.hook=process,weft.layer=context,weft.source.id=wrapper":              1,
			"gen_ai.agent.name=guide,weft.hook=process,weft.layer=function,weft.source.type=host.FunctionFunc": 1,
		},
	}, r.metrics(t))
}

func TestMetricsAloneLeaveTheCallersSpanAlone(t *testing.T) {
	spans := tracetest.NewInMemoryExporter()
	ctx, request := sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans)).Tracer("app").Start(t.Context(), "request")
	tracer, err := telemetry.New(telemetry.Config{MeterProvider: sdkmetric.NewMeterProvider()})
	require.NoError(t, err)
	agent := newAgent(t, host.AgentConfig{Tracer: tracer, Client: &scripted{fail: errors.New("boom")}})
	_, err = run(ctx, agent, true, host.RunConfig{})
	require.Error(t, err)
	require.Empty(t, spans.GetSpans(), "it has not ended")
	request.End()
	require.Len(t, spans.GetSpans(), 1)
	require.Equal(t, codes.Unset, spans.GetSpans()[0].Status.Code)
	require.Empty(t, spans.GetSpans()[0].Attributes)
}

func TestConfig(t *testing.T) {
	_, err := telemetry.New(telemetry.Config{ContentLimit: -1, ServerPort: 70_000})
	require.EqualError(t, err, "telemetry: content limit: -1 is less than 0; 0 stands for 16384 bytes\n"+
		"server port: 70000 is not a port\nserver port: it is set, and the server address is not: set both or none")

	silent, err := telemetry.New(telemetry.Config{})
	require.NoError(t, err)
	agent := newAgent(t, host.AgentConfig{Tracer: silent, Client: &scripted{replies: []*host.Response{says("Hi.")}}})
	_, err = run(t.Context(), agent, true, host.RunConfig{})
	require.NoError(t, err, "the zero config records nothing, and does no harm")

	r := newRig(t, telemetry.Config{})
	agent = newAgent(t, host.AgentConfig{Tracer: r, Client: &scripted{replies: []*host.Response{says("Hi.")}}})
	_, err = run(t.Context(), agent, false, host.RunConfig{})
	require.NoError(t, err)
	have := attributes(r.span(t, "chat").Attributes)
	assert.Equal(t, "_OTHER", have["gen_ai.provider.name"])
	assert.NotContains(t, have, "server.address")
	r.span(t, "invoke_agent")
}

func TestCostsAreAttributesOfThePartThatReportedThem(t *testing.T) {
	r := newRig(t, telemetry.Config{})
	reports := func(ctx context.Context) {
		host.ReportCost(ctx, host.Cost{Name: "cpu", Used: 3, Limit: 5, Unit: "ns"}, host.Cost{Name: "calls", Used: 2})
	}
	add := &tool{"add", func(ctx context.Context, _ jsontext.Value) (jsontext.Value, error) {
		reports(ctx)
		return jsontext.Value(`1`), nil
	}}
	agent := newAgent(t, host.AgentConfig{
		Tracer: r, Tools: []host.Tool{add},
		Client:    &scripted{replies: []*host.Response{calls(message.FunctionCall{CallID: "c1", Name: "add"}), says("Done.")}},
		Providers: []host.Provider{host.BeforeRunFunc("clock", func(ctx context.Context, _ *host.SessionContext) error { reports(ctx); return nil })},
		Middleware: host.Middleware{
			Agent: []host.AgentMiddleware{host.AgentFunc(func(ctx context.Context, _ *host.AgentContext, next host.Next) error {
				reports(ctx)
				return next(ctx)
			})},
			Chat: []host.ChatMiddleware{host.ChatFunc(func(ctx context.Context, _ *host.ChatContext, next host.Next) error {
				reports(ctx)
				return next(ctx)
			})},
			Function: []host.FunctionMiddleware{host.FunctionFunc(func(ctx context.Context, _ *host.FunctionContext, next host.Next) error {
				reports(ctx)
				return next(ctx)
			})},
		},
	})
	_, err := run(t.Context(), agent, false, host.RunConfig{})
	require.NoError(t, err)
	for span, want := range map[string]bool{
		"before_run clock": true, "process agent host.AgentFunc": true, "process chat host.ChatFunc": true,
		"process function host.FunctionFunc": true, "execute_tool add": true, "chat": false, "invoke_agent": false,
	} {
		have := attributes(r.span(t, span).Attributes)
		if !want {
			assert.NotContains(t, fmt.Sprint(have), "weft.cost.", span)
			continue
		}
		assert.EqualValues(t, 3, have["weft.cost.cpu.used"], span)
		assert.EqualValues(t, 5, have["weft.cost.cpu.limit"], span)
		assert.EqualValues(t, 2, have["weft.cost.calls.used"], span)
		assert.NotContains(t, have, "weft.cost.calls.limit", span)
	}
}
