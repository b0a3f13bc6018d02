package config

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/middleware"
	"github.com/weft-run/weft/host/model/openai/openaitest"
	"github.com/weft-run/weft/message"
)

func TestTheKeyOfTheModel(t *testing.T) {
	const key = "sk-test-opensesame"
	for extra, want := range map[string]string{"": "", ", api_key_env: LLM_KEY": "Bearer " + key} {
		model := scripted(t, openaitest.Reply{Text: "Hello."})
		yaml := strings.Replace("model: MODEL", "MODEL", `{provider: openai, name: test, base_url: "`+model.URL+`"`+extra+"}", 1)
		built, err := withServers(t, nil, yaml, BuildOptions{Getenv: func(name string) string {
			require.Equal(t, "LLM_KEY", name)
			return key
		}})
		require.NoError(t, err)
		_, err = built.Agent.Run(t.Context(), host.Text("Hi."), host.RunConfig{})
		require.NoError(t, err)
		assert.Equal(t, want, model.Requests()[0].Header.Get("Authorization"))
	}
	for yaml, want := range map[string]string{
		"model: {provider: openai, name: test}":                                                           "weft.yaml:1:19: model.provider: the environment variable OPENAI_API_KEY",
		"model: {provider: openai, name: test, base_url: 'https://example.com/v1', api_key_env: LLM_KEY}": "weft.yaml:1:88: model.api_key_env: the environment variable LLM_KEY",
	} {
		_, err := withServers(t, nil, yaml, BuildOptions{})
		require.ErrorContains(t, err, want)
	}
	_, err := withServers(t, nil, "model: {provider: openai, name: test}", BuildOptions{Getenv: func(string) string { return key + "\n" }})
	require.ErrorContains(t, err, "weft.yaml:1:19: model: the api key has characters that a header cannot carry")
	assert.NotContains(t, err.Error(), key)
}

func TestTheAPIOfTheModel(t *testing.T) {
	for api, c := range map[string]struct {
		path    string
		sources []string
	}{
		"chat_completions": {"/v1/chat/completions", []string{"in_memory"}},
		"responses":        {"/v1/responses", nil}, // the service keeps the conversation
	} {
		model := scripted(t, openaitest.Reply{Text: "Hello."})
		built, err := withServers(t, nil, `model: {provider: openai, name: test, api: `+api+`, base_url: "`+model.URL+`"}`, BuildOptions{})
		require.NoError(t, err)
		_, err = built.Agent.Run(t.Context(), host.Text("Hi."), host.RunConfig{})
		require.NoError(t, err)
		assert.Equal(t, c.path, model.Requests()[0].Path)
		assert.Equal(t, c.sources, built.Sources)
	}
}

// talkTo gives the agent messages, one run each, in one session.
func talkTo(t *testing.T, built *Built, texts ...string) error {
	t.Helper()
	session := host.NewSession("")
	for _, text := range texts {
		if _, err := built.Agent.Run(t.Context(), host.Text(text), host.RunConfig{Session: session}); err != nil {
			return err
		}
	}
	return nil
}

func TestCompactionFromTheConfig(t *testing.T) {
	model := scripted(t, openaitest.Reply{Text: "a"}, openaitest.Reply{Text: "b"}, openaitest.Reply{Text: "c"})
	built, err := withServers(t, model, "model: MODEL\ncompaction: {strategy: sliding_window, keep_last_groups: 1}", BuildOptions{})
	require.NoError(t, err)
	require.NoError(t, talkTo(t, built, "first", "second", "third"))
	last := string(model.Requests()[2].Body)
	assert.Contains(t, last, "third")
	assert.NotContains(t, last, "second")
}

func TestSummariesAreWrittenByTheAgentsOwnModel(t *testing.T) {
	const summary = "{strategy: summarization, keep_last_groups: 1, max_groups: 3, prompt: Sum it up.}"
	for _, strategy := range []string{summary, "{strategy: token_budget, max_tokens: 20, strategies: [" + summary + "]}"} {
		model := scripted(t, openaitest.Reply{Text: "a"}, openaitest.Reply{Text: "b"},
			openaitest.Reply{Text: "Counted."}, openaitest.Reply{Text: "c"})
		built, err := withServers(t, model, "model: MODEL\ncompaction: "+strategy, BuildOptions{})
		require.NoError(t, err)
		require.NoError(t, talkTo(t, built, "first", "second", "third"))
		require.Len(t, model.Requests(), 4)
		assert.Contains(t, string(model.Requests()[2].Body), "Sum it up.")
		assert.Contains(t, string(model.Requests()[3].Body), "Counted.")
		assert.NotContains(t, string(model.Requests()[3].Body), "first")
	}
}

func TestStoredMessagesAreThinnedOut(t *testing.T) {
	model := scripted(t, openaitest.Reply{Text: "a"}, openaitest.Reply{Text: "b"}, openaitest.Reply{Text: "c"})
	built, err := withServers(t, model, `
model: MODEL
providers:
  - compaction: {after: {strategy: sliding_window, keep_last_groups: 2}}
  - history: memory
    skip_excluded: true
`, BuildOptions{})
	require.NoError(t, err)
	assert.Equal(t, []string{"compaction", "in_memory"}, built.Sources)
	require.NoError(t, talkTo(t, built, "first", "second", "third"))
	last := string(model.Requests()[2].Body)
	assert.Contains(t, last, "second")
	assert.NotContains(t, last, "first")
}

func TestGuardsFromTheConfig(t *testing.T) {
	var log bytes.Buffer
	model := scripted(t,
		openaitest.Status(http.StatusTooManyRequests, nil, `{"error":{"message":"slow down"}}`),
		openaitest.Reply{Text: "Write to ada@example.com."}, openaitest.Reply{Text: "two"}, openaitest.Reply{Text: "three"})
	built, err := withServers(t, model, `
model: MODEL
middleware:
  - builtin: logging
    content: true
  - builtin: pii
    detectors: [all, {label: TICKET, pattern: 'T-[0-9]{6}', max_bytes: 8}]
  - builtin: retry
    base_delay: 1ms
  - builtin: budget
    session: {model_calls: 3}
`, BuildOptions{Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	require.NoError(t, err)
	session := host.NewSession("")
	response, err := built.Agent.Run(t.Context(), host.Text("I am grace@example.com, about T-123456."), host.RunConfig{Session: session})
	require.NoError(t, err)
	assert.Equal(t, "Write to [EMAIL].", response.Text())
	assert.Contains(t, string(model.Requests()[1].Body), "I am [EMAIL], about [TICKET].")
	_, err = built.Agent.Run(t.Context(), host.Text("Again."), host.RunConfig{Session: session})
	require.NoError(t, err)
	_, err = built.Agent.Run(t.Context(), host.Text("And again."), host.RunConfig{Session: session})
	require.ErrorIs(t, err, middleware.ErrBudget, "the failed attempt counts, as budget stands inside retry")
	assert.Contains(t, log.String(), "level=DEBUG")
	assert.Contains(t, log.String(), "level=ERROR")
	assert.NotContains(t, response.Text()+log.String(), "ada@example.com")
}

func TestPermissionsFromTheConfig(t *testing.T) {
	model := scripted(t, calls("wipe"), openaitest.Reply{Text: "I may not."})
	built, err := withServers(t, model, `
model: MODEL
tools: [{mcp: [SERVER], source_id: files, approval: never}]
middleware:
  - builtin: permissions
    deny: [{tool: "w*", source: files}]
  - builtin: breaker
  - builtin: error_limits
  - builtin: overflow
    compactor: {strategy: summarization, keep_last_groups: 1}
  - builtin: timeouts
    tools: {look: unlimited}
`, BuildOptions{})
	require.NoError(t, err)
	require.NoError(t, talkTo(t, built, "Wipe it."))
	assert.Contains(t, string(model.Requests()[1].Body), "is not permitted and was not run")
}

// caller is a model that always calls one tool, until it may not.
type caller struct {
	host.ChatClient
	tool  string
	calls int
}

func (c *caller) Complete(_ context.Context, r *host.ChatRequest) (*host.Response, error) {
	c.calls++
	if r.Options.ToolChoice.Mode == host.ToolChoiceNone {
		return &host.Response{Messages: []*message.Message{message.Assistant("enough")}}, nil
	}
	call := message.FunctionCall{CallID: "call", Name: c.tool, Arguments: jsontext.Value(`{}`)}
	return &host.Response{Messages: []*message.Message{message.New(message.RoleAssistant, call)}}, nil
}

type fine struct{}

func (fine) Definition() host.ToolDefinition { return host.ToolDefinition{Name: "fine"} }
func (fine) Call(context.Context, jsontext.Value) (jsontext.Value, error) {
	return jsontext.Value(`1`), nil
}

// TestDefaultsOfFunctionInvocation holds the documented defaults against what an agent does.
func TestDefaultsOfFunctionInvocation(t *testing.T) {
	keys := parsedSchema(t).Defs["function_invocation"].Properties
	for tool, key := range map[string]string{"fine": "max_iterations", "missing": "max_consecutive_errors"} {
		model := &caller{tool: tool}
		agent, err := host.NewAgent(host.AgentConfig{Client: model, Tools: []host.Tool{fine{}}})
		require.NoError(t, err)
		_, err = agent.Run(t.Context(), host.Text("Go."), host.RunConfig{})
		require.NoError(t, err)
		want, err := jsontext.AppendFormat(nil, jsontext.Value(keys[key].Default))
		require.NoError(t, err)
		assert.Equal(t, string(want), strconv.Itoa(model.calls-1), "%s: the last call has no tools", key)
	}
}
