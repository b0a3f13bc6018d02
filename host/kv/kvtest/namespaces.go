package kvtest

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host/kv"
)

// tricky texts are ones that a store which joins, escapes, folds or cuts them would take for another.
var tricky = []string{
	"../other/key", "..", "/", "a/b", `a\b`, "a:b", "a", "b", "a:", ":b", "a::b", "a\nb", "a|b", "a b", " a", "a ", "A",
	"%", "_", "a%", "a_b", "*", "?", "[a]", "'", "''", `"`, "a'; DROP TABLE entries; --", "$1", "?1", "{a}", "null", "0", "00", "1e1",
	"é", "e\u0301", // equal as text, in two forms
	"ﬁ", "fi", "K", "\u212a", "ß", "ss", "ẞ", "İ", "i̇", "a\u200bb", "ab", "a\u202eb", "\U000E0061", "\ufeffa", "а", // the last one is Cyrillic
	"\x01", "\x7f", "\u0080", "\uffff", "\U0010FFFF",
}

// namespaces is what keeps keys apart.
var namespaces = map[string]func(*testing.T, *fixture){
	"KeysThatDifferInAByteAreDifferentKeys": func(t *testing.T, f *fixture) {
		for i, key := range tricky {
			_, err := f.setIf(t, key, fmt.Sprint(i), 0)
			require.NoError(t, err, "%q is taken for another key", key)
		}
		for i, key := range tricky {
			require.Equal(t, fmt.Sprint(i), f.get(t, mine, key), "%q", key)
		}
		require.Len(t, f.keys(t, mine, ""), len(tricky))
		for _, key := range tricky {
			deleted, err := f.Delete(t.Context(), mine, key, nil)
			require.NoError(t, err)
			require.True(t, deleted, "%q is taken for another key", key)
		}
	},
	"NamespacesThatDifferInAByteAreDifferent": func(t *testing.T, f *fixture) {
		spaces := []kv.Namespace{{Scope: kv.ScopeAgent}}
		// A namespace holds any text, also what is no key.
		for i, text := range append([]string{"\x00", "a\x00b", "a\x00", "\xff", "a\xff", "\xed\xa0\x80"}, tricky...) {
			spaces = append(
				spaces,
				kv.Namespace{Agent: text, Scope: kv.ScopeAgent},
				kv.Namespace{Plugin: text, Scope: kv.ScopeAgent},
				kv.Namespace{Scope: kv.ScopeSession, Session: text},
			)
			if i%5 == 0 {
				spaces = append(
					spaces,
					kv.Namespace{Agent: text, Plugin: text, Scope: kv.ScopeAgent},
					kv.Namespace{Agent: text, Scope: kv.ScopeSession, Session: "b"},
					kv.Namespace{Plugin: text, Scope: kv.ScopeSession, Session: "b"},
				)
			}
		}
		for i, ns := range spaces {
			require.Empty(t, f.get(t, ns, "key"), "%q is taken for another namespace", ns)
			f.set(t, ns, "key", fmt.Sprint(i))
		}
		for i, ns := range spaces {
			require.Equal(t, fmt.Sprint(i), f.get(t, ns, "key"), "%q", ns)
			require.Equal(t, []string{"key"}, f.keys(t, ns, ""), "%q", ns)
		}
		for _, ns := range spaces[:20] {
			count, err := f.Clear(t.Context(), ns)
			require.NoError(t, err)
			require.Equal(t, 1, count, "%q", ns)
		}
		for i, ns := range spaces[20:] {
			require.Equal(t, fmt.Sprint(20+i), f.get(t, ns, "key"), "%q", ns)
		}
	},
	"PartsOfANamespaceAreNotJoined": func(t *testing.T, f *fixture) {
		for _, separator := range []string{"", "/", ":", "\x00", "\x1f", "|", ".", "-", " "} {
			one := kv.Namespace{Agent: "a" + separator + "b", Plugin: "c", Scope: kv.ScopeSession, Session: "d"}
			f.set(t, one, "key", `1`)
			for _, another := range []kv.Namespace{
				{Agent: "a", Plugin: "b" + separator + "c", Scope: kv.ScopeSession, Session: "d"},
				{Agent: "a" + separator + "b" + separator + "c", Scope: kv.ScopeSession, Session: "d"},
				{Plugin: "a" + separator + "b" + separator + "c", Scope: kv.ScopeSession, Session: "d"},
				{Agent: "a", Plugin: "b", Scope: kv.ScopeSession, Session: "c" + separator + "d"},
			} {
				require.Empty(t, f.get(t, another, "key"), "%q is taken for %q", another, one)
			}
		}
	},
	"OneNamespaceIsClearedAndNoOther": func(t *testing.T, f *fixture) {
		others := []kv.Namespace{
			{Agent: mine.Agent, Plugin: mine.Plugin, Scope: kv.ScopeAgent},
			{Agent: mine.Agent, Plugin: mine.Plugin, Scope: kv.ScopeSession, Session: "s2"},
			{Agent: mine.Agent, Plugin: "docs", Scope: kv.ScopeSession, Session: "s1"},
		}
		for _, ns := range append(others, mine) {
			f.set(t, ns, "one", `1`)
			f.set(t, ns, "two", `2`)
		}
		count, err := f.Clear(t.Context(), mine)
		require.NoError(t, err)
		require.Equal(t, 2, count)
		require.Empty(t, f.keys(t, mine, ""))
		for _, ns := range others {
			require.Equal(t, []string{"one", "two"}, f.keys(t, ns, ""))
		}
		count, err = f.Clear(t.Context(), mine)
		require.NoError(t, err)
		require.Zero(t, count)
	},
}
