package wasm_test

import (
	"context"
	"fmt"
	"iter"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/weft-run/weft/abi"
	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/wasm"
	"github.com/weft-run/weft/host/wasm/engine"
	"github.com/weft-run/weft/internal/wat"
	"github.com/weft-run/weft/message"
)

// held are the answers of host functions in all tests of this package.
var held *wasm.Answers

// What host functions answer meets the contract's schema, in whatever test they are called.
func TestMain(m *testing.M) {
	held = wasm.HoldAnswers()
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		for _, fault := range held.Faults() {
			fmt.Fprintln(os.Stderr, fault)
			code = 1
		}
		os.Exit(code)
	}))
}

func fixture(t testing.TB, name string) []byte {
	t.Helper()
	return wat.Assemble(t, filepath.Join("testdata", name+".wat"))
}

func newEngine(t testing.TB) *engine.Engine {
	t.Helper()
	e := engine.New(engine.Options{Logger: slog.New(slog.DiscardHandler)})
	t.Cleanup(func() { require.NoError(t, e.Close(context.Background())) })
	return e
}

// load loads a fixture as the plugin "p".
func load(t testing.TB, name string, c wasm.Config) (*wasm.Plugin, error) {
	t.Helper()
	c.Module = fixture(t, name)
	if c.SourceID == "" {
		c.SourceID = "p"
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	p, err := wasm.Load(t.Context(), newEngine(t), c)
	if err == nil {
		t.Cleanup(func() { require.NoError(t, p.Close(context.Background())) })
	}
	return p, err
}

func mustLoad(t testing.TB, name string, c wasm.Config) *wasm.Plugin {
	t.Helper()
	p, err := load(t, name, c)
	require.NoError(t, err)
	return p
}

// model answers "ok" and keeps the requests.
type model struct{ requests []*host.ChatRequest }

func (m *model) Complete(_ context.Context, r *host.ChatRequest) (*host.Response, error) {
	m.requests = append(m.requests, r)
	return host.NewResponse("ok"), nil
}

func (m *model) Stream(ctx context.Context, r *host.ChatRequest) iter.Seq2[*host.Update, error] {
	return func(yield func(*host.Update, error) bool) {
		response, err := m.Complete(ctx, r)
		if err == nil {
			yield(host.TextUpdate(response.Text()), nil)
			return
		}
		yield(nil, err)
	}
}

func newAgent(t testing.TB, client host.ChatClient, providers ...host.Provider) *host.Agent {
	t.Helper()
	agent, err := host.NewAgent(host.AgentConfig{
		Name: "guide", Client: client, Providers: providers, Logger: slog.New(slog.DiscardHandler),
	})
	require.NoError(t, err)
	return agent
}

func TestEffectsReachTheRunUnderTheHostsStamp(t *testing.T) {
	m := &model{}
	p := mustLoad(t, "adds-everything", wasm.Config{})
	agent := newAgent(t, m, p)
	session := agent.CreateSession("s")
	var traced []host.HookTrace
	_, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{
		Session: session, Tracer: host.TraceFunc(func(_ context.Context, h host.HookTrace) { traced = append(traced, h) }),
	})
	require.NoError(t, err)
	require.Equal(t, "Be brief.", m.requests[0].Instructions)
	added := m.requests[0].Messages[0]
	require.Equal(t, "from the plugin", added.Text())
	require.Equal(t, "p", added.SourceID, "the host stamps the source, whatever the plugin claims")
	state, err := session.State("p").Raw()
	require.NoError(t, err)
	require.Equal(t, `{"n": 1.50}`, string(state), "state keeps its bytes")
	require.EqualValues(t, 1, p.UnknownMembers())

	hooks := make([]string, 0, len(traced))
	for _, h := range traced {
		hooks = append(hooks, h.Hook)
	}
	require.Equal(t, []string{"session_created", "before_run", "model", "after_run", "run"}, hooks)
	require.Equal(t, 1, traced[1].Messages)
	require.Equal(t, 1, traced[1].Instructions)
	require.Equal(t, []string{"cpu", "memory", "output"}, []string{traced[1].Costs[0].Name, traced[1].Costs[1].Name, traced[1].Costs[2].Name})
	require.EqualValues(t, 2*time.Second, traced[1].Costs[0].Limit)
	require.Positive(t, traced[1].Costs[2].Used)
}

// What is exported is what is called.
func TestHooksThatAreNotExportedAreNotCalled(t *testing.T) {
	p := mustLoad(t, "returns-effect-of-another-hook", wasm.Config{})
	require.Equal(t, []abi.Hook{abi.HookAfterRun}, p.Hooks())
	var traced []string
	_, _ = newAgent(t, &model{}, p).Run(t.Context(), host.Text("hi"), host.RunConfig{
		Tracer: host.TraceFunc(func(_ context.Context, h host.HookTrace) { traced = append(traced, h.Hook) }),
	})
	require.Equal(t, []string{"model", "after_run", "run"}, traced)
}

// A canary in memory and in a global: no call finds what an earlier one left, unless the operator says so.
func TestEachCallStartsFromACleanInstance(t *testing.T) {
	for name, c := range map[string]struct {
		shared bool
		want   []string
	}{
		"clean":  {false, []string{"2", "2", "2"}},
		"shared": {true, []string{"2", "4", "6"}},
	} {
		t.Run(name, func(t *testing.T) {
			m := &model{}
			agent := newAgent(t, m, mustLoad(t, "counts-its-calls", wasm.Config{Shared: c.shared}))
			for range c.want {
				_, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{Session: agent.CreateSession("")})
				require.NoError(t, err)
			}
			for i, want := range c.want {
				require.Equal(t, want, m.requests[i].Instructions)
			}
		})
	}
}

func TestReportedFailureKeepsItsState(t *testing.T) {
	p := mustLoad(t, "reports-failure-with-state", wasm.Config{})
	agent := newAgent(t, &model{}, p)
	session := agent.CreateSession("")
	_, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{Session: session})
	require.EqualError(t, err, "provider p: before_run: unavailable: the service is down")
	state, err := session.State("p").Raw()
	require.NoError(t, err)
	require.Equal(t, `{"tries":1}`, string(state))
}

func TestOnErrorSkip(t *testing.T) {
	m := &model{}
	p := mustLoad(t, "traps", wasm.Config{OnError: host.OnErrorSkip})
	r, err := newAgent(t, m, p).Run(t.Context(), host.Text("hi"), host.RunConfig{})
	require.NoError(t, err)
	require.Equal(t, "ok", r.Text())
	require.Len(t, m.requests[0].Messages, 1)
}

// A caller who gives up is not told of the plugin's limits.
func TestCancelledRunEndsTheGuest(t *testing.T) {
	p := mustLoad(t, "loops-forever", wasm.Config{Limits: wasm.Limits{CPU: time.Minute}})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := newAgent(t, &model{}, p).Run(ctx, host.Text("hi"), host.RunConfig{})
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.NotErrorIs(t, err, engine.ErrTimeout)
}

func TestGrantsAllowWhatTheyName(t *testing.T) {
	m := &model{}
	p := mustLoad(t, "returns-system-role", wasm.Config{Grants: wasm.Grants{Roles: []message.Role{"user", "system"}}})
	_, err := newAgent(t, m, p).Run(t.Context(), host.Text("hi"), host.RunConfig{})
	require.NoError(t, err)
	require.Equal(t, message.RoleSystem, m.requests[0].Messages[0].Role)
}

func TestReadFileOnceAndPinDigest(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "My-Clock.wasm")
	require.NoError(t, os.WriteFile(path, fixture(t, "adds-everything"), 0o600))
	p, err := wasm.Load(t.Context(), newEngine(t), wasm.Config{Path: path})
	require.NoError(t, err)
	require.Equal(t, "my_clock", p.SourceID())
	digest := p.Info().SHA256
	require.NoError(t, p.Close(t.Context()))

	p, err = wasm.Load(t.Context(), newEngine(t), wasm.Config{Path: path, SHA256: digest})
	require.NoError(t, err)
	require.NoError(t, p.Close(t.Context()))

	wrong := "00" + digest[2:]
	_, err = wasm.Load(t.Context(), newEngine(t), wasm.Config{Path: path, SHA256: wrong})
	require.ErrorContains(t, err, digest)
	require.ErrorContains(t, err, wrong+" was pinned")
}

// A host may have many plugins that few runs use; what each starts from is kept.
func TestAPluginThatNobodyUsesHoldsNoInstance(t *testing.T) {
	p := mustLoad(t, "counts-its-calls", wasm.Config{})
	require.Zero(t, p.Stats().Live)
	m := &model{}
	agent := newAgent(t, m, p)
	for range 2 {
		_, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{})
		require.NoError(t, err)
	}
	require.Equal(t, "2", m.requests[0].Instructions)
	require.Equal(t, "2", m.requests[1].Instructions)
	require.Equal(t, 1, p.Stats().Live)
}
