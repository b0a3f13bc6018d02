package wasm_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/abi"
	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/wasm"
	"github.com/weft-run/weft/host/wasm/engine"
)

// Every plugin that cannot be loaded says why, and how to mend it.
func TestLoadFaults(t *testing.T) {
	for _, c := range []struct {
		fixture string
		config  wasm.Config
		want    []string
		is      error
	}{
		{"no-known-export", wasm.Config{}, []string{"it exports no hook", "there is run, beforeRun", "export before_run: () -> i32"}, nil},
		{"wrong-signatures", wasm.Config{}, []string{"export before_run is (i32) -> i32; () -> i32 was wanted", "export init is () -> nothing"}, nil},
		{"wants-too-much-memory", wasm.Config{}, []string{"1 GiB", "32 MiB", "limits.memory"}, engine.ErrMemoryLimit},
		{"many-faults", wasm.Config{OnError: "sometimes"}, []string{
			`on_error "sometimes" is not one of fail, skip`, "export before_run is (i64) -> nothing", "env.abort",
			"extism:host/user.time_travel", "1 GiB",
		}, nil},
		{"asks-for-more", wasm.Config{}, []string{
			"it asks for rights that it was not given", "grant:", `read: [input, response, "context:*", options]`,
			"add: [messages, instructions, metadata]", "roles: [user, system]", "- {host: FOLDER, guest: /docs, mode: ro}",
		}, nil},
		{"newer-abi", wasm.Config{}, []string{"it was written for ABI 2, and this host speaks ABI 1", `"time_travel"`, "update Weft"}, nil},
		{"bad-source-id", wasm.Config{}, []string{`source_id "Not Snake" is not snake_case`}, nil},
		{"describes-garbage", wasm.Config{}, []string{"describe: an object was wanted, and an array is there"}, nil},
		{"wants-config", wasm.Config{}, []string{"its config does not meet its schema", "limit"}, nil},
		{"wants-config", wasm.Config{Config: []byte(`{"limit":1,"other":2}`)}, []string{"other"}, nil},
		{"wants-config", wasm.Config{Config: []byte(`[]`)}, []string{"its config must be a JSON object"}, nil},
		{"schema-refers-to-itself", wasm.Config{}, []string{`"$ref"`}, nil},
		{"init-fails", wasm.Config{}, []string{"init: no index"}, nil},
		{"returns-nothing-in-init", wasm.Config{}, []string{"init: the hook returned nothing"}, nil},
		{"init-loops", wasm.Config{Limits: wasm.Limits{Init: 50 * time.Millisecond}}, []string{"init: ran longer than its 50ms", "limits.init"}, engine.ErrTimeout},
		{"describe-loops", wasm.Config{Limits: wasm.Limits{CPU: 50 * time.Millisecond}}, []string{"ran longer than its 50ms: raise limits.cpu"}, engine.ErrTimeout},
		{"describe-loops", wasm.Config{Limits: wasm.Limits{Fuel: 1_000_000}}, []string{"used up its 1,000,000 of fuel: raise limits.cpu"}, engine.ErrFuel},
		{"huge-table", wasm.Config{}, []string{
			"table elements: 1,000,000, want at most 100,000: no option changes this: build it for size",
		}, nil},
		{"adds-everything", wasm.Config{SHA256: "abc"}, []string{`sha256 "abc" is no SHA-256`}, nil},
		{
			"adds-everything",
			wasm.Config{Grants: wasm.Grants{Read: []string{"secrets"}, Files: []wasm.Folder{{Host: "/nowhere", Guest: "docs", Mode: "w"}}}},
			[]string{`read "secrets" is not one of`, `guest "docs" is no absolute path`, `mode "w" of docs is not one of ro, rw`, "folder /nowhere cannot be used"},
			nil,
		},
	} {
		t.Run(c.fixture, func(t *testing.T) {
			_, err := load(t, c.fixture, c.config)
			var refused *wasm.LoadError
			require.ErrorAs(t, err, &refused)
			for _, part := range c.want {
				require.ErrorContains(t, err, part)
			}
			if c.is != nil {
				require.ErrorIs(t, err, c.is)
			}
			t.Log(err)
		})
	}
}

// Files that are no plugins at all.
func TestFilesThatAreNoPlugins(t *testing.T) {
	dir := t.TempDir()
	whole := fixture(t, "adds-everything")
	component := append([]byte("\x00asm\x0d\x00\x01\x00"), whole[8:]...)
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"empty.wasm":     {[]byte{}, "empty"},
		"truncated.wasm": {whole[:len(whole)/2], "truncated"},
		"text.wasm":      {[]byte("<html><body>404 not found"), "HTML"},
		"component.wasm": {component, "component model not supported"},
		"large.wasm":     {append(whole, make([]byte, 33<<20)...), "limits.module"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(dir, name)
			require.NoError(t, os.WriteFile(path, c.data, 0o600))
			_, err := wasm.Load(t.Context(), newEngine(t), wasm.Config{Path: path})
			require.ErrorContains(t, err, path)
			require.ErrorContains(t, err, c.want)
			t.Log(err)
		})
	}
	_, err := wasm.Load(t.Context(), newEngine(t), wasm.Config{Path: filepath.Join(dir, "missing.wasm")})
	require.ErrorContains(t, err, "there is no file")
	_, err = wasm.Load(t.Context(), newEngine(t), wasm.Config{Path: dir})
	require.ErrorContains(t, err, "no regular file")
}

// Every hook that goes wrong is a typed error; the state is as before, and the next run with another plugin works.
func TestCallFaults(t *testing.T) {
	for _, c := range []struct {
		fixture string
		limits  wasm.Limits
		want    string
		check   func(t *testing.T, err error)
	}{
		{"returns-nothing", wasm.Limits{}, "the hook returned nothing; a JSON object was wanted", isOutputError},
		{"returns-garbage", wasm.Limits{}, "not valid JSON", isOutputError},
		{"returns-wrong-types", wasm.Limits{}, "at /extend_instructions: an array was wanted, and a string is there", isOutputError},
		{"returns-invalid-utf8", wasm.Limits{}, "invalid UTF-8", isOutputError},
		{"returns-endless-nesting", wasm.Limits{}, "nests deeper than 64 levels", isOutputError},
		{"returns-a-megabyte", wasm.Limits{}, "limits.output", isLimit("output", engine.ErrOutputTooLarge)},
		{"returns-unknown-role", wasm.Limits{}, `role "root" is not one of`, isOutputError},
		{"returns-system-role", wasm.Limits{}, "roles: [user, system]", isDenied},
		{"returns-metadata", wasm.Limits{}, "add: [messages, instructions, metadata]", isDenied},
		{"returns-state-that-is-no-object", wasm.Limits{}, "at /state: an object was wanted", isOutputError},
		{"returns-broken-state", wasm.Limits{}, "not valid JSON", isOutputError},
		{"returns-large-state", wasm.Limits{}, "its state has 100008 bytes, more than its limit of 65536: return less, or raise limits.state", isSize("state")},
		{"adds-everything", wasm.Limits{Text: 10}, "raise limits.text", isSize("text")},
		{"returns-garbage", wasm.Limits{Input: 100}, "limits.input", isLimit("input", engine.ErrInputTooLarge)},
		{"returns-one-with-text", wasm.Limits{}, "not_found: no such city", isReported(abi.CodeNotFound)},
		{"returns-seven-silently", wasm.Limits{}, "the hook returned 7 and set no error text", isReported(abi.CodeFailed)},
		{"loops-forever", wasm.Limits{CPU: 50 * time.Millisecond}, "ran longer than its 50ms: raise limits.cpu", isLimit("time", engine.ErrTimeout)},
		{"loops-forever", wasm.Limits{Fuel: 1_000_000}, "used up its 1,000,000 of fuel: raise limits.cpu", isLimit("fuel", engine.ErrFuel)},
		{"recurses-without-end", wasm.Limits{}, "deeper than its stack of 4 MiB: raise limits.stack", isLimit("stack", engine.ErrStackLimit)},
		{"allocates-without-end", wasm.Limits{}, "limits.memory", isLimit("memory", engine.ErrMemoryLimit)},
		{"traps", wasm.Limits{}, "trapped", is(engine.ErrTrap)},
		{"prints-and-traps", wasm.Limits{}, "trapped: unreachable\n  the plugin printed: cannot find the almanac", is(engine.ErrTrap)},
		{"exits-in-the-middle", wasm.Limits{}, "exited with code 0", is(engine.ErrExit)},
	} {
		t.Run(c.fixture, func(t *testing.T) {
			p := mustLoad(t, c.fixture, wasm.Config{Limits: c.limits})
			m := &model{}
			agent := newAgent(t, m, p)
			session := agent.CreateSession("")
			require.NoError(t, session.State("p").Set("before", 1))
			for range 2 { // the second call finds a working plugin again, which fails in the same way
				_, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{Session: session})
				require.ErrorContains(t, err, "provider p: before_run: ")
				require.ErrorContains(t, err, c.want)
				var call *wasm.CallError
				require.ErrorAs(t, err, &call)
				require.Equal(t, "p", call.Plugin)
				require.Equal(t, abi.HookBeforeRun, call.Hook)
				c.check(t, err)
				t.Log(err)
			}
			require.Empty(t, m.requests, "the model was not called")
			state, err := session.State("p").Raw()
			require.NoError(t, err)
			if c.fixture != "adds-everything" { // whose session_created writes state before the hook fails
				require.Equal(t, `{"before":1}`, string(state), "the state is as before the hook")
			}
		})
	}
}

func TestEffectOfAnotherHookIsRefused(t *testing.T) {
	p := mustLoad(t, "returns-effect-of-another-hook", wasm.Config{})
	r, err := newAgent(t, &model{}, p).Run(t.Context(), host.Text("hi"), host.RunConfig{})
	require.ErrorContains(t, err, `after_run has no effect "extend_messages"`)
	require.Equal(t, "ok", r.Text())
}

func is(target error) func(*testing.T, error) {
	return func(t *testing.T, err error) { require.ErrorIs(t, err, target) }
}

func isOutputError(t *testing.T, err error) { require.ErrorAs(t, err, new(*abi.OutputError)) }
func isDenied(t *testing.T, err error)      { require.ErrorAs(t, err, new(*wasm.DeniedError)) }

func isSize(limit string) func(*testing.T, error) {
	return func(t *testing.T, err error) {
		var s *wasm.SizeError
		require.ErrorAs(t, err, &s)
		require.Equal(t, limit, s.Limit)
	}
}

func isLimit(limit string, target error) func(*testing.T, error) {
	return func(t *testing.T, err error) {
		var l *engine.LimitError
		require.ErrorAs(t, err, &l)
		require.Equal(t, limit, l.Limit)
		require.NotEmpty(t, l.Value)
		require.Contains(t, l.Option, "limits.")
		require.ErrorIs(t, err, target)
	}
}

func isReported(code abi.Code) func(*testing.T, error) {
	return func(t *testing.T, err error) {
		var e *abi.Error
		require.True(t, errors.As(err, &e))
		require.Equal(t, code, e.Code)
	}
}

// What weft inspect says names no option that nobody has.
func TestDescribeOfAModuleThatDoesNotLoad(t *testing.T) {
	_, err := wasm.Describe(t.Context(), newEngine(t), fixture(t, "huge-table"))
	require.EqualError(t, err, "plugin: table elements: 1,000,000, want at most 100,000: "+
		"no option changes this: build it for size, and without what it does not need")
}

// A limit on fuel takes that on time away, but for an engine that knows no fuel.
func TestFuelDoesNotLeaveAHookWithoutEnd(t *testing.T) {
	e := engine.New(engine.Options{CloseOnContextDone: true})
	defer func() { require.NoError(t, e.Close(t.Context())) }()
	p, err := wasm.Load(t.Context(), e, wasm.Config{
		Module: fixture(t, "loops-forever"), SourceID: "p", Limits: wasm.Limits{Fuel: 1_000_000},
	})
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 10*engine.DefaultTime)
	defer cancel()
	_, err = newAgent(t, &model{}, p).Run(ctx, host.Text("hi"), host.RunConfig{})
	require.ErrorIs(t, err, engine.ErrTimeout)
}
