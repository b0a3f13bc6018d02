package watch

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestEveryWayToChangeAFileIsSeen(t *testing.T) {
	// Each way makes the file at the path in dir that it returned first read "two".
	ways := map[string]func(t *testing.T, dir string) (path string, change func()){
		"overwritten in place": func(t *testing.T, dir string) (string, func()) {
			path := filepath.Join(dir, "f")
			write(t, path, "one")
			return path, func() { write(t, path, "two") }
		},
		"written beside and renamed over it": func(t *testing.T, dir string) (string, func()) {
			path := filepath.Join(dir, "f")
			write(t, path, "one")
			return path, func() { replace(t, path, "two") }
		},
		"moved away as a backup and written anew": func(t *testing.T, dir string) (string, func()) {
			path := filepath.Join(dir, "f")
			write(t, path, "one")
			return path, func() { rename(t, path, path+"~"); write(t, path, "two") }
		},
		"deleted and created": func(t *testing.T, dir string) (string, func()) {
			path := filepath.Join(dir, "f")
			write(t, path, "one")
			return path, func() { require.NoError(t, os.Remove(path)); write(t, path, "two") }
		},
		"another folder in the place of its folder": func(t *testing.T, dir string) (string, func()) {
			write(t, filepath.Join(mkdir(t, dir, "a", "b"), "f"), "one")
			write(t, filepath.Join(mkdir(t, dir, "next", "b"), "f"), "two")
			return filepath.Join(dir, "a", "b", "f"), func() {
				rename(t, filepath.Join(dir, "a"), filepath.Join(dir, "old"))
				rename(t, filepath.Join(dir, "next"), filepath.Join(dir, "a"))
			}
		},
		"its folders deleted and made again": func(t *testing.T, dir string) (string, func()) {
			path := filepath.Join(mkdir(t, dir, "a", "b"), "f")
			write(t, path, "one")
			return path, func() {
				require.NoError(t, os.RemoveAll(filepath.Join(dir, "a")))
				mkdir(t, dir, "a", "b")
				write(t, path, "two")
			}
		},
		"a link to it pointed elsewhere": func(t *testing.T, dir string) (string, func()) {
			path := filepath.Join(dir, "link")
			write(t, filepath.Join(mkdir(t, dir, "1"), "f"), "one")
			write(t, filepath.Join(mkdir(t, dir, "2"), "f"), "two")
			link(t, "1/f", path)
			return path, func() { link(t, "2/f", path+".new"); rename(t, path+".new", path) }
		},
		"the target of a link overwritten": func(t *testing.T, dir string) (string, func()) {
			path, target := filepath.Join(dir, "link"), filepath.Join(mkdir(t, dir, "elsewhere"), "f")
			write(t, target, "one")
			link(t, target, path)
			return path, func() { write(t, target, "two") }
		},
		"a linked folder on the way pointed elsewhere": func(t *testing.T, dir string) (string, func()) {
			write(t, filepath.Join(mkdir(t, dir, "1", "sub"), "f"), "one")
			write(t, filepath.Join(mkdir(t, dir, "2", "sub"), "f"), "two")
			holder := mkdir(t, dir, "holder")
			link(t, "../1", filepath.Join(holder, "current"))
			return filepath.Join(holder, "current", "sub", "f"), func() {
				link(t, "../2", filepath.Join(holder, "new"))
				rename(t, filepath.Join(holder, "new"), filepath.Join(holder, "current"))
			}
		},
		"a way that goes up from a link": func(t *testing.T, dir string) (string, func()) {
			mkdir(t, dir, "real", "deep")
			write(t, filepath.Join(dir, "real", "f"), "one")
			link(t, "real/deep", filepath.Join(dir, "link"))
			return dir + "/link/../f", func() { write(t, filepath.Join(dir, "real", "f"), "two") }
		},
		"Kubernetes' ..data swapped": func(t *testing.T, dir string) (string, func()) {
			for name, data := range map[string]string{"..2026_01": "one", "..2026_02": "two"} {
				write(t, filepath.Join(mkdir(t, dir, name), "f"), data)
			}
			link(t, "..2026_01", filepath.Join(dir, "..data"))
			link(t, "..data/f", filepath.Join(dir, "f"))
			return filepath.Join(dir, "f"), func() {
				link(t, "..2026_02", filepath.Join(dir, "..data_tmp"))
				rename(t, filepath.Join(dir, "..data_tmp"), filepath.Join(dir, "..data"))
				require.NoError(t, os.RemoveAll(filepath.Join(dir, "..2026_01")))
			}
		},
	}
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			path, change := way(t, t.TempDir())
			delivered := watchFile(t, start(t, Options{}), path, 100)
			require.Equal(t, "one", nextData(t, delivered))
			change()
			f := next(t, delivered)
			// A machine that stops for a moment between a deletion and a creation makes the gap a settled state.
			for f.Err != nil {
				require.ErrorIs(t, f.Err, fs.ErrNotExist)
				f = next(t, delivered)
			}
			require.Equal(t, "two", string(f.Data))
			assert.Equal(t, path, f.Path)
			// And what is there now is what is watched.
			write(t, path, "three")
			require.Equal(t, "three", nextData(t, delivered))
		})
	}
}

func TestAKubernetesVolumeIsFollowedThroughManySwaps(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	publish := func(name, data string) {
		write(t, filepath.Join(mkdir(t, dir, name), "f"), data)
		link(t, name, filepath.Join(dir, "..data_tmp"))
		old, _ := os.Readlink(filepath.Join(dir, "..data"))
		rename(t, filepath.Join(dir, "..data_tmp"), filepath.Join(dir, "..data"))
		if old != "" {
			require.NoError(t, os.RemoveAll(filepath.Join(dir, old)))
		}
	}
	publish("..first", "first")
	link(t, "..data/f", path)
	w := start(t, Options{})
	delivered := watchFile(t, w, path, 100)
	require.Equal(t, "first", nextData(t, delivered))
	for _, data := range []string{"second", "third", "fourth", "fifth", "sixth"} {
		publish(".."+data, data)
		require.Equal(t, data, nextData(t, delivered))
	}
	w.notices.mu.Lock()
	defer w.notices.mu.Unlock()
	for wanting := range w.notices.things {
		assert.Len(t, w.notices.folders[dir].wanted[wanting], 3, "f, ..data and the newest folder matter, and no older one")
	}
}

func TestADeletionIsToldOnceAndItsEndToo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	write(t, path, "one")
	w := start(t, Options{})
	delivered := watchFile(t, w, path, 100)
	require.Equal(t, "one", nextData(t, delivered))

	require.NoError(t, os.Remove(path))
	f := next(t, delivered)
	require.ErrorIs(t, f.Err, fs.ErrNotExist)
	assert.Contains(t, f.Err.Error(), path+" is not there: put it back")
	assert.Empty(t, f.Data)
	assert.Equal(t, none, f.SHA256)

	w.notices.recheck()
	write(t, path, "one")
	require.Equal(t, "one", nextData(t, delivered), "the next after the deletion is the same version again, and no second deletion")
}

func TestAPathThroughAFileLeadsNowhere(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(mkdir(t, dir, "a"), "f")
	write(t, path, "one")
	delivered := watchFile(t, start(t, Options{}), path, 100)
	require.Equal(t, "one", nextData(t, delivered))
	write(t, filepath.Join(dir, "b"), "a file")
	rename(t, filepath.Join(dir, "a"), filepath.Join(dir, "old"))
	rename(t, filepath.Join(dir, "b"), filepath.Join(dir, "a"))
	require.ErrorIs(t, next(t, delivered).Err, fs.ErrNotExist)
	require.NoError(t, os.Remove(filepath.Join(dir, "a")))
	rename(t, filepath.Join(dir, "old"), filepath.Join(dir, "a"))
	require.Equal(t, "one", nextData(t, delivered))
}

func TestAFileThatIsNotThereIsWaitedFor(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a", "b", "f")
	w := start(t, Options{})
	delivered := watchFile(t, w, path, 100)
	mkdir(t, dir, "a")
	mkdir(t, dir, "a", "b")
	write(t, path, "one")
	require.Equal(t, "one", nextData(t, delivered), "and nothing before that")
}

func TestWhatIsNoRegularFileIsRefused(t *testing.T) {
	for name, make := range map[string]func(path string) error{
		"a pipe":   mkfifo,
		"a folder": func(path string) error { return os.Mkdir(path, 0o700) },
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "f")
			write(t, path, "one")
			delivered := watchFile(t, start(t, Options{}), path, 100)
			require.Equal(t, "one", nextData(t, delivered))

			require.NoError(t, make(path+".new"))
			require.NoError(t, os.Remove(path))
			rename(t, path+".new", path)
			f := next(t, delivered)
			if f.Err != nil && !assert.NotErrorIs(t, f.Err, fs.ErrNotExist) {
				f = next(t, delivered)
			}
			require.ErrorIs(t, f.Err, ErrNotRegular)
			assert.Contains(t, f.Err.Error(), path+" is "+name+", and a regular file was wanted")

			require.NoError(t, os.Remove(path))
			replace(t, path, "two")
			for f = next(t, delivered); f.Err != nil; f = next(t, delivered) {
				require.ErrorIs(t, f.Err, fs.ErrNotExist)
			}
			assert.Equal(t, "two", string(f.Data))
		})
	}
}

func TestAFileOverTheLimitIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	write(t, path, "12345")
	delivered := watchFile(t, start(t, Options{}), path, 5)
	require.Equal(t, "12345", nextData(t, delivered), "the limit itself is allowed")
	replace(t, path, "123456")
	f := next(t, delivered)
	require.ErrorIs(t, f.Err, ErrTooLarge)
	assert.Contains(t, f.Err.Error(), "has 6 bytes, and 5 are allowed")
	assert.Empty(t, f.Data)
	replace(t, path, "1")
	assert.Equal(t, "1", nextData(t, delivered))
}

func TestANegativeLimitAllowsEverything(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	require.NoError(t, os.WriteFile(path, version(1, 3<<20), 0o600))
	assert.True(t, whole([]byte(nextData(t, watchFile(t, start(t, Options{}), path, -1)))))
}

func TestAFileThatCannotBeReadIsToldOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	link(t, "f", path)
	w := start(t, Options{})
	delivered := watchFile(t, w, path, 100)
	f := next(t, delivered)
	require.Error(t, f.Err)
	assert.Contains(t, f.Err.Error(), path+" cannot be read", "a link to itself leads nowhere")

	if runtime.GOOS == "linux" {
		link(t, "/proc/self/mem", path+".new") // a regular file by its mode, whose first byte cannot be read
		rename(t, path+".new", path)
		f = next(t, delivered)
		require.Error(t, f.Err)
		assert.Contains(t, f.Err.Error(), path+" cannot be read")
	}
	replace(t, path, "one")
	assert.Equal(t, "one", nextData(t, delivered))
}

func TestTwoWatchersOfOneFileAreBothTold(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	write(t, path, "one")
	w := start(t, Options{})
	first, second := watchFile(t, w, path, 100), watchFile(t, w, path, 100)
	third := watchFile(t, start(t, Options{}), path, 100)
	for _, data := range []string{"one", "two", "three"} {
		replace(t, path, data)
		for _, delivered := range []<-chan File{first, second, third} {
			for nextData(t, delivered) != data {
			}
		}
	}
}

func TestAVersionThatTheCallerHasIsNotDelivered(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	write(t, path, "one")
	w := start(t, Options{})
	have := next(t, watchFile(t, w, path, 100)).SHA256
	delivered := make(chan File, 10)
	_, err := w.File(path, 100, have, func(f File) { delivered <- f })
	require.NoError(t, err)
	replace(t, path, "two")
	assert.Equal(t, "two", nextData(t, delivered))
}

func TestAFileThatTheCallerHasAndIsGoneIsTold(t *testing.T) {
	w := start(t, Options{})
	delivered := make(chan File, 10)
	_, err := w.File(filepath.Join(t.TempDir(), "f"), 100, [32]byte{1}, func(f File) { delivered <- f })
	require.NoError(t, err)
	require.ErrorIs(t, next(t, delivered).Err, fs.ErrNotExist)
}

func TestARelativePathMeansWhatItMeantWhenItWasGiven(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	write(t, "f", "one")
	w := start(t, Options{})
	delivered := watchFile(t, w, "f", 100)
	require.Equal(t, "one", nextData(t, delivered))
	t.Chdir(mkdir(t, dir, "elsewhere"))
	write(t, "f", "another")
	replace(t, filepath.Join(dir, "f"), "two")
	f := next(t, delivered)
	assert.Equal(t, "two", string(f.Data))
	assert.Equal(t, "f", f.Path)
}

func TestFoldersThatChangePlacesAreStillWatched(t *testing.T) {
	dir := t.TempDir()
	blue, green := mkdir(t, dir, "blue"), mkdir(t, dir, "green")
	write(t, filepath.Join(blue, "f"), "b0")
	write(t, filepath.Join(green, "f"), "g0")
	w := start(t, Options{Settle: 2 * time.Millisecond})
	inBlue, inGreen := watchFile(t, w, filepath.Join(blue, "f"), 100), watchFile(t, w, filepath.Join(green, "f"), 100)
	expect := func(delivered <-chan File, data string) {
		t.Helper()
		for f := next(t, delivered); string(f.Data) != data; f = next(t, delivered) {
		}
	}
	expect(inBlue, "b0")
	expect(inGreen, "g0")
	for range 30 {
		rename(t, blue, filepath.Join(dir, "aside"))
		rename(t, green, blue)
		rename(t, filepath.Join(dir, "aside"), green)
		for _, data := range []string{"x", "y"} {
			write(t, filepath.Join(blue, "f"), "b"+data)
			write(t, filepath.Join(green, "f"), "g"+data)
			expect(inBlue, "b"+data)
			expect(inGreen, "g"+data)
		}
	}
}
