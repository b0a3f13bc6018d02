package host_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host"
)

// nesting is a tracer that knows in which part another one began.
type nesting struct {
	mu  sync.Mutex
	log []string
}

func (n *nesting) Start(ctx context.Context, t *host.HookTrace) context.Context {
	parent, _ := ctx.Value(n).(string)
	return context.WithValue(ctx, n, strings.TrimPrefix(parent+"/"+partName(t), "/"))
}

func (n *nesting) End(ctx context.Context, t *host.HookTrace) {
	n.mu.Lock()
	defer n.mu.Unlock()
	line := ctx.Value(n).(string)
	if t.Err != nil {
		line += " failed"
	}
	if t.Start.IsZero() || t.Duration <= 0 {
		line += " without a time"
	}
	n.log = append(n.log, line)
}

func partName(t *host.HookTrace) string { return strings.TrimSpace(t.Hook + " " + t.Layer + t.Tool) }

func TestTracersSeePartsNested(t *testing.T) {
	agentTracer, runTracer := &nesting{}, &nesting{}
	pass := host.Middleware{
		Agent:    []host.AgentMiddleware{host.AgentFunc(func(ctx context.Context, _ *host.AgentContext, next host.Next) error { return next(ctx) })},
		Chat:     []host.ChatMiddleware{host.ChatFunc(func(ctx context.Context, _ *host.ChatContext, next host.Next) error { return next(ctx) })},
		Function: []host.FunctionMiddleware{host.FunctionFunc(func(ctx context.Context, _ *host.FunctionContext, next host.Next) error { return next(ctx) })},
	}
	agent := newAgent(t, host.AgentConfig{
		Client: &script{replies: []*host.Response{calls("t", "nosuch")}}, Tools: []host.Tool{saying("t")}, Middleware: pass, Tracer: agentTracer,
		Providers: []host.Provider{
			host.BeforeRunFunc("p", func(context.Context, *host.SessionContext) error { return nil }),
			host.WrapFunc("w", func(ctx context.Context, _ *host.SessionContext, next host.Next) error { return next(ctx) }),
		},
	})
	_, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{Tracer: runTracer})
	require.NoError(t, err)
	require.Equal(t, []string{
		"run/process agent/before_run",
		"run/process agent/process context/process chat/model",
		"run/process agent/process context/process chat",
		"run/process agent/process context/function t/process function",
		"run/process agent/process context/function t",
		"run/process agent/process context/function nosuch failed",
		"run/process agent/process context/process chat/model",
		"run/process agent/process context/process chat",
		"run/process agent/process context",
		"run/process agent",
		"run",
	}, runTracer.log)
	require.Len(t, agentTracer.log, len(runTracer.log), "the agent's tracer hears of the same")
}

func TestTraceOfAStreamedModelCall(t *testing.T) {
	var got host.HookTrace
	agent := newAgent(t, host.AgentConfig{Tracer: host.TraceFunc(func(_ context.Context, h host.HookTrace) {
		if h.Hook == "model" {
			got = h
		}
	})})
	_, err := agent.Stream(t.Context(), host.Text("one two"), host.RunConfig{}).Response()
	require.NoError(t, err)
	require.True(t, got.Streaming)
	require.Equal(t, "one two", got.Response.Text())
	require.Equal(t, "one two", got.Request.Messages[0].Text())
	require.Positive(t, got.FirstUpdate)
	require.LessOrEqual(t, got.FirstUpdate, got.Duration)
}

// limited is a client that knows what its call failed of.
type limited struct{ echo }

func (*limited) Complete(context.Context, *host.ChatRequest) (*host.Response, error) {
	return nil, fmt.Errorf("wrapped: %w", &host.ModelError{Kind: host.ErrRateLimited, Status: 429, RetryAfter: time.Second, Err: errors.New("slow down")})
}

func TestClientsSayWhatAModelCallFailedOf(t *testing.T) {
	_, err := newAgent(t, host.AgentConfig{Client: &limited{}}).Run(t.Context(), host.Text("hi"), host.RunConfig{})
	require.ErrorIs(t, err, host.ErrRateLimited)
	failure, ok := errors.AsType[*host.ModelError](err)
	require.True(t, ok)
	require.Equal(t, time.Second, failure.RetryAfter)
	require.EqualError(t, err, "wrapped: model: rate limited: slow down")
}
