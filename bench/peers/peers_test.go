package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"
)

// All do the same work, or their figures could not be compared: the model sees the whole history, the input and each
// provider's message, the tool is called once, both wrappers are there at both model calls, and the session stores the turn.
func TestEachFrameworkRunsTheWholeScenario(t *testing.T) {
	const history = 10
	for _, f := range frameworks() {
		t.Run(f.name, func(t *testing.T) {
			var requests [][]string
			s := &script{watch: func(texts []string) { requests = append(requests, texts) }}
			a, err := f.open(t.Context(), s)
			require.NoError(t, err)
			c, err := a.converse(t.Context(), history)
			require.NoError(t, err)
			stored, err := c.stored(t.Context())
			require.NoError(t, err)
			require.Equal(t, history, stored)
			require.Zero(t, s.modelCalls.Load(), "filling the session is not part of the scenario")

			answer, err := c.turn(t.Context())
			require.NoError(t, err)
			require.Equal(t, reply, answer)
			require.EqualValues(t, 2, s.modelCalls.Load())
			require.EqualValues(t, 1, s.toolCalls.Load())
			require.EqualValues(t, 4, s.wrapped.Load())

			var first []string
			for _, text := range seeds(history) {
				first = append(first, text)
			}
			for i, request := range requests {
				require.Equal(t, first, request[:history])
				want := []string{input}
				for range contexts {
					want = append(want, contextText)
				}
				if i == 1 {
					want = append(want, "", "") // the call and its result
				}
				require.ElementsMatch(t, want, request[history:])
			}

			stored, err = c.stored(t.Context())
			require.NoError(t, err)
			require.Equal(t, history+4, stored, "the input, the call, its result and the answer")

			require.NoError(t, c.rewind(t.Context()))
			stored, err = c.stored(t.Context())
			require.NoError(t, err)
			require.Equal(t, history, stored)
			_, err = c.turn(t.Context())
			require.NoError(t, err)
			require.Equal(t, requests[0], requests[2], "each run finds the same")
		})
	}
}

func TestEachFrameworkHasARowForEachHistory(t *testing.T) {
	rows, err := compare(t.Context(), frameworks(), []int{10, 20}, 2)
	require.NoError(t, err)
	require.Len(t, rows, 6)
	for i, r := range rows {
		require.Equal(t, frameworks()[i%3].name, r.Framework)
		require.Equal(t, 10+10*(i/3), r.History)
		require.Positive(t, r.Micros)
		require.Positive(t, r.Allocs)
		require.Positive(t, r.Bytes)
		if r.Framework == "weft" {
			require.InDelta(t, 1, r.Ratio, 0)
		}
	}

	var out bytes.Buffer
	table(&out, rows, 2)
	require.Equal(t, 2+2+len(rows), bytes.Count(out.Bytes(), []byte("\n")))
	raw, err := json.Marshal(rows[0])
	require.NoError(t, err)
	require.Regexp(t, `^\{"framework":"weft","history":10,"us":[\d.]+,"allocs":\d+,"bytes":\d+,"ratio_to_weft":1\}$`, string(raw))
}

func TestNoRoundsAreRefused(t *testing.T) {
	file := filepath.Join(t.TempDir(), "core.json")
	require.ErrorContains(t, run(t.Context(), &bytes.Buffer{}, 0, file), "at least 1")
	_, err := os.Stat(file)
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestTheMedianIsTheMiddle(t *testing.T) {
	require.Equal(t, 2, median([]int{3, 1, 2}))
	require.Equal(t, 2, median([]int{4, 3, 1, 2}))
	require.InDelta(t, 1.3, rounded(1.26, 10), 1e-9)
}
