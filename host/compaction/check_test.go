package compaction_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host/compaction"
)

func TestCheck(t *testing.T) {
	model := &script{}
	for name, c := range map[string]struct {
		strategy compaction.Strategy
		want     []string
	}{
		"window":     {compaction.SlidingWindow{KeepLastGroups: -1}, []string{"compaction.SlidingWindow: ", "KeepLastGroups is -1, and it must be 0 or more"}},
		"truncation": {compaction.Truncation{MaxMessages: 2, CompactTo: 3}, []string{"CompactTo is 3, and it must not be above MaxMessages, which is 2"}},
		"selective":  {compaction.SelectiveToolCall{KeepLastToolCallGroups: -1}, []string{"KeepLastToolCallGroups is -1"}},
		"lines":      {compaction.ToolResult{KeepLastToolCallGroups: -1, MaxResult: -1}, []string{"KeepLastToolCallGroups is -1", "MaxResult is -1"}},
		"budget":     {compaction.TokenBudget{}, []string{"MaxTokens is 0, and it must be 1 or more"}},
		"budget of wrong strategies": {
			compaction.TokenBudget{MaxTokens: -1, Strategies: []compaction.Strategy{nil, compaction.ToolResult{KeepLastToolCallGroups: -2}}},
			[]string{"MaxTokens is -1", "strategies/0: a strategy is nil", "strategies/1: compaction.ToolResult", "KeepLastToolCallGroups is -2"},
		},
		"context window": {compaction.ContextWindow{}, []string{"WindowTokens is 0, and it must be 1 or more"}},
		"context window smaller than its reserves": {
			compaction.ContextWindow{WindowTokens: 100, ReserveOutput: new(60), ReserveRequest: 40},
			[]string{"ReserveOutput (60) and ReserveRequest (40) leave nothing of WindowTokens (100)"},
		},
		"context window with wrong shares": {
			compaction.ContextWindow{WindowTokens: 100, ReserveOutput: new(-1), EvictAbove: new(1.5), TruncateAbove: new(math.NaN()), KeepToolResults: new(-1)},
			[]string{"ReserveOutput is -1", "EvictAbove is 1.5, and it must be above 0 and at most 1", "TruncateAbove is NaN", "KeepToolResults is -1"},
		},
		"context window with shares the wrong way round": {
			compaction.ContextWindow{WindowTokens: 100, EvictAbove: new(0.9), TruncateAbove: new(0.5)}, []string{"must not be above TruncateAbove, which is 0.5"},
		},
		"summary": {
			&compaction.Summarization{KeepLastGroups: -1, CacheSize: -1, MaxRequestBytes: 10, OnError: "maybe"},
			[]string{"Client is nil", "KeepLastGroups is -1", "CacheSize is -1", "MaxRequestBytes is 10, and it must be 4096 or more", `OnError is "maybe", and it must be skip or fail`},
		},
		"summary of too much": {
			&compaction.Summarization{Client: model, KeepLastGroups: 4, MaxGroups: 4, MaxRequestBytes: 5000, MaxSummaryBytes: 2501},
			[]string{"MaxGroups is 4, and it must be above KeepLastGroups, which is 4", "at most half of MaxRequestBytes, which is 5000"},
		},
	} {
		err := c.strategy.(interface{ Check() error }).Check()
		for _, want := range c.want {
			require.ErrorContains(t, err, want, name)
		}
		require.ErrorIs(t, err, compaction.ErrSettings, name)
		_, compactErr := c.strategy.Compact(t.Context(), talk("u1"), nil)
		require.EqualError(t, compactErr, err.Error(), "%s: what Check says, Compact says", name)
	}
	for _, s := range []interface{ Check() error }{
		compaction.SlidingWindow{},
		compaction.Truncation{},
		compaction.SelectiveToolCall{},
		compaction.ToolResult{},
		compaction.TokenBudget{MaxTokens: 1, Strategies: []compaction.Strategy{brokenStrategy{}}},
		compaction.ContextWindow{WindowTokens: 1},
		compaction.ContextWindow{WindowTokens: 100, TruncateAbove: new(0.2)},
		&compaction.Summarization{Client: model},
	} {
		require.NoError(t, s.Check())
	}
}
