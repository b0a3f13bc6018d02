package kvtest

import (
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host/kv"
)

func (f *fixture) setIf(t *testing.T, key, value string, version int64) (int64, error) {
	t.Helper()
	return f.Set(t.Context(), mine, key, jsontext.Value(value), kv.SetOptions{IfVersion: &version})
}

// conflict wants an error that says which version was wanted and which is there.
func conflict(t *testing.T, err error, want, have int64) {
	t.Helper()
	var c *kv.ConflictError
	require.ErrorIs(t, err, kv.ErrConflict)
	require.ErrorAs(t, err, &c)
	require.Equal(t, kv.ConflictError{Key: "key", Want: want, Have: have}, *c)
}

// versions is what writes that hold for one version do.
var versions = map[string]func(*testing.T, *fixture){
	"AWriteForAVersionHoldsForThatVersionOnly": func(t *testing.T, f *fixture) {
		first := f.set(t, mine, "key", `1`)
		second, err := f.setIf(t, "key", `2`, first)
		require.NoError(t, err)
		require.NotEqual(t, first, second)
		for _, version := range []int64{first, second + 1, 1 << 62} {
			_, err = f.setIf(t, "key", `3`, version)
			conflict(t, err, version, second)
			_, err := f.Delete(t.Context(), mine, "key", &version)
			conflict(t, err, version, second)
		}
		require.Equal(t, `2`, f.get(t, mine, "key"))
		deleted, err := f.Delete(t.Context(), mine, "key", &second)
		require.NoError(t, err)
		require.True(t, deleted)
	},
	"AWriteForVersion0HoldsWhereNothingIs": func(t *testing.T, f *fixture) {
		first, err := f.setIf(t, "key", `1`, 0)
		require.NoError(t, err)
		_, err = f.setIf(t, "key", `2`, 0)
		conflict(t, err, 0, first)
		require.EqualError(t, err, `key "key": no entry was wanted, and version 1 is there: `+
			"read it again, and write with the version that you read")
		require.Equal(t, `1`, f.get(t, mine, "key"))
		_, err = f.Delete(t.Context(), mine, "key", nil)
		require.NoError(t, err)
		_, err = f.setIf(t, "key", `3`, 0)
		require.NoError(t, err)
	},
	"AWriteForAVersionOfWhatIsNotThereIsAConflict": func(t *testing.T, f *fixture) {
		_, err := f.setIf(t, "key", `1`, 7)
		conflict(t, err, 7, 0)
		_, err = f.Delete(t.Context(), mine, "key", new(int64(7)))
		conflict(t, err, 7, 0)
		require.Empty(t, f.get(t, mine, "key"))
	},
	"ADeleteForVersion0IsRefused": func(t *testing.T, f *fixture) {
		_, err := f.Delete(t.Context(), mine, "key", new(int64(0)))
		require.ErrorIs(t, err, kv.ErrInvalid)
		require.ErrorContains(t, err, "if_version is 0, and versions of entries are 1 or more")
	},
	"AVersionNeverComesAgain": func(t *testing.T, f *fixture) {
		seen := map[int64]bool{}
		set := func(value string, ttl time.Duration) {
			t.Helper()
			version, err := f.Set(t.Context(), mine, "key", jsontext.Value(value), kv.SetOptions{TTL: ttl})
			require.NoError(t, err)
			require.False(t, seen[version], "version %d", version)
			seen[version] = true
			e, _, err := f.Get(t.Context(), mine, "key")
			require.NoError(t, err)
			require.Equal(t, version, e.Version)
		}
		set(`1`, 0)
		set(`1`, 0) // the same value is a change too
		for range 3 {
			_, err := f.Delete(t.Context(), mine, "key", nil)
			require.NoError(t, err)
			set(`1`, time.Second)
			f.clock.advance(time.Hour) // it expires, and the namespace is empty
			set(`1`, time.Second)
			f.clock.advance(time.Hour)
			f.set(t, kv.Namespace{Scope: kv.ScopeAgent}, "key", `1`) // lets a store clean up
			set(`1`, 0)
			count, err := f.Clear(t.Context(), mine)
			require.NoError(t, err)
			require.Equal(t, 1, count)
			set(`1`, 0)
		}
	},
	"AFailedWriteLeavesWhatWasThere": func(t *testing.T, f *fixture) {
		version := f.set(t, mine, "key", `1`)
		_, err := f.setIf(t, "key", `2`, version+1)
		require.Error(t, err)
		_, err = f.Set(t.Context(), mine, "key", jsontext.Value(`"too long"`), kv.SetOptions{Limits: kv.Limits{Total: 8}})
		require.Error(t, err)
		e, _, err := f.Get(t.Context(), mine, "key")
		require.NoError(t, err)
		require.Equal(t, kv.Entry{Key: "key", Value: jsontext.Value(`1`), Version: version}, e)
	},
}
