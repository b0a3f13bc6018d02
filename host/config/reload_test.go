package config

import (
	"context"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/wasm"
	"github.com/weft-run/weft/internal/wat"
)

// replaceGuest puts another plugin into the place of answer.wasm, at once.
func replaceGuest(t *testing.T, c *Config, module []byte) {
	t.Helper()
	file := c.Plugins()[0].Wasm.Path
	require.NoError(t, os.WriteFile(file+".new", module, 0o600))
	require.NoError(t, os.Rename(file+".new", file))
}

func TestAPluginWhoseFileChangesIsReloaded(t *testing.T) {
	for reload, o := range map[string]BuildOptions{
		"": {Watch: true}, "reload: {settle: 20ms}\n": {Watch: true}, "reload: {watch: true, settle: 20ms}\n": {},
	} {
		c := withGuests(t, reload+"middleware: [{plugin: answer.wasm, grant: {change: [result]}}]\n")
		told := make(chan wasm.Reloaded, 8)
		o.Reloaded = func(r wasm.Reloaded) { told <- r }
		built, err := c.Build(t.Context(), o)
		require.NoError(t, err)
		ask := func() string {
			response, err := built.Agent.Run(t.Context(), host.Text("What is a weft?"), host.RunConfig{})
			require.NoError(t, err)
			return response.Text()
		}
		require.Equal(t, "The plugin answers.", ask())

		replaceGuest(t, c, wat.Guest(t, map[string][]string{
			"describe": {`{"version":"2","source_id":"answer","layers":["chat"]}`}, "process": {`{"response":{"text":"The new plugin answers."}}`},
		}))
		r := <-told
		require.NoError(t, r.Err)
		assert.Equal(t, "2", r.To.Version)
		assert.Equal(t, "The new plugin answers.", ask())

		replaceGuest(t, c, wat.Guest(t, map[string][]string{
			"describe": {`{"version":"3","source_id":"answer","layers":["chat"],"grants":{"kv":["session"]}}`}, "process": {`{}`},
		}))
		r = <-told
		require.ErrorContains(t, r.Err, "kv: [session]", "an update that asks for more waits for the operator")
		assert.Equal(t, "The new plugin answers.", ask())
		assert.Equal(t, wasm.StateStale, built.Plugins[0].Status().State)
		require.NoError(t, built.Close(context.Background()))
	}
}

func TestPluginsAreWatchedWhereConfigOrProgramSaySo(t *testing.T) {
	const plugin = "providers: [{plugin: mute.wasm}]\n"
	for yaml, c := range map[string]struct{ program, want bool }{
		plugin:                                   {false, false},
		plugin + "reload: {watch: false}\n":      {true, false},
		plugin + "reload: {settle: 1s}\n":        {false, false},
		"name: none\nreload: {watch: true}\n":    {true, false},
		plugin + "reload: {watch: true}\n":       {false, true},
		plugin + "instructions: Be brief.\n":     {true, true},
		plugin + "default_history: when_empty\n": {false, false},
	} {
		built := build(t, yaml, BuildOptions{Watch: c.program})
		assert.Equal(t, c.want, built.watcher != nil, yaml)
	}
}
