package engine_test

import (
	"strings"
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

func TestSharedInstancesOutliveALargeInput(t *testing.T) {
	m := load(t, "counts-calls", engine.Spec{Shared: true, Limits: engine.Limits{Input: 16 << 20, Memory: 64 << 20}})
	for n, input := range []string{"", strings.Repeat("x", 9<<20), ""} {
		require.EqualValues(t, 1+n, call(t, m, "in_memory", input).Code)
	}
	require.Equal(t, 1, m.Stats().Created)
}

func TestMemoryThatGrewIsCutBack(t *testing.T) {
	m := load(t, "counts-calls", engine.Spec{})
	before := call(t, m, "in_memory", "").Usage.Memory
	for range 3 {
		grown := call(t, m, "in_size", "")
		require.EqualValues(t, 3, grown.Code, "each call begins with 2 pages and adds one")
		require.EqualValues(t, before+engine.PageSize, grown.Usage.Memory)
		require.EqualValues(t, before, call(t, m, "in_memory", "").Usage.Memory)
	}
	require.Zero(t, m.Stats().Discarded)
}

func TestWhatLayInMemoryThatWasCutBackIsGone(t *testing.T) {
	m := load(t, "grows-and-remembers", engine.Spec{})
	for range 3 {
		result := call(t, m, "before_run", "")
		require.Zero(t, result.Code, "the bytes of a page that is new")
	}
	require.Zero(t, m.Stats().Discarded)
	// At its maximum a memory cannot be asked to grow, and so cannot be cut back.
	require.EqualValues(t, 4, call(t, m, "to_the_end", "").Code)
	require.Equal(t, 1, m.Stats().Discarded)
	require.Zero(t, call(t, m, "before_run", "").Code)
}

func TestTablesReferencesAndVectorsArePutBack(t *testing.T) {
	for _, options := range []engine.Options{{}, {CloseOnContextDone: true}} {
		e := newEngine(t, options)
		m, err := e.Load(t.Context(), fixture(t, "changes-tables"), engine.Spec{
			Name: "tables", Limits: engine.Limits{Instances: 1, Faults: engine.Unlimited},
			Init: &engine.Init{Export: "init"},
		})
		require.NoError(t, err)
		for range 3 {
			require.EqualValues(t, 7, call(t, m, "before_run", "").Code, "what init put there")
			require.EqualValues(t, 1, call(t, m, "vector", "").Code)
			require.EqualValues(t, 1, call(t, m, "reference", "").Code)
		}
		require.Equal(t, 1, m.Stats().Created)
		require.EqualValues(t, 3, call(t, m, "grows", "").Code)
		require.Equal(t, 1, m.Stats().Discarded, "a table cannot shrink")
		require.EqualValues(t, 7, call(t, m, "before_run", "").Code, "another instance has an init of its own")
		callFails(t, m, engine.Call{Export: "traps_after_changing"})
		require.EqualValues(t, 7, call(t, m, "before_run", "").Code)
	}
}

func TestInstanceThatCannotBePutBackServesOneCall(t *testing.T) {
	for _, fixture := range []string{"drops-a-segment", "closes-standard-output"} {
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
