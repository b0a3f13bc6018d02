package wasm_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/abi"
	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/wasm"
)

// costsOf are the costs of the parts of a streamed run that a plugin stands in, by part and name. One of several model calls
// or tool calls stands for all.
func costsOf(t *testing.T, client host.ChatClient, session *host.Session, m host.Middleware, providers ...host.Provider) map[string]map[string]host.Cost {
	t.Helper()
	all := map[string]map[string]host.Cost{}
	_, err := agentWith(t, client, m, providers...).Stream(t.Context(), host.Text("hi"), host.RunConfig{
		Session: session,
		Tracer: host.TraceFunc(func(_ context.Context, h host.HookTrace) {
			costs := map[string]host.Cost{}
			for _, c := range h.Costs {
				require.NotContains(t, costs, c.Name)
				costs[c.Name] = c
			}
			if h.Hook == "process" {
				h.Hook += " " + h.Layer
			}
			all[h.Hook] = costs
		}),
	}).Response()
	require.NoError(t, err)
	return all
}

// requireCall looks for what one call of a plugin costs.
func requireCall(t *testing.T, costs map[string]host.Cost, cpu time.Duration) {
	t.Helper()
	require.Len(t, costs, 3)
	for name, want := range map[string]host.Cost{
		"cpu":    {Limit: int64(cpu), Unit: "ns"},
		"memory": {Limit: 32 << 20, Unit: "bytes"},
		"output": {Limit: 256 << 10, Unit: "bytes"},
	} {
		have := costs[name]
		require.Positive(t, have.Used, name)
		want.Name, want.Used = name, have.Used
		require.Equal(t, want, have)
	}
}

func TestAPluginAmongTheMiddlewareTellsTheTraceWhatItCosts(t *testing.T) {
	for _, layer := range []abi.Layer{abi.LayerAgent, abi.LayerChat, abi.LayerFunction} {
		t.Run(string(layer), func(t *testing.T) {
			tool, _ := script{
				"before_run": {out(`{"extend_tools":[{"name":"add"}]}`)}, "call_tool": {out(`{"result":3}`)},
			}.load(t, wasm.Config{SourceID: "tools", Grants: all})
			p, _ := around(t, script{"process": {next(`{}`), out(`{}`)}}, layer, wasm.Config{})
			costs := costsOf(t, callsAdd{}, nil, p.ForLayer(), tool)
			requireCall(t, costs["process "+string(layer)], 2*time.Second)
			require.EqualValues(t, len(`{}`), costs["process "+string(layer)]["output"].Used, "what is inside of call_next belongs to others")
			requireCall(t, costs["before_run"], 2*time.Second)
			requireCall(t, costs["function"], 30*time.Second)
			require.EqualValues(t, len(`{"result":3}`), costs["function"]["output"].Used)
		})
	}
}

func TestHooksOfTheLoopTellTheTraceWhatTheyCost(t *testing.T) {
	s := script{"before_run": {out(`{"extend_tools":[{"name":"add"}]}`)}, "call_tool": {out(`{}`)}}
	hooks := []string{"session_created", "before_iteration", "before_tools", "before_function", "after_function", "after_iteration", "after_run"}
	for _, hook := range hooks {
		s[hook] = []step{out(`{}`)}
	}
	p, _ := s.load(t, wasm.Config{Grants: all})
	costs := costsOf(t, callsAdd{}, nil, host.Middleware{}, p)
	for _, hook := range hooks {
		requireCall(t, costs[hook], 2*time.Second)
	}
}

func TestWhatOnUpdateCostsIsAddedToItsProcess(t *testing.T) {
	p, _ := around(t, script{"on_update": {out(`{"carry":1}`)}, "process": {next(`{}`), out(`{}`)}}, abi.LayerChat, wasm.Config{})
	costs := costsOf(t, &model{}, nil, p.ForLayer())["process chat"]
	require.Equal(t, host.Cost{Name: "calls", Used: 3}, costs["calls"], "an update, the end of the stream, and process")
	require.Zero(t, costs["cpu"].Limit, "the limit is that of one call")
	require.Positive(t, costs["cpu"].Used)
	require.Equal(t, host.Cost{Name: "output", Used: int64(len(`{"carry":1}`)), Limit: 256 << 10, Unit: "bytes"}, costs["output"], "the most that a call returned")
	require.EqualValues(t, 32<<20, costs["memory"].Limit)

	alone, _ := around(t, script{"on_update": {out(`{}`)}}, abi.LayerAgent, wasm.Config{})
	costs = costsOf(t, &model{}, nil, alone.ForLayer())["process agent"]
	require.Equal(t, host.Cost{Name: "calls", Used: 2}, costs["calls"])
}

func TestAMigrationIsAddedToTheHookThatItIsFor(t *testing.T) {
	p, _ := script{
		"describe":      {out(`{"state_version":2}`)},
		"migrate_state": {out(`{"state":{"names":["Ada"]}}`)},
		"before_run":    {out(`{}`)},
	}.load(t, wasm.Config{})
	session := host.NewSession("s")
	require.NoError(t, session.State("p").Replace([]byte(`{"name":"Ada"}`)))
	require.Equal(t, host.Cost{Name: "calls", Used: 2}, costsOf(t, &model{}, session, host.Middleware{}, p)["before_run"]["calls"])
	requireCall(t, costsOf(t, &model{}, session, host.Middleware{}, p)["before_run"], 2*time.Second)
}

func TestCostsThatAreCountedInFuel(t *testing.T) {
	p, _ := around(t, script{"process": {next(`{}`), out(`{}`)}}, abi.LayerChat, wasm.Config{Limits: wasm.Limits{Fuel: 1_000_000}})
	cpu := costsOf(t, &model{}, nil, p.ForLayer())["process chat"]["cpu"]
	require.Positive(t, cpu.Used)
	require.Equal(t, host.Cost{Name: "cpu", Used: cpu.Used, Limit: 1_000_000, Unit: "fuel"}, cpu)
}
