package engine_test

import (
	"testing"

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
