package kvtest

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host/kv"
)

func (f *fixture) setFor(t *testing.T, key string, ttl time.Duration) int64 {
	t.Helper()
	version, err := f.Set(t.Context(), mine, key, jsontext.Value(`1`), kv.SetOptions{TTL: ttl})
	require.NoError(t, err)
	return version
}

// expiry is what happens to entries that end.
var expiry = map[string]func(*testing.T, *fixture){
	"AnEntryIsThereForItsTimeAndNoLonger": func(t *testing.T, f *fixture) {
		f.setFor(t, "key", time.Minute)
		f.clock.advance(time.Minute - time.Nanosecond)
		require.Equal(t, `1`, f.get(t, mine, "key"))
		f.clock.advance(time.Millisecond) // it is rounded up
		require.Empty(t, f.get(t, mine, "key"))
		require.Empty(t, f.keys(t, mine, ""))
		deleted, err := f.Delete(t.Context(), mine, "key", nil)
		require.NoError(t, err)
		require.False(t, deleted)
		count, err := f.Clear(t.Context(), mine)
		require.NoError(t, err)
		require.Zero(t, count)
	},
	"WhatHasExpiredIsNoVersion": func(t *testing.T, f *fixture) {
		version := f.setFor(t, "key", time.Minute)
		f.clock.advance(time.Hour)
		_, err := f.setIf(t, "key", `2`, version)
		conflict(t, err, version, 0)
		_, err = f.Delete(t.Context(), mine, "key", &version)
		conflict(t, err, version, 0)
		again, err := f.setIf(t, "key", `2`, 0)
		require.NoError(t, err)
		require.NotEqual(t, version, again)
		require.Equal(t, `2`, f.get(t, mine, "key"))
	},
	"SettingAnewSetsANewTime": func(t *testing.T, f *fixture) {
		f.setFor(t, "longer", time.Minute)
		f.setFor(t, "shorter", time.Hour)
		f.setFor(t, "for ever", time.Minute)
		f.setFor(t, "longer", time.Hour)
		f.setFor(t, "shorter", time.Minute)
		f.setFor(t, "for ever", 0)
		f.clock.advance(2 * time.Minute)
		require.Equal(t, []string{"for ever", "longer"}, f.keys(t, mine, ""))
		f.clock.advance(100 * 365 * 24 * time.Hour)
		require.Equal(t, []string{"for ever"}, f.keys(t, mine, ""))
	},
	"TheShortestAndTheLongestTimeAreTimes": func(t *testing.T, f *fixture) {
		f.setFor(t, "shortest", 1)
		f.setFor(t, "longest", math.MaxInt64)
		require.Equal(t, []string{"longest", "shortest"}, f.keys(t, mine, ""))
		f.clock.advance(2 * time.Millisecond)
		require.Equal(t, []string{"longest"}, f.keys(t, mine, ""))
	},
	"APageIsNotMadeShorterByWhatHasExpired": func(t *testing.T, f *fixture) {
		for i := range 10 {
			f.setFor(t, fmt.Sprint(i), time.Duration(i%2)*time.Minute)
		}
		f.clock.advance(time.Hour)
		page, more, err := f.List(t.Context(), mine, kv.ListOptions{Limit: 4})
		require.NoError(t, err)
		require.True(t, more)
		require.Len(t, page, 4)
		page, more, err = f.List(t.Context(), mine, kv.ListOptions{Limit: 4, After: page[3].Key})
		require.NoError(t, err)
		require.False(t, more)
		require.Len(t, page, 1)
	},
}
