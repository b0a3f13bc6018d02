package engine_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host/wasm/engine"
)

// occupied is a module whose only instance is at work until release is called.
func occupied(t *testing.T, limits engine.Limits) (m *engine.Module, release func()) {
	t.Helper()
	limits.Instances = 1
	m = load(t, "floods-log", engine.Spec{Limits: limits})
	inside, leave, done := make(chan struct{}), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		_, err := m.Call(context.Background(), engine.Call{
			Export: "input", Input: []byte("x"), Timeout: time.Minute,
			Log: func(string, string) { close(inside); <-leave },
		})
		if err != nil {
			t.Errorf("the call at work: %v", err)
		}
	}()
	<-inside
	var once sync.Once
	release = func() { once.Do(func() { close(leave); <-done }) }
	t.Cleanup(release)
	return m, release
}

func TestCallWaitsForAnInstance(t *testing.T) {
	m, release := occupied(t, engine.Limits{})
	result := make(chan error, 1)
	go func() {
		_, err := m.Call(context.Background(), engine.Call{Export: "level"})
		result <- err
	}()
	require.Eventually(t, func() bool { return m.Stats().Waiting == 1 }, 5*time.Second, time.Millisecond)
	require.Empty(t, result)
	release()
	require.NoError(t, <-result)
	require.Equal(t, 1, m.Stats().Created)
}

func TestCallStopsWaitingWhenItsContextIsOver(t *testing.T) {
	m, release := occupied(t, engine.Limits{})
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	_, err := m.Call(ctx, engine.Call{Export: "level"})
	require.Equal(t, context.DeadlineExceeded, err)
	require.Zero(t, m.Stats().Waiting)
	release()
	require.Equal(t, "reused", call(t, m, "level", "").Usage.Instance)
}

func TestTooManyWaitingCallsAreTurnedAway(t *testing.T) {
	m, release := occupied(t, engine.Limits{Queue: 1})
	result := make(chan error, 1)
	go func() {
		_, err := m.Call(context.Background(), engine.Call{Export: "level"})
		result <- err
	}()
	require.Eventually(t, func() bool { return m.Stats().Waiting == 1 }, 5*time.Second, time.Millisecond)
	err := callFails(t, m, engine.Call{Export: "level"})
	require.ErrorIs(t, err, engine.ErrBusy)
	require.EqualError(t, err, "floods-log has all its 1 instances at work and 1 calls waiting: "+
		"try again later, or raise limits.instances")
	release()
	require.NoError(t, <-result)
}

func TestCloseTurnsAwayWhoeverWaits(t *testing.T) {
	m, release := occupied(t, engine.Limits{})
	result, closed := make(chan error, 1), make(chan error, 1)
	go func() {
		_, err := m.Call(context.Background(), engine.Call{Export: "level"})
		result <- err
	}()
	require.Eventually(t, func() bool { return m.Stats().Waiting == 1 }, 5*time.Second, time.Millisecond)
	go func() { closed <- m.Close(context.Background()) }()
	require.ErrorIs(t, <-result, engine.ErrClosed)
	release()
	require.NoError(t, <-closed)
}

func TestTrimClosesTheInstancesThatNoCallUses(t *testing.T) {
	m, release := occupied(t, engine.Limits{})
	require.Zero(t, m.Trim())
	require.Equal(t, 1, m.Stats().Live)
	release()
	require.Equal(t, 1, m.Trim())
	require.Zero(t, m.Stats().Live)
	r, err := m.Call(t.Context(), engine.Call{Export: "level"})
	require.NoError(t, err)
	require.Equal(t, "new", r.Usage.Instance)
}

func TestANestedCallTakesAnotherInstance(t *testing.T) {
	m := load(t, "floods-log", engine.Spec{Limits: engine.Limits{Instances: 2}})
	var inner engine.Result
	_, err := m.Call(t.Context(), engine.Call{Export: "input", Input: []byte("x"), Log: func(string, string) {
		inner = call(t, m, "level", "")
	}})
	require.NoError(t, err)
	require.Equal(t, "new", inner.Usage.Instance)
	require.Equal(t, 2, m.Stats().Live)
}

// TestHammer has many goroutines call modules in all the ways that end well and badly, and looks that nothing is left.
func TestHammer(t *testing.T) {
	e := newEngine(t, engine.Options{})
	limits := engine.Limits{Instances: 6, Memory: 2 << 20, Faults: engine.Unlimited}
	open := func(name string) *engine.Module {
		m, err := e.Load(t.Context(), fixture(t, name), engine.Spec{Name: name, Limits: limits})
		require.NoError(t, err)
		return m
	}
	counts, traps, grows := open("counts-calls"), open("traps"), open("grows-without-end")
	loops, exits, floods := open("loops-forever"), open("exits-three"), open("floods-log")
	const goroutines, loopsEach = 16, 60
	var canaries atomic.Int64
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			random := rand.New(rand.NewPCG(1, uint64(g)))
			for range loopsEach {
				var err, want error
				var result engine.Result
				ctx := context.Background()
				switch random.IntN(8) {
				case 0, 1, 2:
					result, err = counts.Call(ctx, engine.Call{Export: "in_memory"})
					if err == nil && result.Code != 1 {
						canaries.Add(1)
					}
				case 3:
					_, err = traps.Call(ctx, engine.Call{Export: "unreachable"})
					want = engine.ErrTrap
				case 4:
					_, err = grows.Call(ctx, engine.Call{Export: "then_traps"})
					want = engine.ErrMemoryLimit
				case 5:
					_, err = loops.Call(ctx, engine.Call{Export: "before_run", Timeout: time.Millisecond})
					want = engine.ErrTimeout
				case 6:
					_, err = exits.Call(ctx, engine.Call{Export: "before_run"})
					want = engine.ErrExit
				case 7:
					short, cancel := context.WithTimeout(ctx, time.Duration(random.IntN(200))*time.Microsecond)
					_, err = floods.Call(short, engine.Call{Export: "thousand", Log: func(string, string) {}})
					cancel()
					if errors.Is(err, context.DeadlineExceeded) {
						err = nil
					}
				}
				if !errors.Is(err, want) {
					t.Errorf("got %v, want %v", err, want)
				}
			}
		})
	}
	wg.Wait()
	require.Zero(t, canaries.Load(), "a call saw what another one left")
	for _, m := range []*engine.Module{counts, traps, grows, loops, exits, floods} {
		s := m.Stats()
		require.Equal(t, s.Live, s.Idle)
		require.LessOrEqual(t, s.Live, 6)
		require.Zero(t, s.Waiting)
		require.Equal(t, s.Live, s.Created-s.Discarded)
		require.NoError(t, m.Close(t.Context()))
		require.Zero(t, m.Stats().Live)
	}
	require.Zero(t, e.MemoryInUse())
}

func TestModulesMayBeLoadedAndClosedAtOnce(t *testing.T) {
	e := newEngine(t, engine.Options{CacheDir: t.TempDir()})
	wasm := fixture(t, "counts-calls")
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 10 {
				m, err := e.Load(context.Background(), wasm, engine.Spec{Name: "counts"})
				if err != nil {
					t.Error(err)
					return
				}
				if result, err := m.Call(context.Background(), engine.Call{Export: "in_global"}); err != nil || result.Code != 1 {
					t.Error(result.Code, err)
				}
				if err := m.Close(context.Background()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	require.Zero(t, e.MemoryInUse())
}
