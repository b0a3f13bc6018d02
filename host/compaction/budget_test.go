package compaction_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host/compaction"
	"github.com/weft-run/weft/message"
)

// Each message of talk's texts is its two letters and the overhead.
const each = compaction.MessageOverhead + 2

// counted is a strategy that says how often it was called.
type counted struct {
	compaction.Strategy
	calls *atomic.Int32
}

func (c counted) Compact(ctx context.Context, m []*message.Message, own *message.Message) ([]*message.Message, error) {
	c.calls.Add(1)
	return c.Strategy.Compact(ctx, m, own)
}

func TestTokenBudget(t *testing.T) {
	window := func(n int) compaction.Strategy { return compaction.SlidingWindow{KeepLastGroups: n} }
	for _, c := range []struct {
		name   string
		budget compaction.TokenBudget
		talk   string
		want   string
		calls  []int32
	}{
		{"it fits", compaction.TokenBudget{MaxTokens: 3 * each, Strategies: []compaction.Strategy{window(1)}}, "u1 a1 u2", "u1 a1 u2", []int32{0}},
		{
			"the first is enough",
			compaction.TokenBudget{MaxTokens: 3 * each, Strategies: []compaction.Strategy{window(3), window(1)}},
			"u1 a1 u2 a2", "a1 u2 a2",
			[]int32{1, 0},
		},
		{
			"all are called",
			compaction.TokenBudget{MaxTokens: 2 * each, Strategies: []compaction.Strategy{window(3), window(2)}},
			"u1 a1 u2 a2", "u2 a2",
			[]int32{1, 1},
		},
		{
			"none is enough",
			compaction.TokenBudget{MaxTokens: each, Strategies: []compaction.Strategy{window(3)}},
			"u1 a1 u2 a2", "a2",
			[]int32{1},
		},
		{"no strategies", compaction.TokenBudget{MaxTokens: 2 * each}, "u1 a1 u2 a2", "u2 a2", nil},
		{"system stays, and counts", compaction.TokenBudget{MaxTokens: 2 * each}, "s1 u1 a1 u2", "s1 u2", nil},
		{"system like any other", compaction.TokenBudget{MaxTokens: 2 * each, PreserveSystem: new(false)}, "s1 u1 a1 u2", "a1 u2", nil},
		{"important goes last", compaction.TokenBudget{MaxTokens: 2 * each}, "u1! a1 u2 a2", "u1! a2", nil},
		{"what may not go stays above the budget", compaction.TokenBudget{MaxTokens: 1}, "s1 u1 a1", "s1 a1", nil},
		{"calls and results together", compaction.TokenBudget{MaxTokens: 30}, "u1 c1 r1 a1", "c1 r1 a1", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.budget.Tokenizer = letters
			calls := make([]atomic.Int32, len(c.budget.Strategies))
			for i, s := range c.budget.Strategies {
				c.budget.Strategies[i] = counted{s, &calls[i]}
			}
			kept, err := c.budget.Compact(t.Context(), talk(c.talk), nil)
			require.NoError(t, err)
			require.Equal(t, c.want, words(kept))
			for i := range calls {
				require.Equal(t, c.calls[i], calls[i].Load(), "calls of strategy %d", i)
			}
		})
	}
}

func TestOwnQuestionStaysInABudget(t *testing.T) {
	messages := talk("u1 a1 u2 c1 r1")
	kept, err := compaction.TokenBudget{MaxTokens: 1}.Compact(t.Context(), messages, messages[2])
	require.NoError(t, err)
	require.Equal(t, "u2 c1 r1", words(kept))
}

func TestEachMessageIsCountedOnce(t *testing.T) {
	count := 0
	budget := compaction.TokenBudget{
		MaxTokens: 1, Tokenizer: compaction.TokenizerFunc(func(text string) int { count++; return len(text) }),
		Strategies: []compaction.Strategy{compaction.ToolResult{}, compaction.SelectiveToolCall{}, compaction.SlidingWindow{KeepLastGroups: 5}},
	}
	_, err := budget.Compact(t.Context(), talk("u1 a1 u2 a2 u3 a3 u4"), nil)
	require.NoError(t, err)
	require.Equal(t, 7, count)
}

func TestABudgetReportsItsStrategiesErrors(t *testing.T) {
	budget := compaction.TokenBudget{MaxTokens: 1, Strategies: []compaction.Strategy{compaction.ToolResult{}, brokenStrategy{}}}
	_, err := budget.Compact(t.Context(), talk("u1 a1"), nil)
	require.EqualError(t, err, "strategies/1: boom")

	budget.Strategies[1] = brokenStrategy{[]*message.Message{nil}}
	_, err = budget.Compact(t.Context(), talk("u1 a1"), nil)
	require.ErrorContains(t, err, "returned a message that is nil")

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = budget.Compact(ctx, talk("u1 a1"), nil)
	require.ErrorIs(t, err, context.Canceled)
}
