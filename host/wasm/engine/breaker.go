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

	mu      sync.Mutex
	row     int       // faults since the last call that worked
	until   time.Time // when the rest is over; zero without one
	probing bool      // whether a call is under way that is let through to see
}

// enter says whether a call may begin, and if not, how long the rest still is. After a call that may, leave must follow.
func (b *breaker) enter() (left time.Duration, ok bool) {
	if b.off() {
		return 0, true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.until.IsZero() {
		return 0, true
	}
	if left = time.Until(b.until); left > 0 || b.probing {
		return max(left, 0), false
	}
	b.probing = true
	return 0, true
}

// leave takes note of how a call went.
func (b *breaker) leave(err error) {
	if b.off() {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case err == nil:
		b.row, b.until, b.probing = 0, time.Time{}, false
	case isFault(err):
		b.probing = false
		if b.row++; b.row >= b.faults {
			b.until = time.Now().Add(b.rest)
		}
	default: // It says nothing about the module. Another call may try.
		b.probing = false
	}
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
		ErrTrap, ErrExit, ErrTimeout, ErrFuel, ErrMemoryLimit, ErrStackLimit, ErrOutputTooLarge, ErrVarsLimit, ErrHTTPLimit,
	} {
		if errors.Is(err, target) {
			return true
		}
	}
	return false
}
