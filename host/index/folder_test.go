package index_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host/index"
)

// folder is a folder of files by their paths.
func folder(t testing.TB, files map[string]string) *os.Root {
	t.Helper()
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, root.Close()) })
	for path, text := range files {
		save(t, root, path, text)
	}
	return root
}

func save(t testing.TB, root *os.Root, path, text string) {
	t.Helper()
	require.NoError(t, root.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, root.WriteFile(path, []byte(text), 0o600))
}

func add(t testing.TB, x *index.Index, root *os.Root, options index.FolderOptions) index.FolderStats {
	t.Helper()
	stats, err := x.AddFolder(t.Context(), root, options)
	require.NoError(t, err)
	return stats
}

func TestAFolderIsFoundPassageByPassage(t *testing.T) {
	both(t, index.Options{}, func(t *testing.T, x *index.Index) {
		root := folder(t, map[string]string{
			"guide.md":         "Welcome to the loom.\n\n# Guide\n\n## Files\n\nGrant a folder.\n\n## Keys `kv`\n\nKeep a key.\n",
			"notes/today.txt":  "# No heading here\nBuy yarn.\n",
			"notes/Old.MD":     "# Old\nMoths.\n",
			"notes/x.markdown": "Linen.\n",
			"image.png":        "Linen",
			"README":           "Linen",
			".git/config.md":   "Linen",
			".hidden.md":       "Linen",
			"empty.md":         "",
		})
		require.Equal(t, index.FolderStats{Files: 5, Indexed: 5, Passages: 6}, add(t, x, root, index.FolderOptions{Prefix: "docs/"}))
		require.Equal(t, 6, count(t, x))

		hits, err := x.Search(t.Context(), index.Query{Text: "key"})
		require.NoError(t, err)
		require.Len(t, hits, 1)
		require.Equal(t, "docs/guide.md#keys-kv", hits[0].ID)
		require.Equal(t, "guide.md § Keys kv", hits[0].Title)
		require.Equal(t, "Keep a key.", hits[0].Text)
		require.JSONEq(t, `{"path":"guide.md","heading":"Keys kv","line":11}`, string(hits[0].Metadata))
		for query, want := range map[string]string{
			"welcome": "docs/guide.md", "folder": "docs/guide.md#files", "yarn": "docs/notes/today.txt", "moths": "docs/notes/Old.MD#old",
			"linen": "docs/notes/x.markdown",
		} {
			require.Equal(t, []string{want}, find(t, x, query))
		}
	})
}

func TestOnlyWhatChangedIsIndexedAgain(t *testing.T) {
	both(t, index.Options{}, func(t *testing.T, x *index.Index) {
		root := folder(t, map[string]string{"a.md": "# A\nweft\n# B\nwarp\n", "b.md": "yarn", "c/d.md": "loom"})
		put(t, x, index.Document{ID: "mine", Text: "weft"})
		require.Equal(t, index.FolderStats{Files: 3, Indexed: 3, Passages: 4}, add(t, x, root, index.FolderOptions{}))
		require.Equal(t, index.FolderStats{Files: 3}, add(t, x, root, index.FolderOptions{}))

		save(t, root, "a.md", "# A\nwool\n")
		save(t, root, "e.md", "silk")
		require.NoError(t, root.Remove("c/d.md"))
		require.Equal(t, index.FolderStats{Files: 3, Indexed: 2, Passages: 2, Removed: 1}, add(t, x, root, index.FolderOptions{}))
		for query, want := range map[string][]string{
			"weft": {"mine"}, "warp": {}, "loom": {}, "wool": {"a.md#a"}, "yarn": {"b.md"}, "silk": {"e.md"},
		} {
			require.Equal(t, want, find(t, x, query), query)
		}

		require.NoError(t, root.Rename("b.md", "f.md"))
		require.Equal(t, index.FolderStats{Files: 3, Indexed: 1, Passages: 1, Removed: 1}, add(t, x, root, index.FolderOptions{}))
		require.Equal(t, []string{"f.md"}, find(t, x, "yarn"))
		require.Equal(t, 4, count(t, x))
	})
}

func TestAnIndexThatIsOpenedAgainKnowsItsFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "docs.db")
	root := folder(t, map[string]string{"a.md": "weft", "b.md": "warp"})
	x := open(t, path, index.Options{})
	add(t, x, root, index.FolderOptions{})
	require.NoError(t, x.Close())
	require.NoError(t, root.Remove("b.md"))
	x = open(t, path, index.Options{})
	require.Equal(t, index.FolderStats{Files: 1, Removed: 1}, add(t, x, root, index.FolderOptions{}))
	require.NoError(t, x.Close())
	requireSound(t, path)
}

func TestFoldersWithPrefixesOfTheirOwnDoNotTouchEachOther(t *testing.T) {
	x := open(t, "", index.Options{})
	one, another := folder(t, map[string]string{"a.md": "weft"}), folder(t, map[string]string{"a.md": "weft", "b.md": "weft"})
	add(t, x, one, index.FolderOptions{Prefix: "one/"})
	add(t, x, another, index.FolderOptions{Prefix: "another/"})
	require.Equal(t, []string{"another/a.md", "another/b.md", "one/a.md"}, find(t, x, "weft"))
	require.Equal(t, []string{"one/a.md"}, ids(t, x, index.Query{Text: "weft", IDPrefix: "one/"}))
	require.NoError(t, another.Remove("a.md"))
	add(t, x, another, index.FolderOptions{Prefix: "another/"})
	require.Equal(t, []string{"another/b.md", "one/a.md"}, find(t, x, "weft"))
	require.Equal(t, index.FolderStats{Files: 1, Indexed: 1, Passages: 1, Removed: 1}, add(t, x, one, index.FolderOptions{Prefix: "another/"}))
	require.Equal(t, []string{"another/a.md", "one/a.md"}, find(t, x, "weft"))
}

func TestAPassageThatWasChangedByHandIsMadeAnew(t *testing.T) {
	both(t, index.Options{}, func(t *testing.T, x *index.Index) {
		root := folder(t, map[string]string{"a.md": "weft", "b.md": "weft", "c.md": "weft"})
		add(t, x, root, index.FolderOptions{})
		put(t, x, index.Document{ID: "a.md", Text: "warp"})
		_, err := x.Delete(t.Context(), "b.md")
		require.NoError(t, err)
		require.Equal(t, []string{"c.md"}, find(t, x, "weft"))
		require.Equal(t, index.FolderStats{Files: 3, Indexed: 2, Passages: 2}, add(t, x, root, index.FolderOptions{}))
		require.Equal(t, []string{"a.md", "b.md", "c.md"}, find(t, x, "weft"))

		put(t, x, index.Document{ID: "a.md", Text: "warp"})
		require.NoError(t, root.Remove("a.md"))
		add(t, x, root, index.FolderOptions{})
		require.Equal(t, []string{"a.md"}, find(t, x, "warp"), "what was put does not go with the file")
	})
}

func TestNothingOutsideTheFolderIsRead(t *testing.T) {
	x := open(t, "", index.Options{})
	outside := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(outside, "secret.md"), []byte("secret"), 0o600))
	require.NoError(t, os.Mkdir(filepath.Join(outside, "deep"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(outside, "deep", "secret.md"), []byte("secret"), 0o600))
	root := folder(t, map[string]string{"a.md": "weft", "..data/b.md": "warp", "c/d.md": "yarn"})
	up, err := filepath.Rel(root.Name(), outside)
	require.NoError(t, err)
	for name, target := range map[string]string{
		"absolute.md": filepath.Join(outside, "secret.md"), "relative.md": filepath.Join(up, "secret.md"), "folder": outside,
		"deep.md": filepath.Join(outside, "deep"), "c/up.md": "../../" + filepath.Base(outside) + "/secret.md",
		"dangling.md": "nowhere.md", "loop.md": "loop.md", "self": ".", "c/parent": "..",
		"b.md": "..data/b.md", "c/again.md": "d.md", // those lead to files in the folder
	} {
		if err := os.Symlink(target, filepath.Join(root.Name(), name)); err != nil {
			t.Skip("no symbolic links here:", err)
		}
	}
	stats := add(t, x, root, index.FolderOptions{})
	slices.SortFunc(stats.Skipped, func(a, b index.SkippedFile) int { return strings.Compare(a.Path, b.Path) })
	const astray = "it is a link that leads to no file in the folder"
	require.Equal(t, index.FolderStats{Files: 4, Indexed: 4, Passages: 4, Skipped: []index.SkippedFile{
		{Path: "absolute.md", Reason: astray},
		{Path: "c/up.md", Reason: astray},
		{Path: "dangling.md", Reason: astray},
		{Path: "deep.md", Reason: astray},
		{Path: "loop.md", Reason: astray},
		{Path: "relative.md", Reason: astray},
	}}, stats)
	require.Empty(t, find(t, x, "secret"))
	require.Equal(t, []string{"b.md"}, find(t, x, "warp"))
	require.Equal(t, []string{"c/again.md", "c/d.md"}, find(t, x, "yarn"))

	// A link that leads elsewhere later is another file.
	require.NoError(t, root.Remove("b.md"))
	require.NoError(t, os.Symlink(filepath.Join(outside, "secret.md"), filepath.Join(root.Name(), "b.md")))
	require.Equal(t, 1, add(t, x, root, index.FolderOptions{}).Removed)
	require.Empty(t, find(t, x, "secret warp"))
}

func TestWhatIsNoTextIsSkippedAndCounted(t *testing.T) {
	both(t, index.Options{}, func(t *testing.T, x *index.Index) {
		root := folder(t, map[string]string{
			"a.md": "weft", "latin1.md": "caf\xe9", "binary.txt": "a\x00b", "large.md": strings.Repeat("x", 101), "just.md": strings.Repeat("y", 100),
		})
		require.NoError(t, root.Mkdir("folder.md", 0o700))
		save(t, root, "folder.md/b.md", "weft")
		options := index.FolderOptions{MaxFileSize: 100}
		stats := add(t, x, root, options)
		require.Equal(t, index.FolderStats{Files: 3, Indexed: 3, Passages: 3, Skipped: []index.SkippedFile{
			{Path: "binary.txt", Reason: "it is no text in UTF-8"},
			{Path: "large.md", Reason: "it is larger than 100 bytes"},
			{Path: "latin1.md", Reason: "it is no text in UTF-8"},
		}}, stats)
		require.Equal(t, []string{"a.md", "folder.md/b.md"}, find(t, x, "weft"))

		save(t, root, "a.md", "\xff")
		require.Equal(t, 1, add(t, x, root, options).Removed, "what is skipped now is not found any more")
		require.Equal(t, []string{"folder.md/b.md"}, find(t, x, "weft"))
	})
}

func TestALongPathIsSkipped(t *testing.T) {
	x := open(t, "", index.Options{})
	deep := strings.Repeat(strings.Repeat("d", 200)+"/", 4)
	root := folder(t, map[string]string{deep + "a.md": "# " + strings.Repeat("Heading ", 1000) + "\nweft\n", deep + strings.Repeat("x", 100) + ".md": "weft"})
	stats := add(t, x, root, index.FolderOptions{})
	require.Equal(t, 1, stats.Files)
	require.Equal(t, []index.SkippedFile{{
		Path: deep + strings.Repeat("x", 100) + ".md", Reason: fmt.Sprintf("its path is longer than %d bytes", index.MaxID-160),
	}}, stats.Skipped)
	hits, err := x.Search(t.Context(), index.Query{Text: "weft"})
	require.NoError(t, err)
	require.LessOrEqual(t, len(hits[0].ID), index.MaxID)
	require.LessOrEqual(t, len(hits[0].Title), index.MaxTitle)
	require.LessOrEqual(t, len(hits[0].Metadata), index.MaxMetadata)
}

func TestAFolderThatIsTooLargeChangesNothing(t *testing.T) {
	x := open(t, "", index.Options{MaxDocuments: 3})
	root := folder(t, map[string]string{"a.md": "weft", "b.md": "weft"})
	add(t, x, root, index.FolderOptions{MaxFiles: 2})
	save(t, root, "c.md", "weft")
	require.NoError(t, root.Remove("b.md"))
	save(t, root, "d.md", "weft")
	_, err := x.AddFolder(t.Context(), root, index.FolderOptions{MaxFiles: 2})
	require.ErrorIs(t, err, index.ErrLimit)
	require.EqualError(t, err, "the folder holds more than 2 files: raise FolderOptions.MaxFiles, or choose a smaller folder")
	require.Equal(t, []string{"a.md", "b.md"}, find(t, x, "weft"))

	save(t, root, "d.md", "# One\nweft\n# Two\nweft\n")
	stats, err := x.AddFolder(t.Context(), root, index.FolderOptions{})
	var limit *index.LimitError
	require.ErrorAs(t, err, &limit)
	require.Equal(t, index.LimitError{Limit: "documents", Value: 3, Seen: 4, Option: "Options.MaxDocuments"}, *limit)
	require.ErrorContains(t, err, "d.md: ")
	require.Equal(t, index.FolderStats{Files: 2, Indexed: 1, Passages: 1, Removed: 1}, stats)
	require.Equal(t, []string{"a.md", "c.md"}, find(t, x, "weft"), "of a file that does not fit, nothing is there")
}

func TestAFolderThatIsNoneIsRefused(t *testing.T) {
	x := open(t, "", index.Options{})
	_, err := x.AddFolder(t.Context(), nil, index.FolderOptions{})
	require.EqualError(t, err, "invalid: a folder was wanted, and none is there")
	root := folder(t, map[string]string{"a.md": "weft"})
	for _, prefix := range []string{"\xff", "a\x00", strings.Repeat("a", 201)} {
		_, err := x.AddFolder(t.Context(), root, index.FolderOptions{Prefix: prefix})
		require.ErrorIs(t, err, index.ErrInvalid)
		require.ErrorContains(t, err, "at most 200 bytes of UTF-8 without NUL were wanted")
	}

	add(t, x, root, index.FolderOptions{})
	gone, err := os.OpenRoot(root.Name())
	require.NoError(t, err)
	require.NoError(t, gone.Close())
	_, err = x.AddFolder(t.Context(), gone, index.FolderOptions{})
	require.ErrorIs(t, err, os.ErrClosed)
	require.Equal(t, []string{"a.md"}, find(t, x, "weft"), "what cannot be listed is not taken for empty")
}

func TestAFolderMayBeAddedBySeveralAtOnce(t *testing.T) {
	both(t, index.Options{}, func(t *testing.T, x *index.Index) {
		files := map[string]string{}
		for i := range 20 {
			files[fmt.Sprintf("%02d.md", i)] = "# One\nweft\n# Two\nwarp\n"
		}
		root := folder(t, files)
		var group sync.WaitGroup
		indexed := make([]int, 4)
		for i := range indexed {
			group.Go(func() {
				stats, err := x.AddFolder(t.Context(), root, index.FolderOptions{})
				assert.NoError(t, err)
				assert.Equal(t, 20, stats.Files)
				indexed[i] = stats.Indexed
			})
		}
		group.Wait()
		slices.Sort(indexed)
		require.Equal(t, []int{0, 0, 0, 20}, indexed)
		require.Equal(t, 40, count(t, x))
	})
}

// after is a context that is canceled when it is asked so often.
type after struct {
	context.Context
	left   atomic.Int64
	cancel func()
}

func newAfter(t *testing.T, left int) *after {
	ctx, cancel := context.WithCancel(t.Context())
	a := &after{Context: ctx, cancel: cancel}
	a.left.Store(int64(left))
	return a
}

func (a *after) Err() error {
	if a.left.Add(-1) < 0 {
		a.cancel()
	}
	return a.Context.Err()
}

func TestWhatEndsEarlyGoesOnTheNextTime(t *testing.T) {
	both(t, index.Options{}, func(t *testing.T, x *index.Index) {
		root := folder(t, map[string]string{"a.md": "weft", "b.md": "weft", "c.md": "weft"})
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := x.AddFolder(ctx, root, index.FolderOptions{})
		require.ErrorIs(t, err, context.Canceled)
		require.Zero(t, count(t, x))

		runs := 0
		for left := 1; ; left++ {
			stats, err := x.AddFolder(newAfter(t, left), root, index.FolderOptions{})
			if err == nil {
				require.Equal(t, 3, stats.Files)
				break
			}
			runs++
			require.ErrorIs(t, err, context.Canceled)
		}
		require.Greater(t, runs, 2)
		require.Equal(t, []string{"a.md", "b.md", "c.md"}, find(t, x, "weft"))
	})
}
