package pool_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host/wasm/engine/pool"
)

// model is what a pool is, written down as plainly as possible. Callers and resources are numbers.
type model struct {
	most, limit, keep int

	idle    []int
	out     map[int]int // caller to resource
	making  []int       // callers
	waiting []int       // callers
	created int
	ended   map[int]error // callers that were turned away
}

func (m *model) live() int { return len(m.idle) + len(m.out) }

func (m *model) get(caller int) {
	switch n := len(m.idle); {
	case n > 0:
		m.out[caller] = m.idle[n-1]
		m.idle = m.idle[:n-1]
	case m.live()+len(m.making) < m.most:
		m.making = append(m.making, caller)
	case len(m.waiting) < m.limit:
		m.waiting = append(m.waiting, caller)
	default:
		m.ended[caller] = pool.ErrBusy
	}
}

func (m *model) put(caller int) {
	resource := m.out[caller]
	delete(m.out, caller)
	switch {
	case len(m.waiting) > 0:
		m.out[m.waiting[0]] = resource
		m.waiting = m.waiting[1:]
	case len(m.idle) < m.keep:
		m.idle = append(m.idle, resource)
	}
}

// freed gives a free place to who waits longest.
func (m *model) freed() {
	if len(m.waiting) > 0 {
		m.making = append(m.making, m.waiting[0])
		m.waiting = m.waiting[1:]
	}
}

func (m *model) discard(caller int) {
	delete(m.out, caller)
	m.freed()
}

func (m *model) made(caller int, err error) {
	m.making = without(m.making, caller)
	if err != nil {
		m.ended[caller] = err
		m.freed()
		return
	}
	m.created++
	m.out[caller] = m.created
}

func (m *model) leave(caller int) {
	m.waiting = without(m.waiting, caller)
	m.ended[caller] = context.Canceled
}

func without(list []int, n int) []int {
	return slices.DeleteFunc(slices.Clone(list), func(have int) bool { return have == n })
}

// callers makes calls of a real pool, each in a goroutine.
type callers struct {
	pool   *pool.Pool[*thing]
	next   int
	cancel map[int]context.CancelFunc
	makes  map[int]chan error
	leases map[int]pool.Lease[*thing]
	errs   map[int]error
	done   chan func()
}

type callerKey struct{}

func (c *callers) get() int {
	c.next++
	caller := c.next
	ctx, cancel := context.WithCancel(context.WithValue(context.Background(), callerKey{}, caller))
	c.cancel[caller], c.makes[caller] = cancel, make(chan error)
	go func() {
		lease, err := c.pool.Get(ctx, nil)
		c.done <- func() {
			if err != nil {
				c.errs[caller] = err
			} else {
				c.leases[caller] = lease
			}
		}
	}()
	return caller
}

// settle waits until nothing moves, and takes the outcomes in.
func (c *callers) settle() {
	synctest.Wait()
	for len(c.done) > 0 {
		(<-c.done)()
	}
}

// TestAgainstAModel carries out commands at random, on a pool and on a model, and compares the two after each.
func TestAgainstAModel(t *testing.T) {
	for seed := range uint64(40) {
		synctest.Test(t, func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 0))
			m := &model{most: 1 + random.IntN(4), limit: 1 + random.IntN(6), keep: 4, out: map[int]int{}, ended: map[int]error{}}
			if random.IntN(2) == 0 {
				m.keep = 1
			}
			c := &callers{
				cancel: map[int]context.CancelFunc{}, makes: map[int]chan error{}, leases: map[int]pool.Lease[*thing]{},
				errs: map[int]error{}, done: make(chan func(), 1000),
			}
			f := &factory{most: m.most, hook: func(ctx context.Context) error {
				return <-c.makes[ctx.Value(callerKey{}).(int)]
			}}
			c.pool = open(t, f, pool.Options{Most: m.most, Queue: m.limit, Keep: m.keep})
			var last string
			for step := range 400 {
				last = command(random, m, c)
				c.settle()
				compare(t, m, c, fmt.Sprintf("seed %d, step %d: %s", seed, step, last))
			}
			// All that is under way comes to its end.
			for _, caller := range m.waiting {
				c.cancel[caller]()
			}
			for _, caller := range m.making {
				c.makes[caller] <- errMake
			}
			c.settle()
			for _, lease := range c.leases {
				lease.Put()
			}
			for _, cancel := range c.cancel {
				cancel()
			}
		})
	}
}

// command carries one out on both, and says which.
func command(random *rand.Rand, m *model, c *callers) string {
	switch kind := random.IntN(10); {
	case kind < 4:
		caller := c.get()
		m.get(caller)
		return fmt.Sprint("get ", caller)
	case kind < 6 && len(m.making) > 0:
		caller := m.making[random.IntN(len(m.making))]
		var err error
		if random.IntN(3) == 0 {
			err = errMake
		}
		c.makes[caller] <- err
		m.made(caller, err)
		return fmt.Sprint("made ", caller, err)
	case kind < 8 && len(m.out) > 0:
		caller := pick(random, m.out)
		lease := c.leases[caller]
		delete(c.leases, caller)
		if random.IntN(3) == 0 {
			lease.Discard(pool.Faulty)
			m.discard(caller)
			return fmt.Sprint("discard ", caller)
		}
		lease.Put()
		m.put(caller)
		return fmt.Sprint("put ", caller)
	case kind == 8 && len(m.waiting) > 0:
		caller := m.waiting[random.IntN(len(m.waiting))]
		c.cancel[caller]()
		m.leave(caller)
		return fmt.Sprint("leave ", caller)
	case kind == 9 && random.IntN(5) == 0:
		c.pool.Trim()
		m.idle = nil
		return "trim"
	}
	return "nothing"
}

func pick(random *rand.Rand, out map[int]int) int {
	var all []int
	for caller := range out {
		all = append(all, caller)
	}
	slices.Sort(all)
	return all[random.IntN(len(all))]
}

func compare(t *testing.T, m *model, c *callers, after string) {
	t.Helper()
	s := c.pool.Stats()
	require.Equal(t, m.live(), s.Live, after)
	require.Equal(t, len(m.idle), s.Idle, after)
	require.Equal(t, len(m.making), s.Making, after)
	require.Equal(t, len(m.waiting), s.Waiting, after)
	require.Equal(t, uint64(m.created), s.Created, after)
	require.Equal(t, uint64(m.created-m.live()), s.Discarded.Total(), after)
	require.Len(t, c.leases, len(m.out), after)
	for caller, lease := range c.leases {
		require.Equal(t, m.out[caller], lease.Value().id, "%s: the resource of %d", after, caller)
	}
	require.Len(t, c.errs, len(m.ended), after)
	for caller, err := range c.errs {
		require.ErrorIs(t, err, m.ended[caller], "%s: the end of %d", after, caller)
	}
}
