package host_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/message"
)

// alone is a provider that reads nothing of others.
type alone struct {
	id     string
	not    bool // it says that it is not independent
	policy host.ErrorPolicy
	start  func(ctx context.Context, sc *host.SessionContext) error
	apply  func(sc *host.SessionContext) error
	told   func(hook, id string)
}

func (a *alone) SourceID() string              { return a.id }
func (a *alone) Independent() bool             { return !a.not }
func (a *alone) ErrorPolicy() host.ErrorPolicy { return a.policy }

func (a *alone) StartBeforeRun(ctx context.Context, sc *host.SessionContext) (func(*host.SessionContext) error, error) {
	if a.start != nil {
		if err := a.start(ctx, sc); err != nil {
			return nil, err
		}
	}
	return a.apply, nil
}

func (a *alone) BeforeRun(context.Context, *host.SessionContext) error {
	return errors.New("StartBeforeRun is to be called in place of BeforeRun")
}

func (a *alone) AfterRun(_ context.Context, sc *host.SessionContext) error {
	a.tell("after")
	return sc.State().Set("after", len(sc.Messages(host.Filter{})))
}

func (a *alone) RunFailed(context.Context, *host.SessionContext, error) error {
	a.tell("failed")
	return nil
}

func (a *alone) tell(hook string) {
	if a.told != nil {
		a.told(hook, a.id)
	}
}

// TestIndependentProvidersRunAtTheSameTime would never end if one of them waited for another's end.
func TestIndependentProvidersRunAtTheSameTime(t *testing.T) {
	const n = 5
	var barrier sync.WaitGroup
	barrier.Add(n)
	var providers []host.Provider
	for i := range n {
		providers = append(providers, &alone{
			id: fmt.Sprint("p", i),
			start: func(context.Context, *host.SessionContext) error {
				barrier.Done()
				barrier.Wait()
				return nil
			},
			apply: func(sc *host.SessionContext) error {
				sc.ExtendMessages(message.User(fmt.Sprint(i)))
				return nil
			},
		}, adds(fmt.Sprint("native", i), "n"))
	}
	r, err := newAgent(t, host.AgentConfig{Providers: providers}).Run(t.Context(), host.Text("hi"), host.RunConfig{})
	require.NoError(t, err)
	require.Equal(t, "0 n 1 n 2 n 3 n 4 n hi", r.Text())
}

func TestOneIndependentProviderNeedsNoGoroutine(t *testing.T) {
	for name, providers := range map[string][]host.Provider{
		"alone":                        {&alone{id: "a"}},
		"with one that is not":         {&alone{id: "a"}, &recorder{id: "b", log: new([]string)}},
		"with one behind what wraps":   {&alone{id: "a"}, wrapping("w"), &alone{id: "b"}},
		"with one that has no such id": {&alone{id: "a"}, &hidden{alone{id: "b"}}},
	} {
		t.Run(name, func(t *testing.T) {
			var before, inside [1 << 12]byte
			first := providers[0].(*alone)
			first.start = func(context.Context, *host.SessionContext) error {
				runtime.Stack(inside[:], false)
				return nil
			}
			runtime.Stack(before[:], false)
			_, err := newAgent(t, host.AgentConfig{Providers: providers}).Run(t.Context(), host.Text("hi"), host.RunConfig{})
			require.NoError(t, err)
			require.Equal(t, goroutine(before[:]), goroutine(inside[:]))
		})
	}
}

// goroutine is the line of a stack that names its goroutine.
func goroutine(stack []byte) string {
	var id string
	_, _ = fmt.Sscanf(string(stack), "goroutine %s ", &id)
	return id
}

func wrapping(id string) host.Provider {
	return host.WrapFunc(id, func(ctx context.Context, _ *host.SessionContext, next host.Next) error { return next(ctx) })
}

// hidden has hooks that do not count.
type hidden struct{ alone }

func (*hidden) Hooks() []string { return []string{"after_run"} }

func TestAProviderThatSaysThatItIsNotIndependentHasItsBeforeRunCalled(t *testing.T) {
	agent := newAgent(t, host.AgentConfig{Providers: []host.Provider{&alone{id: "a", not: true}}})
	_, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{})
	require.ErrorContains(t, err, "provider a: before_run: StartBeforeRun is to be called in place")
}

func TestAProviderThatFailsCancelsThoseBehindIt(t *testing.T) {
	for name, wrong := range map[string]host.Provider{
		"independent": &alone{id: "second", apply: func(*host.SessionContext) error { return errors.New("broken") }},
		"a panic":     &alone{id: "second", apply: func(*host.SessionContext) error { panic("broken") }},
		"native":      host.BeforeRunFunc("second", func(context.Context, *host.SessionContext) error { return errors.New("broken") }),
	} {
		t.Run(name, func(t *testing.T) {
			var log []string
			tell := func(hook, id string) { log = append(log, hook+" "+id) }
			third := &alone{
				id: "third", told: tell,
				start: func(ctx context.Context, _ *host.SessionContext) error {
					<-ctx.Done()
					tell("cancelled", "third")
					return ctx.Err()
				},
				apply: func(*host.SessionContext) error { panic("it was to be cancelled") },
			}
			var traced []string
			model := &echo{}
			session := host.NewSession("s")
			agent := newAgent(t, host.AgentConfig{
				Client: model, Providers: []host.Provider{&alone{id: "first", told: tell}, wrong, third},
				Tracer: host.TraceFunc(func(_ context.Context, h host.HookTrace) {
					traced = append(traced, fmt.Sprint(h.SourceID, " ", h.Hook, " ", h.Concurrent, " ", h.Err))
				}),
			})
			_, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{Session: session})
			require.ErrorContains(t, err, "provider second: before_run")
			require.ErrorContains(t, err, "broken")
			require.Equal(t, []string{"cancelled third", "failed first"}, log, "it is over before others are told")
			require.Empty(t, model.requests)
			require.NotContains(t, session.Sources(), "third")
			require.Contains(t, traced, "third before_run true provider third: before_run: the run failed before the provider's turn\ncontext canceled")
		})
	}
}

func TestARunThatIsCancelledWaitsForWhatItStarted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var over sync.WaitGroup
	var providers []host.Provider
	var started sync.WaitGroup
	started.Add(3)
	over.Add(3)
	for i := range 3 {
		providers = append(providers, &alone{id: fmt.Sprint("p", i), start: func(ctx context.Context, _ *host.SessionContext) error {
			defer over.Done()
			started.Done()
			started.Wait()
			cancel()
			<-ctx.Done()
			return nil // it did not even notice
		}, apply: func(*host.SessionContext) error { return nil }})
	}
	model := &echo{}
	_, err := newAgent(t, host.AgentConfig{Client: model, Providers: providers}).Run(ctx, host.Text("hi"), host.RunConfig{})
	require.ErrorIs(t, err, context.Canceled)
	over.Wait()
	require.Empty(t, model.requests)
}

func TestAConsumerThatLeavesOrPanicsEndsWhatWasStarted(t *testing.T) {
	for _, panics := range []bool{false, true} {
		var over atomic.Bool
		waits := &alone{id: "waits", start: func(ctx context.Context, _ *host.SessionContext) error {
			<-ctx.Done()
			over.Store(true)
			return ctx.Err()
		}}
		agent := newAgent(t, host.AgentConfig{Providers: []host.Provider{
			&alone{id: "first"},
			host.BeforeRunFunc("telling", func(ctx context.Context, _ *host.SessionContext) error { return host.Emit(ctx, "here", nil) }),
			waits,
		}})
		func() {
			defer func() {
				require.Equal(t, panics, recover() != nil)
				require.True(t, over.Load())
			}()
			for u := range agent.Stream(t.Context(), host.Text("hi"), host.RunConfig{}).Updates() {
				require.NotNil(t, u.Event)
				if panics {
					panic("consumer")
				}
				return
			}
		}()
	}
}

func TestWhatIsStartedAheadMayNotChangeTheRun(t *testing.T) {
	for name, start := range map[string]func(sc *host.SessionContext) error{
		"messages":     func(sc *host.SessionContext) error { sc.ExtendMessages(message.User("x")); return nil },
		"instructions": func(sc *host.SessionContext) error { sc.ExtendInstructions("x"); return nil },
		"tools":        func(sc *host.SessionContext) error { sc.ExtendTools(saying("x")); return nil },
		"metadata":     func(sc *host.SessionContext) error { return sc.SetMetadata("x", 1) },
		"middleware":   func(sc *host.SessionContext) error { return sc.ExtendMiddleware(host.Middleware{}) },
	} {
		for _, sequential := range []bool{false, true} {
			agent := newAgent(t, host.AgentConfig{SequentialBeforeRun: sequential, Providers: []host.Provider{
				&alone{id: "a"}, &alone{id: "b", start: func(_ context.Context, sc *host.SessionContext) error { return start(sc) }},
			}})
			_, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{})
			require.ErrorContains(t, err, "provider b: before_run: StartBeforeRun changed the run by itself", name)
		}
	}
}

func TestWhatIsStartedAheadSeesNothingOfOthersAndTellsNobody(t *testing.T) {
	for _, sequential := range []bool{false, true} {
		look := func(ctx context.Context, sc *host.SessionContext) error {
			found, err := sc.Metadata("m", new(int))
			if found || err != nil || len(sc.Sources()) > 0 || len(sc.Messages(host.Filter{})) > 0 {
				return fmt.Errorf("it sees %v %v %v", found, err, sc.Sources())
			}
			if text := message.JoinText(sc.Messages(host.Filter{Input: true})); text != "hi" || sc.RunID() == "" || *sc.Options().Seed != 7 {
				return fmt.Errorf("it does not see the run: %s", text)
			}
			return host.Emit(ctx, "event", nil)
		}
		agent := newAgent(t, host.AgentConfig{SequentialBeforeRun: sequential, Providers: []host.Provider{
			host.BeforeRunFunc("first", func(_ context.Context, sc *host.SessionContext) error {
				sc.ExtendMessages(message.User("first"))
				return sc.SetMetadata("m", 1)
			}),
			&alone{id: "a", start: look}, &alone{id: "b", start: look},
		}})
		_, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{
			Options: host.Options{Seed: new(7)},
			OnEvent: func(_ context.Context, e *host.Event) { t.Errorf("an event %q", e.Name) },
		})
		require.NoError(t, err)
	}
}

func TestAGoroutineThatAProviderEndsIsAnErrorOfThatProvider(t *testing.T) {
	agent := newAgent(t, host.AgentConfig{Providers: []host.Provider{
		&alone{id: "a", start: func(context.Context, *host.SessionContext) error { runtime.Goexit(); return nil }}, &alone{id: "b"},
	}})
	_, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{})
	require.ErrorContains(t, err, "provider a: before_run: StartBeforeRun ended its goroutine")
}

func TestATracerSeesWhatRanAtTheSameTimeInOrder(t *testing.T) {
	var log []string
	tracer := &ordered{log: &log}
	agent := newAgent(t, host.AgentConfig{Tracer: tracer, Providers: []host.Provider{
		&alone{id: "a", start: func(_ context.Context, sc *host.SessionContext) error {
			sc.ReportCost(host.Cost{Name: "start"})
			return nil
		}, apply: func(sc *host.SessionContext) error {
			sc.ReportCost(host.Cost{Name: "apply"})
			sc.ExtendMessages(message.User("x"))
			return nil
		}},
		adds("n", "y"),
		&alone{id: "b", start: func(ctx context.Context, _ *host.SessionContext) error {
			if ctx.Value(tracer) != "b" {
				return errors.New("not in the context of its part")
			}
			return nil
		}},
	}})
	_, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{})
	require.NoError(t, err)
	require.Equal(t, []string{
		"start a", "start b",
		"end a concurrent=true messages=1 costs=[{start 0 0 } {apply 0 0 }]",
		"start n", "end n concurrent=false messages=1 costs=[]",
		"end b concurrent=true messages=0 costs=[]",
	}, log)
}

// ordered logs the before_run parts.
type ordered struct{ log *[]string }

func (o *ordered) Start(ctx context.Context, h *host.HookTrace) context.Context {
	if h.Hook == "before_run" {
		*o.log = append(*o.log, "start "+h.SourceID)
	}
	return context.WithValue(ctx, o, h.SourceID)
}

func (o *ordered) End(_ context.Context, h *host.HookTrace) {
	if h.Hook == "before_run" {
		*o.log = append(*o.log, fmt.Sprintf("end %s concurrent=%t messages=%d costs=%v", h.SourceID, h.Concurrent, h.Messages, h.Costs))
		if h.Duration <= 0 || h.Start.IsZero() {
			*o.log = append(*o.log, "without a time")
		}
	}
}
