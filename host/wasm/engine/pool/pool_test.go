package pool_test

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host/wasm/engine/pool"
)

func TestWhatCameBackLastIsLentFirst(t *testing.T) {
	p := open(t, &factory{}, pool.Options{})
	a, b, c := get(t, p), get(t, p), get(t, p)
	require.True(t, c.New())
	b.Put()
	c.Put()
	a.Put()
	for _, want := range []int{1, 3, 2} {
		lease := get(t, p)
		defer lease.Put()
		require.Equal(t, want, lease.Value().id)
		require.False(t, lease.New())
		require.Zero(t, lease.Waited())
	}
	s := p.Stats()
	require.Equal(t, uint64(3), s.Created)
	require.Equal(t, uint64(6), s.Borrowed)
	require.Equal(t, 3, s.Live)
	require.Zero(t, s.Idle)
}

func TestWhoWaitsLongestIsServedFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := open(t, &factory{most: 1}, pool.Options{Most: 1})
		lease := get(t, p)
		first, _ := waiting(t, p, nil)
		second, _ := waiting(t, p, nil)
		third, _ := waiting(t, p, nil)
		require.Equal(t, 3, p.Stats().Waiting)
		for _, turn := range []<-chan outcome{first, second, third} {
			time.Sleep(time.Second)
			lease.Put()
			// Nobody who comes now may take it, although the one it was handed to has not run yet.
			_, err := p.TryGet(t.Context(), nil)
			require.ErrorIs(t, err, pool.ErrBusy)
			o := <-turn
			require.NoError(t, o.err)
			lease = o.lease
		}
		require.Equal(t, 3*time.Second, lease.Waited())
		lease.Put()
		s := p.Stats()
		require.Equal(t, uint64(3), s.Waits)
		require.Equal(t, 6*time.Second, s.WaitTime)
		require.Equal(t, 3*time.Second, s.LongestWait)
		require.Equal(t, uint64(1), s.Created)
		require.Equal(t, uint64(4), s.Borrowed)
	})
}

func TestADiscardedResourceMakesRoomForWhoWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := open(t, &factory{most: 1}, pool.Options{Most: 1})
		lease := get(t, p)
		turn, _ := waiting(t, p, nil)
		time.Sleep(time.Minute)
		lease.Discard(pool.Spent)
		o := <-turn
		require.NoError(t, o.err)
		require.True(t, o.lease.New())
		require.Equal(t, time.Minute, o.lease.Waited())
		require.Equal(t, 2, o.lease.Value().id)
		o.lease.Put()
		require.Equal(t, uint64(1), p.Stats().Discarded[pool.Spent])
	})
}

func TestAWaitEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := open(t, &factory{}, pool.Options{Most: 1})
		lease := get(t, p)
		before, _ := waiting(t, p, nil)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := p.Get(ctx, nil)
		require.Equal(t, context.DeadlineExceeded, err)
		after, leave := waiting(t, p, nil)
		leave()
		require.Equal(t, context.Canceled, (<-after).err)
		s := p.Stats()
		require.Equal(t, 1, s.Waiting)
		require.Equal(t, time.Second, s.LongestWait)
		lease.Put()
		(<-before).lease.Put()

		_, err = p.Get(ctx, nil)
		require.Equal(t, context.DeadlineExceeded, err, "also where something is idle")
		require.Equal(t, 1, p.Stats().Idle)
	})
}

// TestWhatALeavingCallerWasGrantedGoesOn ends a wait by its context and by a grant before the caller has run again. On one
// processor the one that comes first is what the caller sees.
func TestWhatALeavingCallerWasGrantedGoesOn(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for name, grant := range map[string]func(pool.Lease[*thing]){
		"resource": func(l pool.Lease[*thing]) { l.Put() },
		"place":    func(l pool.Lease[*thing]) { l.Discard(pool.Faulty) },
		"interrupted resource": func(l pool.Lease[*thing]) {
			p := l.Value().factory.pool
			l.Put()
			p.Interrupt(errMake)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &factory{most: 1}
				f.pool = open(t, f, pool.Options{Most: 1})
				lease := get(t, f.pool)
				leaves, cancel := waiting(t, f.pool, nil)
				next, _ := waiting(t, f.pool, nil)
				cancel()
				grant(lease)
				require.Zero(t, f.pool.Stats().Idle)
				require.Equal(t, 1, f.pool.Stats().Waiting, "the grant came before the caller left")
				require.Equal(t, context.Canceled, (<-leaves).err)
				o := <-next
				require.NoError(t, o.err)
				o.lease.Put()
				s := f.pool.Stats()
				require.Zero(t, s.Waiting+s.Making)
				require.Equal(t, 1, s.Idle)
				require.Equal(t, uint64(2), s.Borrowed)
			})
		})
	}
}

func TestTooManyWhoWaitAreTurnedAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := open(t, &factory{}, pool.Options{Most: 2, Queue: 1})
		a, b := get(t, p), get(t, p)
		turn, _ := waiting(t, p, nil)
		_, err := p.Get(t.Context(), nil)
		require.ErrorIs(t, err, pool.ErrBusy)
		var busy *pool.BusyError
		require.ErrorAs(t, err, &busy)
		require.Equal(t, pool.BusyError{Why: pool.QueueFull, Out: 2, Most: 2, Waiting: 1, Queue: 1}, *busy)
		require.EqualError(t, err, "pool is busy: all 2 are in use and 1 callers wait: try again later, or raise the limit of 2 "+
			"or the 1 who may wait")
		_, err = p.TryGet(t.Context(), nil)
		require.EqualError(t, err, "pool is busy: all 2 are in use and 1 callers wait: try again later, or raise the limit of 2")
		require.Equal(t, uint64(2), p.Stats().Busy)
		a.Put()
		b.Put()
		(<-turn).lease.Put()
		lease, err := p.TryGet(t.Context(), nil)
		require.NoError(t, err)
		lease.Put()
	})
}

func TestDefaults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &factory{most: pool.DefaultMost}
		p := open(t, f, pool.Options{})
		var leases []pool.Lease[*thing]
		for range 128 {
			leases = append(leases, get(t, p))
		}
		ctx, cancel := context.WithCancel(t.Context())
		for range 1024 {
			go p.Get(ctx, nil)
		}
		synctest.Wait()
		require.Equal(t, 1024, p.Stats().Waiting)
		_, err := p.Get(ctx, nil)
		require.ErrorIs(t, err, pool.ErrBusy)
		cancel()
		synctest.Wait()
		for _, lease := range leases {
			lease.Put()
		}
		time.Sleep(1000 * time.Hour)
		require.Equal(t, 128, p.Stats().Idle, "all are kept, for any time")
	})
}

func TestUnlimited(t *testing.T) {
	p := open(t, &factory{}, pool.Options{Most: pool.Unlimited, Keep: pool.Unlimited})
	var leases []pool.Lease[*thing]
	for range 2 * pool.DefaultMost {
		leases = append(leases, get(t, p))
	}
	for _, lease := range leases {
		lease.Put()
	}
	require.Equal(t, 2*pool.DefaultMost, p.Stats().Idle)
}

func TestKeepBoundsWhatIsIdle(t *testing.T) {
	p := open(t, &factory{}, pool.Options{Keep: 1})
	a, b := get(t, p), get(t, p)
	a.Put()
	b.Put()
	s := p.Stats()
	require.Equal(t, 1, s.Live)
	require.Equal(t, 1, s.Idle)
	require.Equal(t, uint64(1), s.Discarded[pool.Surplus])
	lease := get(t, p)
	defer lease.Put()
	require.Equal(t, 1, lease.Value().id)
}

func TestALeaseEndsOnce(t *testing.T) {
	p := open(t, &factory{}, pool.Options{})
	lease := get(t, p)
	lease.Put()
	lease.Put()
	lease.Discard(pool.Faulty)
	require.Equal(t, 1, p.Stats().Idle)

	again := get(t, p)
	lease.Discard(pool.Faulty) // the same resource, lent to somebody else by now
	require.Zero(t, again.Value().closed.Load())
	again.Discard(pool.Reason(200))
	again.Put()
	s := p.Stats()
	require.Zero(t, s.Live)
	require.Equal(t, uint64(1), s.Discarded.Total())

	var none pool.Lease[*thing]
	none.Put()
	none.Discard(pool.Faulty)
	require.Nil(t, none.Hold())
}

func TestAFailureToMakeGoesToWhoAskedAndItsPlaceToTheNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		results := make(chan error)
		f := &factory{most: 1, hook: func(context.Context) error { return <-results }}
		p := open(t, f, pool.Options{Most: 1})
		first, _ := waiting(t, p, nil)
		second, _ := waiting(t, p, nil)
		third, _ := waiting(t, p, nil)
		s := p.Stats()
		require.Equal(t, 1, s.Making)
		require.Zero(t, s.Live)
		require.Equal(t, 2, s.Waiting)
		results <- errMake
		require.Equal(t, errMake, (<-first).err)
		synctest.Wait()
		require.Empty(t, second)
		results <- nil
		o := <-second
		require.NoError(t, o.err)
		o.lease.Put()
		(<-third).lease.Put()
		s = p.Stats()
		require.Equal(t, uint64(1), s.Failed)
		require.Equal(t, uint64(1), s.Created)
	})
}

func TestAPanicWhileMakingIsAnError(t *testing.T) {
	fault := true
	f := &factory{hook: func(context.Context) error {
		if fault {
			panic(errMake)
		}
		return nil
	}}
	p := open(t, f, pool.Options{Most: 1})
	_, err := p.Get(t.Context(), nil)
	require.EqualError(t, err, "making a resource panicked: no memory")
	require.ErrorIs(t, err, errMake)
	var panicked *pool.PanicError
	require.ErrorAs(t, err, &panicked)
	require.Contains(t, string(panicked.Stack), "pool_test.go")
	require.NoError(t, errors.Unwrap(&pool.PanicError{Value: "text"}))

	done := make(chan struct{})
	f.hook = func(context.Context) error { runtime.Goexit(); return nil }
	go func() {
		defer close(done)
		p.Get(context.Background(), nil)
	}()
	<-done
	require.Equal(t, uint64(2), p.Stats().Failed)
	f.hook = nil
	get(t, p).Put()
}

func TestMakingHonoursTheContextOfTheCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &factory{hook: func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }}
		p := open(t, f, pool.Options{Most: 1})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := p.Get(ctx, nil)
		require.Equal(t, context.DeadlineExceeded, err)
		require.Zero(t, p.Stats().Making)
	})
}

func TestReasonsHaveNames(t *testing.T) {
	var names []string
	for reason := range (pool.Discards{}) {
		names = append(names, pool.Reason(reason).String())
	}
	require.Equal(t, []string{"faulty", "spent", "interrupted", "expired", "surplus", "trimmed", "closed"}, names)
	require.Equal(t, "unknown", pool.Reason(200).String())
}

func TestWhatIsUsedOftenAllocatesNothing(t *testing.T) {
	p := open(t, &factory{}, pool.Options{IdleTime: time.Hour})
	outer := get(t, p)
	defer outer.Put()
	get(t, p).Put()
	var s pool.Stats
	require.Zero(t, testing.AllocsPerRun(100, func() {
		lease, err := p.Get(t.Context(), outer.Hold())
		if err == nil {
			lease.Put()
		}
		s = p.Stats()
	}))
	require.Equal(t, uint64(2), s.Created)
	require.Equal(t, uint64(103), s.Borrowed)
}
