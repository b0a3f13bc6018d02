package wasm_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/abi"
	"github.com/weft-run/weft/host/wasm"
	"github.com/weft-run/weft/host/wasm/engine"
)

// inspect inspects a script as the plugin "p".
func inspect(t testing.TB, s script, c wasm.Config) *wasm.Inspection {
	t.Helper()
	c.Module, c.SourceID = s.module(t), "p"
	i, err := wasm.Inspect(t.Context(), newEngine(t), c)
	require.NoError(t, err)
	return i
}

// audited are the rights of an audit, and what is said of each.
func audited(a wasm.Audit) map[string]string {
	shown := map[string]string{}
	for _, r := range a.Rights {
		marks := ""
		if r.Asked {
			marks += "asked "
		}
		if r.Given {
			marks += "given "
		}
		if r.Uses != nil {
			marks += "used"
		}
		shown[r.Name] = marks
	}
	return shown
}

func TestAnInspectionHoldsAskedGivenAndUsedSideBySide(t *testing.T) {
	guest := script{
		"describe": {out(`{"name":"p","grants":{"read":["input","calls"],"add":["instructions"],"kv":["session"],"events":["emit"],
			"http":[{"origin":"https://api.example.com","methods":["GET"]}]}}`)},
		"before_run": {out(`{}`)},
	}
	i := inspect(t, guest, wasm.Config{Grants: wasm.Grants{
		Read: []string{"input", "options", "calls"}, KV: []string{"session", "agent"},
		HTTP: []abi.HTTPGrant{{Origin: "https://API.example.com:443"}},
	}})
	assert.Equal(t, map[string]string{
		"read input": "asked given used", "read options": "given used", "read calls": "asked given ",
		"add messages": "given used", "add instructions": "asked given used", "roles user": "given used",
		"kv session": "asked given ", "kv agent": "given ", "events emit": "asked ",
		"http https://api.example.com any method": "given ", "http https://api.example.com GET": "asked given ",
	}, audited(i.Audit))
	assert.Equal(t, []string{"read options", "kv agent", "http https://api.example.com any method"}, i.Audit.NotAsked())
	assert.Equal(t, []string{
		"read calls", "kv session", "kv agent", "http https://api.example.com any method", "http https://api.example.com GET",
	}, i.Audit.Unused())
	assert.Equal(t, []string{"events: [emit]"}, i.Audit.Missing)
	assert.Equal(t, abi.LayerContext, i.Layer)
	require.Len(t, i.Faults, 1)
	assert.Equal(t, "it asks for rights that it was not given", i.Faults[0].What)
	assert.Contains(t, i.Faults[0].Remedy, "\n  events: [emit]")
}

func TestAnInspectionOfAPluginThatIsGivenWhatItAsksForHasNoFaults(t *testing.T) {
	guest := script{"describe": {out(`{"layers":["chat"],"grants":{"change":["messages"]}}`)}, "process": {next(`{}`), out(`{}`)}}
	i := inspect(t, guest, wasm.Config{Middleware: true, Grants: wasm.Grants{Change: []string{"messages"}}})
	assert.Empty(t, i.Faults)
	assert.Equal(t, abi.LayerChat, i.Layer)
	assert.Empty(t, i.Audit.Missing)
	assert.Empty(t, i.Audit.NotAsked(), "the entry names the layer, and who stands there asks for it")
	assert.Empty(t, i.Audit.Unused())
}

func TestAPluginThatWrapsARunAsksForItsLayer(t *testing.T) {
	i := inspect(t, script{"process": {out(`{}`)}}, wasm.Config{})
	assert.Equal(t, []string{"middleware: [context]"}, i.Audit.Missing)
	require.Len(t, i.Faults, 1)
	assert.Empty(t, inspect(t, script{"process": {out(`{}`)}}, wasm.Config{Grants: wasm.Grants{Middleware: []abi.Layer{"context"}}}).Faults)
}

func TestAnInspectionFindsAllThatIsWrongAndRunsNoInit(t *testing.T) {
	guest := script{
		"describe": {out(`{"abi":9,"requires":["time_travel"],"config_schema":{"type":"object","required":["city"]},"grants":{"kv":["agent"]}}`)},
		"init":     {out(`{"error":{"code":"failed","message":"init was run"}}`)}, "before_run": {out(`{}`)},
	}
	i := inspect(t, guest, wasm.Config{SHA256: "abc"})
	var all string
	for _, f := range i.Faults {
		all += f.What + "\n"
	}
	for _, part := range []string{`sha256 "abc"`, "ABI 9", "time_travel", "city", "rights that it was not given"} {
		assert.Contains(t, all, part)
	}
	assert.NotContains(t, all, "init")
	assert.Len(t, i.Faults, 5)
}

func TestAnInspectionOfWhatIsNoPlugin(t *testing.T) {
	_, err := wasm.Inspect(t.Context(), newEngine(t), wasm.Config{Path: filepath.Join(t.TempDir(), "none.wasm")})
	require.ErrorContains(t, err, "there is no file")

	path := filepath.Join(t.TempDir(), "text.wasm")
	require.NoError(t, os.WriteFile(path, []byte("hello"), 0o600))
	i, err := wasm.Inspect(t.Context(), newEngine(t), wasm.Config{Path: path})
	require.NoError(t, err)
	require.NotEmpty(t, i.Faults)
	assert.Contains(t, i.Faults[0].What, "not a WebAssembly module")

	trapping := inspect(t, script{"describe": {}, "before_run": {out(`{}`)}}, wasm.Config{})
	require.Len(t, trapping.Faults, 1)
	assert.Contains(t, trapping.Faults[0].What, "describe: the hook returned nothing")

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = wasm.Inspect(ctx, newEngine(t), wasm.Config{Module: script{"before_run": {out(`{}`)}}.module(t)})
	require.ErrorIs(t, err, context.Canceled)
}

// TestWhatAModuleCouldUse is about imports and exports alone, so that it holds for every function of the contract.
func TestWhatAModuleCouldUse(t *testing.T) {
	hook := func(name string) engine.Export {
		return engine.Export{Name: name, Kind: "func", Results: []string{"i32"}}
	}
	of := func(module, name string) engine.Import {
		return engine.Import{Module: module, Name: name, Kind: "func"}
	}
	all := abi.Grants{
		Read: append([]string{"context:docs"}, abi.ReadParts...), Add: abi.Additions, Roles: nil, Change: abi.Changes, Middleware: abi.Layers,
		KV: abi.Scopes, Complete: &abi.Budget{Calls: 1, Tokens: 1}, Embed: &abi.Budget{Calls: 1, Tokens: 1},
		Search: []abi.SearchGrant{{Index: "docs", Mode: "rw"}}, Events: abi.EventKind,
		HTTP: []abi.HTTPGrant{{Origin: "https://example.com", Methods: []string{"GET"}, Secrets: []string{"key"}}}, Files: []abi.FileGrant{{Guest: "/docs"}},
	}
	for name, c := range map[string]struct {
		info  engine.Info
		layer abi.Layer
		used  []string
	}{
		"a hook before a run": {
			info: engine.Info{Exports: []engine.Export{hook("before_run")}},
			used: []string{
				"read context:docs", "read input", "read options", "read metadata",
				"add messages", "add instructions", "add metadata", "add tools",
			},
		},
		"a hook of the loop": {
			info: engine.Info{Exports: []engine.Export{hook("after_function")}},
			used: []string{"read context:docs", "read metadata", "read calls", "add metadata", "change result"},
		},
		"updates": {
			info: engine.Info{Exports: []engine.Export{hook("on_update")}}, layer: abi.LayerChat,
			used: []string{"read response", "change result", "middleware agent", "middleware chat"},
		},
		"process of middleware": {
			info: engine.Info{Exports: []engine.Export{hook("process")}}, layer: abi.LayerAgent,
			used: []string{
				"read context:docs", "read input", "read response", "read options", "read metadata", "read request", "read calls",
				"change result", "middleware context", "middleware agent", "middleware chat", "middleware function",
			},
		},
		"hooks that are not called where it stands": {
			info: engine.Info{Exports: []engine.Export{hook("before_run")}}, layer: abi.LayerChat,
		},
		"an export that is no hook": {info: engine.Info{Exports: []engine.Export{{Name: "before_run", Kind: "global"}}}},
		"storage":                   {info: engine.Info{Imports: []engine.Import{of("extism:host/user", "kv_list")}}, used: []string{"kv session", "kv agent"}},
		"models": {
			info: engine.Info{Imports: []engine.Import{of("extism:host/user", "complete"), of("extism:host/user", "embed")}},
			used: []string{"complete {calls: 1, tokens: 1}", "embed {calls: 1, tokens: 1}"},
		},
		"search":      {info: engine.Info{Imports: []engine.Import{of("extism:host/user", "search")}}, used: []string{"search docs"}},
		"an index":    {info: engine.Info{Imports: []engine.Import{of("extism:host/user", "index_put")}}, used: []string{"search docs", "search docs rw"}},
		"an event":    {info: engine.Info{Imports: []engine.Import{of("extism:host/user", "emit")}}, used: []string{"events emit"}},
		"messages":    {info: engine.Info{Imports: []engine.Import{of("extism:host/user", "get_messages")}}, used: []string{"read context:docs", "read input", "read response", "read request"}},
		"next":        {info: engine.Info{Imports: []engine.Import{of("extism:host/user", "call_next")}}, used: []string{"change messages", "change options", "change arguments"}},
		"a request":   {info: engine.Info{Imports: []engine.Import{of("extism:host/env", "http_request")}}, used: []string{"http https://example.com GET", "http https://example.com secret key"}},
		"files":       {info: engine.Info{Imports: []engine.Import{of("wasi_snapshot_preview1", "path_open")}}, used: []string{"files /docs"}},
		"other names": {info: engine.Info{Imports: []engine.Import{of("wasi_snapshot_preview1", "fd_write"), of("extism:host/env", "kv_get")}}},
	} {
		t.Run(name, func(t *testing.T) {
			audit := wasm.Compare(nil, all, wasm.UsesOf(&c.info, c.layer))
			var used []string
			for _, r := range audit.Rights {
				if r.Uses != nil {
					used = append(used, r.Name)
				}
			}
			assert.Equal(t, c.used, used)
			assert.Empty(t, audit.Denied)
		})
	}
}

func TestAnImportWithoutItsRightIsNamed(t *testing.T) {
	info := &engine.Info{Imports: []engine.Import{
		{Module: "extism:host/user", Name: "kv_set"},
		{Module: "extism:host/user", Name: "emit"},
		{Module: "extism:host/user", Name: "request"},
		{Module: "extism:host/user", Name: "index_put"},
		{Module: "extism:host/user", Name: "search"},
		{Module: "extism:host/env", Name: "http_request"},
		{Module: "extism:host/user", Name: "call_next"},
		{Module: "extism:host/user", Name: "get_messages"},
	}}
	given := abi.Grants{Events: []string{"request"}, Search: []abi.SearchGrant{{Index: "docs"}}}
	assert.Equal(t, []string{"emit", "http_request", "index_put", "kv_set"}, wasm.Compare(nil, given, wasm.UsesOf(info, "")).Denied)
}
