package index_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host/index"
)

func TestADocumentWithAllWordsComesFirst(t *testing.T) {
	x := open(t, "", index.Options{})
	for i := range 40 {
		put(t, x, index.Document{ID: fmt.Sprint("other", i), Text: fmt.Sprintf("Chapter %d speaks of yarn, dye, and the loom in the attic.", i)})
	}
	put(
		t, x,
		index.Document{ID: "some", Text: "Grants are many: grants of tools, grants of kv. Grants, grants and grants."},
		index.Document{ID: "most", Text: "A plugin reads files by grant, and files are many in the folder."},
		index.Document{ID: "all", Text: "How to grant files to a plugin: name the folder, and read only where that is enough."},
	)
	require.Equal(t, []string{"all", "most"}, find(t, x, "grant a plugin only files")[:2])
	require.Equal(t, "some", find(t, x, "grants of kv")[0])
}

func TestAWordInTheTitleCountsMore(t *testing.T) {
	x := open(t, "", index.Options{})
	put(
		t, x,
		index.Document{ID: "a", Title: "Colours", Text: "weft"},
		index.Document{ID: "b", Title: "Weft", Text: "colours"},
		index.Document{ID: "c", Title: "Nothing", Text: "else"},
		index.Document{ID: "d", Title: "Nothing", Text: "more"},
		index.Document{ID: "e", Title: "Nothing", Text: "there"},
	)
	require.Equal(t, []string{"b", "a"}, find(t, x, "weft"))
}

func TestEquallyGoodDocumentsComeInTheOrderOfTheirIDs(t *testing.T) {
	for range 3 {
		x := open(t, "", index.Options{})
		var want []string
		for i := range 60 {
			want = append(want, fmt.Sprintf("%02d", i))
		}
		for _, i := range rand.Perm(60) {
			put(t, x, index.Document{ID: want[i], Text: "weft and warp"})
		}
		require.Equal(t, want[:index.MaxHits], find(t, x, "weft"))
		require.Equal(t, want[:5], ids(t, x, index.Query{Text: "warp weft"}))
	}
}

func TestWordsAreComparedWithoutCaseAndDiacritics(t *testing.T) {
	x := open(t, "", index.Options{})
	put(
		t, x,
		index.Document{ID: "a", Text: "Ein CAFÉ in Zürich"},
		index.Document{ID: "b", Text: "Cafe\u0301 ΑΘΗΝΑ Москва"},
		index.Document{ID: "c", Text: "Phở before_run 10.5"},
	)
	for query, want := range map[string][]string{
		"cafe": {"a", "b"}, "Café": {"a", "b"}, "CAFE\u0301": {"a", "b"}, "zurich": {"a"},
		"αθηνα": {"b"}, "МОСКВА": {"b"}, "pho": {"c"}, "before": {"c"}, "run": {"c"}, "before_run": {"c"}, "10.5": {"c"}, "10": {"c"},
		"caf": {}, "afe": {}, "befor": {},
	} {
		have := find(t, x, query)
		slices.Sort(have)
		require.Equal(t, want, have, query)
	}
}

// hostile are queries that mean something to FTS5, or to SQL.
var hostile = []string{
	`"`, `""`, `"""`, `'`, `''`, `weft"`, `"weft`, `"weft" OR "secret`, `weft" OR secret OR "`, `\"secret\"`,
	`weft NOT secret`, `NOT`, `AND`, `OR`, `AND AND`, `NEAR(`, `NEAR(weft secret, 1)`, `weft NEAR secret`,
	`*`, `w*`, `sec*`, `^secret`, `^`, `secret:weft`, `title:secret`, `text : secret`, `{title text}: secret`, `- title : secret`, `-secret`,
	`+`, `weft + secret`, `(`, `)`, `(secret`, `((((((((`, `words`, `words MATCH 'secret'`, `rank`, `rowid`, `rowid:1`,
	`'; DROP TABLE documents; --`, `%`, `_`, `?`, `?1`, `:a`, `@a`, `$a`, `[secret]`, "`secret`", "{", "}", "|", "||", "&", "~", "#", ";",
	"secret\x00weft", "\x00", "\xff", "\xffweft\xfe", "\xed\xa0\x80", "\u202e", "\u200b", "\ufeff", "\U000E0061", "\u0301", "e\u0301", "\u0000",
	"integrity-check", "optimize", "delete-all", "rebuild", "\t\n\r\v\f", "¡!¿?…—“”«»", "😀", "👩‍👩‍👧", "中文", "한국어", "ไทย", "אבג",
	"\ue000", "\U000F0000", "\U0010FFFD", "²", "Ⅷ", "½", "ǅ", "ﬁ", "İ", "ß", "ẞ",
}

func TestAQueryHasNoSyntax(t *testing.T) {
	x := open(t, "", index.Options{})
	put(
		t, x,
		index.Document{ID: "secret", Title: "hidden", Text: "secret"},
		index.Document{ID: "weft", Title: "open", Text: "weft"},
		index.Document{ID: "words", Text: "not and or near title text rank"},
	)
	for _, query := range hostile {
		requireWords(t, x, query)
		require.Equal(t, 3, count(t, x))
	}
	require.Equal(t, []string{"words"}, find(t, x, "NOT"))
	require.Equal(t, []string{"words"}, find(t, x, "AND"))
	require.ElementsMatch(t, []string{"weft", "secret", "words"}, find(t, x, "weft NOT secret"))
	require.Empty(t, find(t, x, "sec*"))
	require.ElementsMatch(t, []string{"secret", "words"}, find(t, x, "title:secret"))
	require.ElementsMatch(t, []string{"weft", "secret", "words"}, find(t, x, `weft" OR secret OR "`))
}

// requireWords wants hits to contain a word of the query, as far as that can be told here: beyond ASCII, words that look
// different may be the same to the index.
func requireWords(t testing.TB, x *index.Index, query string) {
	t.Helper()
	hits, err := x.Search(t.Context(), index.Query{Text: query, Limit: index.MaxHits})
	require.NoError(t, err, "%q", query)
	lower := strings.ToLower(query)
	ascii := !strings.ContainsFunc(query, func(c rune) bool { return c > unicode.MaxASCII })
	for _, h := range hits {
		require.True(t, !ascii || slices.ContainsFunc(strings.Fields(strings.ToLower(h.Title+" "+h.Text)), func(word string) bool {
			return strings.Contains(lower, word)
		}), "%q finds %q", query, h.ID)
		require.True(t, utf8.ValidString(h.Text))
		require.Positive(t, h.Score)
	}
}

func FuzzSearchTakesAnyText(f *testing.F) {
	for _, query := range hostile {
		f.Add(query, query)
	}
	f.Add(strings.Repeat("weft ", 1000), "we")
	x, err := index.Open(f.Context(), "", index.Options{})
	require.NoError(f, err)
	f.Cleanup(func() { require.NoError(f, x.Close()) })
	put(
		f, x,
		index.Document{ID: "secret", Title: "hidden", Text: "secret"},
		index.Document{ID: "weft", Title: "open", Text: "weft"},
		index.Document{ID: "words", Text: "not and or near title text rank"},
	)
	f.Fuzz(func(t *testing.T, text, prefix string) {
		requireWords(t, x, text)
		hits, err := x.Search(t.Context(), index.Query{Text: text + " weft", IDPrefix: prefix})
		require.NoError(t, err)
		for _, h := range hits {
			require.True(t, strings.HasPrefix(h.ID, prefix))
		}
		require.Equal(t, 3, count(t, x))
	})
}

func TestWhereThereIsNoWordNothingIsFound(t *testing.T) {
	both(t, index.Options{}, func(t *testing.T, x *index.Index) {
		put(t, x, index.Document{ID: "a", Text: "weft . , ! 😀 \" *"})
		for _, query := range []string{"", " ", ".", "?!", "\"*\"", "😀", "\u200b", "absent"} {
			require.Empty(t, find(t, x, query), "%q", query)
		}
	})
}

func TestOnlyTheBeginningOfALongQueryIsSearched(t *testing.T) {
	x := open(t, "", index.Options{})
	put(t, x, index.Document{ID: "a", Text: "weft"}, index.Document{ID: "b", Text: "we"})

	var words []string
	for i := range index.MaxQueryWords - 1 {
		words = append(words, fmt.Sprint("w", i))
	}
	many := strings.Join(words, " ")
	require.Equal(t, []string{"a"}, find(t, x, many+" weft"))
	require.Equal(t, []string{"a"}, find(t, x, many+" w1 W1 w2 weft"), "a word counts once")
	require.Empty(t, find(t, x, many+" another weft"))

	space := strings.Repeat(" ", index.MaxQuery-4)
	require.Equal(t, []string{"a"}, find(t, x, space+"weft"))
	require.Equal(t, []string{"a"}, find(t, x, space+"weft we"))
	require.Empty(t, find(t, x, space+"  weft"), "a word that is cut is none")
	require.Empty(t, find(t, x, space+"....weft"))
	require.Empty(t, find(t, x, strings.Repeat("é", index.MaxQuery)))
	require.Empty(t, find(t, x, strings.Repeat("x", 1<<20)))
}

func TestHitsMayBeOfSomeDocumentsOnly(t *testing.T) {
	both(t, index.Options{}, func(t *testing.T, x *index.Index) {
		for _, id := range []string{"a", "a%", "a/1", "a/2", "a_", "ab", "b", "é", "\U0010FFFF"} {
			put(t, x, index.Document{ID: id, Text: "weft"})
		}
		for prefix, want := range map[string][]string{
			"a": {"a", "a%", "a/1", "a/2", "a_", "ab"}, "a/": {"a/1", "a/2"}, "a%": {"a%"}, "a_": {"a_"}, "e": {}, "é": {"é"},
			"\U0010FFFF": {"\U0010FFFF"}, "' OR '1'='1": {}, "\xff": {}, "\x00": {}, strings.Repeat("a", 1<<20): {},
		} {
			require.Equal(t, want, ids(t, x, index.Query{Text: "weft", IDPrefix: prefix, Limit: index.MaxHits}), "%q", prefix)
		}
		require.Equal(t, []string{"a/1"}, ids(t, x, index.Query{Text: "weft", IDPrefix: "a/", Limit: 1}))
	})
}

func TestHitsAreAsManyAsAreWanted(t *testing.T) {
	x := open(t, "", index.Options{})
	for i := range index.MaxHits + 1 {
		put(t, x, index.Document{ID: fmt.Sprint(i), Text: "weft"})
	}
	for limit, want := range map[int]int{0: index.DefaultHits, 1: 1, 7: 7, index.MaxHits: index.MaxHits, 1 << 40: index.MaxHits} {
		require.Len(t, ids(t, x, index.Query{Text: "weft", Limit: limit}), want)
	}
	for _, q := range []index.Query{{Text: "weft", Limit: -1}, {Text: "weft", TextBytes: -1}} {
		_, err := x.Search(t.Context(), q)
		require.ErrorIs(t, err, index.ErrInvalid)
	}
}

func TestTheTextOfALongDocumentIsAnExcerptWhereTheWordsStand(t *testing.T) {
	x := open(t, "", index.Options{})
	long := strings.Repeat("Nothing of note is said here. ", 2000)
	put(
		t, x,
		index.Document{ID: "words", Text: long + "One weft. " + long + "The Wéft crosses the WARP. " + long},
		index.Document{ID: "one", Text: strings.Repeat("ü", 100_000) + " weft"},
		index.Document{ID: "title", Title: "weft", Text: long},
		index.Document{ID: "short", Text: strings.Repeat("weft ", index.DefaultHitText/5)},
	)
	for size, most := range map[int]int{0: index.DefaultHitText, 100: 100, 7: 7, 1: 1, 1 << 30: index.MaxHitText} {
		hits, err := x.Search(t.Context(), index.Query{Text: "warp weft", TextBytes: size})
		require.NoError(t, err)
		require.Len(t, hits, 4)
		for _, h := range hits {
			require.LessOrEqual(t, len(h.Text), most)
			require.True(t, utf8.ValidString(h.Text))
			require.Equal(t, h.ID != "short" || most < index.DefaultHitText, h.Excerpt)
			if most < 100 {
				continue
			}
			switch h.ID {
			case "words":
				require.Contains(t, h.Text, "The Wéft crosses the WARP.")
				require.Greater(t, len(h.Text), most*3/4)
			case "one":
				require.True(t, strings.HasSuffix(h.Text, "ü weft"), h.Text)
			case "title":
				require.True(t, strings.HasPrefix(h.Text, "Nothing of note"), h.Text)
			}
		}
	}
}

func TestACommonWordInALongTextTakesNoLongerThanItIsLong(t *testing.T) {
	x := open(t, "", index.Options{})
	put(t, x, index.Document{ID: "a", Text: strings.Repeat("a word that is here again ", 20_000)})
	// It takes a twentieth of a second, and would take minutes if each place were compared with every other.
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	hits, err := x.Search(ctx, index.Query{Text: "a word that is here again"})
	require.NoError(t, err)
	require.Len(t, hits, 1)
}
