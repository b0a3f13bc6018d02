package middleware_test

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/middleware"
)

func TestTracesNameTheGuards(t *testing.T) {
	var mu sync.Mutex
	seen := map[string]bool{}
	look, _ := counting("look")
	agent := newAgent(t, host.AgentConfig{
		Client: script([]call{{"look", `{}`}}), Tools: []host.Tool{look},
		Middleware: middleware.Join(
			middleware.NewLogging(middleware.LoggingConfig{Logger: slog.New(slog.DiscardHandler)}), middleware.NewPII(middleware.PIIConfig{}),
			middleware.NewPermissions(middleware.PermissionsConfig{Allow: []middleware.ToolRule{{Tool: "*"}}}),
			middleware.NewBreaker(middleware.BreakerConfig{}), middleware.NewErrorLimits(middleware.ErrorLimitsConfig{}),
			middleware.NewOverflow(middleware.OverflowConfig{}), middleware.NewRetry(middleware.RetryConfig{}),
			middleware.NewBudget(middleware.BudgetConfig{}), middleware.NewTimeouts(middleware.TimeoutsConfig{}),
		),
		Tracer: host.TraceFunc(func(_ context.Context, h host.HookTrace) {
			mu.Lock()
			defer mu.Unlock()
			if h.Layer != "" {
				seen[h.SourceType] = true
			}
		}),
	})
	_, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{})
	require.NoError(t, err)
	require.Equal(t, []string{
		"breaker", "budget", "error_limits", "logging", "overflow", "permissions", "pii", "retry", "timeouts",
	}, slices.Sorted(maps.Keys(seen)), "the names that weft.yaml has for them")
}
