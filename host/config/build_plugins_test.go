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

	"github.com/weft-run/weft/abi"
	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/wasm/egress"
	"github.com/weft-run/weft/internal/wat"
)

// guests are plugins by the names of their files.
func guests(t *testing.T) map[string][]byte {
	return map[string][]byte{
		"answer.wasm": wat.Guest(t, map[string][]string{
			"describe": {`{"name":"answer","source_id":"answer","layers":["chat"],"grants":{"change":["result"]}}`},
			"process":  {`{"response":{"text":"The plugin answers."}}`},
		}),
		"other.wasm": wat.Guest(t, map[string][]string{
			"describe": {`{"name":"other","source_id":"other","layers":["context","chat"],"grants":{"change":["result"]}}`},
			"process":  {`{"response":{"text":"The other plugin answers."}}`},
		}),
		"mute.wasm": wat.Guest(t, map[string][]string{"before_run": {`{}`}}),
		"wide.wasm": wat.Guest(t, map[string][]string{"process": {`{}`}, "describe": {`{"layers":["agent","chat"]}`}}),
	}
}

// withGuests writes a config into a folder with plugins, and reads it.
func withGuests(t *testing.T, yaml string) *Config {
	t.Helper()
	name := folder(t)
	for file, module := range guests(t) {
		require.NoError(t, os.WriteFile(filepath.Join(filepath.Dir(name), file), module, 0o600))
	}
	c, err := Parse(name, []byte(yaml))
	require.NoError(t, err)
	return c
}

// build builds a config that must be right, and closes what came of it.
func build(t *testing.T, yaml string, o BuildOptions) *Built {
	t.Helper()
	built, err := withGuests(t, yaml).Build(t.Context(), o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, built.Close(context.Background())) })
	return built
}

// environment is an environment of variables.
func environment(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

func TestAPluginStandsWhereItIsNamedAmongTheMiddleware(t *testing.T) {
	const plugin = "  - plugin: answer.wasm\n    grant: {change: [result]}\n"
	const other = "  - plugin: other.wasm\n    grant: {change: [result]}\n"
	const guard = "  - builtin: logging\n"
	for _, c := range []struct {
		yaml, answer string
		logged       bool
	}{
		{plugin + guard + other, "The plugin answers.", false},
		{guard + plugin + other, "The plugin answers.", true},
		{other + plugin + guard, "The other plugin answers.", false},
	} {
		var log bytes.Buffer
		built := build(t, "middleware:\n"+c.yaml, BuildOptions{Logger: slog.New(slog.NewTextHandler(&log, nil))})
		require.Len(t, built.Plugins, 2)
		response, err := built.Agent.Run(t.Context(), host.Text("What is a weft?"), host.RunConfig{})
		require.NoError(t, err)
		assert.Equal(t, c.answer, response.Text(), "the outermost answers")
		assert.Equal(t, c.logged, strings.Contains(log.String(), "model call"), "what stands inside is not reached:\n%s", c.yaml)
		assert.Contains(t, log.String(), "run ended")
	}
}

func TestTheLayerOfAPluginIsTheOneThatItDescribesOrThatIsNamed(t *testing.T) {
	for entry, want := range map[string]string{
		"{plugin: answer.wasm, grant: {change: [result]}}":               "",
		"{plugin: answer.wasm, layer: chat, grant: {change: [result]}}":  "",
		"{plugin: answer.wasm, layer: agent, grant: {change: [result]}}": "its process stands at chat, and not at agent",
		"{plugin: wide.wasm}":                               "the entry names no layer, and it describes agent, chat: set layer to agent, chat or function",
		"{plugin: wide.wasm, layer: agent}":                 "",
		"{plugin: mute.wasm, layer: chat}":                  "it exports no hook that is called here",
		"{plugin: answer.wasm}":                             "change: [result]",
		"{plugin: wide.wasm, layer: agent, on_error: skip}": "",
	} {
		built, err := withGuests(t, "middleware: ["+entry+"]").Build(t.Context(), BuildOptions{})
		if want == "" {
			require.NoError(t, err, entry)
			require.NoError(t, built.Close(t.Context()))
			continue
		}
		require.ErrorContains(t, err, want, entry)
		require.ErrorContains(t, err, "weft.yaml:1:15: middleware[0]: plugin ")
	}
}

func TestASourceIDBelongsToOnePluginWhereverItStands(t *testing.T) {
	_, err := withGuests(t, "providers:\n  - {plugin: mute.wasm, source_id: answer}\nmiddleware:\n  - {plugin: answer.wasm, grant: {change: [result]}}\n").
		Build(t.Context(), BuildOptions{})
	require.ErrorContains(t, err, `weft.yaml:4:6: middleware[0]: duplicate source id "answer": the entry in line 2 has it`)
}

// revealed sends a secret to a server, which is the only way to see its value.
func revealed(t *testing.T, secret egress.Secret) string {
	t.Helper()
	seen := make(chan string, 1)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { seen <- r.Header.Get("X-Key") }))
	defer server.Close()
	client, err := egress.New(egress.Policy{
		Rules: []egress.Rule{{Origin: server.URL, Secrets: []string{"key"}, Private: true}}, Secrets: map[string]egress.Secret{"key": secret},
	})
	require.NoError(t, err)
	defer client.CloseIdle()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, nil)
	require.NoError(t, err)
	request.Header.Set("X-Key", "{{secret.key}}")
	response, err := client.Do(request)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	return <-seen
}

func TestSecretsComeFromTheEnvironmentAndFromFiles(t *testing.T) {
	const entry = `providers:
  - plugin: mute.wasm
    secrets: {one: {env: ONE}, two: {file: docs/token}, three: {env: THREE}}
    grant: {http: [{origin: https://example.com, secrets: [one, two]}]}
`
	c := withGuests(t, entry)
	faults := &collector{file: c.File}
	values := faults.secrets(c.Providers[0].Plugin, environment("ONE", "first value", "THREE", "third value"))
	require.NoError(t, faults.err())
	assert.Len(t, values, 3)
	for name, want := range map[string]string{"one": "first value", "two": "opensesame", "three": "third value"} {
		assert.Equal(t, want, revealed(t, values[name]), name)
	}

	_, err := c.Build(t.Context(), BuildOptions{Getenv: environment("ONE", "short", "TWO", "not asked for")})
	require.ErrorContains(t, err, "weft.yaml has 2 faults:")
	require.ErrorContains(t, err, "weft.yaml:3:20: providers[0].secrets.one: secret one: its value has 5 bytes")
	require.ErrorContains(t, err, "weft.yaml:3:70: providers[0].secrets.three.env: the environment variable THREE, which holds the secret three, is not set or empty")
	assert.NotContains(t, err.Error(), "short", "no value is told")

	require.NoError(t, os.Remove(filepath.Join(filepath.Dir(c.File), "docs", "token")))
	_, err = c.Build(t.Context(), BuildOptions{Getenv: environment("ONE", "first value", "THREE", "third value")})
	require.ErrorContains(t, err, "which holds the secret two, cannot be read: no such file")
}

func TestStorageIsOpenedForThoseWhoMayStoreAndClosedAfterThem(t *testing.T) {
	const yaml = "storage: data/weft.db\nproviders: [{plugin: mute.wasm%s}]\n"
	c := withGuests(t, strings.Replace(yaml, "%s", "", 1))
	built, err := c.Build(t.Context(), BuildOptions{})
	require.NoError(t, err)
	require.NoError(t, built.Close(t.Context()))
	assert.NoFileExists(t, c.Storage, "nobody may store")

	c = withGuests(t, strings.Replace(yaml, "%s", ", grant: {kv: [agent]}", 1))
	built, err = c.Build(t.Context(), BuildOptions{})
	require.NoError(t, err)
	assert.FileExists(t, c.Storage)
	require.NoError(t, built.Close(t.Context()))
	require.NoError(t, built.Close(t.Context()), "closing again")

	require.NoError(t, os.WriteFile(c.Storage, []byte("this is no database, however long one looks at it"), 0o600))
	_, err = c.Build(t.Context(), BuildOptions{})
	require.ErrorContains(t, err, "weft.yaml:1:10: storage: it cannot be opened: ")
	require.NotContains(t, err.Error(), "providers[0]", "the plugin is not to blame")
}

func TestAnIndexHoldsItsFolderAndIsOpenedForThoseWhoMaySearch(t *testing.T) {
	c := withGuests(t, "indexes:\n  docs: {folder: docs, file: data/docs.db}\n  other: {file: data/other.db}\nproviders: [{plugin: mute.wasm, grant: {search: [docs]}}]\n")
	dir := filepath.Dir(c.File)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "docs", "weft.md"), []byte("# Weft\n\nA weft is the thread that crosses the warp.\n"), 0o600))
	built, err := c.Build(t.Context(), BuildOptions{})
	require.NoError(t, err)
	require.Contains(t, built.services.indexes, "docs")
	count, err := built.services.indexes["docs"].Count(t.Context())
	require.NoError(t, err)
	assert.Positive(t, count)
	assert.NotContains(t, built.services.indexes, "other")
	assert.NoFileExists(t, filepath.Join(dir, "data", "other.db"))
	require.NoError(t, built.Close(t.Context()))

	require.NoError(t, os.RemoveAll(filepath.Join(dir, "docs")))
	_, err = c.Build(t.Context(), BuildOptions{})
	require.ErrorContains(t, err, "weft.yaml:2:9: indexes.docs: it cannot be opened: ")
	require.NotContains(t, err.Error(), "providers[0]")
}

func TestWhatFailsIsToldTogetherAndNothingStaysOpen(t *testing.T) {
	c := withGuests(t, `
model: {provider: openai, name: test}
storage: docs/token
indexes:
  docs: {folder: docs}
tools: [{mcp: [plugins/server]}]
providers:
  - {plugin: mute.wasm, grant: {kv: [agent], search: [docs], embed: {calls: 1, tokens: 10}}}
  - {plugin: mute.wasm, source_id: second, config: {a: 1}, grant: {complete: {calls: 1, tokens: 10}}}
  - {plugin: wide.wasm, source_id: third}
`)
	_, err := c.Build(t.Context(), BuildOptions{})
	require.ErrorContains(t, err, "weft.yaml has 5 faults:")
	for _, want := range []string{
		"weft.yaml:2:19: model.provider: the environment variable OPENAI_API_KEY",
		"weft.yaml:2:19: model: a plugin is granted embed, and it is not said which model makes vectors: add embeddings:",
		"weft.yaml:3:10: storage: it cannot be opened: ", "weft.yaml:6:10: tools[0]: tool server server: ",
		`providers[2]: plugin `,
	} {
		require.ErrorContains(t, err, want)
	}
}

func TestEmbeddingsHaveAModelOfTheirOwn(t *testing.T) {
	const providers = "providers: [{plugin: mute.wasm, grant: {embed: {calls: 1, tokens: 10}}}]\n"
	built := build(t, providers, BuildOptions{})
	require.NotNil(t, built.services.embedder, "the offline model makes vectors")
	assert.Same(t, built.services.client, built.services.embedder)

	service := scripted(t)
	built = build(t, providers+"embeddings: {provider: openai, name: small, base_url: \""+service.URL+"\"}\n", BuildOptions{})
	_, err := built.services.embedder.Embed(t.Context(), &host.EmbedRequest{Texts: []string{"weft"}})
	require.Error(t, err, "the service has no script")
	require.NotEmpty(t, service.Requests())
	assert.Contains(t, string(service.Requests()[0].Body), `"model":"small"`)

	built = build(t, "providers: [{plugin: mute.wasm}]\nembeddings: offline\n", BuildOptions{})
	assert.Nil(t, built.services.embedder, "nobody may ask for vectors")
}

func TestLoadPluginsTellsOfEachPlugin(t *testing.T) {
	c := withGuests(t, `
model: {provider: openai, name: test}
tools: [{mcp: [plugins/server]}]
providers:
  - {plugin: mute.wasm}
  - {plugin: plugins/clock.wasm}
  - {plugin: mute.wasm, source_id: secretive, secrets: {key: {env: KEY}}}
middleware:
  - {plugin: answer.wasm, grant: {change: [result]}}
  - {builtin: retry}
`)
	loaded, err := c.LoadPlugins(t.Context(), BuildOptions{})
	require.NoError(t, err)
	require.Len(t, loaded.List, 4)
	assert.Equal(t, "mute", loaded.List[0].Loaded.SourceID())
	require.NoError(t, loaded.List[0].Err)
	assert.Nil(t, loaded.List[1].Loaded)
	require.ErrorContains(t, loaded.List[1].Err, "exports no hook")
	assert.Nil(t, loaded.List[2].Loaded)
	require.ErrorContains(t, loaded.List[2].Err, "the environment variable KEY")
	assert.Equal(t, abi.LayerChat, loaded.List[3].Loaded.Status().Layer)
	require.ErrorContains(t, loaded.Err(), "weft.yaml has 2 faults:", "no plugin asks the model, and tool servers are not started")
	require.NoError(t, loaded.Close(t.Context()))

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = c.LoadPlugins(ctx, BuildOptions{})
	require.ErrorIs(t, err, context.Canceled)
}
