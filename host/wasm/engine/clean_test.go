package engine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host/wasm/engine"
)

func TestNoCallSeesWhatAnEarlierOneLeft(t *testing.T) {
	m := load(t, "counts-calls", engine.Spec{Limits: engine.Limits{Instances: 1}})
	for export, first := range map[string]int32{
		"in_memory": 1, "in_data": 6, "in_global": 1, "in_exported_global": 1, "in_float": 1, "in_size": 3, "in_arena": 1,
		"in_var": 1,
	} {
		for range 3 {
			require.Equal(t, first, call(t, m, export, "").Code, export)
		}
	}
}

func TestSharedInstancesKeepWhatACallLeft(t *testing.T) {
	m := load(t, "counts-calls", engine.Spec{Shared: true, Limits: engine.Limits{Instances: 1}})
	for export, first := range map[string]int32{
		"in_memory": 1, "in_data": 6, "in_global": 1, "in_exported_global": 1, "in_float": 1, "in_size": 3, "in_var": 1,
	} {
		for n := range int32(3) {
			require.Equal(t, first+n, call(t, m, export, "").Code, export)
		}
	}
	require.EqualValues(t, 1, call(t, m, "in_arena", "").Code)
	require.EqualValues(t, 1, call(t, m, "in_arena", "").Code, "the arena is a call's own, always")
	require.Equal(t, 1, m.Stats().Created)
}

func TestInstanceThatGrewIsDiscarded(t *testing.T) {
	m := load(t, "counts-calls", engine.Spec{})
	call(t, m, "in_memory", "")
	require.Zero(t, m.Stats().Discarded)
	call(t, m, "in_size", "")
	require.Equal(t, 1, m.Stats().Discarded, "a memory cannot shrink")
}

func TestInstanceWithHiddenStateServesOneCall(t *testing.T) {
	for _, fixture := range []string{"counts-in-a-table", "closes-standard-output"} {
		m := load(t, fixture, engine.Spec{})
		for range 3 {
			require.Zero(t, call(t, m, "before_run", "").Code)
		}
		require.Equal(t, 3, m.Stats().Discarded, fixture)
	}
}

func TestInitRunsOnceForAllInstances(t *testing.T) {
	m := load(t, "prepares-in-init", engine.Spec{Init: &engine.Init{Export: "init", Input: []byte("seventeen chars..")}})
	for range 5 {
		require.EqualValues(t, 1, call(t, m, "times", "").Code)
		require.EqualValues(t, 17, call(t, m, "prepared", "").Code)
		callFails(t, m, engine.Call{Export: "spoils"})
	}
	require.Equal(t, 5, m.Stats().Discarded)
	require.Equal(t, 5, m.Stats().Created)
}

func TestInitRunsOnceForSharedInstancesToo(t *testing.T) {
	m := load(t, "prepares-in-init", engine.Spec{Shared: true, Init: &engine.Init{Export: "init", Input: []byte("four")}})
	for range 3 {
		require.EqualValues(t, 1, call(t, m, "times", "").Code)
		require.EqualValues(t, 4, call(t, m, "prepared", "").Code)
		callFails(t, m, engine.Call{Export: "spoils"})
	}
}

func TestInitThatFails(t *testing.T) {
	err := loadFails(t, "prepares-in-init", engine.Spec{Init: &engine.Init{Export: "fails"}})
	require.EqualError(t, err, "prepares-in-init: fails: returned code 9, want code 0: mend what it reports, or its config")
	err = loadFails(t, "prepares-in-init", engine.Spec{Init: &engine.Init{Export: "spoils"}})
	require.ErrorIs(t, err, engine.ErrTrap)
	err = loadFails(t, "prepares-in-init", engine.Spec{Init: &engine.Init{Export: "warm_up"}})
	require.EqualError(t, err, "prepares-in-init: export warm_up: none, want func () -> i32: export a function of that name")
	err = loadFails(t, "loops-forever", engine.Spec{
		Init: &engine.Init{Export: "before_run"}, Limits: engine.Limits{Init: 1000 * 1000},
	})
	require.ErrorIs(t, err, engine.ErrTimeout)
	require.EqualError(t, err, "loops-forever: before_run ran longer than its 1ms: "+
		"raise limits.init, or look for a loop that does not end")
}
