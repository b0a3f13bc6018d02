package kv_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host/kv"
	"github.com/weft-run/weft/host/kv/kvtest"
)

func TestMemoryIsAStore(t *testing.T) {
	kvtest.Run(t, func(_ *testing.T, options kv.Options) kv.Store { return kv.NewMemory(options) })
}

func TestEntriesExpireByTheSystemsClockUnlessAnotherIsGiven(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := kv.NewMemory(kv.Options{})
		ns := kv.Namespace{Scope: kv.ScopeAgent}
		_, err := store.Set(t.Context(), ns, "key", jsontext.Value(`1`), kv.SetOptions{TTL: time.Minute})
		require.NoError(t, err)
		_, found, err := store.Get(t.Context(), ns, "key")
		require.NoError(t, err)
		require.True(t, found)
		time.Sleep(time.Minute)
		_, found, err = store.Get(t.Context(), ns, "key")
		require.NoError(t, err)
		require.False(t, found)
	})
}

func TestTheDefaultsAreWhatTheyAreSaidToBe(t *testing.T) {
	d := kv.DefaultLimits()
	require.Equal(t, kv.Limits{Value: 64 << 10, Total: 1 << 20, Keys: 10_000}, d)
	for _, l := range []kv.Limits{{}, d} {
		require.NoError(t, l.CheckValue(d.Value))
		require.ErrorIs(t, l.CheckValue(d.Value+1), kv.ErrLimit)
		require.NoError(t, l.CheckUsage(kv.Usage{}, kv.Usage{Keys: d.Keys, Bytes: d.Total}))
		require.ErrorIs(t, l.CheckUsage(kv.Usage{}, kv.Usage{Keys: d.Keys + 1}), kv.ErrLimit)
		require.ErrorIs(t, l.CheckUsage(kv.Usage{}, kv.Usage{Bytes: d.Total + 1}), kv.ErrLimit)
	}
}

func TestAPageHasAMaximum(t *testing.T) {
	store := kv.NewMemory(kv.Options{})
	ns := kv.Namespace{Scope: kv.ScopeAgent}
	for i := range kv.MaxPage + 1 {
		_, err := store.Set(t.Context(), ns, string(rune(0x4e00+i)), jsontext.Value(`1`), kv.SetOptions{})
		require.NoError(t, err)
	}
	for _, limit := range []int{kv.MaxPage, kv.MaxPage + 1, 1 << 40} {
		page, more, err := store.List(t.Context(), ns, kv.ListOptions{Limit: limit})
		require.NoError(t, err)
		require.True(t, more)
		require.Len(t, page, kv.MaxPage)

		options, err := kv.CheckList(ns, kv.ListOptions{Limit: limit})
		require.NoError(t, err)
		require.Equal(t, kv.MaxPage, options.Limit, "so it is for every store")
	}
}
