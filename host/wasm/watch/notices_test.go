package watch

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fsnotify/fsnotify"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAMissedNotificationIsMadeUpForByTheRescan(t *testing.T) {
	onStage(t, Options{}, func(s *stage) {
		replace(t, s.path, "two")
		time.Sleep(29 * time.Second)
		s.take(0)
		time.Sleep(2 * time.Second)
		assert.Equal(t, "two", string(s.take(1)[0].Data))
	})
}

func TestARescanCanBeTurnedOff(t *testing.T) {
	onStage(t, Options{Rescan: -1}, func(s *stage) {
		replace(t, s.path, "two")
		time.Sleep(time.Hour)
		s.take(0)
	})
}

func TestAFailureOfNotificationsHasEverythingLookedAt(t *testing.T) {
	var log logs
	onStage(t, Options{Rescan: -1, Logger: log.logger()}, func(s *stage) {
		replace(t, s.path, "two")
		s.errors <- fsnotify.ErrEventOverflow
		s.errors <- fsnotify.ErrEventOverflow
		time.Sleep(200 * time.Millisecond)
		assert.Equal(t, "two", string(s.take(1)[0].Data))
	})
	assert.Equal(t, 1, bytes.Count([]byte(log.String()), []byte("queue or buffer overflow")), "told once: %s", log.String())
}

func TestFailuresOfNotificationsDoNotKeepAVersionFromSettling(t *testing.T) {
	onStage(t, Options{}, func(s *stage) {
		s.replace([]byte("two"))
		for range 10 {
			time.Sleep(20 * time.Millisecond)
			s.errors <- fsnotify.ErrEventOverflow
		}
		assert.InDelta(t, 100, s.take(1)[0].after.Milliseconds(), 1)
	})
}

func TestWithoutNotificationsFilesArePolled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		options, err := Options{Poll: time.Second}.complete()
		require.NoError(t, err)
		w := newWatcher(options, nil)
		defer w.Close()
		path := filepath.Join(t.TempDir(), "f")
		delivered := watchFile(t, w, path, 100)
		for _, data := range []string{"one", "two", "three"} {
			replace(t, path, data)
			time.Sleep(1200 * time.Millisecond)
			synctest.Wait()
			require.Len(t, delivered, 1)
			assert.Equal(t, data, nextData(t, delivered))
		}
	})
}

func TestWhereThereAreNotificationsNothingIsPolled(t *testing.T) {
	onStage(t, Options{Poll: time.Second, Rescan: -1}, func(s *stage) {
		replace(t, s.path, "two")
		time.Sleep(time.Hour)
		s.take(0)
	})
}

func TestAnErrorIsToldOnceUntilItIsOver(t *testing.T) {
	onStage(t, Options{Rescan: time.Second}, func(s *stage) {
		for range 3 {
			require.NoError(t, os.Remove(s.path))
			time.Sleep(time.Minute)
			require.ErrorIs(t, s.take(1)[0].Err, fs.ErrNotExist)
			write(t, s.path, "one")
			time.Sleep(time.Minute)
			require.Equal(t, "one", string(s.take(1)[0].Data))
		}
	})
}

func TestAFileThatWasNeverThereIsNoError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := startBench(t, Options{})
		path := filepath.Join(t.TempDir(), "f")
		delivered := watchFile(t, b.Watcher, path, 100)
		time.Sleep(time.Hour)
		require.Empty(t, delivered)
		write(t, path, "one")
		time.Sleep(time.Minute)
		assert.Equal(t, "one", nextData(t, delivered))
	})
}

func TestAFolderThatMovedHasEverythingAskForNotificationsAgain(t *testing.T) {
	// The backend may have given up more than that folder: one that was moved has two paths for a moment.
	for name, move := range map[string]func(b *bench, dir string){
		"and is there again": func(b *bench, dir string) { b.notify(dir, fsnotify.Rename) },
		"which is found": func(b *bench, dir string) {
			rename(t, dir, dir+".old")
			b.notify(filepath.Join(dir, "f"), fsnotify.Remove)
		},
		"and has another one in its place": func(b *bench, dir string) {
			rename(t, dir, dir+".old")
			write(t, filepath.Join(mkdir(t, dir), "f"), "one")
			b.notify(filepath.Join(dir, "f"), fsnotify.Create)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := startBench(t, Options{})
				dir := t.TempDir()
				blue, green := mkdir(t, dir, "blue"), mkdir(t, dir, "green")
				write(t, filepath.Join(blue, "f"), "one")
				write(t, filepath.Join(green, "f"), "one")
				watchFile(t, b.Watcher, filepath.Join(blue, "f"), 100)
				watchFile(t, b.Watcher, filepath.Join(green, "f"), 100)
				time.Sleep(time.Second)
				b.called()
				move(b, green)
				time.Sleep(time.Second)
				calls := b.called()
				assert.Contains(t, calls[max(0, slices.Index(calls, "remove "+green)):], "add "+blue, calls)
			})
		})
	}
}

func TestNothingIsDeliveredAfterStop(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	called := 0
	thing := newThing(start(t, Options{}), &fileSource{}, none, func(outcome) { called++ })
	thing.deliver(ctx, outcome{digest: digest{1}})
	require.Equal(t, 1, called)
	cancel()
	thing.deliver(ctx, outcome{digest: digest{2}})
	assert.Equal(t, 1, called, "a version that was read when the watching ended")
}

func TestAFolderThatCannotBeWatchedIsPolledAndToldOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log logs
		b := startBench(t, Options{Poll: time.Second, Logger: log.logger()})
		b.fails = errors.New("out of watches")
		dir := t.TempDir()
		path := filepath.Join(dir, "f")
		first, second := watchFile(t, b.Watcher, path, 100), watchFile(t, b.Watcher, path, 100)
		for _, data := range []string{"one", "two"} {
			replace(t, path, data)
			time.Sleep(1200 * time.Millisecond)
			synctest.Wait()
			require.Len(t, first, 1)
			require.Len(t, second, 1)
			assert.Equal(t, data, nextData(t, first))
			assert.Equal(t, data, nextData(t, second))
		}
		assert.Equal(t, 1, bytes.Count([]byte(log.String()), []byte("folder="+dir+" ")), log.String())
		assert.Contains(t, log.String(), "out of watches")
	})
}
