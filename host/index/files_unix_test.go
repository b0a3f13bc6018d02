//go:build unix

package index_test

import (
	"net"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host/index"
)

func TestPipesAndSocketsAreNotOpened(t *testing.T) {
	x := open(t, "", index.Options{})
	root := folder(t, map[string]string{"a.md": "weft"})
	require.NoError(t, syscall.Mkfifo(filepath.Join(root.Name(), "pipe.md"), 0o600))
	socket, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", filepath.Join(root.Name(), "s.md"))
	if err == nil {
		defer socket.Close()
	} else {
		t.Log("no socket at so long a path:", err)
	}
	if runtime.GOOS == "linux" { // other systems refuse such names
		save(t, root, "b\xff.md", "weft")
	}
	stats := add(t, x, root, index.FolderOptions{})
	require.Equal(t, 1, stats.Files)
	require.Contains(t, stats.Skipped, index.SkippedFile{Path: "pipe.md", Reason: "it is no regular file"})
	if runtime.GOOS == "linux" {
		require.Contains(t, stats.Skipped, index.SkippedFile{Path: "b\uFFFD.md", Reason: "its name is not valid UTF-8"})
	}
	if err == nil {
		require.Contains(t, stats.Skipped, index.SkippedFile{Path: "s.md", Reason: "it is no regular file"})
	}
}
