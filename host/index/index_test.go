package index_test

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/weft-run/weft/host/index"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t testing.TB, path string, options index.Options) *index.Index {
	t.Helper()
	x, err := index.Open(t.Context(), path, options)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, x.Close()) })
	return x
}

// both runs a test on an index in memory and on one in a file, whose words are compared with its documents at the end.
func both(t *testing.T, options index.Options, test func(t *testing.T, x *index.Index)) {
	t.Run("memory", func(t *testing.T) { test(t, open(t, "", options)) })
	t.Run("file", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "docs.db")
		x := open(t, path, options)
		test(t, x)
		require.NoError(t, x.Close())
		requireSound(t, path)
	})
}

// requireSound wants the words to be those of the documents, and the count their number.
func requireSound(t testing.TB, path string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	require.NoError(t, err)
	defer db.Close()
	_, err = db.Exec("INSERT INTO words (words, rank) VALUES ('integrity-check', 1)")
	require.NoError(t, err)
	var total, counted, orphans int
	require.NoError(t, db.QueryRow(`SELECT (SELECT documents FROM total), (SELECT count(*) FROM documents),
		(SELECT count(*) FROM documents WHERE file IS NOT NULL AND file NOT IN (SELECT id FROM files))`).Scan(&total, &counted, &orphans))
	require.Equal(t, counted, total)
	require.Zero(t, orphans)
}

func put(t testing.TB, x *index.Index, documents ...index.Document) {
	t.Helper()
	require.NoError(t, x.Put(t.Context(), documents...))
}

// ids are those of the hits, in their order.
func ids(t testing.TB, x *index.Index, q index.Query) []string {
	t.Helper()
	hits, err := x.Search(t.Context(), q)
	require.NoError(t, err)
	all := []string{}
	for _, h := range hits {
		require.Positive(t, h.Score)
		all = append(all, h.ID)
	}
	return all
}

func find(t testing.TB, x *index.Index, text string) []string {
	t.Helper()
	return ids(t, x, index.Query{Text: text, Limit: index.MaxHits})
}

func count(t testing.TB, x *index.Index) int {
	t.Helper()
	n, err := x.Count(t.Context())
	require.NoError(t, err)
	return n
}

func TestADocumentIsFoundWithAllThatItHas(t *testing.T) {
	both(t, index.Options{}, func(t *testing.T, x *index.Index) {
		put(t, x, index.Document{
			ID: "a", Title: "Looms", Text: "A weft crosses the warp.", URL: "https://example.com/looms",
			Metadata: jsontext.Value(`{ "page": 1.10 }`),
		}, index.Document{ID: "b", Text: "Something else."})
		hits, err := x.Search(t.Context(), index.Query{Text: "weft"})
		require.NoError(t, err)
		require.Len(t, hits, 1)
		require.Positive(t, hits[0].Score)
		hits[0].Score = 0
		require.Equal(t, index.Hit{
			ID: "a", Title: "Looms", Text: "A weft crosses the warp.", URL: "https://example.com/looms",
			Metadata: jsontext.Value(`{ "page": 1.10 }`),
		}, hits[0])
		require.Equal(t, []string{"a"}, find(t, x, "looms"), "by its title too")
		require.Empty(t, find(t, x, "example"), "and not by its URL")
		require.Equal(t, 2, count(t, x))
	})
}

func TestADocumentTakesThePlaceOfTheOneWithItsID(t *testing.T) {
	both(t, index.Options{}, func(t *testing.T, x *index.Index) {
		put(t, x, index.Document{ID: "a", Text: "weft"}, index.Document{ID: "b", Text: "weft"})
		put(t, x, index.Document{ID: "a", Text: "lost"}, index.Document{ID: "a", Text: "warp"}, index.Document{ID: "A", Text: "warp"})
		require.Equal(t, []string{"b"}, find(t, x, "weft"))
		require.Equal(t, []string{"A", "a"}, find(t, x, "warp"), "ids are compared byte for byte")
		require.Empty(t, find(t, x, "lost"), "the last one stays")
		require.Equal(t, 3, count(t, x))
	})
}

func TestDocumentsAreDeleted(t *testing.T) {
	both(t, index.Options{}, func(t *testing.T, x *index.Index) {
		put(t, x, index.Document{ID: "a", Text: "weft"}, index.Document{ID: "b", Text: "weft"}, index.Document{ID: "c", Text: "weft"})
		n, err := x.Delete(t.Context(), "a", "c", "a", "absent", "' OR 1=1 --", "")
		require.NoError(t, err)
		require.Equal(t, 2, n)
		require.Equal(t, []string{"b"}, find(t, x, "weft"))
		require.Equal(t, 1, count(t, x))
	})
}

func TestWhatIsWrongWithDocumentsIsToldAllAtOnceAndNoneIsPut(t *testing.T) {
	both(t, index.Options{MaxText: 10}, func(t *testing.T, x *index.Index) {
		err := x.Put(t.Context(),
			index.Document{ID: "good", Text: "weft"},
			index.Document{},
			index.Document{ID: "a\x00", Title: strings.Repeat("x", index.MaxTitle+1), URL: "\xff"},
			index.Document{ID: "long", Text: "12345678901"},
			index.Document{ID: "text", Text: "a\x00b", Metadata: jsontext.Value(`{"a":1,"a":2}`)},
			index.Document{ID: "metadata", Metadata: jsontext.Value(`"` + strings.Repeat("x", index.MaxMetadata) + `"`)},
			index.Document{ID: "deep", Metadata: jsontext.Value(strings.Repeat("[", 65) + strings.Repeat("]", 65))},
			index.Document{ID: strings.Repeat("i", index.MaxID+1), URL: strings.Repeat("u", index.MaxURL+1)},
		)
		require.ErrorIs(t, err, index.ErrInvalid)
		require.ErrorIs(t, err, index.ErrLimit)
		for _, want := range []string{
			`document "": the id is empty`,
			`document "a\x00": the id contains NUL`,
			`document "a\x00": the title is 1025 bytes, and may be 1024`,
			`document "a\x00": the url is not valid UTF-8`,
			`document "long": the text is 11 bytes, and may be 10: split it, or raise Options.MaxText`,
			`document "text": the text contains NUL`,
			`document "text": the metadata: at /a: `,
			`document "metadata": the metadata is 16386 bytes, and may be 16384`,
			`document "deep": the metadata: JSON nests deeper than 64 levels`,
			`: the id is 1025 bytes, and may be 1024`,
			"and 1 more",
		} {
			require.ErrorContains(t, err, want)
		}
		require.Zero(t, count(t, x))
		put(t, x, index.Document{ID: "right", Text: "1234567890"})
	})
}

func TestThereAreNoMoreDocumentsThanThereMayBe(t *testing.T) {
	both(t, index.Options{MaxDocuments: 2}, func(t *testing.T, x *index.Index) {
		put(t, x, index.Document{ID: "a", Text: "weft"}, index.Document{ID: "b", Text: "weft"})
		err := x.Put(t.Context(), index.Document{ID: "a", Text: "warp"}, index.Document{ID: "c", Text: "warp"})
		var limit *index.LimitError
		require.ErrorAs(t, err, &limit)
		require.Equal(t, index.LimitError{Limit: "documents", Value: 2, Seen: 3, Option: "Options.MaxDocuments"}, *limit)
		require.EqualError(t, err, "there would be 3 documents, and there may be 2: delete what is not needed, or raise Options.MaxDocuments")
		require.Equal(t, []string{"a", "b"}, find(t, x, "weft"), "it is all as it was")
		put(t, x, index.Document{ID: "a", Text: "warp"})
		_, err = x.Delete(t.Context(), "b")
		require.NoError(t, err)
		put(t, x, index.Document{ID: "c", Text: "warp"})
	})
	x := open(t, "", index.Options{MaxDocuments: index.Unlimited, MaxText: index.Unlimited})
	put(t, x, index.Document{ID: "a", Text: strings.Repeat("weft ", 1<<18)})
}

func TestTheDefaultsAreWhatTheyAreSaidToBe(t *testing.T) {
	x := open(t, ":memory:", index.Options{})
	put(t, x, index.Document{ID: "a", Text: strings.Repeat("x", 1<<20)})
	require.ErrorIs(t, x.Put(t.Context(), index.Document{ID: "b", Text: strings.Repeat("x", 1<<20+1)}), index.ErrLimit)
	for i := range 20 {
		put(t, x, index.Document{ID: fmt.Sprint(i), Text: "weft"})
	}
	require.Len(t, ids(t, x, index.Query{Text: "weft"}), 5)
}

func TestAnIndexInAFileIsThereWhenItIsOpenedAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state", "docs.db")
	x := open(t, path, index.Options{})
	put(t, x, index.Document{ID: "a", Text: "weft"})
	require.NoError(t, x.Close())
	require.Equal(t, []string{"a"}, find(t, open(t, path, index.Options{}), "weft"))
}

func TestAnIndexInMemoryIsItsOwn(t *testing.T) {
	one, another := open(t, "", index.Options{}), open(t, ":memory:", index.Options{})
	put(t, one, index.Document{ID: "a", Text: "weft"})
	require.Empty(t, find(t, another, "weft"))
}

func TestAContextThatIsOverEndsEverythingAndChangesNothing(t *testing.T) {
	both(t, index.Options{}, func(t *testing.T, x *index.Index) {
		put(t, x, index.Document{ID: "a", Text: "weft"})
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		require.ErrorIs(t, x.Put(ctx, index.Document{ID: "b", Text: "weft"}), context.Canceled)
		_, err := x.Delete(ctx, "a")
		require.ErrorIs(t, err, context.Canceled)
		for _, text := range []string{"weft", ""} {
			_, err = x.Search(ctx, index.Query{Text: text})
			require.ErrorIs(t, err, context.Canceled)
		}
		_, err = x.Count(ctx)
		require.ErrorIs(t, err, context.Canceled)
		require.Equal(t, []string{"a"}, find(t, x, "weft"))
	})
}

func TestAfterCloseEverythingFails(t *testing.T) {
	both(t, index.Options{}, func(t *testing.T, x *index.Index) {
		require.NoError(t, x.Close())
		require.NoError(t, x.Close())
		require.ErrorIs(t, x.Put(t.Context(), index.Document{ID: "b", Text: "weft"}), index.ErrClosed)
		_, err := x.Search(t.Context(), index.Query{Text: "weft"})
		require.ErrorIs(t, err, index.ErrClosed)
		_, err = x.Count(t.Context())
		require.ErrorIs(t, err, index.ErrClosed)
		_, err = x.Delete(t.Context(), "a")
		require.ErrorIs(t, err, index.ErrClosed)
	})
}

func TestASearchSeesAllOfAPutOrNothing(t *testing.T) {
	both(t, index.Options{}, func(t *testing.T, x *index.Index) {
		const documents, rounds = 5, 10
		putAll := func(round int) error {
			var all []index.Document
			for i := range documents {
				all = append(all, index.Document{ID: fmt.Sprint(i), Text: fmt.Sprintf("weft round%d", round)})
			}
			return x.Put(t.Context(), all...)
		}
		require.NoError(t, putAll(0))
		var searchers sync.WaitGroup
		done := make(chan struct{})
		for range 3 {
			searchers.Go(func() {
				for {
					hits, err := x.Search(t.Context(), index.Query{Text: "weft", Limit: index.MaxHits})
					if !assert.NoError(t, err) || !assert.Len(t, hits, documents) {
						return
					}
					for _, h := range hits {
						assert.Equal(t, hits[0].Text, h.Text)
					}
					select {
					case <-done:
						return
					default:
					}
				}
			})
		}
		for round := range rounds {
			assert.NoError(t, putAll(round+1))
		}
		close(done)
		searchers.Wait()
		require.Len(t, find(t, x, fmt.Sprintf("round%d", rounds)), documents)
	})
}
