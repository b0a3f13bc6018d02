package engine_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host/wasm/engine"
)

func TestFuelIsTheSameEachTime(t *testing.T) {
	m := load(t, "works-by-the-input", engine.Spec{})
	fuel := func(export string, n int) int64 {
		return call(t, m, export, strings.Repeat("x", n)).Usage.Fuel
	}
	// Golden: the figures must be these on every machine. They may change with the meter's version.
	require.EqualValues(t, goldenFuel[0], fuel("before_run", 0))
	require.EqualValues(t, goldenFuel[1], fuel("before_run", 1))
	require.EqualValues(t, goldenFuel[2], fuel("before_run", 1000), "over many slices")
	require.Equal(t, fuel("before_run", 500), fuel("before_run", 500))
	require.Equal(t, fuel("before_run", 2)-fuel("before_run", 1), fuel("before_run", 901)-fuel("before_run", 900))
	require.Greater(t, fuel("fills", 10), int64(10*65536/16), "what is filled is paid for by its size")
}

var goldenFuel = [3]int64{15, 8015, 8_000_015}

func TestFuelBoundsACallToTheUnit(t *testing.T) {
	m := load(t, "works-by-the-input", engine.Spec{})
	input := []byte(strings.Repeat("x", 700))
	result, err := m.Call(t.Context(), engine.Call{Export: "before_run", Input: input})
	require.NoError(t, err)
	used := result.Usage.Fuel

	result, err = m.Call(t.Context(), engine.Call{Export: "before_run", Input: input, Fuel: used})
	require.NoError(t, err)
	require.Equal(t, used, result.Usage.Fuel)

	result, err = m.Call(t.Context(), engine.Call{Export: "before_run", Input: input, Fuel: used - 1})
	require.ErrorIs(t, err, engine.ErrFuel)
	require.GreaterOrEqual(t, result.Usage.Fuel, used-1)
	require.LessOrEqual(t, result.Usage.Fuel, used)
	var limit *engine.LimitError
	require.ErrorAs(t, err, &limit)
	require.Equal(t, "fuel", limit.Limit)
	require.Equal(t, "Call.Fuel", limit.Option)
}

func TestFuelOfTheModuleEndsAnEndlessLoop(t *testing.T) {
	m := load(t, "loops-forever", engine.Spec{Limits: engine.Limits{Fuel: 5_000_000}})
	err := callFails(t, m, engine.Call{Export: "before_run"})
	require.EqualError(t, err, "loops-forever: before_run used up its 5,000,000 of fuel: "+
		"raise limits.fuel, or look for a loop that does not end")
}

func TestAGuestThatLoopsLeavesTheProcessFree(t *testing.T) {
	m := load(t, "loops-forever", engine.Spec{})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := m.Call(ctx, engine.Call{Export: "before_run", Timeout: engine.Unlimited})
		ended <- err
	}()
	require.Eventually(t, func() bool { return m.Stats().Live == 1 && m.Stats().Idle == 0 }, 5*time.Second, time.Millisecond)
	for range 5 {
		runtime.GC() // It waits until every goroutine is at a place where it can be stopped.
	}
	require.Empty(t, ended, "the guest was at work all the time")
	cancel()
	require.Equal(t, context.Canceled, <-ended)
}

func TestTimeInAFunctionOfTheHostIsNotTheGuests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := engine.New(engine.Options{})
		m, err := e.Load(t.Context(), fixture(t, "calls-the-host"), engine.Spec{
			Name: "calls", Functions: map[string]engine.Function{
				"ask": func(context.Context, []byte) ([]byte, error) {
					time.Sleep(time.Hour)
					return []byte("late"), nil
				},
			},
		})
		require.NoError(t, err)
		result, err := m.Call(t.Context(), engine.Call{Export: "before_run", Timeout: time.Second})
		require.NoError(t, err)
		require.Equal(t, "late", string(result.Output))
		require.Equal(t, time.Hour, result.Usage.Waited)
		require.Less(t, result.Usage.Duration, time.Second)
		require.NoError(t, e.Close(t.Context()))
	})
}

func TestAGuestThatSleepsUsesUpItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := engine.New(engine.Options{})
		m, err := e.Load(t.Context(), fixture(t, "sleeps-an-hour"), engine.Spec{Name: "sleeps"})
		require.NoError(t, err)
		began := time.Now()
		_, err = m.Call(t.Context(), engine.Call{Export: "before_run", Timeout: time.Second})
		require.ErrorIs(t, err, engine.ErrTimeout)
		require.Less(t, time.Since(began), 2*time.Second)

		began = time.Now()
		_, err = m.Call(t.Context(), engine.Call{Export: "before_run", Fuel: 3_000_000_000})
		require.ErrorIs(t, err, engine.ErrFuel, "a budget of fuel bounds sleep, too")
		require.Less(t, time.Since(began), 4*time.Second)

		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err = m.Call(ctx, engine.Call{Export: "before_run", Timeout: engine.Unlimited})
		require.Equal(t, context.DeadlineExceeded, err)
		require.NoError(t, e.Close(t.Context()))
	})
}

func TestAGuestInAFunctionOfTheHostEndsWithItsContext(t *testing.T) {
	inside := make(chan struct{}, 1)
	m := load(t, "calls-the-host", engine.Spec{Functions: map[string]engine.Function{
		"ask": func(ctx context.Context, _ []byte) ([]byte, error) {
			inside <- struct{}{}
			<-ctx.Done()
			return []byte("never seen"), nil
		},
	}})
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-inside; cancel() }()
	result, err := m.Call(ctx, engine.Call{Export: "before_run", Timeout: engine.Unlimited})
	require.Equal(t, context.Canceled, err)
	require.Empty(t, result.Output)

	go func() {
		<-inside
		short, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
		defer cancel()
		_ = m.Close(short)
	}()
	_, err = m.Call(t.Context(), engine.Call{Export: "before_run", Timeout: engine.Unlimited})
	require.ErrorIs(t, err, engine.ErrClosed, "a module that is closed by force does not wait for the host")
}

func TestFunctionsOfTheHost(t *testing.T) {
	broken := errors.New("the database is down")
	m := load(t, "calls-the-host", engine.Spec{Functions: map[string]engine.Function{
		"ask": func(_ context.Context, input []byte) ([]byte, error) {
			switch string(input) {
			case "":
				return nil, nil
			case "fail":
				return nil, broken
			case "panic":
				panic("a fault of the host")
			}
			return append([]byte("you said "), input...), nil
		},
	}})
	require.Equal(t, "you said hello", string(call(t, m, "before_run", "hello").Output))
	require.Empty(t, call(t, m, "asks_with_nothing", "hello").Output)
	require.ErrorIs(t, callFails(t, m, engine.Call{Export: "before_run", Input: []byte("fail")}), broken)
	err := callFails(t, m, engine.Call{Export: "before_run", Input: []byte("panic")})
	require.EqualError(t, err, "calls-the-host: before_run trapped: host function ask failed", "the guest learns no more")
	err = callFails(t, m, engine.Call{Export: "asks_with_garbage"})
	require.EqualError(t, err, "calls-the-host: asks_with_garbage trapped: ask of an input at offset 12345, where no block begins")
	err = callFails(t, m, engine.Call{Export: "asks_without_end", Timeout: 20 * time.Millisecond})
	require.ErrorIs(t, err, engine.ErrTimeout, "calls of the host are the guest's work")
}

func TestAPluginThatCallsItselfEndsAtItsDepth(t *testing.T) {
	var m *engine.Module
	deepest := 0
	m = load(t, "calls-the-host", engine.Spec{Functions: map[string]engine.Function{
		"ask": func(ctx context.Context, _ []byte) ([]byte, error) {
			deepest++
			result, err := m.Call(ctx, engine.Call{Export: "counts"})
			if err == nil && result.Code != 1 {
				return nil, errors.New("a nested call saw another one")
			}
			return nil, err
		},
	}})
	err := callFails(t, m, engine.Call{Export: "counts"})
	require.ErrorIs(t, err, engine.ErrDepth)
	require.EqualError(t, err, "calls-the-host was called at depth 17, and plugins may call each other to a depth of 16: "+
		"look for a plugin that calls itself, or raise limits.depth")
	require.Equal(t, 17, deepest)
	require.Zero(t, m.Stats().Live, "a call that failed has its instance closed")
}

func TestANestedCallNeverWaitsForTheOneThatItIsNestedIn(t *testing.T) {
	var m *engine.Module
	m = load(t, "calls-the-host", engine.Spec{
		Limits: engine.Limits{Instances: 3},
		Functions: map[string]engine.Function{
			"ask": func(ctx context.Context, _ []byte) ([]byte, error) {
				_, err := m.Call(ctx, engine.Call{Export: "counts"})
				return nil, err
			},
		},
	})
	require.ErrorIs(t, callFails(t, m, engine.Call{Export: "counts", Timeout: time.Minute}), engine.ErrBusy)
}
