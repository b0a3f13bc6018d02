package engine_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host/wasm/engine"
)

// TestTheFallbackEndsWhatTheMeterWould runs guests without a meter, under the runtime's own way to end them.
func TestTheFallbackEndsWhatTheMeterWould(t *testing.T) {
	e := newEngine(t, engine.Options{CloseOnContextDone: true})
	open := func(name string, spec engine.Spec) *engine.Module {
		spec.Name, spec.Limits.Faults = name, engine.Unlimited
		m, err := e.Load(t.Context(), fixture(t, name), spec)
		require.NoError(t, err)
		return m
	}
	for _, name := range []string{"loops-forever", "loops-in-host-calls", "sleeps-an-hour", "recurses-twice-each-time"} {
		m := open(name, engine.Spec{})
		began := time.Now()
		err := callFails(t, m, engine.Call{Export: "before_run", Timeout: 50 * time.Millisecond})
		require.ErrorIs(t, err, engine.ErrTimeout, name)
		require.Less(t, time.Since(began), 5*time.Second, name)
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		_, err = m.Call(ctx, engine.Call{Export: "before_run", Timeout: time.Minute})
		cancel()
		require.Equal(t, context.DeadlineExceeded, err, name)
		require.Zero(t, m.Stats().Live, name)
	}
	m := open("recurses-without-end", engine.Spec{})
	err := callFails(t, m, engine.Call{Export: "before_run", Timeout: time.Minute})
	require.ErrorIs(t, err, engine.ErrStackLimit)
	require.EqualError(t, err, "recurses-without-end: before_run nested its calls deeper than the runtime can follow: "+
		"look for a recursion that does not end")

	counts := open("counts-calls", engine.Spec{})
	for range 3 {
		result := call(t, counts, "in_memory", "")
		require.EqualValues(t, 1, result.Code)
		require.Zero(t, result.Usage.Fuel, "there is none")
	}
	host := open("calls-the-host", engine.Spec{Functions: map[string]engine.Function{
		"ask": func(ctx context.Context, _ []byte) ([]byte, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		},
	}})
	err = callFails(t, host, engine.Call{Export: "before_run", Timeout: 20 * time.Millisecond})
	require.ErrorIs(t, err, engine.ErrTimeout, "time in functions of the host counts here")
}

func TestTheFallbackBoundsTimeWhereFuelWouldBe(t *testing.T) {
	m, err := newEngine(t, engine.Options{CloseOnContextDone: true}).
		Load(t.Context(), fixture(t, "loops-forever"), engine.Spec{Limits: engine.Limits{Fuel: 1000}})
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 10*engine.DefaultTime)
	defer cancel()
	_, err = m.Call(ctx, engine.Call{Export: "before_run"})
	require.ErrorIs(t, err, engine.ErrTimeout)
}
