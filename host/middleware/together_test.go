package middleware_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/middleware"
	"github.com/weft-run/weft/message"
)

// all are all guards in the order that the package's documentation names.
func all(logger *slog.Logger) host.Middleware {
	return middleware.Join(
		middleware.NewLogging(middleware.LoggingConfig{Logger: logger, Content: true}),
		middleware.NewPII(middleware.PIIConfig{}),
		middleware.NewPermissions(middleware.PermissionsConfig{Deny: []middleware.ToolRule{{Tool: "delete_*"}}}),
		middleware.NewBreaker(middleware.BreakerConfig{}),
		middleware.NewErrorLimits(middleware.ErrorLimitsConfig{}),
		middleware.NewOverflow(middleware.OverflowConfig{Logger: logger}),
		middleware.NewRetry(middleware.RetryConfig{Logger: logger, BaseDelay: 1}),
		middleware.NewBudget(middleware.BudgetConfig{}),
		middleware.NewTimeouts(middleware.TimeoutsConfig{}),
	)
}

// One agent with all guards serves 64 sessions at the same time. Each has a mark; none may be seen in another, and each
// run's counts are its own: two equal calls are let through in every run, and the third is refused.
func TestManySessionsOfOneAgentWithAllGuards(t *testing.T) {
	const sessions, turns = 64, 3
	echo := &tool{"echo", func(_ context.Context, arguments jsontext.Value) (jsontext.Value, error) { return arguments, nil }}
	client := &model{reply: func(_ context.Context, _ int, r *host.ChatRequest, yield func(*host.Update) bool) error {
		asked, answered := 0, 0
		mark := ""
		for i, m := range r.Messages {
			if m.Role == message.RoleUser {
				asked, mark = i, strings.TrimSuffix(m.Text(), " a@b.de") // as the guard must not leave it
			}
		}
		for _, m := range r.Messages[asked:] {
			if m.Role == message.RoleTool {
				answered++
			}
		}
		mark = strings.TrimSuffix(mark, " [EMAIL]")
		if answered < 3 {
			yield(&host.Update{Contents: []message.Content{message.FunctionCall{
				CallID: fmt.Sprintf("%s.%d", mark, answered), Name: "echo", Arguments: jsontext.Value(fmt.Sprintf(`{"mark":%q}`, mark)),
			}}})
			return nil
		}
		for _, piece := range []string{mark, " write to x@", "y.de"} {
			u := host.TextUpdate(piece)
			u.Usage = &host.Usage{InputTokens: 1, OutputTokens: 2}
			if !yield(u) {
				return nil
			}
		}
		return nil
	}}
	logger, logged := logs(slog.LevelDebug)
	agent := newAgent(t, host.AgentConfig{Client: client, Tools: []host.Tool{echo}, Middleware: all(logger)})
	var wg sync.WaitGroup
	for i := range sessions {
		wg.Go(func() {
			mark := fmt.Sprintf("mark-%03d-", i)
			session := host.NewSession(mark)
			for turn := range turns {
				own := fmt.Sprintf("%s%d", mark, turn)
				r, updates, err := run(t, agent, (i+turn)%2 == 0, own+" a@b.de", host.RunConfig{Session: session})
				if !assert.NoError(t, err) {
					return
				}
				assert.True(t, strings.HasSuffix(r.Text(), own+" write to [EMAIL]"), r.Text())
				assert.NotContains(t, textOf(updates), "x@")
				texts := results(r)
				if assert.Len(t, texts, 3) {
					assert.Equal(t, fmt.Sprintf(`{"mark":%q}`, own), texts[0])
					assert.Contains(t, texts[2], "3 times in a row")
				}
			}
			state := saved(t, session)
			for j := range sessions {
				other := fmt.Sprintf("mark-%03d-", j)
				assert.Equal(t, i == j, strings.Contains(state, other), "the marks of %s in the session of %s", other, mark)
			}
			used, err := middleware.SessionUsed(session, "")
			assert.NoError(t, err)
			assert.EqualValues(t, 4*turns, used.ModelCalls)
			assert.EqualValues(t, 2*turns, used.ToolCalls, "a refused call is none")
			assert.Greater(t, used.OutputTokens, int64(0))
		})
	}
	wg.Wait()
	for _, r := range records(t, logged.String()) {
		for key, v := range r {
			if text, ok := v.(string); ok && strings.Contains(text, "mark-") && r["session"] != nil {
				require.Contains(t, text, r["session"], key)
			}
		}
	}
	require.NotContains(t, logged.String(), "a@b.de")
}
