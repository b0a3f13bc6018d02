package host_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host"
	hosttool "github.com/weft-run/weft/host/tool"
)

// counter counts what was acquired and released.
type counter struct {
	mu       sync.Mutex
	acquired int
	log      []string
}

func (c *counter) note(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.log = append(c.log, fmt.Sprintf(format, args...))
}

func (c *counter) acquire() (int, func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.acquired++
	n := c.acquired
	return n, func() { c.note("release %d", n) }
}

// pinning notes in every part of a run what it pins.
func (c *counter) pinning(ctx context.Context, part string) {
	c.note("%s %d", part, host.Pin(ctx, c, c.acquire))
}

// pinner pins in its hooks.
type pinner struct{ *counter }

func (pinner) SourceID() string { return "pinner" }

func (p pinner) BeforeRun(ctx context.Context, _ *host.SessionContext) error {
	p.pinning(ctx, "before")
	return nil
}

func (p pinner) AfterRun(ctx context.Context, _ *host.SessionContext) error {
	p.pinning(ctx, "after")
	return nil
}

func (p pinner) RunFailed(ctx context.Context, _ *host.SessionContext, _ error) error {
	p.pinning(ctx, "failed")
	return nil
}

// pinningAgent pins in agent middleware, a provider and a tool.
func pinningAgent(t *testing.T, c *counter, model host.ChatClient) *host.Agent {
	t.Helper()
	return newAgent(t, host.AgentConfig{
		Client: model, Providers: []host.Provider{pinner{c}},
		Tools: []host.Tool{&function{name: "t", f: func(ctx context.Context) (string, error) {
			c.pinning(ctx, "tool")
			return "", nil
		}}},
		Middleware: host.Middleware{Agent: []host.AgentMiddleware{host.AgentFunc(func(ctx context.Context, _ *host.AgentContext, next host.Next) error {
			err := next(ctx)
			c.pinning(ctx, "middleware")
			return err
		})}},
	})
}

func TestAValueThatIsPinnedStaysTheSameForTheWholeRun(t *testing.T) {
	c := &counter{}
	agent := pinningAgent(t, c, &script{replies: []*host.Response{calls("t")}})
	_, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{})
	require.NoError(t, err)
	require.Equal(t, []string{"before 1", "tool 1", "after 1", "middleware 1", "release 1"}, c.log)
}

func TestEachRunPinsAValueOfItsOwn(t *testing.T) {
	c := &counter{}
	agent := pinningAgent(t, c, &echo{})
	for range 2 {
		_, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{})
		require.NoError(t, err)
	}
	require.Equal(t, []string{
		"before 1", "after 1", "middleware 1", "release 1", "before 2", "after 2", "middleware 2", "release 2",
	}, c.log)
}

func TestWhatWasPinnedIsReleasedAfterTheHooksOfAFailedRun(t *testing.T) {
	c := &counter{}
	_, err := pinningAgent(t, c, &echo{fail: errors.New("down")}).Run(t.Context(), host.Text("hi"), host.RunConfig{})
	require.ErrorContains(t, err, "down")
	require.Equal(t, []string{"before 1", "failed 1", "middleware 1", "release 1"}, c.log)
}

func TestWhatAStreamPinnedIsReleasedWhenItIsReadOrLeft(t *testing.T) {
	for name, read := range map[string]func(*host.Stream){
		"read": func(s *host.Stream) { _, _ = s.Response() },
		"left": func(s *host.Stream) {
			for range s.Updates() {
				return
			}
		},
		"panic of the consumer": func(s *host.Stream) {
			defer func() { _ = recover() }()
			for range s.Updates() {
				panic("consumer")
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := &counter{}
			stream := pinningAgent(t, c, &echo{}).Stream(t.Context(), host.Text("one two"), host.RunConfig{})
			require.Empty(t, c.log)
			read(stream)
			require.Equal(t, "before 1", c.log[0])
			require.Equal(t, "release 1", c.log[len(c.log)-1])
			require.Equal(t, 1, c.acquired)
		})
	}
}

func TestAgentMiddlewareThatRunsAgainSeesTheSameValue(t *testing.T) {
	c := &counter{}
	agent := newAgent(t, host.AgentConfig{
		Providers: []host.Provider{pinner{c}},
		Middleware: host.Middleware{Agent: []host.AgentMiddleware{host.AgentFunc(func(ctx context.Context, _ *host.AgentContext, next host.Next) error {
			return errors.Join(next(ctx), next(ctx))
		})}},
	})
	_, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{})
	require.NoError(t, err)
	require.Equal(t, []string{"before 1", "after 1", "before 1", "after 1", "release 1"}, c.log)
}

func TestAnAgentThatIsATheToolOfAnotherHasAScopeOfItsOwn(t *testing.T) {
	c := &counter{}
	inner, err := host.NewAgent(host.AgentConfig{Name: "inner", Client: &echo{}, Providers: []host.Provider{pinner{c}}})
	require.NoError(t, err)
	called, err := hosttool.Agent(inner, hosttool.AgentConfig{})
	require.NoError(t, err)
	agent := newAgent(t, host.AgentConfig{
		Client: &script{replies: []*host.Response{callWith("1", "inner", `{"task":"x"}`)}}, Providers: []host.Provider{pinner{c}}, Tools: []host.Tool{called},
	})
	_, err = agent.Run(t.Context(), host.Text("hi"), host.RunConfig{})
	require.NoError(t, err)
	require.Equal(t, []string{"before 1", "before 2", "after 2", "release 2", "after 1", "release 1"}, c.log)
}

func TestWithoutARunAValueIsReleasedAtOnce(t *testing.T) {
	c := &counter{}
	require.Equal(t, 1, host.Pin(t.Context(), "k", c.acquire))
	require.Equal(t, 2, host.Pin(t.Context(), "k", c.acquire))
	require.Equal(t, []string{"release 1", "release 2"}, c.log)
}

func TestAGoroutineThatOutlivesItsRunPinsNothing(t *testing.T) {
	c := &counter{}
	var kept context.Context
	agent := newAgent(t, host.AgentConfig{Providers: []host.Provider{host.BeforeRunFunc("p", func(ctx context.Context, _ *host.SessionContext) error {
		kept = ctx
		return nil
	})}})
	_, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{})
	require.NoError(t, err)
	c.pinning(kept, "late")
	require.Equal(t, []string{"release 1", "late 1"}, c.log)
}

func TestAValueThatWasAcquiredWhileTheRunEndedIsReleased(t *testing.T) {
	c := &counter{}
	ctx, end := host.RunScope(t.Context())
	host.Pin(ctx, "k", func() (int, func()) {
		require.NoError(t, end())
		return c.acquire()
	})
	require.Equal(t, []string{"release 1"}, c.log)
}

func TestManyGoroutinesOfARunPinOneValue(t *testing.T) {
	c := &counter{}
	ctx, end := host.RunScope(t.Context())
	var wg sync.WaitGroup
	for range 100 {
		wg.Go(func() {
			runtime.Gosched()
			if host.Pin(ctx, "k", c.acquire) != 1 {
				c.note("another value")
			}
		})
	}
	wg.Wait()
	require.Empty(t, c.log)
	require.NoError(t, end())
	require.NoError(t, end(), "a second time")
	require.Equal(t, []string{"release 1"}, c.log)
}

func TestKeysAndTypesKeepPinsApart(t *testing.T) {
	c := &counter{}
	ctx, end := host.RunScope(t.Context())
	require.Equal(t, 1, host.Pin(ctx, "a", c.acquire))
	require.Equal(t, 2, host.Pin(ctx, "b", c.acquire))
	require.Equal(t, "text", host.Pin(ctx, "a", func() (string, func()) { return "text", nil }))
	require.Nil(t, host.Pin(ctx, "a", func() (fmt.Stringer, func()) { return nil, nil }))
	require.Nil(t, host.Pin(ctx, "a", func() (fmt.Stringer, func()) { panic("acquired twice") }), "nil is a value too")
	require.NoError(t, end())
	require.Equal(t, []string{"release 2", "release 1"}, c.log, "the newest first")
}

func TestAPinThatPanickedIsTriedAgain(t *testing.T) {
	c := &counter{}
	ctx, end := host.RunScope(t.Context())
	require.PanicsWithValue(t, "no", func() { host.Pin(ctx, "k", func() (int, func()) { panic("no") }) })
	require.Equal(t, 1, host.Pin(ctx, "k", c.acquire))
	require.NoError(t, end())
	require.Equal(t, []string{"release 1"}, c.log)
}

func TestAReleaseThatPanicsKeepsNoOtherFromBeingCalled(t *testing.T) {
	c := &counter{}
	log, text := logger()
	agent := newAgent(t, host.AgentConfig{Logger: log, Providers: []host.Provider{host.BeforeRunFunc("p", func(ctx context.Context, _ *host.SessionContext) error {
		host.Pin(ctx, "first", c.acquire)
		host.Pin(ctx, "k", func() (int, func()) { return 0, func() { panic("released wrongly") } })
		return nil
	})}})
	r, err := agent.Run(t.Context(), host.Text("hi"), host.RunConfig{})
	require.NoError(t, err)
	require.Equal(t, "hi", r.Text())
	require.Equal(t, []string{"release 1"}, c.log)
	require.Contains(t, text.String(), "released wrongly")
}
