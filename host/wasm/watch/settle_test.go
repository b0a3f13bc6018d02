package watch

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fsnotify/fsnotify"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A stage is a bench with one watched file, whose first version was delivered.
type stage struct {
	*bench
	t    *testing.T
	path string

	mu        sync.Mutex
	began     time.Time // the test
	delivered []delivery
}

type delivery struct {
	File
	after time.Duration // since the test began
}

// onStage runs a test in a bubble. The file is there with the text "one" in it.
func onStage(t *testing.T, options Options, test func(s *stage)) {
	synctest.Test(t, func(t *testing.T) {
		s := &stage{bench: startBench(t, options), t: t, path: filepath.Join(t.TempDir(), "f")}
		write(t, s.path, "one")
		_, err := s.File(s.path, -1, none, func(f File) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.delivered = append(s.delivered, delivery{f, time.Since(s.began)})
		})
		require.NoError(t, err)
		time.Sleep(s.options.Settle)
		synctest.Wait()
		require.Equal(t, "one", string(s.take(1)[0].Data))
		s.mu.Lock()
		s.began = time.Now()
		s.mu.Unlock()
		test(s)
	})
}

// take returns what was delivered since the last time, which must be that many.
func (s *stage) take(count int) []delivery {
	s.t.Helper()
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	taken := s.delivered
	s.delivered = nil
	require.Len(s.t, taken, count)
	return taken
}

// write overwrites the file in place.
func (s *stage) write(data []byte) {
	require.NoError(s.t, os.WriteFile(s.path, data, 0o600))
	s.notify(s.path, fsnotify.Write)
}

// grow appends to the file.
func (s *stage) grow(data []byte) {
	f, err := os.OpenFile(s.path, os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o600)
	require.NoError(s.t, err)
	_, err = f.Write(data)
	require.NoError(s.t, err)
	require.NoError(s.t, f.Close())
	s.notify(s.path, fsnotify.Write)
}

// replace renames another file over it.
func (s *stage) replace(data []byte) {
	replace(s.t, s.path, string(data))
	s.notify(s.path, fsnotify.Create)
}

func TestAVersionIsDeliveredOnceNothingChangedForTheSettleTime(t *testing.T) {
	onStage(t, Options{}, func(s *stage) {
		s.replace([]byte("two"))
		time.Sleep(99 * time.Millisecond)
		s.take(0)
		time.Sleep(time.Millisecond)
		assert.Equal(t, "two", string(s.take(1)[0].Data))
	})
}

func TestANotificationStartsTheSettleTimeAnew(t *testing.T) {
	onStage(t, Options{}, func(s *stage) {
		s.write([]byte("two"))
		time.Sleep(60 * time.Millisecond)
		s.write([]byte("three"))
		time.Sleep(99 * time.Millisecond)
		s.take(0)
		time.Sleep(time.Millisecond)
		assert.Equal(t, "three", string(s.take(1)[0].Data), "and never two")
	})
}

func TestASlowCopyIsNeverDeliveredHalf(t *testing.T) {
	const chunk = 1000
	whole := version(2, 100*chunk)
	for name, begin := range map[string]func(s *stage){
		"over what was there":   func(s *stage) { s.write(nil) },
		"after a deletion":      func(s *stage) { require.NoError(t, os.Remove(s.path)); s.notify(s.path, fsnotify.Remove) },
		"into a file put there": func(s *stage) { s.replace(nil) },
		"that is started twice": func(s *stage) {
			s.write(nil)
			synctest.Wait() // it is seen to be empty
			for range 10 {
				s.grow(whole[:chunk])
				time.Sleep(90 * time.Millisecond)
			}
			s.write(nil)
		},
		"after what was appended":  func(s *stage) { s.grow(whole[:chunk]); s.write(nil) },
		"of the size that it had":  func(s *stage) { s.write(bytes.Repeat([]byte("."), len(whole))) },
		"through a file name swap": func(s *stage) { rename(t, s.path, s.path+"~"); s.notify(s.path, fsnotify.Rename); s.replace(nil) },
	} {
		t.Run(name, func(t *testing.T) {
			// The copy takes longer than MaxWait, and pauses for almost the settle time.
			onStage(t, Options{}, func(s *stage) {
				begin(s)
				if size(t, s.path) == len(whole) {
					for at := 0; at < len(whole); at += chunk {
						s.overwrite(at, whole[at:min(at+chunk, len(whole))])
						time.Sleep(99 * time.Millisecond)
					}
				} else {
					for rest := whole; len(rest) > 0; rest = rest[min(chunk, len(rest)):] {
						s.grow(rest[:min(chunk, len(rest))])
						time.Sleep(99 * time.Millisecond)
					}
				}
				time.Sleep(time.Second)
				assert.Equal(t, whole, s.take(1)[0].Data)
			})
		})
	}
}

func size(t *testing.T, path string) int {
	info, err := os.Stat(path)
	if os.IsNotExist(err) {
		return -1
	}
	require.NoError(t, err)
	return int(info.Size())
}

// overwrite writes into the file, whose size stays.
func (s *stage) overwrite(at int, data []byte) {
	f, err := os.OpenFile(s.path, os.O_WRONLY, 0o600)
	require.NoError(s.t, err)
	_, err = f.WriteAt(data, int64(at))
	require.NoError(s.t, err)
	require.NoError(s.t, f.Close())
	s.notify(s.path, fsnotify.Write)
}

func TestAWriterThatPausesForLongerHasItsHalfFollowedByTheWhole(t *testing.T) {
	onStage(t, Options{}, func(s *stage) {
		data := version(2, 1000)
		s.write(data[:500])
		time.Sleep(300 * time.Millisecond)
		s.grow(data[500:])
		time.Sleep(300 * time.Millisecond)
		taken := s.take(2)
		assert.False(t, whole(taken[0].Data))
		assert.Equal(t, data, taken[1].Data)
	})
}

func TestVersionsThatNeverPauseAreDeliveredAfterMaxWait(t *testing.T) {
	for name, change := range map[string]func(s *stage, data []byte){
		"renamed over it":  func(s *stage, data []byte) { s.replace(data) },
		"written in place": func(s *stage, data []byte) { s.write(nil); synctest.Wait(); s.write(data) },
	} {
		t.Run(name, func(t *testing.T) {
			onStage(t, Options{MaxWait: 505 * time.Millisecond}, func(s *stage) { // between two changes
				for i := range 200 { // 100 changes a second
					change(s, version(i, 1000))
					time.Sleep(10 * time.Millisecond)
				}
				time.Sleep(time.Second)
				taken := s.take(4)
				for i, d := range taken {
					assert.True(t, whole(d.Data))
					if i < 3 {
						assert.InDelta(t, 505*(i+1), d.after.Milliseconds(), 10*float64(i+1), "delivery %d", i)
					}
				}
				assert.Equal(t, version(199, 1000), taken[len(taken)-1].Data)
			})
		})
	}
}

func TestTwoReadingsOfAFileThatWasBegunAnewBetweenThemDoNotCount(t *testing.T) {
	onStage(t, Options{}, func(s *stage) {
		at := func(ms int, do func()) {
			time.Sleep(time.Until(s.began.Add(time.Duration(ms) * time.Millisecond)))
			do()
		}
		touch := func() { s.notify(s.path, fsnotify.Chmod) }
		at(0, func() { s.grow([]byte(".")) })
		for ms := 50; ms < 1900; ms += 50 { // it never rests, so it is read at 1900 ms
			at(ms, touch)
		}
		at(1920, func() { s.write(nil) })
		at(1980, func() { s.write([]byte("one.")) }) // the same again, but this is the beginning of a slow copy
		for ms := 2030; ms < 2150; ms += 50 {
			at(ms, touch)
		}
		at(2150, func() { s.grow([]byte("two")) })
		time.Sleep(time.Second)
		assert.Equal(t, "one.two", string(s.take(1)[0].Data))
	})
}

func TestVersionsThatDoNotLastForTwoReadingsAreNotDelivered(t *testing.T) {
	onStage(t, Options{Settle: time.Second, MaxWait: time.Second}, func(s *stage) {
		for i := range 100 { // two readings are 20 ms apart
			s.write(nil)
			synctest.Wait()
			s.write([]byte(strconv.Itoa(i % 3)))
			time.Sleep(15 * time.Millisecond)
		}
		s.take(0)
		time.Sleep(time.Second)
		assert.Equal(t, "0", string(s.take(1)[0].Data))
	})
}

func TestAVersionThatIsReplacedBetweenTwoReadingsCounts(t *testing.T) {
	onStage(t, Options{Settle: time.Second, MaxWait: time.Second}, func(s *stage) {
		for i := range 100 {
			s.replace([]byte(strconv.Itoa(i)))
			time.Sleep(15 * time.Millisecond)
		}
		d := s.take(1)[0]
		assert.InDelta(t, 1020, d.after.Milliseconds(), 1)
		assert.Equal(t, "66", string(d.Data), "what was there after 1000 ms")
		time.Sleep(time.Second)
		assert.Equal(t, "99", string(s.take(1)[0].Data))
	})
}

func TestAStormIsOneDelivery(t *testing.T) {
	onStage(t, Options{}, func(s *stage) {
		for i := range 100 {
			s.replace(version(i, 1000))
			time.Sleep(10 * time.Millisecond)
		}
		time.Sleep(200 * time.Millisecond)
		assert.Equal(t, version(99, 1000), s.take(1)[0].Data)
	})
}

func TestAVersionUnderEndlessTouchesIsDeliveredAfterMaxWait(t *testing.T) {
	onStage(t, Options{}, func(s *stage) {
		s.write([]byte("two"))
		time.Sleep(20 * time.Millisecond) // no touch comes just when the file is read
		for range 50 {
			time.Sleep(50 * time.Millisecond)
			now := time.Now()
			require.NoError(t, os.Chtimes(s.path, now, now))
			s.notify(s.path, fsnotify.Chmod)
		}
		d := s.take(1)[0]
		assert.Equal(t, "two", string(d.Data))
		assert.InDelta(t, 2000, d.after.Milliseconds(), 60)
	})
}

func TestATouchedFileIsNoNews(t *testing.T) {
	onStage(t, Options{Rescan: time.Second}, func(s *stage) {
		for range 5 {
			now := time.Now()
			require.NoError(t, os.Chtimes(s.path, now, now))
			s.notify(s.path, fsnotify.Chmod)
			time.Sleep(time.Second)
			s.replace([]byte("one"))
			time.Sleep(time.Second)
		}
		s.take(0)
	})
}

func TestADeletionForLessThanTheSettleTimeIsNoDeletion(t *testing.T) {
	onStage(t, Options{}, func(s *stage) {
		require.NoError(t, os.Remove(s.path))
		s.notify(s.path, fsnotify.Remove)
		time.Sleep(90 * time.Millisecond)
		s.write([]byte("two"))
		time.Sleep(time.Second)
		assert.Equal(t, "two", string(s.take(1)[0].Data))
	})
}
