package host_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host"
)

func spends(ctx context.Context, name string) {
	host.ReportCost(ctx, host.Cost{Name: name, Used: 1, Limit: 2})
}

// costly reports a cost before next and one after it, as what is streamed and each part inside does too.
func costly() ([]host.Provider, host.Middleware) {
	around := func(ctx context.Context, name string, next host.Next) error {
		spends(ctx, name+" before")
		err := next(ctx)
		spends(ctx, name+" after")
		return err
	}
	providers := []host.Provider{
		host.BeforeRunFunc("p", func(ctx context.Context, sc *host.SessionContext) error {
			spends(ctx, "provider")
			sc.ReportCost(host.Cost{Name: "provider too"})
			return nil
		}),
		host.WrapFunc("w", func(ctx context.Context, _ *host.SessionContext, next host.Next) error {
			return around(ctx, "wrap", next)
		}),
	}
	return providers, host.Middleware{
		Agent: []host.AgentMiddleware{host.AgentFunc(func(ctx context.Context, _ *host.AgentContext, next host.Next) error {
			return around(ctx, "agent", next)
		})},
		Chat: []host.ChatMiddleware{
			host.ChatFunc(func(ctx context.Context, c *host.ChatContext, next host.Next) error {
				c.OnStream(host.StreamHooks{Update: func(u *host.Update, emit func(*host.Update) error) error {
					spends(ctx, "update")
					return emit(u)
				}})
				return around(ctx, "outer chat", next)
			}),
			host.ChatFunc(func(ctx context.Context, _ *host.ChatContext, next host.Next) error {
				return around(ctx, "inner chat", next)
			}),
		},
		Function: []host.FunctionMiddleware{host.FunctionFunc(func(ctx context.Context, _ *host.FunctionContext, next host.Next) error {
			return around(ctx, "function", next)
		})},
	}
}

func TestEachPartOfARunHasItsOwnCosts(t *testing.T) {
	got := map[string][]string{}
	providers, middleware := costly()
	agent := newAgent(t, host.AgentConfig{
		Client:    &script{replies: []*host.Response{calls("t")}},
		Providers: providers, Middleware: middleware,
		Tools: []host.Tool{&function{name: "t", f: func(ctx context.Context) (string, error) {
			spends(ctx, "tool")
			return "done", nil
		}}},
		Tracer: host.TraceFunc(func(_ context.Context, h host.HookTrace) {
			names := []string{}
			for _, c := range h.Costs {
				names = append(names, c.Name)
			}
			got[partName(&h)+" "+h.SourceID] = append(got[partName(&h)+" "+h.SourceID], names...)
		}),
	})
	_, err := agent.Stream(t.Context(), host.Text("hi"), host.RunConfig{}).Response()
	require.NoError(t, err)
	outer, inner := []string{"outer chat before", "update", "outer chat after"}, []string{"inner chat before", "inner chat after"}
	require.Equal(t, map[string][]string{
		"before_run p":      {"provider", "provider too"},
		"process context w": {"wrap before", "wrap after"},
		"process agent ":    {"agent before", "agent after"},
		// Two model calls, of which the inner middleware's part ends first.
		"process chat ":     {inner[0], inner[1], outer[0], outer[1], outer[2], inner[0], inner[1], outer[0], outer[1], outer[2]},
		"process function ": {"function before", "function after"},
		"function t ":       {"tool"},
		"model ":            nil,
		"run ":              nil,
	}, got)
}

func TestTheLastReportOfACostCounts(t *testing.T) {
	var got []host.Cost
	var late context.Context
	agent := newAgent(t, host.AgentConfig{
		Tracer: host.TraceFunc(func(_ context.Context, h host.HookTrace) {
			if h.Hook == "before_run" {
				got = h.Costs
			}
		}),
		Providers: []host.Provider{host.BeforeRunFunc("p", func(ctx context.Context, _ *host.SessionContext) error {
			host.ReportCost(ctx, host.Cost{Name: "cpu", Used: 1, Limit: 5}, host.Cost{Name: "memory", Used: 7})
			host.ReportCost(ctx, host.Cost{Name: "cpu", Used: 3})
			late = ctx
			return nil
		})},
	})
	_, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{})
	require.NoError(t, err)
	host.ReportCost(late, host.Cost{Name: "cpu", Used: 9}, host.Cost{Name: "late"})
	require.Equal(t, []host.Cost{{Name: "cpu", Used: 3}, {Name: "memory", Used: 7}}, got)
}

func TestARunThatNobodyFollowsCostsThePartAroundItNothing(t *testing.T) {
	providers, middleware := costly()
	inner := newAgent(t, host.AgentConfig{Providers: providers, Middleware: middleware})
	var got []host.Cost
	outer := newAgent(t, host.AgentConfig{
		Client: &script{replies: []*host.Response{calls("t")}},
		Tools: []host.Tool{&function{name: "t", f: func(ctx context.Context) (string, error) {
			_, err := inner.Run(ctx, host.Text("hi"), host.RunConfig{})
			return "done", err
		}}},
		Tracer: host.TraceFunc(func(_ context.Context, h host.HookTrace) {
			if h.Hook != "model" {
				got = append(got, h.Costs...)
			}
		}),
	})
	_, err := outer.Run(t.Context(), host.Text("hi"), host.RunConfig{})
	require.NoError(t, err)
	require.Empty(t, got)
}

func TestAPartThatFailsHasItsCosts(t *testing.T) {
	var got []host.Cost
	agent := newAgent(t, host.AgentConfig{
		Tracer: host.TraceFunc(func(_ context.Context, h host.HookTrace) { got = append(got, h.Costs...) }),
		Middleware: host.Middleware{Chat: []host.ChatMiddleware{host.ChatFunc(func(ctx context.Context, _ *host.ChatContext, _ host.Next) error {
			spends(ctx, "cpu")
			return errors.New("no")
		})}},
	})
	_, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{})
	require.Error(t, err)
	require.Equal(t, []host.Cost{{Name: "cpu", Used: 1, Limit: 2}}, got)
	host.ReportCost(t.Context(), host.Cost{Name: "outside of a run"})
}
