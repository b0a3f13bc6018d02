package index

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestWhatCannotBeReadKeepsWhatIsIndexedOfIt(t *testing.T) {
	x, err := Open(t.Context(), "", Options{})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, x.Close()) })
	root, err := os.OpenRoot(t.TempDir())
	require.NoError(t, err)
	require.NoError(t, root.Mkdir("b", 0o700))
	for _, path := range []string{"a.md", "b/a.md", "c.md"} {
		require.NoError(t, root.WriteFile(path, []byte("weft"), 0o600))
	}
	_, err = x.AddFolder(t.Context(), root, FolderOptions{})
	require.NoError(t, err)
	require.NoError(t, root.Close())

	a := adding{index: x, folder: root, options: FolderOptions{MaxFileSize: Unlimited}}
	require.NoError(t, a.readKnown(t.Context()))
	require.NoError(t, a.file(t.Context(), "a.md"))
	require.ErrorIs(t, a.errors.join(), os.ErrClosed)
	require.Contains(t, a.known, "a.md")
	hits, err := x.Search(t.Context(), Query{Text: "weft"})
	require.NoError(t, err)
	require.Len(t, hits, 3)

	require.NoError(t, a.update(t.Context(), found{files: []string{"a.md"}, unlisted: []string{"b"}}))
	require.Equal(t, FolderStats{Files: 2, Removed: 1}, a.stats, "what is in a folder that cannot be listed stays, and c.md goes")
	hits, err = x.Search(t.Context(), Query{Text: "weft"})
	require.NoError(t, err)
	require.Len(t, hits, 2)

	f := found{unlisted: []string{"b", "c/d"}}
	for path, want := range map[string]bool{"b/a.md": true, "c/d/e/a.md": true, "b.md": false, "bb/a.md": false, "c/a.md": false} {
		require.Equal(t, want, f.unread(path), path)
	}
}
