package middleware_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/middleware"
)

// costing is a model that says one word for a price, and then fails if it is told to.
func costing(in, out int, failure error) *model {
	return &model{reply: func(_ context.Context, _ int, _ *host.ChatRequest, yield func(*host.Update) bool) error {
		u := host.TextUpdate("word")
		u.Usage = &host.Usage{InputTokens: in, OutputTokens: out}
		yield(u)
		return failure
	}}
}

func TestBudgetOfASession(t *testing.T) {
	for name, c := range map[string]struct {
		limits middleware.Limits
		runs   int // that are let through
		used   int64
	}{
		"input_tokens":  {middleware.Limits{InputTokens: 20}, 2, 20},
		"output_tokens": {middleware.Limits{OutputTokens: 7}, 3, 9},
		"total_tokens":  {middleware.Limits{TotalTokens: 14}, 2, 26},
		"model_calls":   {middleware.Limits{ModelCalls: 4}, 4, 4},
	} {
		t.Run(name, func(t *testing.T) {
			bothWays(t, func(t *testing.T, streaming bool) {
				agent := newAgent(t, host.AgentConfig{Client: costing(10, 3, nil), Middleware: middleware.NewBudget(middleware.BudgetConfig{Session: c.limits})})
				session := agent.CreateSession("")
				for range c.runs {
					_, _, err := run(t, agent, streaming, "hi", host.RunConfig{Session: session})
					require.NoError(t, err)
					session, err = host.RestoreSession([]byte(saved(t, session)))
					require.NoError(t, err)
				}
				_, _, err := run(t, agent, streaming, "hi", host.RunConfig{Session: session})
				require.ErrorIs(t, err, middleware.ErrBudget)
				var spent *middleware.BudgetError
				require.ErrorAs(t, err, &spent)
				require.Equal(t, name, spent.Limit)
				require.Equal(t, middleware.ScopeSession, spent.Scope)
				require.Equal(t, c.used, spent.Used)

				_, _, err = run(t, agent, streaming, "hi", host.RunConfig{Session: agent.CreateSession("")})
				require.NoError(t, err, "another session has its own")
			})
		})
	}
}

func TestBudgetOfARun(t *testing.T) {
	bothWays(t, func(t *testing.T, streaming bool) {
		for name, c := range map[string]struct {
			limits middleware.Limits
			ran    int
		}{
			"tool_calls": {middleware.Limits{ToolCalls: 2}, 2}, "model_calls": {middleware.Limits{ModelCalls: 3}, 3},
		} {
			look, ran := counting("look")
			mw := middleware.NewBudget(middleware.BudgetConfig{Run: c.limits})
			agent := newAgent(t, host.AgentConfig{Client: script(again(9, call{"look", `{}`})...), Tools: []host.Tool{look}, Middleware: mw})
			session := agent.CreateSession("")
			_, _, err := run(t, agent, streaming, "hi", host.RunConfig{Session: session})
			var spent *middleware.BudgetError
			require.ErrorAs(t, err, &spent)
			require.Equal(t, name, spent.Limit)
			require.Equal(t, middleware.ScopeRun, spent.Scope)
			require.Equal(t, c.ran, ran())
			used, err := middleware.SessionUsed(session, "")
			require.NoError(t, err)
			require.EqualValues(t, c.ran, used.ToolCalls)

			agent = newAgent(t, host.AgentConfig{Client: script([]call{{"look", `{}`}}), Tools: []host.Tool{look}, Middleware: mw})
			_, _, err = run(t, agent, streaming, "hi", host.RunConfig{Session: session})
			require.NoError(t, err, "the next run begins anew")
		}
	})
}

// What was used stays counted where the run fails, or is left.
func TestBudgetCountsWhatFailed(t *testing.T) {
	agent := newAgent(t, host.AgentConfig{Client: costing(10, 3, errors.New("boom")), Middleware: middleware.NewBudget(middleware.BudgetConfig{})})
	session := agent.CreateSession("")
	_, _, err := run(t, agent, true, "hi", host.RunConfig{Session: session})
	require.ErrorContains(t, err, "boom")
	for range agent.Stream(t.Context(), host.Text("hi"), host.RunConfig{Session: session}).Updates() {
		break
	}
	_, _, err = run(t, agent, false, "hi", host.RunConfig{Session: session})
	require.ErrorContains(t, err, "boom")
	used, err := middleware.SessionUsed(session, "")
	require.NoError(t, err)
	require.Equal(t, middleware.Used{InputTokens: 20, OutputTokens: 6, ModelCalls: 3}, used, "a reply that never came tells of no tokens")
}

func TestBudgetThatCannotBeReadEndsTheRun(t *testing.T) {
	session := host.NewSession("")
	require.NoError(t, session.State(middleware.DefaultBudgetBucket).Set("used", "nonsense"))
	client := says("done")
	_, err := newAgent(t, host.AgentConfig{Client: client, Middleware: middleware.NewBudget(middleware.BudgetConfig{})}).
		Run(t.Context(), host.Text("hi"), host.RunConfig{Session: session})
	require.ErrorContains(t, err, "budget of session")
	require.Zero(t, client.calls())
}

// Runs of one session at the same time lose no counts, and together stay within the limit.
func TestBudgetOfConcurrentRunsOfOneSession(t *testing.T) {
	const runs, limit = 64, 40
	agent := newAgent(t, host.AgentConfig{
		Client: costing(10, 3, nil), DefaultHistory: host.HistoryNever,
		Middleware: middleware.NewBudget(middleware.BudgetConfig{Session: middleware.Limits{ModelCalls: limit}}),
	})
	session := agent.CreateSession("")
	var wg sync.WaitGroup
	refused := make(chan error, runs)
	for i := range runs {
		wg.Go(func() {
			if _, _, err := run(t, agent, i%2 == 0, "hi", host.RunConfig{Session: session}); err != nil {
				refused <- err
			}
		})
	}
	wg.Wait()
	require.Len(t, refused, runs-limit)
	used, err := middleware.SessionUsed(session, "")
	require.NoError(t, err)
	require.Equal(t, middleware.Used{InputTokens: 10 * limit, OutputTokens: 3 * limit, ModelCalls: limit}, used)
}
