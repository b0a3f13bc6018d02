package kvtest

import (
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host/kv"
)

// The hammer: so many goroutines, each so often.
const (
	workers = 8
	rounds  = 25
)

// together runs f in many goroutines at once.
func together(f func(worker int)) {
	var group sync.WaitGroup
	start := make(chan struct{})
	for worker := range workers {
		group.Go(func() {
			<-start
			f(worker)
		})
	}
	close(start)
	group.Wait()
}

// races is what holds where many write at once.
var races = map[string]func(*testing.T, *fixture){
	"NoUpdateIsLost": func(t *testing.T, f *fixture) {
		var conflicts atomic.Int64
		increment := func() error {
			for {
				e, found, err := f.Get(t.Context(), mine, "counter")
				if err != nil {
					return err
				}
				n := 0
				if found {
					if n, err = strconv.Atoi(string(e.Value)); err != nil {
						return err
					}
				}
				_, err = f.Set(t.Context(), mine, "counter", jsontext.Value(strconv.Itoa(n+1)), kv.SetOptions{IfVersion: &e.Version})
				if !errors.Is(err, kv.ErrConflict) {
					return err
				}
				conflicts.Add(1)
			}
		}
		together(func(int) {
			for range rounds {
				assert.NoError(t, increment())
			}
		})
		require.Equal(t, strconv.Itoa(workers*rounds), f.get(t, mine, "counter"))
		t.Logf("%d conflicts", conflicts.Load())
	},
	"OfManyWhoTakeWhatIsFreeOneGetsIt": func(t *testing.T, f *fixture) {
		for round := range rounds {
			var taken, version atomic.Int64
			key := fmt.Sprint(round)
			together(func(worker int) {
				v, err := f.Set(t.Context(), mine, key, jsontext.Value(strconv.Itoa(worker)), kv.SetOptions{IfVersion: new(int64(0))})
				if err == nil {
					taken.Add(1)
					version.Store(v)
					return
				}
				assert.ErrorIs(t, err, kv.ErrConflict)
			})
			require.EqualValues(t, 1, taken.Load())

			var deleted atomic.Int64
			together(func(int) {
				v := version.Load()
				ok, err := f.Delete(t.Context(), mine, key, &v)
				if err == nil && ok {
					deleted.Add(1)
					return
				}
				assert.ErrorIs(t, err, kv.ErrConflict)
			})
			require.EqualValues(t, 1, deleted.Load())
		}
	},
	"NoLimitIsPassedByWritersWhoRace": func(t *testing.T, f *fixture) {
		tight := kv.Limits{Keys: 20, Total: 20 * 10}
		var set, refused atomic.Int64
		together(func(worker int) {
			for round := range rounds {
				_, err := f.Set(t.Context(), mine, fmt.Sprintf("%02d%03d", worker, round), value(5), kv.SetOptions{Limits: tight})
				if err == nil {
					set.Add(1)
					continue
				}
				refused.Add(1)
				assert.ErrorIs(t, err, kv.ErrLimit)
			}
		})
		require.EqualValues(t, 20, set.Load())
		require.EqualValues(t, workers*rounds-20, refused.Load())
		require.Len(t, f.keys(t, mine, ""), 20)
		require.ErrorIs(t, f.setWithin(t, "k", 5, kv.Limits{Total: 200}), kv.ErrLimit, "what is counted is what is there")
		for _, key := range f.keys(t, mine, "") {
			_, err := f.Delete(t.Context(), mine, key, nil)
			require.NoError(t, err)
		}
		require.NoError(t, f.setWithin(t, "k", 199, kv.Limits{Total: 200}), "and nothing is left of what was deleted")
	},
	"WhoeverReadsSeesWholeWrites": func(t *testing.T, f *fixture) {
		f.set(t, mine, "key", `[0,0]`)
		together(func(worker int) {
			for round := range rounds {
				if worker == 0 {
					_, err := f.Set(t.Context(), mine, "key", jsontext.Value(fmt.Sprintf("[%d,%d]", round, round)), kv.SetOptions{})
					assert.NoError(t, err)
					continue
				}
				e, found, err := f.Get(t.Context(), mine, "key")
				assert.NoError(t, err)
				assert.True(t, found)
				var a, b int
				_, err = fmt.Sscanf(string(e.Value), "[%d,%d]", &a, &b)
				assert.NoError(t, err)
				assert.Equal(t, a, b)
				_, _, err = f.List(t.Context(), mine, kv.ListOptions{Values: true})
				assert.NoError(t, err)
			}
		})
	},
	"StoresMayBeClosedWhileTheyAreUsed": func(t *testing.T, f *fixture) {
		var once sync.Once
		together(func(worker int) {
			for round := range rounds {
				_, err := f.Set(t.Context(), mine, fmt.Sprintf("%02d%03d", worker, round), jsontext.Value(`1`), kv.SetOptions{})
				if err != nil {
					assert.ErrorIs(t, err, kv.ErrClosed)
					return
				}
				if round == 5 {
					once.Do(func() { assert.NoError(t, f.Close()) })
				}
			}
		})
		_, _, err := f.Get(t.Context(), mine, "0000")
		require.ErrorIs(t, err, kv.ErrClosed)
	},
}
