package measure_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/bench/internal/measure"
)

func TestACaseThatFailsTakesNoRowsOfOthersAway(t *testing.T) {
	says := func(rows ...string) func(context.Context, int) ([]string, error) {
		return func(context.Context, int) ([]string, error) { return rows, nil }
	}
	cases := measure.Cases[int, string]{
		{Name: "first", Run: says("a", "b")},
		{Name: "broken", Run: func(context.Context, int) ([]string, error) { return nil, errors.New("no such guest") }},
		{Name: "last", Run: says("c")},
	}
	rows, err := cases.Measure(t.Context(), "test", 0)
	require.EqualError(t, err, "broken: no such guest")
	require.Equal(t, []string{"a", "b", "c"}, rows)

	some, err := cases.Chosen("last,first")
	require.NoError(t, err)
	rows, err = some.Measure(t.Context(), "test", 0)
	require.NoError(t, err)
	require.Equal(t, []string{"c", "a", "b"}, rows)
	_, err = cases.Chosen("first,lsat")
	require.EqualError(t, err, `-case: no case "lsat": there are first, broken, last`)

	file := filepath.Join(t.TempDir(), "rows.json")
	require.NoError(t, measure.WriteRows(file, rows))
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	require.JSONEq(t, `["c","a","b"]`, string(data))
}
