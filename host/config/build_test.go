package config

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/wasm"
	"github.com/weft-run/weft/host/wasm/engine"
	"github.com/weft-run/weft/internal/wat"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == serveTools {
		serve(os.Args[2:])
		return
	}
	goleak.VerifyTestMain(m)
}

// withGreeter writes a config into a folder that has the plugin greeter.wasm, and reads it.
func withGreeter(t *testing.T, yaml string) *Config {
	t.Helper()
	name := folder(t)
	module := wat.Assemble(t, "testdata/greeter.wat")
	for _, file := range []string{"greeter.wasm", "second.wasm"} {
		require.NoError(t, os.WriteFile(filepath.Join(filepath.Dir(name), file), module, 0o600))
	}
	require.NoError(t, os.WriteFile(name, []byte(yaml), 0o600))
	c, err := Load(name)
	require.NoError(t, err)
	return c
}

func TestBuild(t *testing.T) {
	c := withGreeter(t, `
name: guide
instructions: Answer.
providers:
  - history: memory
  - plugin: greeter.wasm
    config: {warm: false}
  - plugin: second.wasm
    source_id: second
`)
	var begun, done atomic.Int32
	built, err := c.Build(t.Context(), BuildOptions{Loading: func(string) func() {
		begun.Add(1)
		return func() { done.Add(1) }
	}})
	require.NoError(t, err)
	assert.Equal(t, []string{"in_memory", "greeter", "second"}, built.Sources)
	assert.Len(t, built.Plugins, 2)
	assert.Equal(t, int32(2), begun.Load())
	assert.Equal(t, int32(2), done.Load())

	var added []string
	response, err := built.Agent.Run(t.Context(), host.Text("What is a weft?"), host.RunConfig{
		Session: host.NewSession(""),
		Tracer: host.TraceFunc(func(_ context.Context, h host.HookTrace) {
			if h.Messages > 0 {
				added = append(added, fmt.Sprint(h.SourceID, " ", h.Messages, " ", h.Instructions))
			}
		}),
	})
	require.NoError(t, err)
	assert.Contains(t, response.Text(), "thread that crosses the warp")
	assert.Equal(t, []string{"greeter 1 1", "second 1 1"}, added)
	require.NoError(t, built.Close(t.Context()))
	require.NoError(t, built.Close(t.Context()), "closing again")
}

// TestBuildReportsAllPlugins has one good plugin among four that cannot be loaded.
func TestBuildReportsAllPlugins(t *testing.T) {
	c := withGreeter(t, `
providers:
  - plugin: plugins/clock.wasm
  - plugin: greeter.wasm
    config: {wram: true}
  - plugin: greeter.wasm
    sha256: 0000000000000000000000000000000000000000000000000000000000000000
  - plugin: second.wasm
  - plugin: greeter.wasm
    limits: {memory: 1KiB}
`)
	e := engine.New(engine.Options{})
	_, err := c.Build(t.Context(), BuildOptions{Engine: e})
	var faults *Errors
	require.ErrorAs(t, err, &faults)
	require.Len(t, faults.Faults, 4)
	for i, want := range []struct{ place, text string }{
		{":3:5: providers[0]", "exports no hook"},
		{":4:5: providers[1]", "config does not meet its schema"},
		{":6:5: providers[2]", "sha256 is"},
		{":9:5: providers[4]", "limits.memory"},
	} {
		assert.Contains(t, faults.Faults[i].String(), want.place)
		assert.Contains(t, faults.Faults[i].String(), want.text)
	}
	var refused *wasm.LoadError
	require.ErrorAs(t, err, &refused)
	require.NoError(t, e.Close(t.Context()))
}

func TestBuildFindsDuplicateDescribedIDs(t *testing.T) {
	c := withGreeter(t, "providers:\n  - plugin: greeter.wasm\n  - plugin: second.wasm\n")
	_, err := c.Build(t.Context(), BuildOptions{})
	require.ErrorContains(t, err, `weft.yaml:3:5: providers[1]: duplicate source id "greeter": the entry in line 2 has it`)
}

func TestBuildHonoursContext(t *testing.T) {
	c := withGreeter(t, "providers:\n  - plugin: greeter.wasm\n")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := c.Build(ctx, BuildOptions{})
	require.ErrorIs(t, err, context.Canceled)
}

func TestSources(t *testing.T) {
	for yaml, want := range map[string][]string{
		"name: a":                {"in_memory"},
		"default_history: never": nil,
		"options: {store: true}": nil,
		"default_history: when_missing\nproviders: [{history: memory, source_id: log, load_messages: false}]": {"log", "in_memory"},
		"providers: [{history: memory, source_id: log}]":                                                      {"log"},
	} {
		c, err := Parse("weft.yaml", []byte(yaml))
		require.NoError(t, err)
		built, err := c.Build(t.Context(), BuildOptions{})
		require.NoError(t, err)
		assert.Equal(t, want, built.Sources, yaml)
		require.NoError(t, built.Close(t.Context()))
	}
}

func TestBuildUsesTheLogger(t *testing.T) {
	c := withGreeter(t, "providers:\n  - plugin: greeter.wasm\n")
	var log bytes.Buffer
	built, err := c.Build(t.Context(), BuildOptions{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	require.NoError(t, err)
	defer func() { require.NoError(t, built.Close(t.Context())) }()
	_, err = built.Agent.Run(t.Context(), host.Text("hi"), host.RunConfig{Session: host.NewSession("")})
	require.NoError(t, err)
	assert.Contains(t, log.String(), "no provider loads history")
}
