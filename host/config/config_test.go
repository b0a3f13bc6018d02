package config

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host"
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
		Model: Model{Provider: "offline"},
		Options: host.Options{
			Temperature: new(0.5), TopP: new(1.0), MaxTokens: new(100), Stop: []string{"END"}, Seed: new(-7), Store: new(false),
		},
		DefaultHistory: host.HistoryNever,
		Providers: []Provider{
			{Line: 19, Column: 5, path: "providers[0]", History: &host.HistoryConfig{
				SourceID: "audit", LoadMessages: host.LoadNever, SkipInputs: true, SkipOutputs: true,
				StoreContextMessages: true, StoreContextFrom: []string{"docs"},
			}},
			{Line: 26, Column: 5, path: "providers[1]", Plugin: &wasm.Config{
				Path: filepath.Join(dir, "plugins", "clock.wasm"), OnError: host.OnErrorFail,
			}},
			{Line: 27, Column: 5, path: "providers[2]", Plugin: &wasm.Config{
				Path: filepath.Join(dir, "plugins", "docs.wasm"), SourceID: "docs",
				SHA256: "93a44bbb96c751218e4c00d479e4c14358122a389acca16205b1e4d0dc5f9476",
				Config: []byte(`{"folder":"/docs","exact":123456789012345678901234567890,"ratio":0.50,"deep":[{"a":null},true,"1"]}`),
				Grants: wasm.Grants{
					Read: []string{"input", "context:in_memory", "context:*"}, Add: []string{}, Roles: []message.Role{"user", "system"},
					Files: []wasm.Folder{{Host: filepath.Join(dir, "docs"), Guest: "/docs", Mode: "ro"}},
				},
				Limits: wasm.Limits{
					Module: 1 << 20, Memory: 64 << 20, Input: engine.Unlimited, Output: 1, Text: 2 << 10, State: 3 << 30,
					CPU: 200 * time.Millisecond, Start: 1500 * time.Millisecond, Init: engine.Unlimited,
					LogLines: 1, LogLine: 100, Instances: engine.Unlimited,
				},
				OnError: host.OnErrorSkip, Shared: true,
			}},
		},
	}
	assert.Equal(t, want, c)
}

func TestDefaults(t *testing.T) {
	c, err := Parse("weft.yaml", []byte("providers:\n  - history: memory\n"))
	require.NoError(t, err)
	assert.Equal(t, "agent", c.Name)
	assert.Equal(t, Model{Provider: ModelOffline}, c.Model)
	assert.Equal(t, host.HistoryWhenEmpty, c.DefaultHistory)
	assert.Equal(t, host.Options{}, c.Options)
	assert.Equal(t, &host.HistoryConfig{SourceID: "in_memory", LoadMessages: host.LoadAlways}, c.Providers[0].History)
}

func TestLoadErrors(t *testing.T) {
	_, err := Load(filepath.Join(t.TempDir(), "weft.yaml"))
	require.ErrorIs(t, err, os.ErrNotExist)
	require.ErrorContains(t, err, "weft.yaml: the config cannot be read: no such file")
	_, err = Load(t.TempDir())
	require.ErrorContains(t, err, "no regular file")
}
