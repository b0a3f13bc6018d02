package pool_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/weft-run/weft/host/wasm/engine/pool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var errMake = errors.New("no memory")

// thing is a resource that notices when it is used wrongly.
type thing struct {
	id      int
	factory *factory
	user    atomic.Bool
	closed  atomic.Int32
	cause   chan error // what it was interrupted with
}

func (t *thing) Close() {
	t.factory.check(t.closed.Add(1) == 1, "a resource was closed twice")
	t.factory.check(!t.user.Load(), "a resource was closed while it was used")
	if t.factory.onClose != nil {
		t.factory.onClose()
	}
	t.factory.live.Add(-1)
}

func (t *thing) Interrupt(cause error) {
	select {
	case t.cause <- cause:
	default:
	}
}

// use takes the resource for its borrower alone, until the function that it returns is called.
func (t *thing) use() func() {
	t.factory.check(t.user.CompareAndSwap(false, true), "a resource was lent to two at once")
	t.factory.check(t.closed.Load() == 0, "a closed resource was lent")
	return func() { t.user.Store(false) }
}

// factory makes things, and notices when there are more than may be.
type factory struct {
	t       testing.TB
	most    int // 0 means any number
	hook    func(context.Context) error
	onClose func()

	live, made atomic.Int64
	faults     sync.Map
	pool       *pool.Pool[*thing]
}

// check reports a fault, once.
func (f *factory) check(ok bool, fault string) {
	if ok {
		return
	}
	if _, known := f.faults.LoadOrStore(fault, true); !known {
		f.t.Error(fault)
	}
}

func (f *factory) make(ctx context.Context) (*thing, error) {
	if f.hook != nil {
		if err := f.hook(ctx); err != nil {
			return nil, err
		}
	}
	live := f.live.Add(1)
	f.check(f.most == 0 || live <= int64(f.most), "there were more resources than may be")
	return &thing{id: int(f.made.Add(1)), factory: f, cause: make(chan error, 1)}, nil
}

// open returns a pool that must have closed all that it made when the test is over.
func open(t testing.TB, f *factory, options pool.Options) *pool.Pool[*thing] {
	f.t = t
	p := pool.New(f.make, options)
	t.Cleanup(func() {
		require.NoError(t, p.Close(context.Background()))
		s := p.Stats()
		require.Zero(t, s.Live+s.Making+s.Idle+s.Waiting)
		require.Equal(t, s.Created, s.Discarded.Total())
		require.Equal(t, f.made.Load(), int64(s.Created))
		require.Zero(t, f.live.Load(), "what was made is closed")
	})
	return p
}

// get borrows what must be there to be borrowed.
func get(t testing.TB, p *pool.Pool[*thing]) pool.Lease[*thing] {
	t.Helper()
	lease, err := p.Get(context.Background(), nil)
	require.NoError(t, err)
	return lease
}

// outcome is what a Get came to.
type outcome struct {
	lease pool.Lease[*thing]
	err   error
}

// waiting is a Get that has to wait, in a bubble. The cancel function ends its context.
func waiting(t testing.TB, p *pool.Pool[*thing], within *pool.Hold) (<-chan outcome, context.CancelFunc) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	c := make(chan outcome, 1)
	go func() {
		lease, err := p.Get(ctx, within)
		c <- outcome{lease, err}
	}()
	synctest.Wait()
	require.Empty(t, c, "the caller waits")
	return c, cancel
}
