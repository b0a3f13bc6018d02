package engine_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host/wasm/engine"
)

// TestMemoryThatTheEngineDoesNotHaveIsNotTheGuestsDoing has guests ask for more than all may hold together, and for less
// than they may.
func TestMemoryThatTheEngineDoesNotHaveIsNotTheGuestsDoing(t *testing.T) {
	e := newEngine(t, engine.Options{Memory: 1 << 20})
	for name, c := range map[string]engine.Call{
		"grows-without-end": {Export: "then_traps"},
		"echoes":            {Export: "echo", Input: []byte(strings.Repeat("x", 2<<20))},
	} {
		m, err := e.Load(t.Context(), fixture(t, name), engine.Spec{Name: name, Limits: engine.Limits{Faults: 1}})
		require.NoError(t, err)
		for range 3 {
			err = callFails(t, m, c)
			require.NotErrorIs(t, err, engine.ErrMemoryLimit)
			require.ErrorIs(t, err, engine.ErrBusy)
			require.EqualError(t, err, name+": "+c.Export+" needs more memory, and all instances of the engine together may hold "+
				"1 MiB: try again later, lower limits.instances so that fewer are at work, or raise Options.Memory")
		}
		require.False(t, m.Stats().Resting)
		require.NoError(t, m.Close(t.Context()))
	}
	require.Zero(t, e.MemoryInUse())
}

func TestAnInstanceThatFindsNoMemorySaysHowMuchItNeeds(t *testing.T) {
	e := newEngine(t, engine.Options{Memory: 1 << 16})
	_, err := e.Load(t.Context(), fixture(t, "counts-calls"), engine.Spec{Name: "counts"})
	require.EqualError(t, err, "counts needs 192 KiB for another instance, and all instances of the engine together may hold "+
		"64 KiB: try again later, lower limits.instances so that fewer are at work, or raise Options.Memory")
}

func TestErrorsNameTheFieldOfACallThatSetTheLimit(t *testing.T) {
	m := load(t, "echoes", engine.Spec{Limits: engine.Limits{Output: 3}})
	option := func(c engine.Call) string {
		c.Export, c.Input = "echo", []byte("hello")
		var limit *engine.LimitError
		require.ErrorAs(t, callFails(t, m, c), &limit)
		return limit.Option
	}
	require.Equal(t, "limits.output", option(engine.Call{}))
	require.Equal(t, "Call.Output", option(engine.Call{Output: 4}))
	require.Equal(t, "Call.Fuel", option(engine.Call{Fuel: 1, Output: 9}))
	require.Equal(t, "limits.cpu", option(engine.Call{Fuel: 1, TimeoutOption: "limits.cpu"}))
}
