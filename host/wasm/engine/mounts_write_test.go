package engine_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host/wasm/engine"
)

// changes is what change_files says of some steps: nothing where all went well.
func changes(t *testing.T, m *engine.Module, steps ...string) string {
	t.Helper()
	result := call(t, m, "change_files", strings.Join(steps, "\n"))
	if result.Code == 0 {
		return ""
	}
	return string(result.Output)
}

func content(t *testing.T, path ...string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(path...))
	require.NoError(t, err)
	return string(data)
}

func TestWritableMountsAreChangedAsAnyFolder(t *testing.T) {
	notes, docs := t.TempDir(), t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(docs, "a.txt"), []byte("a page"), 0o600))
	m := loadGo(t, engine.Spec{Mounts: []engine.Mount{
		{Host: notes, Guest: "/notes", Writable: true}, {Host: docs, Guest: "/docs"},
	}})
	require.Empty(t, changes(t, m,
		"write /notes/a.txt hello", "append /notes/a.txt -world", "at /notes/a.txt 0 J", "cut /notes/a.txt 7",
		"append /notes/log one", "append /notes/log ,two", "new /notes/empty",
		"mkdir /notes/deep/er", "write /notes/deep/er/b.txt b", "list /notes a.txt,deep,empty,log",
		"rename /notes/deep/er/b.txt /notes/b.txt", "remove /notes/deep/er", "mkdir /notes/gone/too", "write /notes/gone/too/c c",
		"remove_all /notes/gone", "list /notes a.txt,b.txt,deep,empty,log",
	))
	require.Equal(t, "Jello-w", content(t, notes, "a.txt"))
	require.Equal(t, "one,two", content(t, notes, "log"))
	require.Equal(t, "b", content(t, notes, "b.txt"))
	require.Equal(t, "Jello-w", string(call(t, m, "read_file", "/notes/a.txt").Output), "another call finds it")
	info, err := os.Stat(filepath.Join(notes, "a.txt"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm(), "nobody else may read it")

	for step, want := range map[string]string{
		"new /notes/a.txt":       "File exists",
		"remove /notes/nothing":  "No such file",
		"append /notes/none/x y": "No such file",
		"write /notes/deep x":    "Is a directory",
		"cut /notes/a.txt -1":    "Invalid argument",
	} {
		require.Contains(t, changes(t, m, step), want, step)
	}
	for _, step := range []string{
		"write /docs/a.txt x", "remove /docs/a.txt", "mkdir /docs/d", "rename /notes/a.txt /docs/b.txt",
		"rename /docs/a.txt /notes/stolen.txt",
	} {
		require.NotEmpty(t, changes(t, m, step), "%s: the other folder is to be read", step)
	}
	require.Equal(t, "a page", content(t, docs, "a.txt"))
	require.Equal(t, "Jello-w", content(t, notes, "a.txt"))
}

func TestWritableMountsHaveNoWayOut(t *testing.T) {
	outside, notes := t.TempDir(), t.TempDir()
	secret := filepath.Join(outside, "secret.txt")
	require.NoError(t, os.WriteFile(secret, []byte("secret"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(notes, "a.txt"), []byte("a"), 0o600))
	require.NoError(t, os.Symlink(secret, filepath.Join(notes, "absolute.txt")))
	require.NoError(t, os.Symlink("../"+filepath.Base(outside)+"/secret.txt", filepath.Join(notes, "relative.txt")))
	require.NoError(t, os.Symlink(filepath.Join(outside, "made.txt"), filepath.Join(notes, "dangling.txt")))
	require.NoError(t, os.Symlink(outside, filepath.Join(notes, "folder")))
	steps := []string{
		"write /notes/absolute.txt x", "append /notes/relative.txt x", "cut /notes/absolute.txt 0", "write /notes/dangling.txt x",
		"write /notes/folder/made.txt x", "mkdir /notes/folder/made", "remove /notes/folder/secret.txt", "remove_all /notes/folder/.",
		"rename /notes/a.txt /notes/folder/made.txt", "rename /notes/folder/secret.txt /notes/stolen.txt",
		"rename /notes/a.txt /notes/../made.txt", "write /notes/../made.txt x", "write " + secret + " x",
		"symlink /notes/link.txt " + secret, "link /notes/link.txt /notes/absolute.txt", "remove /notes",
	}
	if makePipe(t, filepath.Join(notes, "pipe")) {
		steps = append(steps, "write /notes/pipe x", "append /notes/pipe x")
	}
	m := loadGo(t, engine.Spec{Mounts: []engine.Mount{{Host: notes, Guest: "/notes", Writable: true}}})
	for _, step := range steps {
		require.NotEmpty(t, changes(t, m, step), step)
	}
	require.Equal(t, "secret", content(t, secret))
	require.Equal(t, "a", content(t, notes, "a.txt"))
	entries, err := os.ReadDir(outside)
	require.NoError(t, err)
	require.Len(t, entries, 1, "nothing was made outside")

	require.Empty(t, changes(t, m, "remove /notes/absolute.txt", "remove_all /notes/folder"), "a link can be removed")
	require.FileExists(t, secret)
}

func TestWhatOneCallWritesIsBounded(t *testing.T) {
	for _, step := range []string{
		"fills /notes/f", "floods /notes", "grow /notes/a.txt 100000000000", "at /notes/a.txt 100000000000 x",
	} {
		notes := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(notes, "a.txt"), []byte("a"), 0o600))
		m := loadGo(t, engine.Spec{
			Mounts: []engine.Mount{{Host: notes, Guest: "/notes", Writable: true}}, Limits: engine.Limits{FileWrites: 1 << 20},
		})
		require.Empty(t, changes(t, m, "write /notes/b.txt b"))
		err := callFails(t, m, engine.Call{Export: "change_files", Input: []byte(step)})
		require.ErrorIs(t, err, engine.ErrFileLimit, step)
		require.ErrorContains(t, err, "change_files wrote more than 1 MiB into its folders in one call: raise limits.file_writes, or write less")
		var total int64
		entries, err := os.ReadDir(notes)
		require.NoError(t, err)
		require.LessOrEqual(t, len(entries), 2+1<<20/4096, step)
		for _, e := range entries {
			info, err := e.Info()
			require.NoError(t, err)
			total += info.Size()
		}
		require.LessOrEqual(t, total, int64(1<<20), step)
		for _, name := range []string{"c", "d", "e"} {
			require.Empty(t, changes(t, m, "write /notes/"+name+" x", "grow /notes/"+name+" 600000"), "each call may write as much")
		}
	}
	m := loadGo(t, engine.Spec{
		Mounts: []engine.Mount{{Host: t.TempDir(), Guest: "/notes", Writable: true}}, Limits: engine.Limits{FileWrites: engine.Unlimited},
	})
	require.Empty(t, changes(t, m, "append /notes/a x", "grow /notes/a 1000000000"))
}
