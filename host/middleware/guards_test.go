package middleware_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/middleware"
)

func TestPermissionsAreRulesByToolAndSource(t *testing.T) {
	type rules = []middleware.ToolRule
	refuseRoot := func(_ context.Context, c *host.FunctionContext) error {
		if string(c.Arguments) == `{"path":"/"}` {
			return errors.New("not the root")
		}
		return nil
	}
	for name, c := range map[string]struct {
		config  middleware.PermissionsConfig
		args    string
		refused string
	}{
		"zero value permits nothing":   {refused: "not on the list"},
		"allowed":                      {config: middleware.PermissionsConfig{Allow: rules{{Tool: "read_*"}}}},
		"allowed by ?":                 {config: middleware.PermissionsConfig{Allow: rules{{Tool: "read_fil?"}}}},
		"a part is not the whole":      {config: middleware.PermissionsConfig{Allow: rules{{Tool: "read"}}}, refused: "not on the list"},
		"case counts":                  {config: middleware.PermissionsConfig{Allow: rules{{Tool: "READ_*"}}}, refused: "not on the list"},
		"stars in the middle":          {config: middleware.PermissionsConfig{Allow: rules{{Tool: "r*d*f*e"}}}},
		"denied goes before allowed":   {config: middleware.PermissionsConfig{Allow: rules{{}}, Deny: rules{{Tool: "*_file"}}}, refused: "may not be called"},
		"deny alone permits the rest":  {config: middleware.PermissionsConfig{Deny: rules{{Tool: "write_*"}}}},
		"by source":                    {config: middleware.PermissionsConfig{Deny: rules{{Source: "fi*"}}}, refused: "may not be called"},
		"own tools are another source": {config: middleware.PermissionsConfig{Deny: rules{{Source: middleware.OwnTools}}}},
		"both fields must fit":         {config: middleware.PermissionsConfig{Deny: rules{{Tool: "read_*", Source: "other"}}}},
		"arguments pass":               {config: middleware.PermissionsConfig{Check: refuseRoot}, args: `{"path":"/tmp"}`},
		"arguments are refused":        {config: middleware.PermissionsConfig{Check: refuseRoot}, args: `{"path":"/"}`, refused: "not the root"},
	} {
		t.Run(name, func(t *testing.T) {
			bothWays(t, func(t *testing.T, streaming bool) {
				read, ran := counting("read_file")
				config := host.AgentConfig{
					Client: script([]call{{"read_file", c.args}}), ToolSources: []host.ToolSource{source{"files", read}},
				}
				config.Middleware = middleware.NewPermissions(c.config)
				r, _, err := run(t, newAgent(t, config), streaming, "hi", host.RunConfig{})
				require.NoError(t, err)
				if c.refused == "" {
					require.Equal(t, []string{"ok"}, results(r))
					return
				}
				require.Zero(t, ran(), "a refused call does not run")
				require.Contains(t, results(r)[0], c.refused)
				require.Equal(t, "done", r.Text(), "the run goes on")

				ending := c.config
				ending.EndRun = true
				config.Client = script([]call{{"read_file", c.args}})
				config.Middleware = middleware.NewPermissions(ending)
				_, _, err = run(t, newAgent(t, config), streaming, "hi", host.RunConfig{})
				require.ErrorIs(t, err, middleware.ErrPermission)
				var refused *middleware.PermissionError
				require.ErrorAs(t, err, &refused)
				require.Equal(t, "files", refused.SourceID)
				require.Equal(t, "1.0", refused.CallID)
			})
		})
	}
}

// source is a tool source of one tool.
type source struct {
	id   string
	tool host.Tool
}

func (s source) SourceID() string                           { return s.id }
func (s source) Tools(context.Context) ([]host.Tool, error) { return []host.Tool{s.tool}, nil }

func TestBreakerRefusesThenEnds(t *testing.T) {
	bothWays(t, func(t *testing.T, streaming bool) {
		look, ran := counting("look")
		agent := newAgent(t, host.AgentConfig{
			Client: script(again(9, call{"look", `{"a":1, "b":9007199254740993}`})...), Tools: []host.Tool{look},
			Middleware: middleware.NewBreaker(middleware.BreakerConfig{}),
		})
		_, _, err := run(t, agent, streaming, "hi", host.RunConfig{})
		require.ErrorIs(t, err, middleware.ErrRepeatedCall)
		var repeated *middleware.RepeatedCallError
		require.ErrorAs(t, err, &repeated)
		require.Equal(t, 5, repeated.Count)
		require.Equal(t, 2, ran(), "the third and fourth are refused, the fifth ends the run")
	})
}

func TestBreakerCountsTheSameCallInARow(t *testing.T) {
	for name, c := range map[string]struct {
		rounds [][]call
		ran    int
	}{
		"order of members and white space": {[][]call{{{"look", `{"a":1,"b":2}`}}, {{"look", `{"b": 2, "a": 1.0}`}}, {{"look", `{"a":1,"b":2}`}}}, 2},
		"other arguments in between":       {[][]call{{{"look", `{}`}}, {{"look", `{}`}}, {{"look", `{"a":1}`}}, {{"look", `{}`}}}, 4},
		"large numbers differ": {[][]call{
			{{"look", `{"n":9007199254740992}`}}, {{"look", `{"n":9007199254740993}`}}, {{"look", `{"n":9007199254740992}`}}, {{"look", `{"n":9007199254740993}`}},
		}, 4},
		"beside other calls": {[][]call{
			{{"look", `{}`}, {"look", `{"a":1}`}}, {{"look", `{"a":2}`}, {"look", `{}`}}, {{"look", `{}`}},
		}, 4},
		"many in one reply": {[][]call{{{"look", `{}`}, {"look", `{}`}, {"look", `{}`}, {"look", `{}`}}}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			look, ran := counting("look")
			agent := newAgent(t, host.AgentConfig{
				Client: script(c.rounds...), Tools: []host.Tool{look}, Middleware: middleware.NewBreaker(middleware.BreakerConfig{}),
			})
			r, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{})
			require.NoError(t, err)
			require.Equal(t, c.ran, ran())
			refused := 0
			for _, text := range results(r) {
				if strings.Contains(text, "was not run") {
					refused++
				}
			}
			require.Equal(t, len(results(r))-c.ran, refused, "all others are told so")
		})
	}
}

// Two runs of one agent do not count for each other.
func TestBreakerBeginsAnewWithEachRun(t *testing.T) {
	look, ran := counting("look")
	mw := middleware.NewBreaker(middleware.BreakerConfig{})
	for range 5 {
		agent := newAgent(t, host.AgentConfig{Client: script(again(2, call{"look", `{}`})...), Tools: []host.Tool{look}, Middleware: mw})
		_, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{})
		require.NoError(t, err)
	}
	require.Equal(t, 10, ran())
}

func TestErrorLimitsEndTheRun(t *testing.T) {
	boom := errors.New("boom")
	bothWays(t, func(t *testing.T, streaming bool) {
		agent := newAgent(t, host.AgentConfig{
			Client: script(again(9, call{"bad", `{}`})...), Tools: []host.Tool{failing("bad", boom)},
			Middleware: middleware.NewErrorLimits(middleware.ErrorLimitsConfig{}),
		})
		_, _, err := run(t, agent, streaming, "hi", host.RunConfig{})
		require.ErrorIs(t, err, middleware.ErrTooManyErrors)
		require.ErrorIs(t, err, boom)
		var limit *middleware.ErrorLimitError
		require.ErrorAs(t, err, &limit)
		require.Equal(t, 3, limit.Consecutive)
		require.Equal(t, "bad", limit.Tool)
	})
	t.Run("a success begins the row anew, and the total counts on", func(t *testing.T) {
		good, _ := counting("good")
		var rounds [][]call
		for range 12 {
			rounds = append(rounds, []call{{"bad", `{}`}}, []call{{"good", `{}`}})
		}
		agent := newAgent(t, host.AgentConfig{
			Client: script(rounds...), Tools: []host.Tool{failing("bad", boom), good},
			Middleware: middleware.NewErrorLimits(middleware.ErrorLimitsConfig{}),
		})
		_, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{})
		var limit *middleware.ErrorLimitError
		require.ErrorAs(t, err, &limit)
		require.Equal(t, 10, limit.Total)
		require.Equal(t, 1, limit.Consecutive)
	})
	t.Run("above it, the milder limit of the loop", func(t *testing.T) {
		agent := newAgent(t, host.AgentConfig{
			Client: script(again(9, call{"bad", `{}`})...), Tools: []host.Tool{failing("bad", boom)},
			Middleware: middleware.NewErrorLimits(middleware.ErrorLimitsConfig{Consecutive: -1}),
		})
		r, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{})
		require.NoError(t, err)
		require.Contains(t, r.Text(), "limit reached")
	})
}

// A guard of which only one list is used must not let things pass uncounted.
func TestAGuardWithoutItsAgentLayerRefuses(t *testing.T) {
	for name, m := range map[string]host.Middleware{
		"breaker": middleware.NewBreaker(middleware.BreakerConfig{}), "budget": middleware.NewBudget(middleware.BudgetConfig{}),
		"error_limits": middleware.NewErrorLimits(middleware.ErrorLimitsConfig{}),
	} {
		look, ran := counting("look")
		agent := newAgent(t, host.AgentConfig{
			Client: script([]call{{"look", `{}`}}), Tools: []host.Tool{look}, Middleware: host.Middleware{Function: m.Function},
		})
		_, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{})
		require.ErrorContains(t, err, name+": its agent layer did not run")
		require.Zero(t, ran())
	}
}

func TestJoinKeepsTheOrderOfEachLayer(t *testing.T) {
	var order atomic.Pointer[[]string]
	order.Store(&[]string{})
	named := func(name string) host.Middleware {
		note := func(layer string) { order.Store(new(append(*order.Load(), name+layer))) }
		return host.Middleware{
			Agent: []host.AgentMiddleware{host.AgentFunc(func(ctx context.Context, _ *host.AgentContext, next host.Next) error {
				note(".agent")
				return next(ctx)
			})},
			Function: []host.FunctionMiddleware{host.FunctionFunc(func(ctx context.Context, _ *host.FunctionContext, next host.Next) error {
				note(".function")
				return next(ctx)
			})},
		}
	}
	look := &tool{"look", func(context.Context, jsontext.Value) (jsontext.Value, error) { return nil, nil }}
	agent := newAgent(t, host.AgentConfig{
		Client: script([]call{{"look", `{}`}}), Tools: []host.Tool{look}, Middleware: middleware.Join(named("a"), host.Middleware{}, named("b")),
	})
	_, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{})
	require.NoError(t, err)
	require.Equal(t, []string{"a.agent", "b.agent", "a.function", "b.function"}, *order.Load())
}
