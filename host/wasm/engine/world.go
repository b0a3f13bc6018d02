package engine

import (
	"crypto/rand"
	"time"
)

// World is what a guest can learn about the world outside: the time, chance and its environment. A field that is nil has
// a real source. All functions may be called by many goroutines at once.
//
// The same module with the same input and the same World does the same; see [Recording].
type World struct {
	// Now is the wall clock. By default it is the host's, in steps of 100 µs, so that a guest cannot measure what other
	// guests do beside it.
	Now func() time.Time
	// Monotonic is a clock that never goes back, for measuring, from a beginning of its own. By default it is the host's,
	// in steps of 100 µs, with one beginning for all guests. A clock must move: under one that stands still, or that goes
	// on by a step at each reading, the runtime of Go guests stops collecting garbage.
	Monotonic func() time.Duration
	// Random fills p with random bytes. By default they are fit for secrets.
	Random func(p []byte)
	// Env is the environment, as NAME=value. It is empty by default. Most guests read it when they start, before any call.
	Env []string
}

// clockStep is how fine the clocks of guests are.
const clockStep = 100 * time.Microsecond

// started is where the monotonic clock of all guests begins. One beginning for all: what a snapshot holds may be put
// into another instance, and its clock must not go back.
var started = time.Now()

// orReal returns the world with a real source for each that is missing.
func (w World) orReal() World {
	if w.Now == nil {
		w.Now = func() time.Time { return time.Now().Truncate(clockStep) }
	}
	if w.Monotonic == nil {
		w.Monotonic = func() time.Duration { return time.Since(started).Truncate(clockStep) }
	}
	if w.Random == nil {
		w.Random = func(p []byte) { _, _ = rand.Read(p) } // It never fails.
	}
	return w
}
