package wasm_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/wasm"
	"github.com/weft-run/weft/host/wasm/watch"
)

func watching(t *testing.T, p *wasm.Plugin) {
	t.Helper()
	w, err := watch.New(watch.Options{Settle: 20 * time.Millisecond})
	require.NoError(t, err)
	stop, err := p.Watch(t.Context(), w)
	require.NoError(t, err)
	t.Cleanup(func() {
		stop()
		require.NoError(t, w.Close())
	})
}

// followed loads a plugin whose reloads come through a channel.
func followed(t *testing.T, f file, c wasm.Config) (*wasm.Plugin, chan wasm.Reloaded) {
	t.Helper()
	reloads := make(chan wasm.Reloaded, 16)
	c.Path, c.OnReload = f.path, func(r wasm.Reloaded) { reloads <- r }
	p, err := wasm.Load(t.Context(), newEngine(t), c)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.Close(context.Background())) })
	return p, reloads
}

func TestAWatchedFileIsReloaded(t *testing.T) {
	f := newFile(t, edition("1"))
	p, reloads := followed(t, f, wasm.Config{})
	watching(t, p)

	f.write([]byte("half of a fi"))
	r := <-reloads
	require.Error(t, r.Err)
	require.Equal(t, wasm.StateStale, p.Status().State)

	f.write(edition("2").module(t))
	r = <-reloads
	require.NoError(t, r.Err)
	require.Equal(t, "2", r.To.Version)

	require.NoError(t, os.Remove(f.path))
	r = <-reloads
	require.ErrorContains(t, r.Err, "keeps serving")
	m := &model{}
	_, err := newAgent(t, m, p).Run(t.Context(), host.Text("hi"), host.RunConfig{})
	require.NoError(t, err)
	require.Equal(t, "2", m.requests[0].Instructions)

	f.write(edition("3").module(t))
	r = <-reloads
	require.NoError(t, r.Err)
	require.Equal(t, "3", r.To.Version)
}

// Kubernetes swaps a link to a folder in which the file is a link: neither the file nor its link ever changes.
func TestASwappedLinkIsReloaded(t *testing.T) {
	dir := t.TempDir()
	for _, v := range []string{"1", "2"} {
		require.NoError(t, os.Mkdir(filepath.Join(dir, "v"+v), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "v"+v, "p.wasm"), edition(v).module(t), 0o600))
	}
	require.NoError(t, os.Symlink("v1", filepath.Join(dir, "..data")))
	require.NoError(t, os.Symlink("..data/p.wasm", filepath.Join(dir, "p.wasm")))
	p, reloads := followed(t, file{t, filepath.Join(dir, "p.wasm")}, wasm.Config{})
	watching(t, p)
	require.NoError(t, os.Symlink("v2", filepath.Join(dir, "..tmp")))
	require.NoError(t, os.Rename(filepath.Join(dir, "..tmp"), filepath.Join(dir, "..data")))
	r := <-reloads
	require.NoError(t, r.Err)
	require.Equal(t, "2", r.To.Version)
}

func TestAChangeInAGrantedFolderRunsInitAgain(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a.md"), []byte("a"), 0o600))
	f := newFile(t, script{"init": {hears(), out(`{}`)}, "before_run": {out(`{}`)}})
	inits := make(chan string, 4)
	p, reloads := followed(t, f, wasm.Config{
		Grants: wasm.Grants{Files: []wasm.Folder{{Host: dir, Guest: "/docs"}}},
		OnLog:  func(_, text string) { inits <- text },
	})
	<-inits
	watching(t, p)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "b.md"), []byte("b"), 0o600))
	r := <-reloads
	require.NoError(t, r.Err)
	require.Equal(t, r.From.Digest, r.To.Digest)
	require.Contains(t, <-inits, `"hook":"init"`)
}

// Its own writes would have it run init without end.
func TestAFolderThatAPluginMayWriteIsNotWatched(t *testing.T) {
	notes := filepath.Join(t.TempDir(), "notes")
	require.NoError(t, os.Mkdir(notes, 0o700))
	p, _ := followed(t, newFile(t, script{"init": {out(`{}`)}, "before_run": {out(`{}`)}}), wasm.Config{
		Grants: wasm.Grants{Files: []wasm.Folder{{Host: notes, Guest: "/notes", Mode: "rw"}}},
	})
	require.NoError(t, os.Remove(notes)) // one that is watched must be there
	watching(t, p)
}
