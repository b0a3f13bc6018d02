package config

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host"
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
	e.fails("indexes changed: restart")
	e.fails("index docs")
	require.NoError(t, os.Remove(e.file))
	e.fails("cannot be read")
	require.Equal(t, "The plugin answers.", e.answer())
	e.save("# The same in other words.\nmiddleware:\n  - grant:\n      change:\n        - result\n    plugin: 'answer.wasm'\n")
	e.save("middleware: [{plugin: answer.wasm, grant: {change: [result]}, on_error: skip}]\n")
	r := <-e.told
	require.NoError(t, r.Err)
	require.Equal(t, "answer", r.SourceID)
}
