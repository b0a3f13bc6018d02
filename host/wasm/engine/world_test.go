package engine_test

import (
	"encoding/binary"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host/wasm/engine"
)

// asked is what asks-for-the-world puts out.
type asked struct {
	wall      time.Time
	monotonic time.Duration
	random    uint64
	env       string
}

func ask(t *testing.T, m *engine.Module, w *engine.World) asked {
	t.Helper()
	result, err := m.Call(t.Context(), engine.Call{Export: "before_run", World: w})
	require.NoError(t, err)
	number := func(n int) uint64 { return binary.LittleEndian.Uint64(result.Output[8*n:]) }
	return asked{
		wall: time.Unix(0, int64(number(0))), monotonic: time.Duration(number(1)), random: number(2),
		env: string(result.Output[24:]),
	}
}

func TestTheWorldOfAGuestIsTheHosts(t *testing.T) {
	day := time.Date(2026, 11, 21, 8, 30, 0, 0, time.UTC)
	m := load(t, "asks-for-the-world", engine.Spec{World: engine.World{
		Now: func() time.Time { return day }, Env: []string{"TZ=UTC"},
	}})
	seen := ask(t, m, nil)
	require.True(t, day.Equal(seen.wall))
	require.Equal(t, "TZ=UTC\x00", seen.env)

	own := engine.World{
		Now: func() time.Time { return day.Add(time.Hour) }, Monotonic: func() time.Duration { return 7 },
		Random: func(p []byte) {
			for n := range p {
				p[n] = 1
			}
		},
		Env: []string{"A=1", "B=2"},
	}
	require.Equal(t, asked{day.Add(time.Hour).Local(), 7, 0x0101010101010101, "A=1\x00B=2\x00"}, ask(t, m, &own), "of one call")
	require.Equal(t, "TZ=UTC\x00", ask(t, m, nil).env, "and not of the next")
}

func TestTheWorldIsRealAndCoarseByDefault(t *testing.T) {
	m := load(t, "asks-for-the-world", engine.Spec{})
	before := time.Now().Truncate(100 * time.Microsecond)
	first, second := ask(t, m, nil), ask(t, m, nil)
	require.False(t, first.wall.Before(before))
	require.False(t, first.wall.After(time.Now()))
	require.Zero(t, first.wall.UnixNano()%int64(100*time.Microsecond))
	require.Zero(t, first.monotonic%(100*time.Microsecond))
	require.GreaterOrEqual(t, second.monotonic, first.monotonic)
	require.NotEqual(t, first.random, second.random)
	require.Empty(t, first.env)
	require.EqualValues(t, 21, call(t, m, "asks_outside", "").Code, "an address outside is an errno")
}

func TestARecordingIsPlayedBack(t *testing.T) {
	m := load(t, "asks-for-the-world", engine.Spec{})
	var r engine.Recording
	w := r.Record(engine.World{Env: []string{"A=1"}})
	first, second := ask(t, m, &w), ask(t, m, &w)

	text, err := json.Marshal(&r)
	require.NoError(t, err)
	var read engine.Recording
	require.NoError(t, json.Unmarshal(text, &read))
	again, more := read.Replay()
	require.Equal(t, first, ask(t, m, &again))
	require.Equal(t, second, ask(t, m, &again))
	require.False(t, more())

	beyond := ask(t, m, &again)
	require.True(t, more(), "it asked for more than was recorded")
	require.Equal(t, second.wall.Add(time.Microsecond), beyond.wall)
	require.Equal(t, second.monotonic+time.Microsecond, beyond.monotonic)
	require.Zero(t, beyond.random)
}
