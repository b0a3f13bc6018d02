package config

import (
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/abi"
	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/compaction"
	"github.com/weft-run/weft/host/middleware"
	"github.com/weft-run/weft/host/model/openai"
	"github.com/weft-run/weft/host/tool/mcp"
	"github.com/weft-run/weft/host/wasm"
	"github.com/weft-run/weft/host/wasm/engine"
	"github.com/weft-run/weft/message"
)

// folder makes a folder with the files that the examples name, and returns a name for a config in it.
func folder(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "docs"), 0o700))
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "plugins"), 0o700))
	for _, name := range []string{"clock", "docs"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "plugins", name+".wasm"), []byte("\x00asm\x01\x00\x00\x00"), 0o600))
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "plugins", "server"), nil, 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "docs", "token"), []byte("opensesame\n"), 0o600))
	return filepath.Join(dir, "weft.yaml")
}

func TestEveryKey(t *testing.T) {
	name := folder(t)
	data, err := os.ReadFile("testdata/every-key.yaml")
	require.NoError(t, err)
	c, err := Parse(name, data)
	require.NoError(t, err)

	dir := filepath.Dir(name)
	want := &Config{
		File: name, Name: "guide", Description: "Knows the documentation.", Instructions: "Answer from the documentation.\nSay where it stands.\n",
		Model: Model{
			Provider: "openai", Line: 8, Column: 13,
			OpenAI: openai.Config{
				Model: "qwen3", BaseURL: "http://llm.example.com/v1", API: openai.Responses, Organization: "org", Project: "proj",
				AllowInsecureHTTP: true, MaxTokensField: "max_tokens", NoStreamUsage: true,
			},
			APIKey: Variable{Name: "LLM_KEY", Line: 12, Column: 16, path: "model.api_key_env"},
		},
		Options: host.Options{
			Temperature: new(0.5), TopP: new(1.0), MaxTokens: new(100), Stop: []string{"END"}, Seed: new(-7), Store: new(false),
		},
		DefaultHistory: host.HistoryNever,
		Providers: []Provider{
			{Line: 27, Column: 5, path: "providers[0]", History: &host.HistoryConfig{
				SourceID: "audit", LoadMessages: host.LoadNever, SkipInputs: true, SkipOutputs: true,
				StoreContextMessages: true, StoreContextFrom: []string{"docs"}, SkipExcluded: true,
			}},
			{Line: 35, Column: 5, path: "providers[1]", Plugin: &Plugin{Line: 35, Column: 5, Place: "providers[1]", Wasm: wasm.Config{
				Path: filepath.Join(dir, "plugins", "clock.wasm"), OnError: host.OnErrorFail,
			}}},
			{Line: 36, Column: 5, path: "providers[2]", Plugin: &Plugin{Line: 36, Column: 5, Place: "providers[2]", Wasm: wasm.Config{
				Path: filepath.Join(dir, "plugins", "docs.wasm"), SourceID: "docs",
				SHA256: "93a44bbb96c751218e4c00d479e4c14358122a389acca16205b1e4d0dc5f9476",
				Config: []byte(`{"folder":"/docs","exact":123456789012345678901234567890,"ratio":0.50,"deep":[{"a":null},true,"1"]}`),
				Grants: wasm.Grants{
					Read: []string{"input", "context:in_memory", "context:*"}, Add: []string{}, Roles: []message.Role{"user", "system"},
					Files: []wasm.Folder{
						{Host: filepath.Join(dir, "docs"), Guest: "/docs", Mode: "ro"}, {Host: filepath.Join(dir, "docs"), Guest: "/notes", Mode: "rw"},
					},
					Change: []string{"result"}, Middleware: []abi.Layer{"context", "chat"}, KV: []string{"session", "agent"},
					Complete: &abi.Budget{Calls: 4, Tokens: 8000}, Embed: &abi.Budget{Calls: 2, Tokens: 100},
					Search: []abi.SearchGrant{{Index: "docs", Mode: "ro"}, {Index: "notes", Mode: "rw"}}, Events: []string{"emit", "request"},
					HTTP: []abi.HTTPGrant{
						{Origin: "https://api.example.com"},
						{Origin: "http://127.0.0.1:8080", Methods: []string{"GET", "POST"}, Secrets: []string{"api_key"}, Private: true},
					},
				},
				Limits: wasm.Limits{
					Module: 1 << 20, Memory: 64 << 20, Input: engine.Unlimited, Output: 1, Text: 2 << 10, State: 3 << 30, SessionState: engine.Unlimited,
					CPU: 200 * time.Millisecond, Stack: 2 << 20, Vars: 64 << 10, Start: 1500 * time.Millisecond, Init: engine.Unlimited,
					LogLines: 1, LogLine: 100, Instances: engine.Unlimited, Faults: 5, Rest: time.Minute,
					Tools: 4, ToolSchema: 4 << 10, CallTool: time.Minute, NextCalls: 2, Depth: 8, KVValue: 1 << 10, KVTotal: engine.Unlimited, KVKeys: 10,
					Events: 5, FileWrites: 1 << 20, HTTPRequests: 3, HTTPBody: 2 << 20, HTTPTime: 5 * time.Second,
				},
				OnError: host.OnErrorSkip, Shared: true,
			}, Secrets: map[string]Secret{
				"api_key": {Env: Variable{Name: "API_KEY", Line: 57, Column: 30, path: "providers[2].secrets.api_key.env"}, Line: 57, Column: 24, path: "providers[2].secrets.api_key"},
				"token":   {File: filepath.Join(dir, "docs", "token"), Line: 57, Column: 47, path: "providers[2].secrets.token"},
			}}},
			{Line: 91, Column: 5, path: "providers[3]", Compaction: &compaction.Config{
				SourceID: "thin", HistorySourceID: "log",
				Before: compaction.SlidingWindow{KeepLastGroups: 20, PreserveSystem: new(false)},
				After:  compaction.Truncation{MaxMessages: 40, CompactTo: 20, PreserveSystem: new(false)},
			}},
			{Line: 96, Column: 5, path: "providers[4]", History: &host.HistoryConfig{SourceID: "log", LoadMessages: host.LoadAlways}},
		},
		Tools: []ToolServer{
			{
				Line: 99, Column: 5, path: "tools[0]",
				Env: []Variable{
					{Name: "LANG", Line: 110, Column: 11, path: "tools[0].env[0]"}, {Name: "TOKEN", Line: 110, Column: 17, path: "tools[0].env[1]"},
				},
				MCP: mcp.Config{
					SourceID: "files", Prefix: "files_", Allow: []string{"read", "list"}, Approval: mcp.Always,
					ApprovalOf: map[string]mcp.Approval{"read": mcp.Never, "list": mcp.ByAnnotations}, Strict: true,
					ConnectTimeout: 10 * time.Second, CallTimeout: time.Minute, MaxResult: 64 << 10, MaxTools: 16,
					Command: &mcp.Command{
						Path: filepath.Join(dir, "plugins", "server"), Args: []string{"--root", "docs"}, Dir: filepath.Join(dir, "docs"),
					},
				},
			},
			{
				Line: 112, Column: 5, path: "tools[1]", insecure: true,
				HeadersEnv: map[string]Variable{
					"Authorization": {Name: "MCP_AUTHORIZATION", Line: 114, Column: 34, path: "tools[1].headers_env.authorization"},
				},
				MCP: mcp.Config{
					SourceID: "mcp_example_com",
					HTTP:     &mcp.HTTP{URL: "http://mcp.example.com/mcp", Header: http.Header{"X-Team": {"weavers"}}},
				},
			},
		},
		Approvals: Approvals{Allow: []string{"files_read", "get_*"}, Deny: []string{"delete_*"}, Ask: []string{"*"}},
		FunctionInvocation: host.FunctionInvocation{
			Disabled: true, MaxIterations: 10, MaxFunctionCalls: 20, MaxConcurrentCalls: 2, MaxConsecutiveErrors: 1,
			TerminateOnUnknownCalls: true, IncludeDetailedErrors: true,
		},
		Compaction: compaction.TokenBudget{
			MaxTokens: 100000, PreserveSystem: new(false),
			Strategies: []compaction.Strategy{
				compaction.ToolResult{KeepLastToolCallGroups: 3, MaxResult: 200},
				compaction.SelectiveToolCall{KeepLastToolCallGroups: 2},
				&compaction.Summarization{
					Prompt: "Sum up.", Options: host.Options{Temperature: new(0.0)}, KeepLastGroups: 6, MaxGroups: 12,
					MaxRequestBytes: 32 << 10, MaxSummaryBytes: 4 << 10, OnError: host.OnErrorFail, CacheSize: 16,
				},
			},
		},
		Middleware: []Middleware{
			{Line: 145, Column: 5, Builtin: "logging", Settings: middleware.LoggingConfig{Content: true, Redact: middleware.RedactConfig{
				Keys: []string{"password"}, Patterns: []*regexp.Regexp{regexp.MustCompile("T-[0-9]+")}, MaxValue: -1,
			}}},
			{Line: 148, Column: 5, Builtin: "pii"},
			{Line: 154, Column: 5, Builtin: "permissions", Settings: middleware.PermissionsConfig{
				Allow: []middleware.ToolRule{{Tool: "read"}}, Deny: []middleware.ToolRule{{Tool: "delete_*"}, {Tool: "*", Source: "web"}}, EndRun: true,
			}},
			{Line: 158, Column: 5, Builtin: "breaker", Settings: middleware.BreakerConfig{RefuseAt: 4, EndAt: -1}},
			{Line: 161, Column: 5, Builtin: "error_limits", Settings: middleware.ErrorLimitsConfig{Consecutive: 2, Total: 5}},
			{Line: 164, Column: 5, Builtin: "overflow", Settings: middleware.OverflowConfig{Compactor: compaction.ContextWindow{
				WindowTokens: 128000, ReserveOutput: new(4096), ReserveRequest: 1000, EvictAbove: new(0.4), TruncateAbove: new(0.6),
				KeepToolResults: new(1), PreserveSystem: new(false),
			}}},
			{Line: 174, Column: 5, Builtin: "retry", Settings: middleware.RetryConfig{MaxAttempts: 5, BaseDelay: 100 * time.Millisecond, MaxDelay: time.Minute}},
			{Line: 178, Column: 5, Builtin: "budget", Settings: middleware.BudgetConfig{
				Run:     middleware.Limits{InputTokens: 1, OutputTokens: 2, TotalTokens: 3, ModelCalls: 4, ToolCalls: -1},
				Session: middleware.Limits{TotalTokens: 1000000},
			}},
			{Line: 181, Column: 5, Builtin: "timeouts", Settings: middleware.TimeoutsConfig{
				Tool: 10 * time.Second, Tools: map[string]time.Duration{"search": -1}, Model: 2 * time.Minute, Idle: 20 * time.Second,
			}},
			{Line: 186, Column: 5, Plugin: &Plugin{Line: 186, Column: 5, Place: "middleware[9]", Wasm: wasm.Config{
				Path: filepath.Join(dir, "plugins", "clock.wasm"), Layer: abi.LayerChat, Middleware: true, SourceID: "guard", OnError: host.OnErrorSkip,
			}}},
		},
		SequentialBeforeRun: true,
		Reload:              Reload{Watch: new(false), Settle: 200 * time.Millisecond},
		storageAt:           place{191, 10},
		Storage:             filepath.Join(dir, "data", "weft.db"),
		Indexes: []Index{
			{Line: 193, Column: 9, Name: "docs", Folder: filepath.Join(dir, "docs"), path: "indexes.docs"},
			{Line: 194, Column: 10, Name: "notes", File: filepath.Join(dir, "data", "notes.db"), path: "indexes.notes"},
			{Line: 195, Column: 12, Name: "scratch", path: "indexes.scratch"},
		},
		Embeddings: &Model{
			Provider: "openai", Line: 197, Column: 13,
			OpenAI: openai.Config{
				Model: "nomic-embed-text", BaseURL: "http://llm.example.com/v1", Organization: "org", Project: "proj", AllowInsecureHTTP: true,
			},
			APIKey: Variable{Name: "LLM_KEY", Line: 200, Column: 16, path: "embeddings.api_key_env"},
		},
	}
	pii := c.Middleware[1].Settings.(middleware.PIIConfig) // its detectors cannot be compared
	labels := []string{}
	for _, one := range pii.Detectors {
		labels = append(labels, one.Label())
	}
	assert.Equal(t, []string{"EMAIL", "TICKET"}, labels)
	pii.Detectors = nil
	assert.Equal(t, middleware.PIIConfig{
		Input: middleware.PIIBlock, ToolResults: middleware.PIIPass, Output: middleware.PIIRedact, KeepInstructions: true,
	}, pii)
	c.Middleware[1].Settings = nil
	assert.Equal(t, want, c)
}

func TestDefaults(t *testing.T) {
	c, err := Parse("weft.yaml", []byte("providers:\n  - history: memory\n"))
	require.NoError(t, err)
	assert.Equal(t, "agent", c.Name)
	assert.Equal(t, Model{Provider: ModelOffline}, c.Model)
	assert.Equal(t, host.HistoryWhenEmpty, c.DefaultHistory)
	assert.Equal(t, host.Options{}, c.Options)
	assert.Zero(t, c.FunctionInvocation)
	assert.Nil(t, c.Compaction)
	assert.Nil(t, c.Approvals.Policy())
	assert.Equal(t, &host.HistoryConfig{SourceID: "in_memory", LoadMessages: host.LoadAlways}, c.Providers[0].History)
}

func TestLoadErrors(t *testing.T) {
	_, err := Load(filepath.Join(t.TempDir(), "weft.yaml"))
	require.ErrorIs(t, err, os.ErrNotExist)
	require.ErrorContains(t, err, "weft.yaml: the config cannot be read: no such file")
	_, err = Load(t.TempDir())
	require.ErrorContains(t, err, "no regular file")
}

// TestSettingsAreReachable makes sure that each setting of a guard, a strategy and the rest has a key, which a new field
// could lack.
func TestSettingsAreReachable(t *testing.T) {
	data, err := os.ReadFile("testdata/every-key.yaml")
	require.NoError(t, err)
	c, err := Parse(folder(t), data)
	require.NoError(t, err)
	// What is no setting of a file: functions, what Build puts in, and the parts that have tests of their own.
	without := []string{
		"LoggingConfig.Logger", "OverflowConfig.Logger", "RetryConfig.Logger", "RetryConfig.Rand", "PermissionsConfig.Check",
		"BudgetConfig.Bucket", "ContextWindow.Tokenizer", "TokenBudget.Tokenizer", "Summarization.Client", "Summarization.Logger",
		"FunctionInvocation.AdditionalTools", "Config.APIKey", "Config.Headers", "Config.Options", "Config.HTTPClient",
		"Config.MaxResponseBytes", "Config.EmbeddingModel", "Config.Logger", "Config.HTTP", "Command.Env", "Command.StopTime",
	}
	budget := c.Compaction.(compaction.TokenBudget)
	parts := []any{
		c.FunctionInvocation, c.Model.OpenAI, c.Tools[0].MCP, *c.Tools[0].MCP.Command, budget, *c.Providers[0].History,
		c.Providers[3].Compaction.Before, c.Providers[3].Compaction.After, *c.Providers[3].Compaction, c.Approvals, c.Providers[2].Plugin.Wasm.Grants,
	}
	for _, g := range c.Middleware {
		if g.Plugin != nil {
			continue
		}
		parts = append(parts, g.Settings)
		if o, ok := g.Settings.(middleware.OverflowConfig); ok {
			parts = append(parts, o.Compactor)
		}
	}
	for _, s := range budget.Strategies {
		parts = append(parts, s)
	}
	for _, part := range parts {
		v := reflect.Indirect(reflect.ValueOf(part))
		for i := range v.NumField() {
			name := v.Type().Name() + "." + v.Type().Field(i).Name
			if v.Type().Field(i).IsExported() && !slices.Contains(without, name) {
				assert.NotZero(t, v.Field(i).Interface(), "%s has no key", name)
			}
		}
	}
}
