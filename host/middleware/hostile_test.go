package middleware_test

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/middleware"
)

func TestPIIBehindEscapesBesideWhatIsNoText(t *testing.T) {
	for _, v := range []string{`{"a":"joe\u0040example.com","b":"\ud800"}`, `{"joe@example.com":1,"joe@example.org":2}`} {
		look := &tool{"look", func(context.Context, jsontext.Value) (jsontext.Value, error) { return jsontext.Value(v), nil }}
		agent := newAgent(t, host.AgentConfig{
			Client: script([]call{{"look", "{}"}}), Tools: []host.Tool{look}, Middleware: middleware.NewPII(middleware.PIIConfig{}),
		})
		r, _, err := run(t, agent, false, "go", host.RunConfig{})
		require.NoError(t, err)
		require.NotContains(t, fmt.Sprint(results(r)), `joe`)
	}
}

// Thousands of names that become one text are numbered, and not each tried against each.
func TestManyNamesThatBecomeOne(t *testing.T) {
	var b strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&b, `"user%d@example.com":1,`, i)
	}
	value := "{" + strings.TrimSuffix(b.String(), ",") + "}"
	look := &tool{"look", func(context.Context, jsontext.Value) (jsontext.Value, error) { return jsontext.Value(value), nil }}
	agent := newAgent(t, host.AgentConfig{
		Client: script([]call{{"look", "{}"}}), Tools: []host.Tool{look},
		Middleware: host.Middleware{Function: middleware.NewPII(middleware.PIIConfig{}).Function},
	})
	r, _, err := run(t, agent, false, "go", host.RunConfig{})
	require.NoError(t, err)
	require.Contains(t, fmt.Sprint(results(r)), "[EMAIL] 20000")
}

func TestBudgetThatAModelTriesToOverflow(t *testing.T) {
	m := script(again(60, call{"look", "{}"})...)
	inner := m.reply
	m.reply = func(ctx context.Context, n int, r *host.ChatRequest, y func(*host.Update) bool) error {
		y(&host.Update{Usage: &host.Usage{InputTokens: math.MaxInt, OutputTokens: math.MaxInt}})
		return inner(ctx, n, r, y)
	}
	look, _ := counting("look")
	agent := newAgent(t, host.AgentConfig{
		Client: m, Tools: []host.Tool{look}, Middleware: middleware.NewBudget(middleware.BudgetConfig{Run: middleware.Limits{TotalTokens: 10}}),
	})
	_, _, err := run(t, agent, false, "go", host.RunConfig{})
	require.ErrorIs(t, err, middleware.ErrBudget)
	require.Equal(t, 1, m.calls())
}

func TestToolThatEndsItsGoroutine(t *testing.T) {
	for name, m := range map[string]host.Middleware{"bare": {}, "timeouts": middleware.NewTimeouts(middleware.TimeoutsConfig{})} {
		look := &tool{"look", func(context.Context, jsontext.Value) (jsontext.Value, error) {
			runtime.Goexit()
			return nil, nil
		}}
		agent := newAgent(t, host.AgentConfig{Client: script([]call{{"look", "{}"}}), Tools: []host.Tool{look}, Middleware: m})
		r, _, err := run(t, agent, false, "go", host.RunConfig{})
		require.NoError(t, err, name)
		require.Equal(t, []string{"Error: Function failed."}, results(r), name)
	}
}
