package index

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAnExcerptIsWhereTheMostWordsStand(t *testing.T) {
	filler := strings.Repeat("nothing here ", 100)
	text := "one " + filler + "two three " + filler + "one two three " + filler
	for query, want := range map[string]string{
		"one":                 "one nothing here nothing here…",
		"two":                 "…nothing here two three…",
		"one two three":       "…here one two three…",
		"ÖNE tẅo thr\u0308ee": "…here one two three…",
		"absent":              "one nothing here nothing here…",
		"":                    "one nothing here nothing here…",
		"thr":                 "one nothing here nothing here…",
	} {
		assert.Equal(t, want, excerpt(text, queryWords(query), 36), query)
	}
	assert.Equal(t, "…nothing here end", excerpt(filler+"end", []string{"end"}, 24))
	assert.Equal(t, "…привет…", excerpt(strings.Repeat("правда ", 100)+"привет "+strings.Repeat("правда ", 100), []string{"ПРИВЕТ"}, 24),
		"letters of other scripts are what they are")
}

func TestWordsThatLookDifferentMayBeAlike(t *testing.T) {
	for _, pair := range [][2]string{{"Café", "cafe"}, {"CAFE\u0301", "café"}, {"Weft", "WEFT"}, {"ΑΘΗΝΑ", "αθηνα"}, {"Żółć", "zolc"}} {
		require.True(t, alike(fold(nil, pair[0]), fold(nil, pair[1])), pair)
	}
	for _, pair := range [][2]string{{"cafe", "cafes"}, {"cafe", "cave"}, {"é", "è"}, {"а", "a"}, {"é", "1"}, {"привет", "правда"}, {"", "a"}} {
		require.False(t, alike(fold(nil, pair[0]), fold(nil, pair[1])), pair)
	}
}

func FuzzAnExcerptIsAPartOfTheText(f *testing.F) {
	f.Add("one two three", "two", 5)
	f.Add(strings.Repeat("寿司 ", 100)+"sushi", "SUSHI", 20)
	f.Add(strings.Repeat("ü", 300), "ü", 7)
	f.Add("\n \n", "", 0)
	f.Fuzz(func(t *testing.T, text, query string, size int) {
		if !utf8.ValidString(text) || size < 1 || len(text) <= size {
			return
		}
		part := excerpt(text, queryWords(query), size)
		require.LessOrEqual(t, len(part), size)
		require.True(t, utf8.ValidString(part))
		part = strings.TrimSuffix(strings.TrimPrefix(part, ellipsis), ellipsis)
		require.True(t, strings.Contains(text+ellipsis, part))
	})
}
