package pool_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host/wasm/engine/pool"
)

func refused(t *testing.T, p *pool.Pool[*thing], within pool.Lease[*thing]) {
	t.Helper()
	_, err := p.Get(t.Context(), within.Hold())
	var busy *pool.BusyError
	require.ErrorAs(t, err, &busy)
	require.Equal(t, pool.WouldBlock, busy.Why)
}

func TestANestedCallTakesWhatIsIdleOrNew(t *testing.T) {
	p := open(t, &factory{}, pool.Options{Most: 2})
	outer := get(t, p)
	defer outer.Put()
	for range 2 {
		inner, err := p.Get(t.Context(), outer.Hold())
		require.NoError(t, err)
		require.Equal(t, 2, inner.Value().id)
		inner.Put()
	}
}

func TestANestedCallNeverWaitsForItself(t *testing.T) {
	p := open(t, &factory{}, pool.Options{Most: 1})
	outer := get(t, p)
	defer outer.Put()
	_, err := p.Get(t.Context(), outer.Hold())
	require.ErrorIs(t, err, pool.ErrBusy)
	require.EqualError(t, err, "pool is busy: all 1 are in use by calls that wait themselves, and this call would make them "+
		"wait for each other: nest calls less deeply, or raise the limit of 1")
}

func TestANestedCallNeverWaitsForItselfThroughAnotherPool(t *testing.T) {
	a, b := open(t, &factory{}, pool.Options{Most: 1}), open(t, &factory{}, pool.Options{})
	first := get(t, a)
	defer first.Put()
	second, err := b.Get(t.Context(), first.Hold())
	require.NoError(t, err)
	refused(t, a, second)
	second.Put()
}

func TestANestedCallWaitsForACallThatDoesNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := open(t, &factory{most: 2}, pool.Options{Most: 2})
		one, two := get(t, p), get(t, p)
		inner, _ := waiting(t, p, one.Hold())
		// Now the first call waits, and the second would wait for it.
		refused(t, p, two)
		two.Put()
		o := <-inner
		require.NoError(t, o.err)
		o.lease.Put()
		one.Put()
	})
}

func TestCallsOverSeveralPoolsDoNotWaitInACircle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		options := pool.Options{Most: 1}
		a, b, c := open(t, &factory{}, options), open(t, &factory{}, options), open(t, &factory{}, options)
		inA, inB, inC := get(t, a), get(t, b), get(t, c)
		fromA, _ := waiting(t, b, inA.Hold())
		fromB, leave := waiting(t, c, inB.Hold())
		refused(t, a, inC)
		// A wait that is over no longer stands in the way.
		leave()
		require.Equal(t, context.Canceled, (<-fromB).err)
		refused(t, a, inC) // the first still waits
		inB.Put()
		o := <-fromA
		require.NoError(t, o.err)
		fromC, _ := waiting(t, a, inC.Hold())
		o.lease.Put()
		inA.Put()
		(<-fromC).lease.Put()
		inC.Put()
	})
}

func TestANestedCallMayWaitForWhatIsBeingMadeOrClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		f := &factory{most: 1}
		p, other := open(t, f, pool.Options{Most: 1}), open(t, &factory{}, pool.Options{})
		outer := get(t, other)

		f.hook = func(context.Context) error { <-gate; return nil }
		made, _ := waiting(t, p, nil)
		inner, _ := waiting(t, p, outer.Hold())
		gate <- struct{}{}
		f.hook = nil
		(<-made).lease.Put()
		lease := (<-inner).lease

		f.onClose = func() { <-gate }
		go lease.Discard(pool.Spent)
		synctest.Wait()
		inner, _ = waiting(t, p, outer.Hold())
		gate <- struct{}{}
		f.onClose = nil
		(<-inner).lease.Put()
		outer.Put()
	})
}

func TestAWaitWithinALeaseBlocksAllThatItIsWithin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b, c := open(t, &factory{}, pool.Options{Most: 1}), open(t, &factory{}, pool.Options{Most: 1}), open(t, &factory{}, pool.Options{Most: 1})
		inA := get(t, a)
		inB, err := b.Get(t.Context(), inA.Hold())
		require.NoError(t, err)
		inC := get(t, c)
		deep, _ := waiting(t, c, inB.Hold())
		refused(t, b, inC)
		refused(t, a, inC)
		inC.Put()
		(<-deep).lease.Put()
		inB.Put()
		inA.Put()
		// What the lease was within is forgotten with it.
		inB = get(t, b)
		inC = get(t, c)
		again, _ := waiting(t, c, inB.Hold())
		inA = get(t, a)
		other, _ := waiting(t, a, inC.Hold())
		inA.Put()
		(<-other).lease.Put()
		inC.Put()
		(<-again).lease.Put()
		inB.Put()
	})
}

func TestCallsThatAreNestedVeryDeeplyDoNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		deep := open(t, &factory{}, pool.Options{Most: pool.Unlimited})
		p := open(t, &factory{}, pool.Options{Most: 1})
		busy := get(t, p)
		lease := get(t, deep)
		leases := []pool.Lease[*thing]{lease}
		for range 63 {
			inner, err := deep.Get(t.Context(), lease.Hold())
			require.NoError(t, err)
			lease = inner
			leases = append(leases, lease)
		}
		turn, leave := waiting(t, p, lease.Hold()) // 64
		leave()
		require.Error(t, (<-turn).err)
		inner, err := deep.Get(t.Context(), lease.Hold())
		require.NoError(t, err)
		refused(t, p, inner) // 65
		for _, l := range append(leases, inner, busy) {
			l.Put()
		}
	})
}

// walker makes calls that nest at random over some pools, also several at once within one, as host functions do.
type walker struct {
	pools                   []*pool.Pool[*thing]
	nested, refused, waited atomic.Int64
}

// walk gives the time that a call takes by itself to pause.
func (w *walker) walk(random *rand.Rand, within *pool.Hold, depth int, pause func(*rand.Rand)) {
	lease, err := w.pools[random.IntN(len(w.pools))].Get(context.Background(), within)
	if within != nil {
		w.nested.Add(1)
	}
	if errors.Is(err, pool.ErrBusy) {
		w.refused.Add(1)
		return
	}
	if err != nil {
		return // what makes resources failed
	}
	if within != nil && lease.Waited() > 0 {
		w.waited.Add(1)
	}
	release := lease.Value().use()
	pause(random)
	var wg sync.WaitGroup
	for range random.IntN(3) {
		if depth == 0 {
			break
		}
		inner := rand.New(rand.NewPCG(random.Uint64(), 1))
		wg.Go(func() { w.walk(inner, lease.Hold(), depth-1, pause) })
	}
	wg.Wait()
	pause(random)
	release()
	if random.IntN(8) == 0 {
		lease.Discard(pool.Spent)
		return
	}
	lease.Put()
}

// TestNestedCallsComeToAnEnd would be ended by the bubble, which sees a deadlock, if calls could wait for one another.
// No call has a deadline.
func TestNestedCallsComeToAnEnd(t *testing.T) {
	for seed := range uint64(30) {
		synctest.Test(t, func(t *testing.T) {
			w := &walker{}
			for most := range 3 {
				options := pool.Options{Most: most + 1, Queue: pool.Unlimited}
				w.pools = append(w.pools, open(t, &factory{most: most + 1}, options))
			}
			var wg sync.WaitGroup
			for caller := range uint64(12) {
				wg.Go(func() {
					random := rand.New(rand.NewPCG(seed, caller))
					for range 20 {
						w.walk(random, nil, 4, func(random *rand.Rand) {
							time.Sleep(time.Duration(random.IntN(100)) * time.Millisecond)
						})
					}
				})
			}
			wg.Wait()
			// The rule is kind: of the nested calls that could not be served at once, not a few wait and are served.
			require.NotZero(t, w.refused.Load())
			require.Greater(t, w.waited.Load(), w.refused.Load()/20)
			t.Logf("%d nested calls, %d waited, %d refused", w.nested.Load(), w.waited.Load(), w.refused.Load())
		})
	}
}
