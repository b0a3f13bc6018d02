package config

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/internal/wat"
)

// runOnce builds the config at a path, runs its agent once and closes it. What plugins logged is what their host functions
// returned.
func runOnce(t *testing.T, name, yaml string, o BuildOptions) string {
	t.Helper()
	c, err := Parse(name, []byte(yaml))
	require.NoError(t, err)
	var log bytes.Buffer
	o.Logger = slog.New(slog.NewTextHandler(&log, nil))
	built, err := c.Build(t.Context(), o)
	require.NoError(t, err)
	defer func() { require.NoError(t, built.Close(context.Background())) }()
	_, err = built.Agent.Run(t.Context(), host.Text("What is a weft?"), host.RunConfig{Session: host.NewSession("s")})
	require.NoError(t, err)
	return log.String()
}

// callerOf writes a plugin that makes one call before each run into a folder, and returns a name for a config beside it.
func callerOf(t *testing.T, call string) (name string) {
	t.Helper()
	name = folder(t)
	module := wat.Guest(t, map[string][]string{"before_run": {call, `{}`}})
	require.NoError(t, os.WriteFile(filepath.Join(filepath.Dir(name), "caller.wasm"), module, 0o600))
	return name
}

func TestWhatAPluginStoresInAFileIsThereAfterARestart(t *testing.T) {
	name := callerOf(t, `kv_set {"scope":"agent","key":"k","value":1,"if_version":0}`)
	const plugin = "providers: [{plugin: caller.wasm, grant: {kv: [agent]}}]\n"
	for _, c := range []struct {
		yaml          string
		first, second string
	}{
		{plugin + "storage: weft.db\n", `{\"version\":`, "conflict"},
		{plugin, `{\"version\":`, `{\"version\":`},
	} {
		assert.Contains(t, runOnce(t, name, c.yaml, BuildOptions{}), c.first)
		assert.Contains(t, runOnce(t, name, c.yaml, BuildOptions{}), c.second)
	}
	name = callerOf(t, `kv_set {"scope":"agent","key":"k","value":"longer than ten bytes"}`)
	assert.Contains(t, runOnce(t, name, "providers: [{plugin: caller.wasm, grant: {kv: [agent]}, limits: {kv_value: 10B}}]", BuildOptions{}), "limits.kv_value")
}

func TestAPluginSearchesAnIndexOfTheConfig(t *testing.T) {
	name := callerOf(t, `search {"index":"docs","query":"crosses"}`)
	require.NoError(t, os.WriteFile(filepath.Join(filepath.Dir(name), "docs", "weft.md"), []byte("# Weft\n\nA weft crosses the warp.\n"), 0o600))
	log := runOnce(t, name, "indexes: {docs: {folder: docs}}\nproviders: [{plugin: caller.wasm, grant: {search: [docs]}}]", BuildOptions{})
	assert.Contains(t, log, "A weft crosses the warp.")
}

func TestAPluginAsksTheModelsOfTheConfigWithinItsBudget(t *testing.T) {
	name := callerOf(t, `complete {"messages":[{"role":"user","text":"Say it."}]}`)
	log := runOnce(t, name, "providers: [{plugin: caller.wasm, grant: {complete: {calls: 1, tokens: 1000}}}]", BuildOptions{})
	assert.Contains(t, log, `\"response\":`)
	name = callerOf(t, `embed {"texts":["a weft"]}`)
	log = runOnce(t, name, "providers: [{plugin: caller.wasm, grant: {embed: {calls: 1, tokens: 1000}}}]", BuildOptions{})
	assert.Contains(t, log, `\"vectors\":[[`)
	log = runOnce(t, name, "embeddings: offline\nproviders: [{plugin: caller.wasm, grant: {embed: {calls: 1, tokens: 1}}}]", BuildOptions{})
	assert.Contains(t, log, `\"code\":\"limit\"`)
}

func TestASecretIsSentToItsOriginAndSeenByNobodyElse(t *testing.T) {
	seen := make(chan string, 1)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { seen <- r.Header.Get("Authorization") }))
	defer server.Close()
	name := folder(t)
	module := wat.Guest(t, map[string][]string{"before_run": {
		`http_request {"method":"GET","url":"` + server.URL + `/v1","headers":{"Authorization":"Bearer {{secret.api_key}}"}}`, `{}`,
	}})
	require.NoError(t, os.WriteFile(filepath.Join(filepath.Dir(name), "caller.wasm"), module, 0o600))
	yaml := strings.ReplaceAll(`
providers:
  - plugin: caller.wasm
    grant: {http: [{origin: "ORIGIN", methods: [GET], secrets: [api_key], private: true}]}
    secrets: {api_key: {env: API_KEY}}
`, "ORIGIN", server.URL)
	log := runOnce(t, name, yaml, BuildOptions{Getenv: environment("API_KEY", "sk-live-0123456789")})
	assert.Equal(t, "Bearer sk-live-0123456789", <-seen)
	assert.NotContains(t, log, "sk-live")
}
