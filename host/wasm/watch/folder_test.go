package watch

import (
	"context"
	"crypto/sha256"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fsnotify/fsnotify"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// watchFolder watches a folder that the test has the digest of.
func watchFolder(t *testing.T, w *Watcher, path string) <-chan Folder {
	t.Helper()
	delivered := make(chan Folder, 1000)
	stop, err := w.Folder(path, digestOf(t, w, path), func(f Folder) { delivered <- f })
	require.NoError(t, err)
	t.Cleanup(stop)
	return delivered
}

func TestAChangeAnywhereInAFolderIsSeen(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "folder")
	deep := mkdir(t, dir, "a", "b")
	write(t, filepath.Join(deep, "f"), "one")
	w := start(t, Options{})
	delivered := watchFolder(t, w, dir)
	for _, step := range []struct {
		name   string
		change func()
	}{
		{"a file is overwritten", func() { write(t, filepath.Join(deep, "f"), "two") }},
		{"a file is overwritten with as many bytes", func() { write(t, filepath.Join(deep, "f"), "six") }},
		{"a file is renamed", func() { rename(t, filepath.Join(deep, "f"), filepath.Join(deep, "g")) }},
		{"a file is added", func() { write(t, filepath.Join(dir, "h"), "") }},
		{"an empty folder is added", func() { mkdir(t, dir, "empty") }},
		{"folders in folders are added", func() { write(t, filepath.Join(mkdir(t, dir, "x", "y", "z"), "f"), "one") }},
		{"a file changes in a new folder", func() { write(t, filepath.Join(dir, "x", "y", "z", "f"), "two") }},
		{"a folder is renamed", func() { rename(t, filepath.Join(dir, "x"), filepath.Join(dir, "w")) }},
		{"a file changes in a renamed folder", func() { write(t, filepath.Join(dir, "w", "y", "z", "f"), "three") }},
		{"a link is added", func() { link(t, "a", filepath.Join(dir, "link")) }},
		{"a link leads elsewhere", func() {
			require.NoError(t, os.Remove(filepath.Join(dir, "link")))
			link(t, "w", filepath.Join(dir, "link"))
		}},
		{"a pipe is added", func() { require.NoError(t, mkfifo(filepath.Join(dir, "pipe"))) }},
		{"everything in a folder is deleted", func() { require.NoError(t, os.RemoveAll(filepath.Join(dir, "w"))) }},
		{"another folder takes its place", func() {
			mkdir(t, dir+".new", "a")
			rename(t, dir, dir+".old")
			rename(t, dir+".new", dir)
		}},
		{"a file is added to that", func() { write(t, filepath.Join(dir, "a", "f"), "one") }},
	} {
		before := digestOf(t, w, dir)
		step.change()
		after := digestOf(t, w, dir)
		require.NotEqual(t, before, after, step.name)
		for {
			f := next(t, delivered)
			if f.Err == nil && f.SHA256 == after {
				assert.Equal(t, dir, f.Path)
				break
			}
		}
	}
}

func TestAFolderIsDeliveredOnceItSettled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := startBench(t, Options{})
		dir := t.TempDir()
		delivered := watchFolder(t, b.Watcher, dir)
		time.Sleep(time.Second)
		for i := range 10 { // files come into it for a second
			path := filepath.Join(dir, string(rune('a'+i)))
			write(t, path, "one")
			b.notify(path, fsnotify.Create)
			time.Sleep(90 * time.Millisecond)
		}
		synctest.Wait()
		require.Empty(t, delivered)
		time.Sleep(110 * time.Millisecond) // a folder is looked at after the settle time, and after another one
		synctest.Wait()
		require.Len(t, delivered, 1)
		assert.Equal(t, digestOf(t, b.Watcher, dir), (<-delivered).SHA256)

		for i := range 50 { // and now without an end in sight
			path := filepath.Join(dir, "log")
			write(t, path, string(rune('a'+i)))
			b.notify(path, fsnotify.Write)
			time.Sleep(90 * time.Millisecond)
		}
		synctest.Wait()
		require.Len(t, delivered, 2, "after MaxWait each")
	})
}

func TestWhatDoesNotChangeAFoldersContentsIsNoNews(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := startBench(t, Options{})
		dir := t.TempDir()
		outside := filepath.Join(t.TempDir(), "f")
		path := filepath.Join(mkdir(t, dir, "a"), "f")
		write(t, path, "one")
		write(t, outside, "one")
		link(t, outside, filepath.Join(dir, "link"))
		delivered := watchFolder(t, b.Watcher, dir)
		for name, change := range map[string]func(){
			"times":                     func() { require.NoError(t, os.Chtimes(path, time.Now(), time.Now())) },
			"permissions":               func() { require.NoError(t, os.Chmod(path, 0o640)) },
			"the same written again":    func() { write(t, path, "one") },
			"the same in another":       func() { replace(t, path, "one") },
			"a file that came and went": func() { write(t, path+"2", ""); require.NoError(t, os.Remove(path+"2")) },
			"what a link leads out to":  func() { write(t, outside, "two") },
		} {
			change()
			b.notify(path, fsnotify.Write)
			time.Sleep(time.Minute)
			synctest.Wait()
			assert.Empty(t, delivered, name)
		}
	})
}

func TestWhatIsNoFolderIsRefused(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "folder")
	mkdir(t, dir)
	w := start(t, Options{FolderEntries: 3})
	delivered := watchFolder(t, w, dir)

	require.NoError(t, os.Remove(dir))
	require.ErrorIs(t, next(t, delivered).Err, fs.ErrNotExist)
	write(t, dir, "a file")
	f := next(t, delivered)
	require.ErrorIs(t, f.Err, ErrNotFolder)
	assert.Contains(t, f.Err.Error(), dir+" is a file, and a folder was wanted")
	_, err := w.FolderDigest(context.Background(), dir)
	require.ErrorIs(t, err, ErrNotFolder)

	require.NoError(t, os.Remove(dir))
	mkdir(t, dir, "a", "b", "c", "d")
	for f = next(t, delivered); f.Err == nil || !assert.ErrorIs(t, f.Err, ErrTooLarge); f = next(t, delivered) {
		require.ErrorIs(t, f.Err, fs.ErrNotExist)
	}
	assert.Contains(t, f.Err.Error(), "holds more than 3 files and folders: keep less in it, or raise FolderEntries")
	require.NoError(t, os.Remove(filepath.Join(dir, "a", "b", "c", "d")))
	f = next(t, delivered)
	require.NoError(t, f.Err, "three are allowed")
	assert.Equal(t, digestOf(t, w, dir), f.SHA256)
}

func TestDifferentFoldersHaveDifferentDigests(t *testing.T) {
	w := start(t, Options{})
	seen := map[[sha256.Size]byte]string{}
	for name, make := range map[string]func(dir string){
		"empty":                 func(string) {},
		"an empty file":         func(dir string) { write(t, filepath.Join(dir, "a"), "") },
		"an empty folder":       func(dir string) { mkdir(t, dir, "a") },
		"a link":                func(dir string) { link(t, "x", filepath.Join(dir, "a")) },
		"another link":          func(dir string) { link(t, "y", filepath.Join(dir, "a")) },
		"a file":                func(dir string) { write(t, filepath.Join(dir, "a"), "b") },
		"the name in the file":  func(dir string) { write(t, filepath.Join(dir, "b"), "a") },
		"a longer name":         func(dir string) { write(t, filepath.Join(dir, "ab"), "") },
		"a file in a folder":    func(dir string) { write(t, filepath.Join(mkdir(t, dir, "a"), "b"), "") },
		"a file and a folder":   func(dir string) { mkdir(t, dir, "a"); write(t, filepath.Join(dir, "b"), "") },
		"two folders":           func(dir string) { mkdir(t, dir, "a"); mkdir(t, dir, "b") },
		"one with both names":   func(dir string) { mkdir(t, dir, "adb") },
		"two files":             func(dir string) { write(t, filepath.Join(dir, "a"), "b"); write(t, filepath.Join(dir, "b"), "a") },
		"two files, swapped":    func(dir string) { write(t, filepath.Join(dir, "a"), "a"); write(t, filepath.Join(dir, "b"), "b") },
		"a name with a newline": func(dir string) { write(t, filepath.Join(dir, "a\nb"), "") },
	} {
		dir := t.TempDir()
		make(dir)
		d := digestOf(t, w, dir)
		assert.Empty(t, seen[d], "%s has the same", name)
		seen[d] = name
		assert.Equal(t, d, digestOf(t, w, dir), "the same folder has the same one")
	}
}

func TestAFileIsReadAgainOnlyWhereItsStampDoesNotTell(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "f"), "one")
	f := &folderSource{path: dir, most: 10}
	found := f.survey(t.Context(), nil)
	real, ok := f.read(t.Context(), found)
	require.True(t, ok)

	// Another digest that is known of the file shows whether it is read.
	pretend := f.known["f"]
	if pretend.stamp.inode == 0 {
		t.Skip("this system tells no inodes: files are always read")
	}
	pretend.digest[0]++
	for _, c := range []struct {
		after time.Duration
		reads bool
	}{{time.Second, true}, {time.Minute, false}} {
		pretend.read = time.Unix(0, pretend.stamp.changed).Add(c.after)
		f.known = map[string]knownFile{"f": pretend}
		got, ok := f.read(t.Context(), found)
		require.True(t, ok)
		assert.Equal(t, c.reads, got.digest == real.digest, "read %s after the change", c.after)
	}
	write(t, filepath.Join(dir, "f"), "another")
	f.known = nil
	_, err := f.file(t.Context(), found.entries[0])
	require.ErrorIs(t, err, errMoved, "what was found is not there any more")
	f.known = map[string]knownFile{"f": pretend}
	got, ok := f.read(t.Context(), f.survey(t.Context(), nil))
	require.True(t, ok)
	assert.Equal(t, sha256.Sum256([]byte("another")), f.known["f"].digest)
	assert.NotEqual(t, real.digest, got.digest)
}

func TestADigestOfAFolderObeysItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := start(t, Options{}).FolderDigest(ctx, t.TempDir())
	require.ErrorIs(t, err, context.Canceled)
}

func TestAMissingFolderHasNoDigest(t *testing.T) {
	_, err := start(t, Options{}).FolderDigest(context.Background(), filepath.Join(t.TempDir(), "none"))
	require.ErrorIs(t, err, fs.ErrNotExist)
}
