package engine

import (
	"errors"
	"sync"
	"time"
)

// breaker rests a module whose calls fail one after the other, so that a broken plugin costs little more than a moment
// while somebody mends it. When the rest is over one call is let through, to see; if that works, all are.
type breaker struct {
	faults int           // in a row
	rest   time.Duration // how long a rest is; where either is Unlimited there is none
	told   func(resting bool)

	mu      sync.Mutex
	row     int       // faults since the last call that worked
	until   time.Time // when the rest is over; zero without one
	probing bool      // whether a call is under way that is let through to see
}

// admission is what breaker.enter says of a call.
type admission struct {
	ok    bool
	left  time.Duration // how long the rest still is, for a call that may not begin
	probe bool          // whether the call is the one that is let through to see
}

// enter says whether a call may begin. After one that may, leave must follow.
func (b *breaker) enter() admission {
	if b.off() {
		return admission{ok: true}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.until.IsZero() {
		return admission{ok: true}
	}
	if left := time.Until(b.until); left > 0 || b.probing {
		return admission{left: max(left, 0)}
	}
	b.probing = true
	return admission{ok: true, probe: true}
}

// leave takes note of how a call went. Calls that began before a rest say nothing about when it is over.
func (b *breaker) leave(a admission, err error) {
	if b.off() {
		return
	}
	if resting, changed := b.note(a, err); changed && b.told != nil {
		b.told(resting)
	}
}

// note takes note of how a call went, and reports whether a rest began or ended with it.
func (b *breaker) note(a admission, err error) (resting, changed bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	was := !b.until.IsZero()
	if !a.probe && was {
		return was, false
	}
	b.probing = b.probing && !a.probe
	switch {
	case err == nil:
		b.row, b.until = 0, time.Time{}
	case isFault(err):
		if b.row++; b.row >= b.faults {
			b.until = time.Now().Add(b.rest)
		}
	}
	resting = !b.until.IsZero()
	return resting, resting != was
}

// off says that the module is never rested.
func (b *breaker) off() bool { return b.faults < 0 || b.rest < 0 }

// resting says whether a call would be turned away.
func (b *breaker) resting() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return !b.until.IsZero() && (b.probing || time.Until(b.until) > 0)
}

// isFault says whether an error of a call is the guest's doing.
func isFault(err error) bool {
	for _, target := range []error{
		ErrTrap, ErrExit, ErrTimeout, ErrFuel, ErrMemoryLimit, ErrStackLimit, ErrOutputTooLarge, ErrVarsLimit, ErrHTTPLimit, ErrFileLimit,
	} {
		if errors.Is(err, target) {
			return true
		}
	}
	return false
}
