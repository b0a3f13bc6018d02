package config

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host/compaction"
	"github.com/weft-run/weft/host/middleware"
	"github.com/weft-run/weft/host/model/openai"
)

// furtherCases are configs for schema and decoder: of the model, tools, approvals, strategies and guards.
func furtherCases() map[string]bool {
	cases := map[string]bool{}
	for form, values := range map[string]map[string]bool{
		"model: {provider: openai, %s}": {
			"name: x": true, "name: ''": false, "name: x, api: responses": true, "name: x, api: messages": false, "api: responses": false,
			"name: x, base_url: 'http://localhost:1/v1'": true, "name: x, base_url: localhost": false,
			"name: x, base_url: 'https://a:b@example.com/v1'": false, "name: x, base_url: 'https://example.com/v1?a=b'": false,
			"name: x, api_key_env: A_KEY": true, "name: x, api_key_env: sk-abc": false, "name: x, organization: o, project: p": true,
			"name: x, allow_insecure_http: true": true, "name: x, max_tokens_field: max_tokens": true, "name: x, max_tokens_field: most": false,
			"name: x, stream_usage: false": true, "name: x, stream_usage: 0": false, "name: x, key: abc": false,
		},
		"tools: [{mcp: [a, b], %s}]": {
			"source_id: a": true, "source_id: A": false, "prefix: a-1_": true, "prefix: 'a.'": false, "allow: [a]": true, "allow: []": false,
			"allow: [a, a]": false, "approval: always": true, "approval: ask": false, "approval_of: {a: never}": true,
			"approval_of: {a: maybe}": false, "approval_of: [a]": false, "strict: true": true, "connect_timeout: 5s": true,
			"connect_timeout: unlimited": false, "call_timeout: 5": false, "max_result: 1MiB": true, "max_result: unlimited": false,
			"max_tools: 1": true, "max_tools: 0": false, "env: [A]": true, "env: [A, A]": false, "env: [A=b]": false, "env: {A: b}": false,
			"dir: docs": true, "headers: {A: b}": false, "headers_env: {A: B}": false, "allow_insecure_http: true": false, "timeout: 1s": false,
		},
		"tools: [{mcp: 'https://example.com/mcp', %s}]": {
			"prefix: a": true, "headers: {X-A: b}": true, "headers: {'a b': c}": false, "headers_env: {Authorization: A}": true,
			"headers_env: {Authorization: 'Bearer x'}": false, "allow_insecure_http: true": true, "env: [A]": false, "dir: docs": false,
		},
		"tools: [%s]": {
			"{}": false, "{mcp: []}": false, "{mcp: [1]}": false, "{mcp: 1}": false, "{mcp: server}": false, "{mcp: 'ftp://a/b'}": false,
			"{mcp: 'https://a:b@example.com'}": false, "{mcp: ['']}": false, "{mcp: [a, '']}": true, "{http: 'https://example.com'}": false,
		},
		"approvals: {%s}": {
			"allow: [a, 'b_*']": true, "deny: []": true, "ask: ['*']": true, "ask: a": false, "deny: ['']": false, "allow: [a, a]": false, "never: [a]": false,
		},
		"function_invocation: {%s}": {
			"enabled: false": true, "enabled: 1": false, "max_iterations: 1": true, "max_iterations: 0": false, "max_iterations: unlimited": false,
			"max_function_calls: unlimited": true, "max_function_calls: 5": true, "max_concurrent_calls: -1": false,
			"max_consecutive_errors: 0": false, "terminate_on_unknown_calls: true": true, "include_detailed_errors: x": false, "tools: []": false,
		},
		"compaction: {strategy: %s}": {
			"sliding_window": false, "sliding_window, keep_last_groups: 0": true, "sliding_window, keep_last_groups: -1": false,
			"sliding_window, keep_last_groups: 1, preserve_system: false": true, "truncation, max_messages: 2, compact_to: 1": true,
			"truncation, max_messages: 2": false, "selective_tool_call, keep_last_tool_call_groups: 1": true, "selective_tool_call": false,
			"tool_result, keep_last_tool_call_groups: 1, max_result: 1KiB": true, "tool_result, keep_last_tool_call_groups: 1, max_result: 5": false,
			"token_budget, max_tokens: 1": true, "token_budget, max_tokens: 0": false, "token_budget, max_tokens: 1, strategies: [{strategy: truncation}]": false,
			"token_budget, max_tokens: 1, strategies: [{strategy: sliding_window, keep_last_groups: 1}]": true,
			"context_window, window_tokens: 1000":                                                        true, "context_window": false, "context_window, window_tokens: 1000, evict_above: 0": false,
			"context_window, window_tokens: 1000, evict_above: 0.2, truncate_above: 1": true, "context_window, window_tokens: 1000, truncate_above: 1.1": false,
			"summarization, keep_last_groups: 4": true, "summarization": false, "summarization, keep_last_groups: 4, on_error: fail": true,
			"summarization, keep_last_groups: 4, client: x": false, "summarization, keep_last_groups: 4, max_request_bytes: unlimited": false,
			"summarization, keep_last_groups: 4, options: {temperature: 0}": true, "window": false,
		},
		"providers: [{history: memory}, {compaction: %s}]": {
			"{before: {strategy: sliding_window, keep_last_groups: 1}}": true, "{}": false, "{during: {}}": false, "[]": false,
			"{before: {strategy: sliding_window, keep_last_groups: 1}}, source_id: a, history_source_id: b": true,
			"{before: {strategy: sliding_window, keep_last_groups: 1}}, history: memory":                    false,
		},
		"middleware: [{builtin: %s}]": {
			"logging": true, "logging, content: true": true, "logging, redact: {keys: [a], patterns: [b], max_value: 1KiB}": true,
			"logging, redact: {keys: []}": false, "logging, level: info": false, "pii": true, "pii, detectors: [email, ssn]": true,
			"pii, detectors: [name]": false, "pii, detectors: []": false, "pii, detectors: [{label: A, pattern: b, max_bytes: 4}]": true,
			"pii, detectors: [{label: A, pattern: b}]": false, "pii, detectors: [{label: '[A]', pattern: b, max_bytes: 4}]": false,
			"pii, detectors: [{label: A, pattern: b, max_bytes: 1025}]": false, "pii, input: block, output: pass, tool_results: redact": true,
			"pii, input: stop": false, "permissions": false, "permissions, allow: [a]": true, "permissions, deny: []": false,
			"permissions, deny: [{tool: a, source: b}], end_run: true": true, "permissions, deny: [{}]": false, "breaker": true,
			"breaker, refuse_at: unlimited": true, "breaker, end_at: 0": false, "error_limits, consecutive: 1, total: unlimited": true,
			"overflow": true, "overflow, compactor: {strategy: truncation, max_messages: 2, compact_to: 1}": true, "overflow, compactor: half": false,
			"retry, max_attempts: 1, base_delay: 1ms, max_delay: 1s": true, "retry, max_attempts: unlimited": false, "retry, base_delay: unlimited": false,
			"budget, run: {total_tokens: 5, model_calls: unlimited}": true, "budget, session: {tokens: 5}": false, "budget, bucket: a": false,
			"timeouts, tool: 1s, tools: {a: unlimited}, model: unlimited, idle: 1m": true, "timeouts, tool: 1": false, "plugin": false,
		},
	} {
		for value, ok := range values {
			cases[fmt.Sprintf(form, value)] = ok
		}
	}
	return cases
}

// TestSchemaDefaultsOfParts holds the documented defaults of strategies, guards and the model against those of their
// packages.
func TestSchemaDefaultsOfParts(t *testing.T) {
	s := parsedSchema(t)
	d := &decoder{}
	for place, want := range map[[2]string]any{
		{"openai", "base_url"}: openai.DefaultBaseURL, {"openai", "api"}: string(openai.ChatCompletions),
		{"compaction", "source_id"}:             compaction.DefaultSourceID,
		{"context_window", "evict_above"}:       compaction.DefaultEvictAbove,
		{"context_window", "truncate_above"}:    compaction.DefaultTruncateAbove,
		{"context_window", "keep_tool_results"}: compaction.DefaultKeepToolResults,
		{"summarization", "max_request_bytes"}:  int64(compaction.DefaultMaxRequestBytes),
		{"summarization", "max_summary_bytes"}:  int64(compaction.DefaultMaxSummaryBytes),
		{"summarization", "cache_size"}:         compaction.DefaultSummaryCache,
		{"redact", "max_value"}:                 int64(middleware.DefaultMaxLogValue),
		{"pii", "input"}:                        string(middleware.PIIRedact), {"breaker", "refuse_at"}: middleware.DefaultRefuseAt,
		{"breaker", "end_at"}: middleware.DefaultEndAt, {"error_limits", "consecutive"}: middleware.DefaultConsecutiveErrors,
		{"error_limits", "total"}: middleware.DefaultTotalErrors, {"retry", "max_attempts"}: middleware.DefaultMaxAttempts,
		{"retry", "base_delay"}: middleware.DefaultBaseDelay, {"retry", "max_delay"}: middleware.DefaultMaxDelay,
		{"run_spending", "total_tokens"}: middleware.DefaultRunTotalTokens, {"run_spending", "model_calls"}: middleware.DefaultRunModelCalls,
		{"run_spending", "tool_calls"}: middleware.DefaultRunToolCalls, {"timeouts", "tool"}: middleware.DefaultToolTimeout,
		{"timeouts", "model"}: middleware.DefaultModelTimeout, {"timeouts", "idle"}: middleware.DefaultIdleTimeout,
	} {
		var have any
		require.NoError(t, json.Unmarshal(s.Defs[place[0]].Properties[place[1]].Default, &have), "%v", place)
		text := &node{kind: kindText, text: fmt.Sprint(have)}
		switch want.(type) {
		case int64:
			have = d.boundedSize(text)
		case time.Duration:
			have = d.boundedDuration(text)
		case int:
			have = int(have.(float64))
		}
		assert.Equal(t, want, have, "%v", place)
	}
	require.NoError(t, d.err())
	assert.Contains(t, s.Defs["openai"].Properties["api_key_env"].Description, DefaultKeyVariable)
	assert.Contains(t, s.Defs["context_window"].Properties["reserve_output"].Description, fmt.Sprint(compaction.DefaultReserveOutput))
	assert.Contains(t, s.Defs["summarization"].Properties["max_groups"].Description, fmt.Sprint("+ ", compaction.DefaultSummaryStep))
	items := s.Defs["pii"].Properties["detectors"].Items.OneOf[0].Enum
	assert.Len(t, items, len(detectorNames()))
	for _, name := range detectorNames() {
		assert.Contains(t, items, name)
	}
}
