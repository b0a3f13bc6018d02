package linear_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tetratelabs/wazero"
)

func TestGuestGrowsUpToItsMaximum(t *testing.T) {
	r := wazero.NewRuntime(t.Context())
	defer r.Close(t.Context())
	instance, memory, err := instantiate(t.Context(), r)
	require.NoError(t, err)
	defer memory.Release()
	for _, want := range []int32{1, 2, 3, -1, -1} {
		result, err := instance.ExportedFunction("grow").Call(t.Context())
		require.NoError(t, err)
		require.Equal(t, want, int32(result[0]))
		require.EqualValues(t, len(memory.Bytes()), instance.Memory().Size())
	}
	require.True(t, instance.Memory().WriteByte(4<<16-1, 7))
	require.EqualValues(t, 7, memory.Bytes()[4<<16-1])
}

func TestClosedModuleLeavesItsMemoryToWhoMadeIt(t *testing.T) {
	r := wazero.NewRuntime(t.Context())
	instance, memory, err := instantiate(t.Context(), r)
	require.NoError(t, err)
	_, err = instance.ExportedFunction("count").Call(t.Context())
	require.NoError(t, err)
	view, ok := instance.Memory().Read(8, 4)
	require.True(t, ok)
	require.NoError(t, instance.Close(t.Context()))
	require.NoError(t, r.Close(t.Context()))
	require.Equal(t, []byte{1, 0, 0, 0}, view)
	memory.Release()
	require.Empty(t, memory.Bytes())
}
