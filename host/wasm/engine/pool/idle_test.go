package pool_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host/wasm/engine/pool"
)

// burst borrows n at once and gives them back.
func burst(t *testing.T, p *pool.Pool[*thing], n int) {
	t.Helper()
	var leases []pool.Lease[*thing]
	for range n {
		leases = append(leases, get(t, p))
	}
	for _, lease := range leases {
		lease.Put()
	}
}

func TestWhatNobodyUsesIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := open(t, &factory{}, pool.Options{IdleTime: time.Minute})
		burst(t, p, 5)
		// One caller comes every ten seconds, and keeps one in use.
		for elapsed := time.Duration(0); elapsed < time.Minute; elapsed += 10 * time.Second {
			require.Equal(t, 5, p.Stats().Live, "after %s", elapsed)
			get(t, p).Put()
			time.Sleep(10 * time.Second)
		}
		get(t, p).Put()
		time.Sleep(time.Minute / 4)
		synctest.Wait()
		s := p.Stats()
		require.Equal(t, 1, s.Live)
		require.Equal(t, uint64(4), s.Discarded[pool.Expired])

		time.Sleep(time.Minute)
		synctest.Wait()
		require.Zero(t, p.Stats().Live)
		get(t, p).Put()
		time.Sleep(time.Minute - 1)
		require.Equal(t, 1, p.Stats().Live, "the time begins again")
		time.Sleep(time.Minute/4 + 1)
		synctest.Wait()
		require.Zero(t, p.Stats().Live)
	})
}

// TestNothingIsClosedTooEarly gives back just before the timer goes off.
func TestNothingIsClosedTooEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := open(t, &factory{}, pool.Options{IdleTime: time.Minute})
		lease := get(t, p)
		burst(t, p, 1) // starts the timer
		time.Sleep(time.Minute/4 - 1)
		lease.Put()
		time.Sleep(time.Minute - 1)
		require.Zero(t, lease.Value().closed.Load())
		time.Sleep(time.Minute/4 + 1)
		synctest.Wait()
		require.Zero(t, p.Stats().Live)
	})
}

func TestWhatIsOutDoesNotExpire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := open(t, &factory{}, pool.Options{IdleTime: time.Minute})
		burst(t, p, 2)
		lease := get(t, p)
		time.Sleep(time.Hour)
		require.Equal(t, 1, p.Stats().Live)
		lease.Put()
		time.Sleep(time.Minute - 1)
		require.Equal(t, 1, p.Stats().Live)
	})
}

func TestIdleTimesOfAnyLengthWork(t *testing.T) {
	for _, idle := range []time.Duration{1, 3, 4, time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			p := open(t, &factory{}, pool.Options{IdleTime: idle})
			burst(t, p, 2)
			time.Sleep(2*idle + 10)
			synctest.Wait()
			require.Zero(t, p.Stats().Live)
		})
	}
}

func TestWarmMakesAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var ahead []bool
		f := &factory{hook: func(ctx context.Context) error {
			mu.Lock()
			ahead = append(ahead, pool.Ahead(ctx))
			mu.Unlock()
			time.Sleep(time.Second)
			return nil
		}}
		p := open(t, f, pool.Options{IdleTime: time.Minute, Keep: 2})
		synctest.Wait()
		require.Zero(t, p.Stats().Making, "nothing is made ahead unless Warm says so")
		p.Warm(2)
		synctest.Wait()
		require.Equal(t, 1, p.Stats().Making, "one after the other")
		time.Sleep(2 * time.Second)
		synctest.Wait()
		require.Equal(t, 2, p.Stats().Idle)

		time.Sleep(time.Hour)
		require.Equal(t, 2, p.Stats().Idle, "idle time does not close them")

		lease := get(t, p)
		require.False(t, lease.New())
		time.Sleep(time.Second)
		synctest.Wait()
		require.Equal(t, 2, p.Stats().Idle, "one was made for the one that is out")
		for range 10 {
			lease.Put()
			require.Equal(t, 3, p.Stats().Idle, "Keep is no less than one more")
			lease = get(t, p)
		}
		require.Equal(t, 3, p.Stats().Live)
		lease.Put()
		time.Sleep(time.Hour)
		require.Equal(t, 2, p.Stats().Idle)

		lease = get(t, p)
		time.Sleep(time.Second)
		lease.Discard(pool.Faulty)
		time.Sleep(time.Second)
		synctest.Wait()
		require.Equal(t, 2, p.Stats().Idle)

		p.Warm(0)
		time.Sleep(time.Hour)
		require.Zero(t, p.Stats().Live)
		get(t, p).Put()
		require.Equal(t, []bool{true, true, true, true, false}, ahead)
	})
}

func TestWarmTakesNoPlaceFromThoseWhoWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan error)
		f := &factory{most: 2, hook: func(context.Context) error { return <-gate }}
		p := open(t, f, pool.Options{Most: 2})
		p.Warm(5)
		synctest.Wait()
		gate <- nil
		synctest.Wait()
		lease := get(t, p) // The other place is that of one that is being made.
		turn, _ := waiting(t, p, nil)
		gate <- nil
		o := <-turn
		require.NoError(t, o.err)
		require.False(t, o.lease.New())
		turn, _ = waiting(t, p, nil)
		lease.Discard(pool.Faulty)
		synctest.Wait()
		require.Equal(t, 1, p.Stats().Making)
		gate <- nil
		made := (<-turn).lease
		require.True(t, made.New())
		made.Put()
		o.lease.Put()
		close(gate)
	})
}

func TestWarmRestsAfterAFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fails := true
		f := &factory{hook: func(context.Context) error {
			if fails {
				return errMake
			}
			return nil
		}}
		p := open(t, f, pool.Options{})
		p.Warm(2)
		time.Sleep(time.Hour)
		require.Equal(t, uint64(1), p.Stats().Failed)
		for range 10 {
			_, err := p.Get(t.Context(), nil)
			require.Equal(t, errMake, err)
			synctest.Wait()
		}
		require.Equal(t, uint64(12), p.Stats().Failed, "ten times for the callers, and once ahead")
		fails = false
		lease := get(t, p)
		synctest.Wait()
		require.Zero(t, p.Stats().Idle)
		time.Sleep(time.Second)
		lease.Put()
		get(t, p).Put()
		synctest.Wait()
		require.Equal(t, 2, p.Stats().Idle)
	})
}

func TestWarmRestsAfterTrim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := open(t, &factory{}, pool.Options{})
		p.Warm(2)
		synctest.Wait()
		require.Equal(t, 2, p.Trim())
		get(t, p).Put()
		time.Sleep(time.Second)
		require.Equal(t, 1, p.Stats().Live)
		get(t, p).Put()
		synctest.Wait()
		require.Equal(t, 2, p.Stats().Live)

		require.Equal(t, 2, p.Trim())
		p.Warm(1)
		synctest.Wait()
		require.Equal(t, 1, p.Stats().Live, "to say it again ends the rest")
	})
}

func TestCloseEndsWhatIsMadeAhead(t *testing.T) {
	for name, hook := range map[string]func(context.Context) error{
		"obeys":        func(ctx context.Context) error { <-ctx.Done(); return context.Cause(ctx) },
		"does not see": func(ctx context.Context) error { <-ctx.Done(); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := open(t, &factory{hook: hook}, pool.Options{})
				p.Warm(1)
				synctest.Wait()
				p.Interrupt(errMake)
				synctest.Wait()
				require.Equal(t, 1, p.Stats().Making, "it is no call in flight")
				require.NoError(t, p.Close(t.Context()))
				p.Warm(3)
				p.Trim()
				require.Zero(t, p.Stats().Making)
			})
		})
	}
}
