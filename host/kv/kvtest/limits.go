package kvtest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host/kv"
)

func (f *fixture) setWithin(t *testing.T, key string, size int, limits kv.Limits) error {
	t.Helper()
	_, err := f.Set(t.Context(), mine, key, value(size), kv.SetOptions{Limits: limits})
	return err
}

// value is JSON of so many bytes.
func value(size int) jsontext.Value {
	return jsontext.Value(`"` + strings.Repeat("x", size-2) + `"`)
}

func limit(t *testing.T, err error, want kv.LimitError) {
	t.Helper()
	var l *kv.LimitError
	require.ErrorIs(t, err, kv.ErrLimit)
	require.ErrorAs(t, err, &l)
	require.Equal(t, want, *l)
}

// limits is what a namespace may hold.
var limits = map[string]func(*testing.T, *fixture){
	"AValueIsOfItsLimitAtMost": func(t *testing.T, f *fixture) {
		require.NoError(t, f.setWithin(t, "key", 64<<10, kv.Limits{}))
		err := f.setWithin(t, "key", 64<<10+1, kv.Limits{})
		limit(t, err, kv.LimitError{Limit: "value", Value: 64 << 10, Seen: 64<<10 + 1, Option: "limits.kv_value"})
		require.EqualError(t, err, "the value is 65537 bytes, and may be 64 KiB: raise limits.kv_value, or store less")
		require.NoError(t, f.setWithin(t, "key", 10, kv.Limits{Value: 10}))
		limit(t, f.setWithin(t, "key", 11, kv.Limits{Value: 10}), kv.LimitError{Limit: "value", Value: 10, Seen: 11, Option: "limits.kv_value"})
		require.NoError(t, f.setWithin(t, "key", 100<<10, kv.Limits{Value: kv.Unlimited}))
	},
	"KeysAndValuesAreOfTheirLimitAtMost": func(t *testing.T, f *fixture) {
		total := kv.Limits{Total: 30}
		require.NoError(t, f.setWithin(t, "ten", 7, total))
		require.NoError(t, f.setWithin(t, "twenty", 14, total))
		err := f.setWithin(t, "k", 2, total)
		limit(t, err, kv.LimitError{Limit: "total", Value: 30, Seen: 33, Option: "limits.kv_total"})
		require.EqualError(t, err, "keys and values would be 33 bytes, and may be 30 bytes: delete what is not needed, or raise limits.kv_total")
		require.NoError(t, f.setWithin(t, "ten", 7, total), "it takes the place of what was there")
		limit(t, f.setWithin(t, "ten", 8, total), kv.LimitError{Limit: "total", Value: 30, Seen: 31, Option: "limits.kv_total"})

		require.NoError(t, f.setWithin(t, "ten", 2, total))
		limit(t, f.setWithin(t, "k", 5, total), kv.LimitError{Limit: "total", Value: 30, Seen: 31, Option: "limits.kv_total"})
		require.NoError(t, f.setWithin(t, "k", 4, total), "there is room where a value became smaller")
		_, err = f.Delete(t.Context(), mine, "k", nil)
		require.NoError(t, err)
		require.NoError(t, f.setWithin(t, "ten", 7, total))
		_, err = f.Delete(t.Context(), mine, "ten", nil)
		require.NoError(t, err)
		require.NoError(t, f.setWithin(t, "k", 9, total))
		limit(t, f.setWithin(t, "k", 11, total), kv.LimitError{Limit: "total", Value: 30, Seen: 32, Option: "limits.kv_total"})
		require.NoError(t, f.setWithin(t, "k", 11, kv.Limits{Total: kv.Unlimited}))
		_, err = f.Clear(t.Context(), mine)
		require.NoError(t, err)
		require.NoError(t, f.setWithin(t, "k", 29, total))
	},
	"AnotherNamespaceDoesNotCount": func(t *testing.T, f *fixture) {
		f.set(t, kv.Namespace{Scope: kv.ScopeAgent}, "key", `"a long value"`)
		require.NoError(t, f.setWithin(t, "k", 2, kv.Limits{Total: 3, Keys: 1}))
	},
	"TheDefaultTotalIsOneMiB": func(t *testing.T, f *fixture) {
		for i := range 15 {
			require.NoError(t, f.setWithin(t, fmt.Sprintf("%04d", i), 64<<10, kv.Limits{}))
		}
		require.NoError(t, f.setWithin(t, "last", 64<<10-16*4, kv.Limits{}))
		limit(t, f.setWithin(t, "k", 2, kv.Limits{}), kv.LimitError{Limit: "total", Value: 1 << 20, Seen: 1<<20 + 3, Option: "limits.kv_total"})
	},
	"KeysAreOfTheirLimitAtMost": func(t *testing.T, f *fixture) {
		two := kv.Limits{Keys: 2}
		require.NoError(t, f.setWithin(t, "one", 2, two))
		require.NoError(t, f.setWithin(t, "two", 2, two))
		err := f.setWithin(t, "three", 2, two)
		limit(t, err, kv.LimitError{Limit: "keys", Value: 2, Seen: 3, Option: "limits.kv_keys"})
		require.EqualError(t, err, "there would be 3 keys, and there may be 2: delete what is not needed, or raise limits.kv_keys")
		require.NoError(t, f.setWithin(t, "two", 10, two))
		require.NoError(t, f.setWithin(t, "three", 2, kv.Limits{Keys: kv.Unlimited}))
		for range 2 {
			_, err := f.Delete(t.Context(), mine, f.keys(t, mine, "")[0], nil)
			require.NoError(t, err)
		}
		require.NoError(t, f.setWithin(t, "four", 2, two))
	},
	"ALoweredLimitLetsWhatIsThereShrink": func(t *testing.T, f *fixture) {
		for _, key := range []string{"one", "two", "six"} {
			require.NoError(t, f.setWithin(t, key, 20, kv.Limits{}))
		}
		lowered := kv.Limits{Keys: 1, Total: 10}
		require.NoError(t, f.setWithin(t, "one", 20, lowered))
		require.NoError(t, f.setWithin(t, "one", 3, lowered))
		require.ErrorIs(t, f.setWithin(t, "one", 4, lowered), kv.ErrLimit)
	},
	"WhatHasExpiredDoesNotCount": func(t *testing.T, f *fixture) {
		for i := range 150 { // others expired before
			_, err := f.Set(t.Context(), kv.Namespace{Scope: kv.ScopeAgent}, fmt.Sprint(i), value(5), kv.SetOptions{TTL: time.Second})
			require.NoError(t, err)
		}
		tight := kv.Limits{Keys: 2, Total: 12}
		for _, key := range []string{"a", "b"} {
			_, err := f.Set(t.Context(), mine, key, value(5), kv.SetOptions{Limits: tight, TTL: time.Minute})
			require.NoError(t, err)
		}
		require.ErrorIs(t, f.setWithin(t, "c", 5, tight), kv.ErrLimit)
		f.clock.advance(time.Minute + time.Millisecond)
		require.NoError(t, f.setWithin(t, "c", 5, tight))
		require.NoError(t, f.setWithin(t, "a", 5, tight))
		require.ErrorIs(t, f.setWithin(t, "b", 5, tight), kv.ErrLimit)
	},
}
