package kvtest

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host/kv"
)

// lists is what List does.
var lists = map[string]func(*testing.T, *fixture){
	"KeysComeInTheOrderOfTheirBytes": func(t *testing.T, f *fixture) {
		for _, key := range tricky {
			f.set(t, mine, key, `1`)
		}
		require.Equal(t, slices.Sorted(slices.Values(tricky)), f.keys(t, mine, ""))
	},
	"APrefixIsTakenByteForByte": func(t *testing.T, f *fixture) {
		for _, key := range tricky {
			f.set(t, mine, key, `1`)
		}
		for _, prefix := range append([]string{"a%", "a_", "%_", "e", "\U0010FFFF\U0010FFFF", strings.Repeat("a", kv.MaxKey)}, tricky...) {
			var want []string
			for _, key := range slices.Sorted(slices.Values(tricky)) {
				if strings.HasPrefix(key, prefix) {
					want = append(want, key)
				}
			}
			require.Equal(t, want, f.keys(t, mine, prefix), "%q", prefix)
		}
	},
	"APageGoesOnWhereTheOneBeforeEnded": func(t *testing.T, f *fixture) {
		for _, key := range tricky {
			f.set(t, mine, key, `"`+strings.Repeat("x", len(key))+`"`)
		}
		f.set(t, kv.Namespace{Agent: mine.Agent, Plugin: mine.Plugin, Scope: kv.ScopeAgent}, "ab", `1`)
		for _, prefix := range []string{"", "a"} {
			for _, limit := range []int{1, 2, 7, len(tricky) - 1, len(tricky)} {
				var all []string
				options := kv.ListOptions{Prefix: prefix, Limit: limit, Values: true}
				for {
					page, more, err := f.List(t.Context(), mine, options)
					require.NoError(t, err)
					for _, e := range page {
						require.Equal(t, len(e.Key)+2, len(e.Value))
						require.Positive(t, e.Version)
						all = append(all, e.Key)
					}
					if !more {
						break
					}
					require.Len(t, page, limit)
					options.After = all[len(all)-1]
				}
				require.Equal(t, f.keys(t, mine, prefix), all, "%q by %d", prefix, limit)
			}
		}
	},
	"AListMayBeginAnywhere": func(t *testing.T, f *fixture) {
		for _, key := range []string{"a1", "a2", "b1", "b2", "c1"} {
			f.set(t, mine, key, `1`)
		}
		list := func(prefix, after string) (keys []string) {
			page, more, err := f.List(t.Context(), mine, kv.ListOptions{Prefix: prefix, After: after})
			require.NoError(t, err)
			require.False(t, more)
			for _, e := range page {
				keys = append(keys, e.Key)
			}
			return keys
		}
		require.Equal(t, []string{"b1", "b2"}, list("b", "a1"))
		require.Equal(t, []string{"b2"}, list("b", "b1"))
		require.Equal(t, []string{"b2"}, list("b", "b11"))
		require.Equal(t, []string{"b1", "b2"}, list("b", "b"))
		require.Empty(t, list("b", "b2"))
		require.Empty(t, list("b", "c"))
		require.Equal(t, []string{"b1", "b2", "c1"}, list("", "a9"))
		require.Equal(t, []string{"b1"}, list("b1", ""))
		require.Empty(t, list("b1", "b1"))
	},
	"APageHasADefault": func(t *testing.T, f *fixture) {
		for i := range kv.DefaultPage + 1 {
			f.set(t, mine, string(rune(0x4e00+i)), `1`)
		}
		for limit, want := range map[int]int{0: kv.DefaultPage, 5: 5, kv.DefaultPage: kv.DefaultPage, 1 << 40: kv.DefaultPage + 1} {
			page, more, err := f.List(t.Context(), mine, kv.ListOptions{Limit: limit})
			require.NoError(t, err)
			require.Equal(t, want <= kv.DefaultPage, more)
			require.Len(t, page, want)
		}
	},
	"APageEndsWhereItsValuesAreLarge": func(t *testing.T, f *fixture) {
		large := `"` + strings.Repeat("x", kv.PageBytes/2) + `"`
		for _, key := range []string{"a", "b", "c", "d", "e"} {
			_, err := f.Set(t.Context(), mine, key, []byte(large), kv.SetOptions{Limits: kv.Limits{Value: kv.Unlimited, Total: kv.Unlimited}})
			require.NoError(t, err)
		}
		for after, want := range map[string]int{"": 2, "b": 2, "d": 1} {
			page, more, err := f.List(t.Context(), mine, kv.ListOptions{Values: true, After: after})
			require.NoError(t, err)
			require.Len(t, page, want)
			require.Equal(t, after != "d", more)
		}
		require.Len(t, f.keys(t, mine, ""), 5, "without values it does not")
	},
	"WhatIsNoListIsRefused": func(t *testing.T, f *fixture) {
		_, _, err := f.List(t.Context(), mine, kv.ListOptions{Prefix: "\xff", After: "a\x00", Limit: -1})
		require.ErrorIs(t, err, kv.ErrInvalid)
		for _, want := range []string{"prefix is", "after is", "limit is -1, and must be 0 or more"} {
			require.ErrorContains(t, err, want)
		}
		_, _, err = f.List(t.Context(), mine, kv.ListOptions{Prefix: strings.Repeat("a", kv.MaxKey+1)})
		require.ErrorContains(t, err, "prefix is 513 bytes long, and may be 512")
	},
}
