package host_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/message"
)

// version is one version of a provider that adds its name before and after a run. It counts how often it was asked for
// its hooks.
type version struct {
	id, name string
	asked    atomic.Int32
	released atomic.Bool
	seen     func(hook string, v *version)
}

func (v *version) SourceID() string { return v.id }

func (v *version) Hooks() []string {
	v.asked.Add(1)
	return []string{"before_run", "after_run"}
}

func (v *version) BeforeRun(_ context.Context, sc *host.SessionContext) error {
	v.see("before")
	sc.ExtendMessages(message.User(v.name))
	return nil
}

func (v *version) AfterRun(context.Context, *host.SessionContext) error {
	v.see("after")
	return nil
}

func (v *version) RunFailed(context.Context, *host.SessionContext, error) error {
	panic("not in Hooks, so it is not called")
}

func (v *version) see(hook string) {
	if v.seen != nil {
		v.seen(hook, v)
	}
}

// versions is a provider that can be replaced; each run pins the version that it uses.
type versions struct {
	id      string
	now     atomic.Pointer[version]
	calls   atomic.Int32
	current func() (host.Provider, error)
}

func newVersions(v *version) *versions {
	vs := &versions{id: "docs"}
	vs.now.Store(v)
	return vs
}

func (vs *versions) SourceID() string { return vs.id }

func (vs *versions) Current(ctx context.Context) (host.Provider, error) {
	vs.calls.Add(1)
	if vs.current != nil {
		return vs.current()
	}
	return host.Pin(ctx, vs, func() (*version, func()) {
		v := vs.now.Load()
		return v, func() { v.released.Store(true) }
	}), nil
}

// BeforeRun must not be called: the current version's is.
func (vs *versions) BeforeRun(context.Context, *host.SessionContext) error {
	return errors.New("the provider that stands for its versions was called itself")
}

func TestARunSeesOneVersionOfAProviderThatIsReplacedMeanwhile(t *testing.T) {
	var log []string
	seen := func(hook string, v *version) {
		require.False(t, v.released.Load())
		log = append(log, hook+" "+v.name)
	}
	first, second := &version{id: "docs", name: "one", seen: seen}, &version{id: "docs", name: "two", seen: seen}
	vs := newVersions(first)
	agent := newAgent(t, host.AgentConfig{
		Providers: []host.Provider{vs},
		Middleware: host.Middleware{Chat: []host.ChatMiddleware{host.ChatFunc(func(ctx context.Context, _ *host.ChatContext, next host.Next) error {
			vs.now.Store(second)
			return next(ctx)
		})}},
	})
	require.Zero(t, vs.calls.Load(), "an agent is made without asking for the current version")
	r, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{})
	require.NoError(t, err)
	require.Equal(t, "one hi", r.Text())
	require.True(t, first.released.Load())
	require.False(t, second.released.Load())
	r, err = agent.Run(t.Context(), host.Text("hi"), host.RunConfig{})
	require.NoError(t, err)
	require.Equal(t, "two hi", r.Text())
	require.Equal(t, []string{"before one", "after one", "before two", "after two"}, log)
}

func TestAgentMiddlewareThatRunsAgainSeesTheSameVersion(t *testing.T) {
	vs := newVersions(&version{id: "docs", name: "one"})
	var texts []string
	agent := newAgent(t, host.AgentConfig{
		Providers: []host.Provider{vs},
		Middleware: host.Middleware{Agent: []host.AgentMiddleware{host.AgentFunc(func(ctx context.Context, c *host.AgentContext, next host.Next) error {
			for range 2 {
				if err := next(ctx); err != nil {
					return err
				}
				texts = append(texts, c.Result.Text())
				vs.now.Store(&version{id: "docs", name: "two"})
			}
			return nil
		})}},
	})
	_, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{})
	require.NoError(t, err)
	require.Equal(t, []string{"one hi", "one hi"}, texts)
}

func TestWhatAVersionImplementsIsFoundOutOnce(t *testing.T) {
	first, second := &version{id: "docs", name: "one"}, &version{id: "docs", name: "two"}
	vs := newVersions(first)
	agent := newAgent(t, host.AgentConfig{Providers: []host.Provider{vs}})
	for _, v := range []*version{first, second} {
		vs.now.Store(v)
		for range 3 {
			_, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{})
			require.NoError(t, err)
		}
		require.EqualValues(t, 1, v.asked.Load())
	}
}

// byValue is a provider that Go can neither compare nor remember.
type byValue struct{ texts []string }

func (byValue) SourceID() string { return "docs" }

func (v byValue) BeforeRun(_ context.Context, sc *host.SessionContext) error {
	sc.ExtendInstructions(v.texts...)
	return nil
}

func TestAVersionThatCannotBeComparedIsUsedAllTheSame(t *testing.T) {
	text := "one"
	vs := &versions{id: "docs", current: func() (host.Provider, error) { return byValue{[]string{text}}, nil }}
	agent := newAgent(t, host.AgentConfig{Providers: []host.Provider{vs}})
	for _, text = range []string{"one", "two"} {
		r, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{})
		require.NoError(t, err)
		require.Equal(t, "("+text+") hi", r.Text())
	}
}

func TestVersionsThatAnAgentCannotUseEndTheRunBeforeAnyHook(t *testing.T) {
	down := errors.New("down")
	for name, c := range map[string]struct {
		current func() (host.Provider, error)
		want    string
	}{
		"an error":               {func() (host.Provider, error) { return nil, down }, "provider docs: its current version: down"},
		"none":                   {func() (host.Provider, error) { return nil, nil }, "provider docs: its current version: a provider is nil"},
		"a panic":                {func() (host.Provider, error) { panic("oh") }, "provider docs: its current version: panic: oh"},
		"another name":           {func() (host.Provider, error) { return &version{id: "other"}, nil }, `has the source_id "other": all versions must have the same`},
		"versions again":         {func() (host.Provider, error) { return newVersions(nil), nil }, "only stands for another provider"},
		"a factory":              {func() (host.Provider, error) { return host.PerSession("docs", nil), nil }, "only stands for another provider"},
		"a provider of no hooks": {func() (host.Provider, error) { return &bare{}, nil }, "implements no hook"},
	} {
		t.Run(name, func(t *testing.T) {
			var log []string
			model := &echo{}
			agent := newAgent(t, host.AgentConfig{Client: model, Providers: []host.Provider{
				&recorder{id: "first", log: &log}, &versions{id: "docs", current: c.current},
			}})
			_, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{})
			require.ErrorContains(t, err, c.want)
			require.Empty(t, log)
			require.Empty(t, model.requests)
		})
	}
}

type bare struct{}

func (*bare) SourceID() string { return "docs" }

func TestNamesOfVersionedProvidersAreCheckedWithTheAgent(t *testing.T) {
	vs := newVersions(nil)
	_, err := host.NewAgent(host.AgentConfig{Client: &echo{}, Providers: []host.Provider{vs, newVersions(nil), &versions{}, &versions{id: "weft.x"}}})
	require.ErrorContains(t, err, `duplicate source_id "docs"`)
	require.ErrorContains(t, err, "empty source_id")
	require.ErrorContains(t, err, `names that begin with "weft." are the host's own`)
	require.Zero(t, vs.calls.Load())
}

func TestAVersionMayWrapAndAFactoryMayMakeVersions(t *testing.T) {
	wrap := host.WrapFunc("docs", func(ctx context.Context, sc *host.SessionContext, next host.Next) error {
		sc.ExtendInstructions("wrapped")
		return next(ctx)
	})
	vs := &versions{id: "docs", current: func() (host.Provider, error) { return wrap, nil }}
	made := host.PerSession("docs", func(context.Context, *host.Session) (host.Provider, error) { return vs, nil })
	agent := newAgent(t, host.AgentConfig{})
	for _, p := range []host.Provider{vs, made} {
		r, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{Providers: []host.Provider{p}})
		require.NoError(t, err)
		require.Equal(t, "(wrapped) hi", r.Text())
	}
}

// TestReplacingAProviderUnderManyRuns is for the race detector, too.
func TestReplacingAProviderUnderManyRuns(t *testing.T) {
	vs := newVersions(&version{id: "docs", name: "v0"})
	agent := newAgent(t, host.AgentConfig{Client: &quick{}, Providers: []host.Provider{vs}})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for n := range 100 {
				if n%10 == 0 {
					vs.now.Store(&version{id: "docs", name: fmt.Sprint("v", n)})
				}
				if _, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	require.EqualValues(t, 800, vs.calls.Load())
}
