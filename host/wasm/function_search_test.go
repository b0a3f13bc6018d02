package wasm_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/abi"
	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/index"
	"github.com/weft-run/weft/host/wasm"
)

// newIndex is an index in memory with two documents.
func newIndex(t testing.TB) *index.Index {
	t.Helper()
	x, err := index.Open(t.Context(), "", index.Options{MaxText: 1000})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, x.Close()) })
	require.NoError(t, x.Put(t.Context(),
		index.Document{ID: "loom", Title: "The loom", Text: "A loom weaves threads.", URL: "https://example.com/loom", Metadata: []byte(`{"page": 1}`)},
		index.Document{ID: "weft", Text: "The weft crosses the threads of the warp."},
	))
	return x
}

// maySearch are the rights to an index.
func maySearch(mode string) wasm.Grants {
	return wasm.Grants{Search: []abi.SearchGrant{{Index: "docs", Mode: mode}}}
}

func TestAPluginSearchesAnIndex(t *testing.T) {
	c := wasm.Config{Grants: maySearch(""), Services: everyService(t)}
	answers := asked(t, c, []step{
		{"search", `{"index":"docs","query":"loom"}`},
		{"search", `{"index":"docs","query":"threads","limit":1}`},
		{"search", `{"index":"docs","query":"\" OR title:* -- nothing"}`},
	})
	require.Regexp(t, `^\{"hits":\[\{"id":"loom","score":[0-9.e-]+,"title":"The loom","text":"A loom weaves threads.","url":"https://example.com/loom","metadata":\{"page": 1\}\}\]\}$`, answers[0])
	require.Equal(t, 1, strings.Count(answers[1], `"id":`))
	require.NotContains(t, answers[1], "metadata\":null")
	require.NotContains(t, answers[2], `"error"`)
}

func TestAPluginChangesAnIndexThatItMayChange(t *testing.T) {
	c := wasm.Config{Grants: maySearch("rw"), Services: everyService(t)}
	answers := asked(t, c, []step{
		{"index_put", `{"index":"docs","documents":[{"id":"loom","text":"Nothing of that kind."},{"id":"new","text":"A shuttle.","title":"T","url":"u","metadata":{"a":1}}]}`},
		{"search", `{"index":"docs","query":"loom shuttle"}`},
		{"index_delete", `{"index":"docs","ids":["new","new","never"]}`},
		{"search", `{"index":"docs","query":"shuttle"}`},
	})
	require.Equal(t, `{}`, answers[0])
	require.Equal(t, 1, strings.Count(answers[1], `"id":`))
	require.Contains(t, answers[1], `"id":"new"`)
	require.Contains(t, answers[1], `"url":"u","metadata":{"a":1}`)
	require.Equal(t, `{"deleted":1}`, answers[2])
	require.Equal(t, `{"hits":[]}`, answers[3])
}

func TestAnIndexNeedsItsRight(t *testing.T) {
	put, remove := step{"index_put", `{"index":"docs","documents":[{"id":"x","text":"y"}]}`}, step{"index_delete", `{"index":"docs","ids":["loom"]}`}
	find := step{"search", `{"index":"docs","query":"loom"}`}
	for _, answer := range asked(t, wasm.Config{Services: everyService(t)}, []step{find, put, remove}) {
		require.Contains(t, answer, `"code":"denied"`)
	}
	c := wasm.Config{Grants: maySearch("ro"), Services: everyService(t)}
	answers := asked(t, c, []step{put, remove, {"search", `{"index":"wiki","query":"loom"}`}, {"search", `{"index":"DOCS","query":"loom"}`}, find})
	require.Contains(t, answers[0], `index_put in the index \"docs\" is not granted to this plugin: if it should be, add to its entry grant: {search: [{index: docs, mode: rw}]}`)
	require.Contains(t, answers[1], `"code":"denied"`)
	require.Contains(t, answers[2], `grant: {search: [{index: wiki, mode: ro}]}`, "whether it exists is not told")
	require.Contains(t, answers[3], `"code":"denied"`)
	require.Contains(t, answers[4], "weaves")
}

func TestDocumentsThatAnIndexDoesNotTakeAreToldAsData(t *testing.T) {
	c := wasm.Config{Grants: maySearch("rw"), Services: everyService(t)}
	answers := asked(t, c, []step{
		{"index_put", `{"index":"docs","documents":[{"id":"new","text":"shuttle"},{"id":"","text":"y"}]}`},
		{"index_put", `{"index":"docs","documents":[{"id":"new","text":"` + strings.Repeat("x", 1001) + `"}]}`},
		{"search", `{"index":"docs","query":"shuttle"}`},
	})
	require.Contains(t, answers[0], `"code":"invalid_input","message":"index_put: invalid: document \"\": the id is empty`)
	require.Contains(t, answers[1], `"code":"limit"`)
	require.Equal(t, `{"hits":[]}`, answers[2], "all or nothing")
}

func TestAnIndexThatIsClosedIsUnavailable(t *testing.T) {
	s := everyService(t)
	require.NoError(t, s.Indexes["docs"].Close())
	var log lockedBuffer
	answers := asked(t, wasm.Config{Grants: maySearch("rw"), Services: s, Logger: log.logger()}, []step{{"search", `{"index":"docs","query":"loom"}`}})
	require.Equal(t, `{"error":{"code":"unavailable","message":"search: the index failed; the host's log says why"}}`, answers[0])
	require.Contains(t, log.String(), "the index is closed")
}

// Several plugins and runs may search and change an index at once.
func TestAnIndexServesManyRuns(t *testing.T) {
	p, heard := script{"before_run": {{"search", `{"index":"docs","query":"loom"}`}, {"index_put", `{"index":"docs","documents":[{"id":"n","text":"loom"}]}`}, out(`{}`)}}.
		load(t, wasm.Config{Grants: maySearch("rw"), Services: everyService(t)})
	done := make(chan error, 8)
	for range cap(done) {
		go func() {
			_, err := newAgent(t, &model{}, p).Run(t.Context(), host.Text("hi"), host.RunConfig{})
			done <- err
		}()
	}
	for range cap(done) {
		require.NoError(t, <-done)
	}
	require.Len(t, heard.all(), 2*cap(done))
	for _, answer := range heard.all() {
		require.NotContains(t, answer, `"error"`)
	}
}
