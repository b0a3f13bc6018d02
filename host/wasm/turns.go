package wasm

import (
	"context"
	"errors"
	"sync"

	"github.com/weft-run/weft/host"
)

// turns has the hooks of one plugin that see the same bucket follow each other, so that none writes over what another
// wrote since it looked. It holds nothing for a bucket that no hook is busy with.
type turns struct {
	mu    sync.Mutex
	taken map[*host.State]*turn
}

// turn belongs to one bucket: free holds one while nobody has it.
type turn struct {
	free  chan struct{}
	users int
}

// errWithinItself is a hook that would wait for the one that it was called from.
var errWithinItself = errors.New("the run was started from within a hook of this plugin, in the same session: both have the same state; use another session")

// take waits for the turn, or for ctx. The returned function gives it back. A hook that was called from within one that has
// the turn gets an error: it would wait for itself.
func (t *turns) take(ctx context.Context, s *host.State) (done func(), err error) {
	for c, _ := ctx.Value(callKey{}).(*call); c != nil; c = c.outer {
		if c.turn == s && !c.over.Load() {
			return nil, errWithinItself
		}
	}
	t.mu.Lock()
	if t.taken == nil {
		t.taken = map[*host.State]*turn{}
	}
	own := t.taken[s]
	if own == nil {
		own = &turn{free: make(chan struct{}, 1)}
		own.free <- struct{}{}
		t.taken[s] = own
	}
	own.users++
	t.mu.Unlock()
	select {
	case <-own.free:
		return func() {
			own.free <- struct{}{}
			t.leave(s, own)
		}, nil
	case <-ctx.Done():
		t.leave(s, own)
		return nil, ctx.Err()
	}
}

func (t *turns) leave(s *host.State, own *turn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if own.users--; own.users == 0 {
		delete(t.taken, s)
	}
}
