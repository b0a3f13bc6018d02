package engine_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host/wasm/engine"
)

func TestCheckFindsWhatLoadWouldWithoutCompiling(t *testing.T) {
	e := newEngine(t, engine.Options{})
	require.NoError(t, e.Check(fixture(t, "echoes"), engine.Spec{}))
	require.NoError(t, e.Check(fixture(t, "traps-at-start"), engine.Spec{}), "nothing runs")
	err := e.Check(fixture(t, "unknown-import"), engine.Spec{Name: "clock"})
	require.ErrorContains(t, err, "clock: 6 faults")
}

func TestInitAfterLoad(t *testing.T) {
	m := load(t, "prepares-in-init", engine.Spec{})
	require.Zero(t, call(t, m, "times", "").Code)

	result, err := m.Init(t.Context(), engine.Init{Export: "fails"}, nil)
	require.NoError(t, err)
	require.EqualValues(t, 9, result.Code)
	_, err = m.Init(t.Context(), engine.Init{Export: "spoils"}, nil)
	require.ErrorIs(t, err, engine.ErrTrap)
	require.Zero(t, call(t, m, "times", "").Code, "a failed one leaves nothing")
	_, err = m.Init(t.Context(), engine.Init{Export: "warm_up"}, nil)
	require.ErrorIs(t, err, engine.ErrNoExport)

	_, err = m.Init(t.Context(), engine.Init{Export: "init", Input: []byte("seven..")}, nil)
	require.NoError(t, err)
	for range 3 {
		require.EqualValues(t, 1, call(t, m, "times", "").Code)
		require.EqualValues(t, 7, call(t, m, "prepared", "").Code)
		callFails(t, m, engine.Call{Export: "spoils"})
	}
}

func TestInitOfAModuleWithHiddenStateRunsForEachInstance(t *testing.T) {
	m := load(t, "counts-in-a-table", engine.Spec{})
	require.Zero(t, call(t, m, "before_run", "").Code)
	_, err := m.Init(t.Context(), engine.Init{Export: "before_run"}, nil)
	require.NoError(t, err)
	for range 3 {
		require.EqualValues(t, 1, call(t, m, "before_run", "").Code)
	}
}

func TestInitReachesInstancesThatWereMadeAhead(t *testing.T) {
	e := newEngine(t, engine.Options{})
	for name, of := range map[string]struct{ init, asks string }{
		"prepares-in-init": {"init", "times"}, "counts-in-a-table": {"before_run", "before_run"},
	} {
		for range 10 { // Some are ready by then, and some are being made.
			m, err := e.Load(t.Context(), fixture(t, name), engine.Spec{Name: name, Warm: 3})
			require.NoError(t, err)
			_, err = m.Init(t.Context(), engine.Init{Export: of.init}, nil)
			require.NoError(t, err)
			for range 5 {
				require.EqualValues(t, 1, call(t, m, of.asks, "").Code, name)
			}
			require.NoError(t, m.Close(t.Context()))
		}
	}
}

func TestInstancesAreReadyAfterInitToo(t *testing.T) {
	m := load(t, "prepares-in-init", engine.Spec{Warm: 2})
	_, err := m.Init(t.Context(), engine.Init{Export: "init"}, nil)
	require.NoError(t, err)
	require.Eventually(t, func() bool { return m.Stats().Idle == 2 }, 5*time.Second, time.Millisecond)
}

func TestInitComesOnTopOfTheSpecs(t *testing.T) {
	for name, of := range map[string]struct{ first, second, asks string }{
		"prepares-in-init": {"init", "init", "times"}, "counts-in-a-table": {"before_run", "marks", "marked"},
	} {
		m := load(t, name, engine.Spec{Init: &engine.Init{Export: of.first}})
		_, err := m.Init(t.Context(), engine.Init{Export: of.second}, nil)
		require.NoError(t, err)
		require.EqualValues(t, 2, call(t, m, of.asks, "").Code, name)
	}
}

func TestInitThatCannotBeCalledSaysWhatIsThere(t *testing.T) {
	m := load(t, "prepares-in-init", engine.Spec{})
	_, err := m.Init(t.Context(), engine.Init{Export: "memory"}, nil)
	require.EqualError(t, err, "prepares-in-init: export memory is memory, and must be func () -> i32")
}

func TestTheInputOfInitIsBoundedAsThatOfACall(t *testing.T) {
	init := engine.Init{Export: "init", Input: []byte("seven..")}
	spec := engine.Spec{Name: "prepares", Limits: engine.Limits{Input: 6}}
	m := load(t, "prepares-in-init", spec)
	_, err := m.Init(t.Context(), init, nil)
	require.ErrorIs(t, err, engine.ErrInputTooLarge)

	spec.Init = &init
	err = loadFails(t, "prepares-in-init", spec)
	require.EqualError(t, err, "prepares-in-init: init was given 7 bytes, and may be given 6 bytes: raise limits.input, or send less")
}
