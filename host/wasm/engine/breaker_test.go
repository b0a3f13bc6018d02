package engine_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host/wasm/engine"
)

func TestAModuleThatFailsAgainAndAgainIsRested(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := engine.New(engine.Options{})
		defer func() { require.NoError(t, e.Close(context.Background())) }()
		m, err := e.Load(t.Context(), fixture(t, "traps"), engine.Spec{Name: "traps"})
		require.NoError(t, err)
		fails := func(target error) error {
			t.Helper()
			_, err := m.Call(t.Context(), engine.Call{Export: "unreachable"})
			require.ErrorIs(t, err, target)
			return err
		}
		for range 2 {
			fails(engine.ErrTrap)
		}
		require.Zero(t, call(t, m, "fine", "").Code, "which begins the row anew")
		require.False(t, m.Stats().Resting)
		for range 3 {
			fails(engine.ErrTrap)
		}
		require.True(t, m.Stats().Resting)
		time.Sleep(10 * time.Second)
		require.EqualError(t, fails(engine.ErrResting), "traps failed 3 times in a row and rests for another 20s: "+
			"look at the errors of these calls, or raise limits.faults")

		time.Sleep(19*time.Second + 900*time.Millisecond)
		require.ErrorContains(t, fails(engine.ErrResting), "rests for another 1s")
		time.Sleep(time.Second)
		require.False(t, m.Stats().Resting, "the next call is let through")
		fails(engine.ErrTrap) // The one that is let through.
		fails(engine.ErrResting)
		time.Sleep(31 * time.Second)
		require.Zero(t, call(t, m, "fine", "").Code)
		require.False(t, m.Stats().Resting)
		for range 2 {
			fails(engine.ErrTrap)
		}
	})
}

func TestWhatIsNotTheGuestsDoingDoesNotRestIt(t *testing.T) {
	m := loadBytes(t, fixture(t, "sets-error"), "sets-error", engine.Spec{Limits: engine.Limits{Faults: 2, Input: 10_000}})
	over, cancel := context.WithCancel(t.Context())
	cancel()
	for range 5 {
		_, err := m.Call(over, engine.Call{Export: "before_run"})
		require.Equal(t, context.Canceled, err)
		callFails(t, m, engine.Call{Export: "before_run", Input: make([]byte, 20_000)})
		callFails(t, m, engine.Call{Export: "no_such"})
		require.EqualValues(t, 4, call(t, m, "before_run", "no").Code, "an error that the guest reports itself")
	}
}

func TestOneCallAtATimeProbesAModuleThatRested(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inside, leave := make(chan struct{}), make(chan struct{})
		e := engine.New(engine.Options{})
		defer func() { require.NoError(t, e.Close(context.Background())) }()
		m, err := e.Load(t.Context(), fixture(t, "calls-the-host"), engine.Spec{
			Name: "calls", Limits: engine.Limits{Faults: 1},
			Functions: map[string]engine.Function{"ask": func(context.Context, []byte) ([]byte, error) {
				close(inside)
				<-leave
				return nil, nil
			}},
		})
		require.NoError(t, err)
		_, err = m.Call(t.Context(), engine.Call{Export: "asks_with_garbage"})
		require.ErrorIs(t, err, engine.ErrTrap)
		time.Sleep(31 * time.Second)
		probe := make(chan error, 1)
		go func() {
			_, err := m.Call(context.Background(), engine.Call{Export: "before_run"})
			probe <- err
		}()
		<-inside
		_, err = m.Call(t.Context(), engine.Call{Export: "before_run"})
		require.ErrorIs(t, err, engine.ErrResting)
		require.EqualError(t, err, "calls failed 1 times in a row, and another call tries at this moment whether it works: "+
			"look at the errors of these calls, or raise limits.faults")
		close(leave)
		require.NoError(t, <-probe)
	})
}

func TestNoRestIsNoRest(t *testing.T) {
	for _, limits := range []engine.Limits{{Faults: engine.Unlimited}, {Faults: 1, Rest: engine.Unlimited}} {
		m, err := newEngine(t, engine.Options{}).Load(t.Context(), fixture(t, "traps"), engine.Spec{Limits: limits})
		require.NoError(t, err)
		for range 5 {
			require.ErrorIs(t, callFails(t, m, engine.Call{Export: "unreachable"}), engine.ErrTrap)
		}
		require.False(t, m.Stats().Resting)
	}
}

func TestACallFromBeforeARestDoesNotEndIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inside, leave := make(chan struct{}), make(chan struct{})
		e := engine.New(engine.Options{})
		defer func() { require.NoError(t, e.Close(context.Background())) }()
		m, err := e.Load(t.Context(), fixture(t, "calls-the-host"), engine.Spec{
			Name: "calls", Limits: engine.Limits{Faults: 1},
			Functions: map[string]engine.Function{"ask": func(context.Context, []byte) ([]byte, error) {
				close(inside)
				<-leave
				return nil, nil
			}},
		})
		require.NoError(t, err)
		early := make(chan error, 1)
		go func() {
			_, err := m.Call(context.Background(), engine.Call{Export: "before_run"})
			early <- err
		}()
		<-inside
		_, err = m.Call(t.Context(), engine.Call{Export: "asks_with_garbage"})
		require.ErrorIs(t, err, engine.ErrTrap)
		close(leave)
		require.NoError(t, <-early)
		_, err = m.Call(t.Context(), engine.Call{Export: "before_run"})
		require.ErrorIs(t, err, engine.ErrResting)
	})
}

func TestTheBeginningAndTheEndOfARestAreTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []bool
		e := engine.New(engine.Options{})
		defer func() { require.NoError(t, e.Close(context.Background())) }()
		m, err := e.Load(t.Context(), fixture(t, "traps"), engine.Spec{
			Limits: engine.Limits{Faults: 2}, Resting: func(resting bool) { told = append(told, resting) },
		})
		require.NoError(t, err)
		trap := func() { callFails(t, m, engine.Call{Export: "unreachable"}) }
		trap()
		require.Empty(t, told)
		trap()
		require.Equal(t, []bool{true}, told)
		time.Sleep(31 * time.Second)
		trap()
		require.Equal(t, []bool{true}, told, "the rest goes on")
		time.Sleep(31 * time.Second)
		require.Zero(t, call(t, m, "fine", "").Code)
		require.Equal(t, []bool{true, false}, told)
	})
}
