package config

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/google/jsonschema-go/jsonschema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/abi"
	"github.com/weft-run/weft/host/wasm"
	"github.com/weft-run/weft/host/wasm/engine"
)

func parsedSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	var s jsonschema.Schema
	require.NoError(t, json.Unmarshal(Schema(), &s))
	return &s
}

// TestSchemaKeys holds the keys of the schema against the tables of the decoder, both ways.
func TestSchemaKeys(t *testing.T) {
	s := parsedSchema(t)
	tables := map[string][]string{
		"": namesOf(configKeys), "offline": namesOf(offlineKeys), "openai": namesOf(openaiKeys), "options": namesOf(optionKeys),
		"history": namesOf(historyKeys), "plugin": namesOf(pluginKeys), "grant": namesOf(grantKeys), "folder": namesOf(folderKeys),
		"limits": namesOf(limitKeys), "compaction": namesOf(compactionKeys), "thinning": namesOf(thinningKeys),
		"mcp_program": slices.Concat(namesOf(mcpKeys), namesOf(mcpProgramKeys)),
		"mcp_http":    slices.Concat(namesOf(mcpKeys), namesOf(mcpHTTPKeys)),
		"approvals":   namesOf(approvalKeys), "function_invocation": namesOf(invocationKeys),
		"sliding_window": namesOf(slidingWindowKeys), "truncation": namesOf(truncationKeys),
		"selective_tool_call": namesOf(selectiveToolCallKeys), "tool_result": namesOf(toolResultKeys),
		"token_budget": namesOf(tokenBudgetKeys()), "context_window": namesOf(contextWindowKeys),
		"summarization": namesOf(summarizationKeys), "logging": namesOf(loggingKeys), "redact": namesOf(redactKeys),
		"pii": namesOf(piiKeys), "pattern": namesOf(patternKeys), "permissions": namesOf(permissionsKeys), "rule": namesOf(ruleKeys),
		"breaker": namesOf(breakerKeys), "error_limits": namesOf(errorLimitsKeys), "overflow": namesOf(overflowKeys()),
		"retry": namesOf(retryKeys), "budget": namesOf(budgetKeys), "run_spending": namesOf(spendingKeys),
		"session_spending": namesOf(spendingKeys), "timeouts": namesOf(timeoutsKeys),
		"middleware_plugin": slices.Concat(namesOf(pluginKeys), namesOf(layerKeys)), "secret": namesOf(secretKeys),
		"model_budget": namesOf(modelBudgetKeys), "search": namesOf(searchKeys), "http": namesOf(originKeys),
		"index": namesOf(indexKeys), "reload": namesOf(reloadKeys), "openai_embeddings": namesOf(embeddingsKeys),
	}
	objects := map[string]*jsonschema.Schema{"": s}
	for name, def := range s.Defs {
		if def.Type == "object" {
			objects[name] = def
		}
	}
	require.ElementsMatch(t, slices.Collect(maps.Keys(tables)), slices.Collect(maps.Keys(objects)))
	for name, keys := range tables {
		o := objects[name]
		assert.ElementsMatch(t, keys, slices.Collect(maps.Keys(o.Properties)), "keys of %q", name)
		require.NotNil(t, o.AdditionalProperties, "%q", name)
		assert.NotNil(t, o.AdditionalProperties.Not, "%q takes keys that it does not know", name)
		for key, p := range o.Properties {
			described := p.Description != "" || p.Ref != "" && s.Defs[strings.TrimPrefix(p.Ref, "#/$defs/")].Description != ""
			assert.True(t, described, "%s.%s has no description", name, key)
		}
	}
}

// TestSchemaDefaults holds the documented defaults against the effective ones.
func TestSchemaDefaults(t *testing.T) {
	s := parsedSchema(t)
	limits, engines := s.Defs["limits"].Properties, engine.DefaultLimits(false)
	for key, want := range map[string]any{
		"module": engines.Module, "memory": engines.Memory, "input": engines.Input, "output": engines.Output,
		"log_line": int64(engines.LogLine), "start": engines.Start, "init": engines.Init, "cpu": engine.DefaultTime,
		"stack": engines.Stack, "vars": engines.Vars, "file_writes": engines.FileWrites,
		"text": int64(64 << 10), "state": int64(64 << 10), "session_state": int64(1 << 20),
		"tools": 16, "tool_schema": int64(8 << 10), "call_tool": 30 * time.Second, "next_calls": 16, "depth": engines.Depth, // clause LIM-1
		"kv_value": int64(64 << 10), "kv_total": int64(1 << 20), "kv_keys": 10_000, "events": 64,
		"http_requests": engines.HTTPRequests, "http_body": engines.HTTPBody, "http_time": engines.HTTPTime,
		"log_lines": engines.LogLines, "instances": engines.Instances, "faults": engines.Faults, "rest": engines.Rest,
	} {
		var have string
		if json.Unmarshal(limits[key].Default, &have) != nil {
			have = string(limits[key].Default)
		}
		d := &decoder{}
		n := &node{kind: kindText, text: have}
		switch want.(type) {
		case int64:
			assert.Equal(t, want, d.size(n), key)
		case time.Duration:
			assert.Equal(t, want, d.duration(n), key)
		case int:
			n.kind = kindNumber
			assert.Equal(t, want, d.count(n), key)
		}
		require.NoError(t, d.err(), key)
	}
	golang := engine.DefaultLimits(true)
	assert.Contains(t, limits["module"].Description, fmt.Sprintf("%dMiB", golang.Module>>20))
	assert.Contains(t, limits["memory"].Description, fmt.Sprintf("%dMiB", golang.Memory>>20))

	grants, grant := abi.DefaultGrants(), s.Defs["grant"].Properties
	for key, want := range map[string]any{"read": grants.Read, "add": grants.Add, "roles": grants.Roles} {
		raw, err := json.Marshal(want)
		require.NoError(t, err)
		assert.JSONEq(t, string(raw), string(grant[key].Default), key)
	}
	c, err := Parse("weft.yaml", []byte("name: agent\n"))
	require.NoError(t, err)
	for key, want := range map[string]any{"name": c.Name, "default_history": c.DefaultHistory, "model": c.Model.Provider} {
		assert.JSONEq(t, fmt.Sprintf("%q", want), string(s.Properties[key].Default), key)
	}
}

// TestSchemaAgrees gives the same configs to schema and decoder. What only the decoder can see (files that are missing,
// the same name twice) is not among them.
func TestSchemaAgrees(t *testing.T) {
	resolved, err := parsedSchema(t).Resolve(nil)
	require.NoError(t, err)
	name := folder(t)
	const plugin = "providers: [{plugin: plugins/clock.wasm, %s}]"
	const history = "providers: [{history: memory, %s}]"
	cases := map[string]bool{
		"{}": true, "name: ''": false, "name: ' '": false, "name: 1": false, "name: \"a\\nb\"": false, "model: offline": true,
		"model: {provider: offline}": true, "model: openai": false, "model: gemini": false, "model: {}": false, "model: {provider: offline, x: 1}": false,
		"middleware: []": true, "middleware: [a]": false, "tools: []": true, "tools: [a]": false, "compaction: {}": false, "options: {temperature: 2, top_p: 0}": true,
		"options: {temperature: -0.1}": false, "options: {top_p: 1.01}": false, "options: {max_tokens: 0}": false,
		"options: {max_tokens: 1.5}": false, "options: {stop: x}": true, "options: {stop: ''}": false, "options: {stop: [a, a]}": false,
		"options: {seed: -1, store: true}": true, "options: {store: 'true'}": false, "options: {tempo: 1}": false,
		"default_history: never": true, "default_history: ever": false, "providers: []": true, "providers: [{}]": false,
		"providers: {}": false, "providers: [a]": false, "providers: [{history: sqlite}]": false,
		"providers: [{history: memory, plugin: plugins/clock.wasm}]": false, "nam: a": false,
	}
	for key, ok := range map[string]bool{
		"load_messages: true": true, "load_messages: auto": true, "load_messages: yes": false, "source_id: A": false,
		"store_context_messages: true, store_context_from: [a]": true, "store_context_from: [a]": false,
		"store_context_messages: true, store_context_from: [A]": false, "store_inputs: 1": false, "on_error: fail": false,
	} {
		cases[fmt.Sprintf(history, key)] = ok
	}
	for key, ok := range map[string]bool{
		"source_id: a_1": true, "source_id: 1a": false, "sha256: abc": false, "sha256: '" + strings.Repeat("aF", 32) + "'": true,
		"config: {a: [1]}": true, "config: [1]": false, "on_error: skip": true, "on_error: stop": false, "isolation: shared": true,
		"isolation: none": false, "grant: {}": true, "grant: {read: []}": true, "grant: {read: [input, 'context:a', 'context:*']}": true,
		"grant: {read: [state]}": false, "grant: {read: ['context:A']}": false, "grant: {read: [input, input]}": false,
		"grant: {add: [metadata]}": true, "grant: {add: [tools]}": true, "grant: {add: [tool]}": false, "grant: {roles: [system]}": true, "grant: {roles: [root]}": false,
		"grant: {files: [{host: docs, guest: /d}]}": true, "grant: {files: [{host: docs, guest: /d, mode: ro}]}": true,
		"grant: {files: [{host: docs, guest: /d, mode: rw}]}": true, "grant: {files: [{host: docs, guest: /d, mode: w}]}": false, "grant: {files: [{host: docs}]}": false,
		"grant: {files: [{host: docs, guest: d}]}": false, "grant: {write: []}": false,
		"grant: {read: [request, calls]}": true, "grant: {change: [messages, options, arguments, result]}": true, "grant: {change: [state]}": false,
		"grant: {middleware: [context, agent, chat, function]}": true, "grant: {middleware: [loop]}": false,
		"grant: {kv: [session, agent]}": true, "grant: {kv: [user]}": false, "grant: {kv: session}": false,
		"grant: {complete: {calls: 1, tokens: 1}}": true, "grant: {complete: {calls: 0, tokens: 1}}": false, "grant: {complete: {calls: 1}}": false,
		"grant: {complete: {}}": false, "grant: {complete: true}": false, "grant: {complete: {calls: unlimited, tokens: 1}}": false,
		"grant: {embed: {calls: 2, tokens: 1}}": true, "grant: {embed: {calls: 2, tokens: -1}}": false, "grant: {embed: {calls: 1, tokens: 1.5}}": false,
		"grant: {search: []}": true, "grant: {search: [1]}": false, "grant: {search: [{mode: ro}]}": false, "grant: {search: ['']}": false,
		"grant: {events: [emit, request]}": true, "grant: {events: [listen]}": false,
		"grant: {http: []}": true, "grant: {http: [https://example.com]}": true, "grant: {http: ['https://example.com:8443']}": true,
		"grant: {http: ['http://[2606:4700::1]:80']}": true, "grant: {http: ['https://*.example.com']}": false, "grant: {http: [example.com]}": false,
		"grant: {http: ['https://example.com/v1']}": false, "grant: {http: ['https://a@example.com']}": false, "grant: {http: ['ftp://example.com']}": false,
		"grant: {http: ['https://example.com?a=b']}": false, "grant: {http: [{origin: https://example.com, methods: [GET, post]}]}": true,
		"grant: {http: [{origin: https://example.com, methods: []}]}": false, "grant: {http: [{origin: https://example.com, methods: ['G T']}]}": false,
		"grant: {http: [{methods: [GET]}]}": false, "grant: {http: [{origin: http://localhost, private: true}]}": true,
		"grant: {http: [{origin: https://example.com, private: yes}]}": false, "grant: {http: [{origin: https://example.com, path: /v1}]}": false,
		"secrets: {api_key: {env: API_KEY}}": true, "secrets: {api_key: {file: docs/token}}": true, "secrets: {api_key: sk-abc}": false,
		"secrets: {api_key: {env: sk-abc}}": false, "secrets: {api_key: {}}": false, "secrets: {api_key: {env: A, file: docs/token}}": false,
		"secrets: {'api key': {env: A}}": false, "secrets: [api_key]": false, "secrets: {}": true, "layer: chat": false,
		"secrets: {k: {env: K}}, grant: {http: [{origin: https://example.com, secrets: [k]}]}": true,
	} {
		cases[fmt.Sprintf(plugin, key)] = ok
	}
	for _, key := range namesOf(limitKeys) {
		values := map[string]bool{"unlimited": true, "none": false, "-1": false, "0": false, "1.5": false, "true": false}
		switch key {
		case "cpu":
			maps.Copy(values, map[string]bool{
				"200ms": true, "20M fuel": true, "1000fuel": true, "3G fuel": true, "20m fuel": false, "0 fuel": false, "fuel": false,
				"5": false, "64MiB": false,
			})
		case "start", "init", "call_tool", "http_time":
			maps.Copy(values, map[string]bool{"200ms": true, "1.5s": true, "1h2m": true, "64MiB": false, "5": false, "2 s": false, "-1s": false})
		case "rest":
			values = map[string]bool{"1m": true, "unlimited": false, "5": false, "64MiB": false}
		case "log_lines", "instances", "faults", "tools", "next_calls", "depth", "kv_keys", "events", "http_requests":
			maps.Copy(values, map[string]bool{"1": true, "64MiB": false, "200ms": false})
		default:
			maps.Copy(values, map[string]bool{"64MiB": true, "1 B": true, "3GiB": true, "64MB": false, "64": false, "1.5MiB": false, "0KiB": false})
		}
		for value, ok := range values {
			cases[fmt.Sprintf(plugin, "limits: {"+key+": "+value+"}")] = ok
		}
	}
	maps.Copy(cases, furtherCases())
	maps.Copy(cases, map[string]bool{
		"storage: memory": true, "storage: weft.db": true, "storage: ''": false, "storage: {file: weft.db}": false,
		"indexes: {}": true, "indexes: {docs: {folder: docs}}": true, "indexes: {docs: {folder: docs, file: docs.db}}": true, "indexes: {docs: {}}": true,
		"indexes: {Docs: {}}": false, "indexes: {docs: docs}": false, "indexes: [docs]": false, "indexes: {docs: {path: docs}}": false,
		"indexes: {docs: {}}\nproviders: [{plugin: plugins/clock.wasm, grant: {search: [docs]}}]":                       true,
		"indexes: {docs: {}}\nproviders: [{plugin: plugins/clock.wasm, grant: {search: [{index: docs, mode: rw}]}}]":    true,
		"indexes: {docs: {}}\nproviders: [{plugin: plugins/clock.wasm, grant: {search: [{index: docs, mode: write}]}}]": false,
		"embeddings: offline": true, "embeddings: {provider: offline}": true, "embeddings: openai": false,
		"embeddings: {provider: openai, name: x}": true, "embeddings: {provider: openai}": false, "embeddings: {provider: openai, name: x, api: responses}": false,
		"reload: {}": true, "reload: {watch: false, settle: 200ms}": true, "reload: true": false, "reload: {watch: often}": false, "reload: {settle: unlimited}": false,
		"concurrent_before_run: false": true, "concurrent_before_run: 0": false,
		"middleware: [{plugin: plugins/clock.wasm}]": true, "middleware: [{plugin: plugins/clock.wasm, layer: agent}]": true,
		"middleware: [{plugin: plugins/clock.wasm, layer: context}]": false, "middleware: [{plugin: plugins/clock.wasm, builtin: retry}]": false,
		"middleware: [{plugin: plugins/clock.wasm, layer: function, grant: {change: [result]}, on_error: skip, limits: {cpu: 1s}}, {builtin: retry}]": true,
		"middleware: [{builtin: retry, layer: chat}]": false,
	})
	for text, want := range cases {
		var value any
		require.NoError(t, yaml.Unmarshal([]byte(text), &value), text)
		raw, err := json.Marshal(value)
		require.NoError(t, err, text)
		require.NoError(t, json.Unmarshal(raw, &value))
		bySchema := resolved.Validate(value)
		_, byDecoder := Parse(name, []byte(text))
		assert.Equal(t, want, bySchema == nil, "schema: %s: %v", text, bySchema)
		assert.Equal(t, want, byDecoder == nil, "decoder: %s: %v", text, byDecoder)
	}
}

// TestExamplesMeetTheSchema validates each weft.yaml of this repository.
func TestExamplesMeetTheSchema(t *testing.T) {
	resolved, err := parsedSchema(t).Resolve(nil)
	require.NoError(t, err)
	files, err := filepath.Glob("../../examples/*/weft.yaml")
	require.NoError(t, err)
	for _, file := range append(files, "../../weft.yaml", "testdata/every-key.yaml") {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		var value any
		require.NoError(t, yaml.Unmarshal(data, &value))
		raw, err := json.Marshal(value)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(raw, &value))
		assert.NoError(t, resolved.Validate(value), file)
	}
}

// TestLimitsAreReachable makes sure that each limit of a plugin has a key, which a new field of Limits could lack.
func TestLimitsAreReachable(t *testing.T) {
	data, err := os.ReadFile("testdata/every-key.yaml")
	require.NoError(t, err)
	c, err := Parse(folder(t), data)
	require.NoError(t, err)
	var zero map[string]any
	raw, err := json.Marshal(c.Providers[2].Plugin.Wasm.Limits)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(raw, &zero))
	for field, value := range zero {
		if field != "Fuel" { // cpu is an amount of fuel or a time
			assert.NotZero(t, value, "wasm.Limits.%s has no key in limits", field)
		}
	}
	c, err = Parse("weft.yaml", []byte("providers: [{plugin: testdata/greeter.wat, limits: {cpu: 20M fuel}}]\n"))
	require.NoError(t, err)
	assert.Equal(t, wasm.Limits{Fuel: 20_000_000}, c.Providers[0].Plugin.Wasm.Limits)
}
