package wasm_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/wasm"
)

// edition is a plugin whose before_run and after_run write which version they are of.
func edition(version string, more ...string) script {
	describe := fmt.Sprintf(`{"name":"editions","version":%q%s}`, version, strings.Join(more, ""))
	return script{
		"describe":   {out(describe)},
		"before_run": {out(fmt.Sprintf(`{"extend_instructions":[%q]}`, version))},
		"after_run":  {out(fmt.Sprintf(`{"state":{"version":%q}}`, version))},
	}
}

// file is a plugin file that can be written anew.
type file struct {
	t    *testing.T
	path string
}

func newFile(t *testing.T, s script) file {
	f := file{t, filepath.Join(t.TempDir(), "editions.wasm")}
	f.write(s.module(t))
	return f
}

func (f file) write(module []byte) { require.NoError(f.t, os.WriteFile(f.path, module, 0o600)) }

func (f file) load(c wasm.Config) (*wasm.Plugin, *[]wasm.Reloaded) {
	f.t.Helper()
	told := &[]wasm.Reloaded{}
	c.Path, c.OnReload = f.path, func(r wasm.Reloaded) { *told = append(*told, r) }
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	p, err := wasm.Load(f.t.Context(), newEngine(f.t), c)
	require.NoError(f.t, err)
	f.t.Cleanup(func() { require.NoError(f.t, p.Close(context.Background())) })
	return p, told
}

func TestANewVersionTakesOverBetweenRuns(t *testing.T) {
	f := newFile(t, edition("1"))
	p, told := f.load(wasm.Config{})
	m := &model{}
	agent := newAgent(t, m, p)
	session := agent.CreateSession("")
	run := func() string {
		_, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{Session: session})
		require.NoError(t, err)
		return m.requests[len(m.requests)-1].Instructions
	}
	require.Equal(t, "1", run())
	changed, err := p.Reload(t.Context())
	require.NoError(t, err)
	require.False(t, changed, "the bytes are the same")

	f.write(edition("2").module(t))
	changed, err = p.Reload(t.Context())
	require.NoError(t, err)
	require.True(t, changed)
	require.Equal(t, "2", run())
	require.Equal(t, "2", p.Status().Version)
	require.Equal(t, wasm.StateReady, p.Status().State)
	require.Len(t, *told, 1)
	require.Equal(t, "1", (*told)[0].From.Version)
	require.Equal(t, "2", (*told)[0].To.Version)
}

// A run that is under way ends on the version that it began with, and that is closed afterwards.
func TestARunUnderWayEndsOnItsVersion(t *testing.T) {
	f := newFile(t, edition("1"))
	p, _ := f.load(wasm.Config{})
	inside, leave := make(chan struct{}), make(chan struct{})
	var began atomic.Bool
	waits := host.BeforeRunFunc("waits", func(context.Context, *host.SessionContext) error {
		if began.CompareAndSwap(false, true) {
			close(inside)
			<-leave
		}
		return nil
	})
	m := &lockedModel{}
	agent := newAgent(t, m, p, waits)
	slow := agent.CreateSession("")
	done := make(chan error, 1)
	go func() {
		_, err := agent.Run(context.Background(), host.Text("hi"), host.RunConfig{Session: slow})
		done <- err
	}()
	<-inside
	f.write(edition("2").module(t))
	_, err := p.Reload(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, p.Status().Replaced)
	fast := agent.CreateSession("")
	_, err = agent.Run(t.Context(), host.Text("hi"), host.RunConfig{Session: fast})
	require.NoError(t, err)
	close(leave)
	require.NoError(t, <-done)
	require.Zero(t, p.Status().Replaced)
	for session, want := range map[*host.Session]string{slow: `{"version":"1"}`, fast: `{"version":"2"}`} {
		state, err := session.State("editions").Raw()
		require.NoError(t, err)
		require.Equal(t, want, string(state))
	}
}

func TestAVersionThatCannotBeUsedLeavesTheOldOne(t *testing.T) {
	good := edition("1", `,"source_id":"editions","state_version":2`)
	without := edition("2")
	delete(without, "after_run")
	for name, c := range map[string]struct {
		module []byte
		want   string
	}{
		"corrupt":          {[]byte("\x00asm garbage"), "cannot be loaded"},
		"empty":            {nil, "cannot be loaded"},
		"drops an export":  {without.module(t), "does not export after_run any more"},
		"renames itself":   {edition("2", `,"source_id":"other"`).module(t), "set source_id: editions"},
		"asks for more":    {edition("2", `,"grants":{"read":["options"]}`).module(t), "+ read options\n"},
		"asks for a lot":   {edition("2", `,"grants":{"read":["options"]}`).module(t), "read: [input, response, options]"},
		"changes schema":   {edition("2", `,"config_schema":{"type":"object","required":["city"]}`).module(t), "does not meet its schema"},
		"state goes back":  {edition("2", `,"state_version":1`).module(t), "state_version 1, and the one in use 2"},
		"fails in init":    {(script{"init": {out(`{"error":{"message":"no index"}}`)}, "before_run": {out("{}")}, "after_run": {out("{}")}}).module(t), "no index"},
		"is for later ABI": {edition("2", `,"abi":9`).module(t), "ABI 9"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFile(t, good)
			p, told := f.load(wasm.Config{})
			f.write(c.module)
			for range 3 {
				changed, err := p.Reload(t.Context())
				require.False(t, changed)
				require.ErrorContains(t, err, c.want)
			}
			require.Len(t, *told, 1, "a failure is told once")
			require.ErrorContains(t, (*told)[0].Err, c.want)
			require.Equal(t, wasm.StateStale, p.Status().State)
			m := &model{}
			_, err := newAgent(t, m, p).Run(t.Context(), host.Text("hi"), host.RunConfig{})
			require.NoError(t, err)
			require.Equal(t, "1", m.requests[0].Instructions)

			f.write(edition("3", `,"source_id":"editions","state_version":3`).module(t))
			changed, err := p.Reload(t.Context())
			require.NoError(t, err)
			require.True(t, changed)
			require.Equal(t, wasm.StateReady, p.Status().State)
		})
	}
}

func TestAPinnedDigestLetsNothingElseIn(t *testing.T) {
	f := newFile(t, edition("1"))
	first, _ := f.load(wasm.Config{})
	p, _ := f.load(wasm.Config{SHA256: first.Status().Digest})
	f.write(edition("2").module(t))
	_, err := p.Reload(t.Context())
	require.ErrorContains(t, err, "was pinned")
	require.Equal(t, "1", p.Status().Version)
}

func TestReplaceTakesAnotherConfiguration(t *testing.T) {
	s := script{"init": {out(`{}`)}, "before_run": {out(`{}`)}}
	p, _ := s.load(t, wasm.Config{Config: []byte(`{"a":1}`)})
	require.NoError(t, p.Replace(t.Context(), wasm.Config{Module: s.module(t), SourceID: "p", Config: []byte(`{"a":2}`)}))
	require.Error(t, p.Replace(t.Context(), wasm.Config{Module: s.module(t), SourceID: "q"}))
}

func TestAFileThatIsGoneKeepsServing(t *testing.T) {
	f := newFile(t, edition("1"))
	p, told := f.load(wasm.Config{})
	require.NoError(t, os.Remove(f.path))
	_, err := p.Reload(t.Context())
	require.ErrorContains(t, err, "there is no file")
	require.Len(t, *told, 1)
	_, err = newAgent(t, &model{}, p).Run(t.Context(), host.Text("hi"), host.RunConfig{})
	require.NoError(t, err)
}

// Runs and reloads at the same time: each run sees one version from its beginning to its end, and every version that was
// replaced is closed.
func TestReloadsUnderLoad(t *testing.T) {
	f := newFile(t, edition("0"))
	p, told := f.load(wasm.Config{})
	modules := [][]byte{edition("0").module(t), edition("1").module(t), edition("2").module(t)}
	agent := newAgent(t, &lockedModel{}, p)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	failures := make(chan error, 64)
	for range 16 {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				session := agent.CreateSession("")
				instructions := ""
				_, err := agent.Run(context.Background(), host.Text("hi"), host.RunConfig{
					Session: session, Tracer: host.TraceFunc(func(_ context.Context, h host.HookTrace) {
						if h.Hook == "model" {
							instructions = h.Request.Instructions
						}
					}),
				})
				state, _ := session.State("editions").Raw()
				if want := fmt.Sprintf(`{"version":%q}`, instructions); err == nil && string(state) != want {
					err = errors.New("mixed versions: " + instructions + " and " + string(state))
				}
				if err != nil {
					failures <- err
					return
				}
			}
		})
	}
	for i := range 60 {
		f.write(modules[i%3])
		_, err := p.Reload(t.Context())
		require.NoError(t, err)
	}
	close(stop)
	wg.Wait()
	select {
	case err := <-failures:
		t.Fatal(err)
	default:
	}
	require.GreaterOrEqual(t, len(*told), 59)
	require.Zero(t, p.Status().Replaced)
}

// lockedModel answers "ok" to any number of goroutines.
type lockedModel struct{ model }

func (m *lockedModel) Complete(context.Context, *host.ChatRequest) (*host.Response, error) {
	return host.NewResponse("ok"), nil
}
