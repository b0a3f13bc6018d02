package engine_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host/wasm/engine"
)

func TestFilesThatStayOpenAreOfNoLaterCall(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "f"), []byte("abc"), 0o600))
	spec := engine.Spec{Mounts: []engine.Mount{{Host: dir, Guest: "/d"}}}
	m := load(t, "keeps-files-open", spec)
	for range 3 {
		require.Zero(t, call(t, m, "opens_and_hides_it", "").Code)
		require.EqualValues(t, -1, call(t, m, "reads_a_byte", "").Code, "no file is open")
	}

	// One that _initialize opened has an offset that calls move.
	m = load(t, "opens-a-file-at-start", spec)
	first := call(t, m, "reads_a_byte", "").Code
	require.Equal(t, first, call(t, m, "reads_a_byte", "").Code)
}

func TestEachInstanceBeginsTheSame(t *testing.T) {
	// Of a module with shadows each instance has an init of its own.
	m := load(t, "leaves-things-with-the-host", engine.Spec{Init: &engine.Init{Export: "init", Input: []byte("of init")}})
	for range 3 {
		result := call(t, m, "before_run", "input")
		require.Empty(t, result.Output)
		require.Empty(t, result.Error)
		require.Zero(t, result.Code, "no var is set")
		callFails(t, m, engine.Call{Export: "traps"})
	}
	require.Equal(t, 3, m.Stats().Created)
}
