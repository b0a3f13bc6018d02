package config

import (
	"cmp"
	"log/slog"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/compaction"
)

// strategyTag is the key that names a strategy.
const strategyTag = "strategy"

// strategyReaders read each strategy's own keys.
func strategyReaders() []named[compaction.Strategy] {
	return []named[compaction.Strategy]{
		{"sliding_window", func(d *decoder, n *node) compaction.Strategy {
			var s compaction.SlidingWindow
			readMapping(d, n, slidingWindowKeys, &s)
			d.require(n, "the strategy", "keep_last_groups", "keep_last_groups: 20")
			return s
		}},
		{"truncation", readTruncation},
		{"selective_tool_call", func(d *decoder, n *node) compaction.Strategy {
			var s compaction.SelectiveToolCall
			readMapping(d, n, selectiveToolCallKeys, &s)
			d.require(n, "the strategy", "keep_last_tool_call_groups", "keep_last_tool_call_groups: 3")
			return s
		}},
		{"tool_result", func(d *decoder, n *node) compaction.Strategy {
			var s compaction.ToolResult
			readMapping(d, n, toolResultKeys, &s)
			d.require(n, "the strategy", "keep_last_tool_call_groups", "keep_last_tool_call_groups: 3")
			return s
		}},
		{"token_budget", func(d *decoder, n *node) compaction.Strategy {
			var s compaction.TokenBudget
			readMapping(d, n, tokenBudgetKeys(), &s)
			d.require(n, "the strategy", "max_tokens", "max_tokens: 100000")
			return s
		}},
		{"context_window", readContextWindow},
		{"summarization", readSummarization},
	}
}

// strategy reads a strategy of compaction; nil where there is a fault. A summarization gets its client from [Config.Build].
func (d *decoder) strategy(n *node) compaction.Strategy {
	before := len(d.faults)
	s, ok := readNamed(d, n, strategyTag, "a strategy of compaction", strategyReaders())
	if !ok || len(d.faults) > before {
		return nil
	}
	return s
}

var slidingWindowKeys = tagged(strategyTag,
	key[compaction.SlidingWindow]{"keep_last_groups", func(d *decoder, n *node, s *compaction.SlidingWindow) { s.KeepLastGroups = d.atLeast(n, 0) }},
	key[compaction.SlidingWindow]{"preserve_system", func(d *decoder, n *node, s *compaction.SlidingWindow) { s.PreserveSystem = new(d.boolean(n)) }},
)

var truncationKeys = tagged(strategyTag,
	key[compaction.Truncation]{"max_messages", func(d *decoder, n *node, s *compaction.Truncation) { s.MaxMessages = d.atLeast(n, 0) }},
	key[compaction.Truncation]{"compact_to", func(d *decoder, n *node, s *compaction.Truncation) { s.CompactTo = d.atLeast(n, 0) }},
	key[compaction.Truncation]{"preserve_system", func(d *decoder, n *node, s *compaction.Truncation) { s.PreserveSystem = new(d.boolean(n)) }},
)

func readTruncation(d *decoder, n *node) compaction.Strategy {
	var s compaction.Truncation
	before := len(d.faults)
	readMapping(d, n, truncationKeys, &s)
	d.require(n, "the strategy", "max_messages", "max_messages: 40")
	d.require(n, "the strategy", "compact_to", "compact_to: 20")
	if len(d.faults) == before && s.CompactTo > s.MaxMessages {
		d.faultAt(n, "compact_to", "make it less", "compact_to is %d, and max_messages is only %d", s.CompactTo, s.MaxMessages)
	}
	return s
}

var selectiveToolCallKeys = tagged(strategyTag,
	key[compaction.SelectiveToolCall]{"keep_last_tool_call_groups", func(d *decoder, n *node, s *compaction.SelectiveToolCall) {
		s.KeepLastToolCallGroups = d.atLeast(n, 0)
	}},
)

var toolResultKeys = tagged(strategyTag,
	key[compaction.ToolResult]{"keep_last_tool_call_groups", func(d *decoder, n *node, s *compaction.ToolResult) { s.KeepLastToolCallGroups = d.atLeast(n, 0) }},
	key[compaction.ToolResult]{"max_result", func(d *decoder, n *node, s *compaction.ToolResult) { s.MaxResult = max(0, int(d.size(n))) }},
)

// tokenBudgetKeys is a function, as strategies stand in strategies.
func tokenBudgetKeys() []key[compaction.TokenBudget] {
	return tagged(strategyTag,
		key[compaction.TokenBudget]{"max_tokens", func(d *decoder, n *node, s *compaction.TokenBudget) { s.MaxTokens = d.atLeast(n, 1) }},
		key[compaction.TokenBudget]{"strategies", func(d *decoder, n *node, s *compaction.TokenBudget) {
			d.list(n, "a list of strategies", func(n *node) {
				if next := d.strategy(n); next != nil {
					s.Strategies = append(s.Strategies, next)
				}
			})
		}},
		key[compaction.TokenBudget]{"preserve_system", func(d *decoder, n *node, s *compaction.TokenBudget) { s.PreserveSystem = new(d.boolean(n)) }},
	)
}

const share = "a number above 0 and at most 1"

var contextWindowKeys = tagged(strategyTag,
	key[compaction.ContextWindow]{"window_tokens", func(d *decoder, n *node, s *compaction.ContextWindow) { s.WindowTokens = d.atLeast(n, 1) }},
	key[compaction.ContextWindow]{"reserve_output", func(d *decoder, n *node, s *compaction.ContextWindow) { s.ReserveOutput = new(d.atLeast(n, 0)) }},
	key[compaction.ContextWindow]{"reserve_request", func(d *decoder, n *node, s *compaction.ContextWindow) { s.ReserveRequest = d.atLeast(n, 0) }},
	key[compaction.ContextWindow]{"evict_above", func(d *decoder, n *node, s *compaction.ContextWindow) {
		s.EvictAbove = d.number(n, tiny, 1, share)
	}},
	key[compaction.ContextWindow]{"truncate_above", func(d *decoder, n *node, s *compaction.ContextWindow) {
		s.TruncateAbove = d.number(n, tiny, 1, share)
	}},
	key[compaction.ContextWindow]{"keep_tool_results", func(d *decoder, n *node, s *compaction.ContextWindow) {
		s.KeepToolResults = new(d.atLeast(n, 0))
	}},
	key[compaction.ContextWindow]{"preserve_system", func(d *decoder, n *node, s *compaction.ContextWindow) { s.PreserveSystem = new(d.boolean(n)) }},
)

// tiny is the smallest number above 0.
const tiny = 5e-324

func readContextWindow(d *decoder, n *node) compaction.Strategy {
	var s compaction.ContextWindow
	before := len(d.faults)
	readMapping(d, n, contextWindowKeys, &s)
	d.require(n, "the strategy", "window_tokens", "window_tokens: 128000")
	if len(d.faults) > before || s.Check() == nil {
		return s
	}
	if s.EvictAbove != nil && s.TruncateAbove != nil && *s.EvictAbove > *s.TruncateAbove {
		d.faultAt(n, "truncate_above", "make it at least as much", "truncate_above is %v, and evict_above is %v", *s.TruncateAbove, *s.EvictAbove)
	} else {
		d.faultAt(n, "window_tokens", "make the reserves less", "reserve_output and reserve_request leave nothing of the window of %d tokens", s.WindowTokens)
	}
	return s
}

var summarizationKeys = tagged(strategyTag,
	key[compaction.Summarization]{"prompt", func(d *decoder, n *node, s *compaction.Summarization) { s.Prompt = d.text(n) }},
	key[compaction.Summarization]{"options", func(d *decoder, n *node, s *compaction.Summarization) { readMapping(d, n, optionKeys, &s.Options) }},
	key[compaction.Summarization]{"keep_last_groups", func(d *decoder, n *node, s *compaction.Summarization) { s.KeepLastGroups = d.atLeast(n, 0) }},
	key[compaction.Summarization]{"max_groups", func(d *decoder, n *node, s *compaction.Summarization) { s.MaxGroups = d.atLeast(n, 1) }},
	key[compaction.Summarization]{"max_request_bytes", func(d *decoder, n *node, s *compaction.Summarization) { s.MaxRequestBytes = int(d.boundedSize(n)) }},
	key[compaction.Summarization]{"max_summary_bytes", func(d *decoder, n *node, s *compaction.Summarization) { s.MaxSummaryBytes = int(d.boundedSize(n)) }},
	key[compaction.Summarization]{"on_error", func(d *decoder, n *node, s *compaction.Summarization) {
		policy, _ := d.oneOf(n, string(host.OnErrorFail), string(host.OnErrorSkip))
		s.OnError = host.ErrorPolicy(policy)
	}},
	key[compaction.Summarization]{"cache_size", func(d *decoder, n *node, s *compaction.Summarization) { s.CacheSize = d.atLeast(n, 1) }},
)

// leastRequest is the least that a request for a summary may hold.
const leastRequest = 4 << 10

func readSummarization(d *decoder, n *node) compaction.Strategy {
	s := &compaction.Summarization{}
	before := len(d.faults)
	readMapping(d, n, summarizationKeys, s)
	d.require(n, "the strategy", "keep_last_groups", "keep_last_groups: 6")
	if len(d.faults) > before {
		return s
	}
	request := cmp.Or(s.MaxRequestBytes, compaction.DefaultMaxRequestBytes)
	if s.MaxGroups > 0 && s.MaxGroups <= s.KeepLastGroups {
		d.faultAt(n, "max_groups", "make it more", "max_groups is %d, and keep_last_groups is %d", s.MaxGroups, s.KeepLastGroups)
	}
	if request < leastRequest {
		d.faultAt(n, "max_request_bytes", "make it more", "at least 4KiB was wanted")
	} else if s.MaxSummaryBytes > request/2 {
		d.faultAt(n, "max_summary_bytes", "make it less", "at most half of max_request_bytes was wanted, which is %dB", request)
	}
	return s
}

// finished is a strategy with the client and the logger that summaries need. Summaries are remembered by each finished
// one by itself.
func finished(s compaction.Strategy, client host.ChatClient, log *slog.Logger) compaction.Strategy {
	switch s := s.(type) {
	case *compaction.Summarization:
		return &compaction.Summarization{
			Client: client, Prompt: s.Prompt, Options: s.Options, KeepLastGroups: s.KeepLastGroups, MaxGroups: s.MaxGroups,
			MaxRequestBytes: s.MaxRequestBytes, MaxSummaryBytes: s.MaxSummaryBytes, OnError: s.OnError, Logger: log, CacheSize: s.CacheSize,
		}
	case compaction.TokenBudget:
		strategies := make([]compaction.Strategy, len(s.Strategies))
		for i, inner := range s.Strategies {
			strategies[i] = finished(inner, client, log)
		}
		s.Strategies = strategies
		return s
	}
	return s
}
