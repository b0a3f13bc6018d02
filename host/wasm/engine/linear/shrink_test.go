package linear

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestShrinkTakesBackWhatGrewSinceTheImage(t *testing.T) {
	everyWay(t, func(t *testing.T, w way) {
		budget := &purse{limit: testMax}
		m := New(testMax, budget)
		m.store = w.store(testMax)
		t.Cleanup(m.Release)
		m.Reallocate(3 * wasmPage)
		copy(m.Bytes()[wasmPage:], "state")
		image, err := Capture(m)
		require.NoError(t, err)
		defer image.Close()
		require.NoError(t, m.Adopt(image))
		was := bytes.Clone(m.Bytes())

		for range 5 {
			for n := range m.Reallocate(7 * wasmPage) {
				m.Bytes()[n] = 0xff
			}
			require.False(t, m.Restore(), "it has grown")
			require.True(t, m.Shrink(func() bool { return len(m.Reallocate(8*wasmPage)) == 3*wasmPage }))
			require.EqualValues(t, 3*wasmPage, budget.used)
			require.True(t, m.Restore())
			require.True(t, bytes.Equal(was, m.Bytes()))
			require.True(t, isZero(m.Reallocate(7 * wasmPage)[3*wasmPage:]), "what grows again is zero")
			require.True(t, m.Shrink(func() bool { return m.Reallocate(8*wasmPage) != nil }))
		}
		m.Reallocate(7 * wasmPage)
		require.False(t, m.Shrink(func() bool { return false }), "the runtime does not ask at the maximum")
		require.Len(t, m.Bytes(), 7*wasmPage)
		require.Len(t, m.Reallocate(8*wasmPage), 8*wasmPage, "and growing goes on as ever")
	})
}

func TestAMemoryWithoutAnImageDoesNotShrink(t *testing.T) {
	m := memory(t, newStore(testMax), 3)
	require.False(t, m.Shrink(func() bool { t.Error("nobody asks"); return false }))
}
