package pool_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host/wasm/engine/pool"
)

// linger does nothing for a moment, without a clock.
func linger(random *rand.Rand) {
	for range random.IntN(20) {
		runtime.Gosched()
	}
}

// TestHammer has many goroutines borrow with contexts that end at any moment, while others do all else that one may do
// with a pool, and looks that nothing is lost: each caller without a deadline is served in the end.
func TestHammer(t *testing.T) {
	t.Run("crowded", func(t *testing.T) { hammer(t, 24, 1500) })
	t.Run("sparse", func(t *testing.T) { hammer(t, 4, 5000) })
}

func hammer(t *testing.T, callers, loops int) {
	var makes atomic.Uint64
	f := &factory{most: 3, hook: func(ctx context.Context) error {
		runtime.Gosched()
		switch n := makes.Add(1); {
		case n%23 == 0:
			return errMake
		case n%101 == 0:
			panic("made badly")
		}
		return nil
	}}
	p := open(t, f, pool.Options{Most: 3, Queue: callers / 2, Keep: 2, IdleTime: 100 * time.Microsecond})
	var served, lost, busy, failed atomic.Int64
	borrow := func(random *rand.Rand) {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		get := p.Get
		switch random.IntN(8) {
		case 0, 1:
			another := rand.New(rand.NewPCG(random.Uint64(), 0))
			go func() { linger(another); cancel() }()
		case 2:
			short, cancel := context.WithTimeout(ctx, time.Duration(random.IntN(100))*time.Microsecond)
			defer cancel()
			ctx = short
		case 3:
			get = p.TryGet
		}
		lease, err := get(ctx, nil)
		defer lease.Discard(pool.Faulty)
		switch {
		case err == nil:
			served.Add(1)
			release := lease.Value().use()
			linger(random)
			release()
			if random.IntN(10) > 0 {
				lease.Put()
			}
		case errors.Is(err, pool.ErrBusy):
			busy.Add(1)
		case ctx.Err() != nil:
			lost.Add(1)
		default:
			failed.Add(1)
		}
	}
	var wg, others sync.WaitGroup
	for n := range callers {
		wg.Go(func() {
			random := rand.New(rand.NewPCG(uint64(n), 0))
			for range loops {
				borrow(random)
			}
		})
	}
	stop := make(chan struct{})
	for n, other := range []func(*rand.Rand){
		func(*rand.Rand) { p.Trim() },
		func(*rand.Rand) { p.Interrupt(errMake) },
		func(random *rand.Rand) { p.Warm(random.IntN(3)) },
		func(*rand.Rand) {
			if s := p.Stats(); s.Live+s.Making > 3 || s.Waiting > 0 && (s.Idle > 0 || s.Live+s.Making < 3) {
				t.Errorf("somebody waits for nothing: %+v", s)
			}
		},
	} {
		others.Go(func() {
			random := rand.New(rand.NewPCG(uint64(n), 1))
			for {
				select {
				case <-stop:
					return
				default:
					other(random)
					time.Sleep(50 * time.Microsecond)
				}
			}
		})
	}
	wg.Wait()
	close(stop)
	others.Wait()
	s := p.Stats()
	require.Zero(t, s.Waiting)
	require.Equal(t, uint64(served.Load()), s.Borrowed)
	require.Equal(t, uint64(busy.Load()), s.Busy)
	for what, n := range map[string]int64{"served": served.Load(), "busy": busy.Load(), "left": lost.Load(), "failed": failed.Load()} {
		require.NotZero(t, n, what)
	}
	t.Logf("%d served, %d busy, %d left, %d failed: %+v", served.Load(), busy.Load(), lost.Load(), failed.Load(), s)
}

// TestNestedHammer is TestNestedCallsComeToAnEnd with real processors. It hangs where calls wait for one another.
func TestNestedHammer(t *testing.T) {
	w := &walker{}
	for most := range 3 {
		w.pools = append(w.pools, open(t, &factory{most: most + 1}, pool.Options{Most: most + 1, Queue: pool.Unlimited}))
	}
	var wg sync.WaitGroup
	for caller := range uint64(8) {
		wg.Go(func() {
			random := rand.New(rand.NewPCG(0, caller))
			for range 150 {
				w.walk(random, nil, 3, linger)
			}
		})
	}
	wg.Wait()
	require.NotZero(t, w.refused.Load())
	require.NotZero(t, w.waited.Load())
	for _, p := range w.pools {
		s := p.Stats()
		require.Zero(t, s.Waiting+s.Making)
		require.Equal(t, s.Live, s.Idle)
	}
	t.Logf("%d nested calls, %d waited, %d refused", w.nested.Load(), w.waited.Load(), w.refused.Load())
}

// TestCloseHammer closes pools while they are used.
func TestCloseHammer(t *testing.T) {
	for n := range uint64(300) {
		p := open(t, &factory{most: 2}, pool.Options{Most: 2, IdleTime: 10 * time.Microsecond})
		p.Warm(int(n % 3))
		var wg sync.WaitGroup
		for caller := range uint64(6) {
			wg.Go(func() {
				random := rand.New(rand.NewPCG(n, caller))
				for {
					lease, err := p.Get(context.Background(), nil)
					if err != nil {
						if !errors.Is(err, pool.ErrClosed) {
							t.Error(err)
						}
						return
					}
					release := lease.Value().use()
					linger(random)
					release()
					lease.Put()
				}
			})
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(n%20)*10*time.Microsecond)
		<-ctx.Done()
		_ = p.Close(ctx)
		<-p.Drained()
		cancel()
		wg.Wait()
	}
}
