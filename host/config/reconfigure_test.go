package config

import (
	"context"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/index"
	"github.com/weft-run/weft/host/wasm"
	"github.com/weft-run/weft/internal/wat"
)

// edited is a config that was read from a file and is in use, and what is told of its changes.
type edited struct {
	t     *testing.T
	file  string
	built *Built
	told  chan wasm.Reloaded
}

func edit(t *testing.T, yaml string) *edited {
	t.Helper()
	e := &edited{t: t, file: folder(t), told: make(chan wasm.Reloaded, 16)}
	for name, module := range guests(t) {
		e.write(name, module)
	}
	e.write("picky.wasm", wat.Guest(t, map[string][]string{
		"describe": {`{"version":"1","source_id":"picky","config_schema":{"type":"object","properties":{"mode":{"enum":["a","b"]}}}}`},
		"init":     {`{}`}, "before_run": {`{}`},
	}))
	e.save(yaml)
	c, err := Load(e.file)
	require.NoError(t, err)
	e.built, err = c.Build(t.Context(), BuildOptions{Watch: true, Reloaded: func(r wasm.Reloaded) { e.told <- r }})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.built.Close(context.Background())) })
	return e
}

// write puts a file into the config's folder, at once.
func (e *edited) write(name string, data []byte) {
	e.t.Helper()
	path := filepath.Join(filepath.Dir(e.file), name)
	require.NoError(e.t, os.WriteFile(path+".new", data, 0o600))
	require.NoError(e.t, os.Rename(path+".new", path))
}

func (e *edited) save(yaml string) {
	e.t.Helper()
	e.write(filepath.Base(e.file), []byte("reload: {settle: 20ms}\n"+yaml))
}

// fails waits for word of a change that is not in effect.
func (e *edited) fails(want string) {
	e.t.Helper()
	r := <-e.told
	require.ErrorContains(e.t, r.Err, want)
}

func (e *edited) answer() string {
	e.t.Helper()
	response, err := e.built.Agent.Run(e.t.Context(), host.Text("What is a weft?"), host.RunConfig{})
	require.NoError(e.t, err)
	return response.Text()
}

func TestWhatAConfigSaysOfItsPluginsTakesOverWhenItChanges(t *testing.T) {
	const around = "middleware: [{plugin: answer.wasm, grant: {change: [result]}}]\n"
	e := edit(t, around+"providers: [{plugin: picky.wasm, config: {mode: a}}]\n")
	require.Equal(t, "The plugin answers.", e.answer())

	e.save(around + "providers: [{plugin: picky.wasm, config: {mode: b}, on_error: skip}]\n")
	r := <-e.told
	require.NoError(t, r.Err)
	assert.Equal(t, "picky", r.SourceID)
	assert.Equal(t, r.From, r.To, "the file is the same")

	e.save(around + "providers: [{plugin: picky.wasm, config: {mode: c}}]\n")
	e.fails("mode")
	e.save(around + "providers: [{plugin: picky.wasm, config: {mode: b}, limits: {instances: 3}, on_error: skip}]\n")
	require.NoError(t, (<-e.told).Err, "the one in use stayed, and takes the next")

	// What stands where is for the next start to change.
	e.save("middleware: [{plugin: other.wasm, source_id: answer, grant: {change: [result]}}]\n")
	e.fails("middleware, providers changed: restart")
	require.Equal(t, "The plugin answers.", e.answer())
	e.save("middleware: [{plugin: other.wasm, grant: {change: [result]}}]\nproviders: [{plugin: picky.wasm, config: {mode: a}}]\n")
	r = <-e.told
	require.NoError(t, r.Err)
	require.Equal(t, "picky", r.SourceID)
	e.fails("calls itself other")
	require.Equal(t, "The plugin answers.", e.answer(), "under another name it would lose what it keeps")
}

func TestAPluginIsFollowedToTheFileThatTheConfigNamesNow(t *testing.T) {
	answering := func(text string) []byte {
		return wat.Guest(t, map[string][]string{
			"describe": {`{"source_id":"answer","layers":["chat"]}`}, "process": {`{"response":{"text":"` + text + `"}}`},
		})
	}
	e := edit(t, "middleware: [{plugin: answer.wasm, grant: {change: [result]}}]\n")
	e.write("second.wasm", answering("The second answers."))
	e.save("middleware: [{plugin: second.wasm, grant: {change: [result]}}]\n")
	require.NoError(t, (<-e.told).Err)
	require.Equal(t, "The second answers.", e.answer())
	require.Equal(t, "second.wasm", filepath.Base(e.built.Plugins[0].Status().File))
	e.save("# This changes nothing.\nmiddleware: [{plugin: second.wasm, grant: {change: [result]}}]\n")
	e.write("second.wasm", answering("The third answers."))
	r := <-e.told
	require.NoError(t, r.Err)
	require.NotEqual(t, r.From, r.To)
	require.Equal(t, "The third answers.", e.answer())
	e.save("middleware: [{plugin: second.wasm}]\n")
	require.NoError(t, (<-e.told).Err, "rights can be taken away")
	_, err := e.built.Agent.Run(t.Context(), host.Text("What is a weft?"), host.RunConfig{})
	require.ErrorContains(t, err, "change: [result]")
	e.save("middleware: [{plugin: second.wasm, on_error: skip}]\n")
	require.NoError(t, (<-e.told).Err)
	require.NotEqual(t, "The third answers.", e.answer(), "the plugin is passed over")
	require.Equal(t, host.OnErrorSkip, e.built.Plugins[0].ErrorPolicy())
}

func TestAConfigThatCannotBeUsedLeavesTheOneInUse(t *testing.T) {
	const around = "middleware: [{plugin: answer.wasm, grant: {change: [result]}}]\n"
	e := edit(t, around)
	e.save(around + "model: {provider: opneai}\nnaem: x\n")
	e.fails(`unknown key "naem"`)
	e.save("middleware: [{plugin: gone.wasm}]\n")
	e.fails("gone.wasm")
	e.save(around + "instructions: Be brief.\nproviders: [{history: memory}]\n")
	e.fails("instructions, providers changed: restart")
	e.save("middleware: [{plugin: answer.wasm, grant: {change: [result], search: [{index: docs}]}}]\nindexes: {docs: {}}\n")
	r := <-e.told
	require.ErrorContains(t, r.Err, "indexes changed: restart")
	require.ErrorContains(t, r.Err, "index docs", "all of it at once")
	require.NoError(t, os.Remove(e.file))
	e.fails("cannot be read")
	require.Equal(t, "The plugin answers.", e.answer())
	e.save("# The same in other words.\nmiddleware:\n  - grant:\n      change:\n        - result\n    plugin: 'answer.wasm'\n")
	e.save("middleware: [{plugin: answer.wasm, grant: {change: [result]}, on_error: skip}]\n")
	r = <-e.told
	require.NoError(t, r.Err)
	require.Equal(t, "answer", r.SourceID)
}

// lines is a logger's lines as they come: the message, and one of its attributes.
type lines struct {
	slog.Handler
	attribute string
	all       chan string
}

func (l lines) Handle(_ context.Context, r slog.Record) error {
	text := r.Message
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == l.attribute {
			text += " " + a.Value.String()
		}
		return true
	})
	l.all <- text
	return nil
}

func TestAnIndexFollowsItsFolder(t *testing.T) {
	c := withGuests(t, "indexes: {docs: {folder: docs}}\nproviders: [{plugin: mute.wasm, grant: {search: [{index: docs}]}}]\nreload: {settle: 20ms}\n")
	folder := c.Indexes[0].Folder
	log := lines{slog.NewTextHandler(io.Discard, nil), "indexed", make(chan string, 16)}
	built, err := c.Build(t.Context(), BuildOptions{Watch: true, Logger: slog.New(log)})
	require.NoError(t, err)
	defer func() { require.NoError(t, built.Close(context.Background())) }()
	finds := func(query string) int {
		hits, err := built.services.indexes["docs"].Search(t.Context(), index.Query{Text: query})
		require.NoError(t, err)
		return len(hits)
	}
	require.Zero(t, finds("heddles"))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "loom.md"), []byte("# Loom\n\nHeddles lift the warp.\n"), 0o600))
	require.Equal(t, "an index follows its folder 1", <-log.all)
	require.Equal(t, 1, finds("heddles"))
	require.NoError(t, os.Remove(filepath.Join(folder, "loom.md")))
	require.Equal(t, "an index follows its folder 0", <-log.all)
	require.Zero(t, finds("heddles"))
}

func TestWhatAConfigHasNotInEffectIsToldOnce(t *testing.T) {
	const around = "middleware: [{plugin: answer.wasm, grant: {change: [result]}"
	e := edit(t, around+"}]\n")
	e.save(around + "}]\ninstructions: Be brief.\n")
	e.fails("instructions changed: restart")
	e.save(around + ", on_error: skip}]\ninstructions: Be long.\n")
	r := <-e.told
	require.NoError(t, r.Err, "it is the plugin's, and before it nothing was told again")
	e.save(around + ", on_error: fail}]\n")
	require.NoError(t, (<-e.told).Err)
	e.save(around + ", on_error: fail}]\ninstructions: Be brief.\n")
	e.fails("instructions changed: restart")
}
