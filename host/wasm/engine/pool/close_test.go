package pool_test

import (
	"context"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host/wasm/engine/pool"
)

func TestTrimClosesWhatIsIdle(t *testing.T) {
	p := open(t, &factory{}, pool.Options{})
	a, b, c := get(t, p), get(t, p), get(t, p)
	a.Put()
	b.Put()
	require.Equal(t, 2, p.Trim())
	require.Zero(t, p.Trim())
	c.Put()
	s := p.Stats()
	require.Equal(t, 1, s.Live)
	require.Equal(t, 1, s.Idle)
	require.Equal(t, uint64(2), s.Discarded[pool.Trimmed])
}

func TestWhatMakesResourcesMayTrim(t *testing.T) {
	f := &factory{}
	p := open(t, f, pool.Options{})
	a, b := get(t, p), get(t, p)
	f.hook = func(context.Context) error { b.Put(); p.Trim(); return nil }
	get(t, p).Put()
	a.Put()
	require.Equal(t, uint64(1), p.Stats().Discarded[pool.Trimmed])
}

func TestCloseWaitsForWhatIsOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &factory{}
		p := open(t, f, pool.Options{Most: 2})
		idle, lease := get(t, p), get(t, p)
		idle.Put()
		closed := make(chan error)
		go func() { closed <- p.Close(context.Background()) }()
		synctest.Wait()
		require.Equal(t, int64(1), f.live.Load(), "what is idle is closed at once")
		_, err := p.Get(t.Context(), nil)
		require.Equal(t, pool.ErrClosed, err)
		_, err = p.TryGet(t.Context(), nil)
		require.Equal(t, pool.ErrClosed, err)
		select {
		case <-p.Drained():
			require.Fail(t, "one is out")
		default:
		}
		lease.Put()
		require.NoError(t, <-closed)
		<-p.Drained()
		require.Empty(t, lease.Value().cause)
		require.Equal(t, uint64(2), p.Stats().Discarded[pool.Closed])
		require.NoError(t, p.Close(t.Context()), "a second time")
	})
}

func TestCloseTurnsAwayWhoWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := open(t, &factory{}, pool.Options{Most: 1})
		lease := get(t, p)
		outer := get(t, open(t, &factory{}, pool.Options{}))
		first, _ := waiting(t, p, nil)
		second, _ := waiting(t, p, outer.Hold())
		go p.Close(context.Background())
		require.Equal(t, pool.ErrClosed, (<-first).err)
		require.Equal(t, pool.ErrClosed, (<-second).err)
		require.Equal(t, uint64(2), p.Stats().Waits)
		lease.Put()
		outer.Put()
		<-p.Drained()
	})
}

func TestCloseInterruptsWhatIsOutWhenItsContextIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := open(t, &factory{}, pool.Options{})
		lease, patient := get(t, p), make(chan error)
		go func() { patient <- p.Close(context.Background()) }()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.Equal(t, context.DeadlineExceeded, p.Close(ctx))
		require.Equal(t, pool.ErrClosed, <-lease.Value().cause)
		synctest.Wait()
		require.Empty(t, patient, "the other one waits on")
		lease.Discard(pool.Faulty)
		require.NoError(t, <-patient)
		require.Equal(t, uint64(1), p.Stats().Discarded[pool.Interrupted])
	})
}

func TestCloseOfAPoolThatNobodyUsed(t *testing.T) {
	p := open(t, &factory{}, pool.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.NoError(t, p.Close(ctx), "there is nothing to wait for")
}

func TestCloseLetsWhatIsBeingMadeBeUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		p := open(t, &factory{hook: func(context.Context) error { <-gate; return nil }}, pool.Options{})
		turn, _ := waiting(t, p, nil)
		closed := make(chan error)
		go func() { closed <- p.Close(context.Background()) }()
		synctest.Wait()
		close(gate)
		o := <-turn
		require.NoError(t, o.err, "it came before Close")
		synctest.Wait()
		require.Empty(t, closed)
		o.lease.Put()
		require.NoError(t, <-closed)
	})
}

func TestInterruptEndsWhatIsOutAndItIsNotUsedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := open(t, &factory{}, pool.Options{Most: 2})
		idle, out := get(t, p), get(t, p)
		idle.Put()
		p.Interrupt(errMake)
		require.Equal(t, errMake, <-out.Value().cause)
		require.Empty(t, idle.Value().cause)
		out.Put()
		s := p.Stats()
		require.Equal(t, 1, s.Live)
		require.Equal(t, uint64(1), s.Discarded[pool.Interrupted])
		get(t, p).Put()
		require.Equal(t, uint64(2), p.Stats().Created, "the pool goes on")
	})
}

// TestInterruptReachesWhoWasServedButHasNotRunYet has a caller be interrupted between the grant and its next step, which
// on one processor comes later.
func TestInterruptReachesWhoWasServedButHasNotRunYet(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	synctest.Test(t, func(t *testing.T) {
		p := open(t, &factory{}, pool.Options{Most: 1})
		lease := get(t, p)
		turn, _ := waiting(t, p, nil)
		lease.Put()
		p.Interrupt(errMake)
		o := <-turn
		require.NoError(t, o.err)
		require.Equal(t, errMake, <-o.lease.Value().cause)

		turn, _ = waiting(t, p, nil)
		o.lease.Discard(pool.Faulty) // a place
		p.Interrupt(errMake)
		require.Equal(t, errMake, (<-turn).err)
		require.Equal(t, uint64(1), p.Stats().Created, "nothing was made for nobody")
		require.Zero(t, p.Stats().Live)
	})
}

func TestInterruptEndsTheMakingForACaller(t *testing.T) {
	for name, hook := range map[string]func(context.Context) error{
		"obeys":        func(ctx context.Context) error { <-ctx.Done(); return context.Cause(ctx) },
		"fails late":   func(ctx context.Context) error { <-ctx.Done(); time.Sleep(time.Second); return ctx.Err() },
		"does not see": func(ctx context.Context) error { <-ctx.Done(); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &factory{hook: hook}
				p := open(t, f, pool.Options{Most: 1})
				turn, _ := waiting(t, p, nil)
				next, _ := waiting(t, p, nil)
				f.hook = nil
				p.Interrupt(errMake)
				p.Interrupt(pool.ErrClosed) // the first one counts
				require.Equal(t, errMake, (<-turn).err)
				o := <-next
				require.NoError(t, o.err)
				o.lease.Put()
				s := p.Stats()
				require.Equal(t, s.Created-1, s.Discarded[pool.Interrupted])
				require.Equal(t, uint64(1), s.Failed+s.Discarded[pool.Interrupted])
			})
		})
	}
}

func TestAPlaceIsFreedAlsoWhereClosePanics(t *testing.T) {
	f := &factory{most: 1}
	p := open(t, f, pool.Options{Most: 1})
	lease := get(t, p)
	f.onClose = func() { f.onClose = nil; f.live.Add(-1); panic("broken") }
	require.PanicsWithValue(t, "broken", func() { lease.Discard(pool.Faulty) })
	require.Zero(t, p.Stats().Live)
	get(t, p).Put()
}
