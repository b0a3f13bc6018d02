package wasm_test

import (
	"context"
	"log/slog"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/abi"
	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/wasm"
	"github.com/weft-run/weft/message"
)

// Each plugin has its own state, in each session, whatever it is called.
func TestStateBelongsToOnePluginAndSession(t *testing.T) {
	names := []string{"p", "P", "p ", "../p", "p/../p", "e\u0301", "\u00e9", `p","x":{`, "p%00", "state"}
	var providers []host.Provider
	heard := map[string]*answers{}
	for _, name := range names {
		id, err := jsontext.AppendQuote(nil, name)
		require.NoError(t, err)
		p, a := script{"before_run": {hears(), out(`{"state":{"of":` + string(id) + `}}`)}}.load(t, wasm.Config{SourceID: name})
		providers, heard[name] = append(providers, p), a
	}
	agent := newAgent(t, &model{}, providers...)
	for _, session := range []*host.Session{agent.CreateSession("a"), agent.CreateSession("../a")} {
		for range 2 {
			_, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{Session: session})
			require.NoError(t, err)
		}
	}
	for _, name := range names {
		id, _ := jsontext.AppendQuote(nil, name)
		for i, line := range heard[name].all() {
			want := `"state":{}`
			if i%2 == 1 {
				want = `"state":{"of":` + string(id) + `}`
			}
			require.Contains(t, line, want, name)
		}
	}
	reserved, _ := script{"before_run": {out(`{}`)}}.load(t, wasm.Config{SourceID: "weft.state_versions"})
	_, err := host.NewAgent(host.AgentConfig{Client: &model{}, Providers: []host.Provider{reserved}})
	require.ErrorContains(t, err, "the host's own")
}

// twoCalls calls a tool twice at the same time, and is done when it has the results.
type twoCalls struct {
	model
	results []message.Content
}

func (m *twoCalls) Complete(_ context.Context, r *host.ChatRequest) (*host.Response, error) {
	if last := r.Messages[len(r.Messages)-1]; last.Role == message.RoleTool {
		m.results = last.Contents
		return host.NewResponse("done"), nil
	}
	return &host.Response{Messages: []*message.Message{message.New(message.RoleAssistant,
		message.FunctionCall{CallID: "c1", Name: "t"}, message.FunctionCall{CallID: "c2", Name: "t"})}}, nil
}

// Two calls that saw the same state cannot both write it: one is told of the conflict.
func TestCallsAtTheSameTimeLoseNoWriteToTheState(t *testing.T) {
	p, _ := script{
		"before_run": {out(`{"extend_tools":[{"name":"t"}],"state":{"n":0}}`)},
		"call_tool":  {{"request", `{"name":"wait"}`}, out(`{"result":1,"state":{"n":1}}`)},
	}.load(t, wasm.Config{Grants: wasm.Grants{Add: all.Add, Events: []string{"request"}}})
	m := &twoCalls{}
	agent, err := host.NewAgent(host.AgentConfig{
		Client: m, Providers: []host.Provider{p}, FunctionInvocation: host.FunctionInvocation{IncludeDetailedErrors: true},
	})
	require.NoError(t, err)
	var mu sync.Mutex
	var asked []*host.Event
	_, err = agent.Run(t.Context(), host.Text("hi"), host.RunConfig{Session: agent.CreateSession(""), OnEvent: func(_ context.Context, e *host.Event) {
		mu.Lock()
		defer mu.Unlock()
		if asked = append(asked, e); len(asked) == 2 { // both have read the state
			for _, e := range asked {
				_ = e.Answer(true)
			}
		}
	}})
	require.NoError(t, err)
	require.Len(t, m.results, 2)
	failed := 0
	for _, c := range m.results {
		if r := c.(message.FunctionResult); r.Error != "" {
			require.Contains(t, r.Error, "belongs into kv")
			failed++
		}
	}
	require.Equal(t, 1, failed)
}

// rendezvous is a model whose first call waits for a second one. Where there is none, it goes on after a while: then there
// was no second one at the same time.
func rendezvous() *oracle {
	second, n := make(chan struct{}), atomic.Int32{}
	return &oracle{answer: func(ctx context.Context, _ *host.ChatRequest) (*host.Response, error) {
		switch n.Add(1) {
		case 1:
			select {
			case <-second:
			case <-time.After(200 * time.Millisecond):
			}
		case 2:
			close(second)
		}
		return host.NewResponse("yes"), nil
	}}
}

// Runs of one session that begin together after an update migrate its state once, and none of them fails.
func TestRunsThatBeginTogetherMigrateTheStateOnce(t *testing.T) {
	p, heard := script{
		"describe":      {out(`{"state_version":2}`)},
		"migrate_state": {{"complete", hello}, out(`{"state":{"n":2}}`)},
		"before_run":    {out(`{}`)},
		"after_run":     {out(`{"state":{"n":3}}`)},
	}.load(t, wasm.Config{Grants: mayComplete(5, 1000), Services: wasm.Services{Model: rendezvous()}})
	agent := newAgent(t, &lockedModel{}, p)
	session := agent.CreateSession("")
	require.NoError(t, session.State("p").Replace([]byte(`{"n":1}`)))
	var wg sync.WaitGroup
	failed := make([]error, 8)
	for i := range failed {
		wg.Go(func() { _, failed[i] = agent.Run(t.Context(), host.Text("hi"), host.RunConfig{Session: session}) })
	}
	wg.Wait()
	for _, err := range failed {
		require.NoError(t, err)
	}
	require.Len(t, heard.all(), 1)
}

// Runs of one session that are of different versions of a plugin take turns too: neither writes over the other.
func TestVersionsOfOnePluginTakeTurnsInASession(t *testing.T) {
	s := script{"before_run": {{"complete", hello}, out(`{"state":{"n":1}}`)}}
	grants := mayComplete(5, 1000)
	grants.Read = []string{"input", "context:*"} // so that it is not started ahead
	config := wasm.Config{SourceID: "p", Logger: slog.New(slog.DiscardHandler), Grants: grants, Services: wasm.Services{Model: rendezvous()}}
	p, _ := s.load(t, config)
	begun := make(chan struct{}, 2)
	before := host.BeforeRunFunc("before", func(context.Context, *host.SessionContext) error {
		begun <- struct{}{}
		return nil
	})
	agent := newAgent(t, &lockedModel{}, before, p)
	session := agent.CreateSession("")
	failed := make(chan error, 2)
	run := func() {
		_, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{Session: session})
		failed <- err
	}
	go run()
	<-begun // it has its version
	config.Module = s.module(t)
	require.NoError(t, p.Replace(t.Context(), config))
	go run()
	require.NoError(t, <-failed)
	require.NoError(t, <-failed)
}

// What is started ahead of its turn writes its state in its turn all the same: a hook of another run that is under way keeps
// what it saw.
func TestAHookUnderWayLosesItsStateToNoRunThatBegins(t *testing.T) {
	p, _ := script{"before_run": {out(`{"state":{"n":1}}`)}, "after_run": {{"complete", hello}, out(`{"state":{"n":2}}`)}}.
		load(t, wasm.Config{Grants: mayComplete(5, 1000), Services: wasm.Services{Model: rendezvous()}})
	agent := newAgent(t, &lockedModel{}, p)
	session := agent.CreateSession("")
	var wg sync.WaitGroup
	failed := make([]error, 4)
	for i := range failed {
		wg.Go(func() { _, failed[i] = agent.Run(t.Context(), host.Text("hi"), host.RunConfig{Session: session}) })
	}
	wg.Wait()
	for _, err := range failed {
		require.NoError(t, err)
	}
}

// A plugin that leads back into itself in the same session would wait for itself: it is told instead.
func TestAHookThatLeadsBackIntoItselfIsAnErrorAndNoDeadlock(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	var agent *host.Agent
	var session *host.Session
	var inner error
	o := &oracle{answer: func(ctx context.Context, _ *host.ChatRequest) (*host.Response, error) {
		r, err := agent.Run(ctx, host.Text("again"), host.RunConfig{Session: session})
		inner = err
		return r, err
	}}
	grants := mayComplete(5, 10_000)
	grants.Read = []string{"input", "context:*"} // so that it cannot be started ahead
	p, heard := script{"before_run": {{"complete", hello}, out(`{}`)}}.load(t, wasm.Config{Grants: grants, Services: wasm.Services{Model: o}})
	agent = newAgent(t, &model{}, p)
	session = agent.CreateSession("")
	_, err := agent.Run(ctx, host.Text("hi"), host.RunConfig{Session: session})
	require.NoError(t, err)
	require.ErrorContains(t, inner, "from within a hook of this plugin, in the same session")
	require.Contains(t, heard.all()[0], `"code":"model"`)
}

// The trace shows each run of the rest of the chain, and that it did not run.
func TestTheTraceShowsHowOftenTheRestOfTheChainRan(t *testing.T) {
	for name, c := range map[string]struct {
		steps  []step
		limit  int
		models int
	}{
		"never":            {[]step{out(`{"response":{"text":"mine"}}`)}, 0, 0},
		"twice":            {[]step{next(``), next(``), out(`{}`)}, 0, 2},
		"twice, one is it": {[]step{next(``), next(``), out(`{}`)}, 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			p, _ := around(t, script{"process": c.steps}, abi.LayerChat, wasm.Config{Limits: wasm.Limits{NextCalls: c.limit}})
			models, wrapped := 0, 0
			_, err := agentWith(t, &model{}, p.ForLayer()).Run(t.Context(), host.Text("hi"), host.RunConfig{
				Tracer: host.TraceFunc(func(_ context.Context, h host.HookTrace) {
					switch {
					case h.Hook == "model":
						models++
					case h.Layer == "chat":
						wrapped++
						require.Equal(t, "plugin:p", h.SourceType)
					}
				}),
			})
			require.NoError(t, err)
			require.Equal(t, c.models, models)
			require.Equal(t, 1, wrapped)
		})
	}
}

// A consumer whose goroutine ends while a plugin waits for it leaves no instance behind.
func TestAConsumerThatEndsItsGoroutineEndsThePlugin(t *testing.T) {
	for name, s := range map[string]script{
		"call_next": {"process": {next(``), out(`{}`)}},
		"on_update": {"process": {next(``), out(`{}`)}, "on_update": {out(`{}`)}},
	} {
		t.Run(name, func(t *testing.T) {
			p, heard := around(t, s, abi.LayerChat, wasm.Config{})
			agent := agentWith(t, &model{}, p.ForLayer())
			done := make(chan struct{})
			go func() {
				defer close(done)
				for range agent.Stream(t.Context(), host.Text("hi"), host.RunConfig{}).Updates() {
					runtime.Goexit()
				}
			}()
			<-done
			require.Equal(t, p.Stats().Live, p.Stats().Idle)
			_, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{})
			require.NoError(t, err)
			require.Len(t, heard.all(), 1)
		})
	}
}

// An update that asks for more rights is held back, with the lines to add, and takes over once they are given.
func TestAnUpdateThatAsksForMoreRightsWaitsForThem(t *testing.T) {
	edition := func(version, grants string) script {
		return script{
			"describe":   {out(`{"version":"` + version + `","grants":` + grants + `}`)},
			"before_run": {out(`{"extend_instructions":["` + version + `"]}`)},
		}
	}
	config := wasm.Config{SourceID: "p", Logger: slog.New(slog.DiscardHandler)}
	p, _ := edition("1", `{"read":["input"]}`).load(t, config)
	m := &model{}
	agent := newAgent(t, m, p)
	config.Module = edition("2", `{"read":["input","context:*"],"kv":["agent"],"http":[{"origin":"https://evil.example"}]}`).module(t)
	err := p.Replace(t.Context(), config)
	require.ErrorContains(t, err, `read: [input, response, "context:*"]`)
	require.ErrorContains(t, err, "kv: [agent]")
	require.ErrorContains(t, err, "https://evil.example")
	_, err = agent.Run(t.Context(), host.Text("hi"), host.RunConfig{})
	require.NoError(t, err)
	config.Grants = wasm.Grants{Read: []string{"input", "context:*"}, KV: []string{"agent"}, HTTP: []abi.HTTPGrant{{Origin: "https://evil.example"}}}
	require.NoError(t, p.Replace(t.Context(), config))
	_, err = agent.Run(t.Context(), host.Text("hi"), host.RunConfig{})
	require.NoError(t, err)
	require.Equal(t, []string{"1", "2"}, []string{m.requests[0].Instructions, m.requests[1].Instructions})
}

// Reloads that come from everywhere at once, with runs between them, race with nothing.
func TestReloadsFromManyGoroutinesLeaveOneVersionInUse(t *testing.T) {
	s := script{"before_run": {out(`{"extend_instructions":["x"]}`)}}
	f := newFile(t, s)
	p, _ := f.load(wasm.Config{Logger: slog.New(slog.DiscardHandler)})
	agent := newAgent(t, &lockedModel{}, p)
	config := wasm.Config{Path: p.File(), SourceID: p.SourceID(), Logger: slog.New(slog.DiscardHandler)}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			_, err := p.Reload(t.Context())
			require.NoError(t, err)
		})
		wg.Go(func() { require.NoError(t, p.Replace(t.Context(), config)) })
		wg.Go(func() { require.NoError(t, p.Restart(t.Context())) })
		wg.Go(func() {
			_, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{})
			require.NoError(t, err)
		})
		wg.Go(func() { _, _ = p.Status(), p.InvisibleCharacters() })
	}
	wg.Wait()
	require.Equal(t, wasm.StateReady, p.Status().State)
}
