package watch

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAStormOnManyFilesIsCoalescedAndStarvesNoneOfThem(t *testing.T) {
	const (
		files  = 50
		period = 10 * time.Millisecond
		lasts  = 2 * time.Second
		first  = 0
		final  = 9 // those between are published again and again
	)
	options := Options{Settle: 50 * time.Millisecond, MaxWait: 300 * time.Millisecond}
	dir := t.TempDir()
	for v := first; v <= final; v++ {
		require.NoError(t, os.WriteFile(filepath.Join(dir, fmt.Sprint("version", v)), version(v, 10_000+v), 0o600))
	}
	path := func(file int) string { return filepath.Join(dir, fmt.Sprint("f", file)) }
	// A version is linked beside the file and renamed over it, so that the disk has nothing to write.
	publish := func(file, v int) {
		err := os.Link(filepath.Join(dir, fmt.Sprint("version", v)), path(file)+".new")
		if err == nil {
			err = os.Rename(path(file)+".new", path(file))
		}
		assert.NoError(t, err)
	}
	w := start(t, options)
	var delivered [files]<-chan File
	for i := range files {
		publish(i, first)
		delivered[i] = watchFile(t, w, path(i), 1<<20)
	}
	for i := range files {
		require.Equal(t, string(version(first, 10_000+first)), nextData(t, delivered[i]))
	}

	begin := time.Now()
	var storm sync.WaitGroup
	for i := range files {
		storm.Go(func() {
			ticker := time.NewTicker(period)
			defer ticker.Stop()
			for v := first; time.Since(begin) < lasts; v++ {
				publish(i, 1+v%(final-1))
				<-ticker.C
			}
			publish(i, final)
		})
	}
	storm.Wait()
	lasted := time.Since(begin)

	for i := range files {
		count := 0
		for data := ""; data != string(version(final, 10_000+final)); count++ {
			data = nextData(t, delivered[i])
			require.True(t, whole([]byte(data)))
		}
		assert.Greater(t, count, 1, "file %d came during the storm", i)
		assert.LessOrEqual(t, count, int(lasted/options.Settle)+1, "file %d: at most one for each settle time", i)
	}
}

func TestARealSlowCopyIsNeverDeliveredHalf(t *testing.T) {
	const (
		chunk  = 2000
		chunks = 40
	)
	options := Options{Settle: 200 * time.Millisecond, MaxWait: 300 * time.Millisecond}
	path := filepath.Join(t.TempDir(), "f")
	delivered := watchFile(t, start(t, options), path, 1<<20)
	paused := true
	for try := 1; paused && try <= 10; try++ {
		paused = false
		data := version(try, chunk*chunks)
		f, err := os.Create(path)
		require.NoError(t, err)
		last := time.Now()
		for at := 0; at < len(data); at += chunk {
			_, err := f.Write(data[at:min(at+chunk, len(data))])
			require.NoError(t, err)
			time.Sleep(20 * time.Millisecond) // the writer is slow: that is what is tested
			paused = paused || time.Since(last) > options.Settle/2
			last = time.Now()
		}
		require.NoError(t, f.Close())
		for got := ""; got != string(data); {
			got = nextData(t, delivered)
			// A machine that made the writer pause for too long says nothing about the watcher: the copy is made again.
			require.True(t, paused || whole([]byte(got)), "a half version was delivered")
		}
	}
	if paused {
		t.Skip("this machine never let a writer write on time")
	}
}
