package engine

import (
	"bytes"
	"slices"
	"sync"
	"time"
)

// Recording holds what a guest learnt about the world outside, in the order in which it asked. It can be written as JSON
// and read back. It may be used by many goroutines at once, though a replay is the same only where one call at a time
// records or replays. A guest that asks before its first call, as Go guests do for their random numbers, asks Spec.World: to
// play it back the same, have that one recorded, too.
type Recording struct {
	// Times holds readings of the wall clock, Monotonic those of the monotonic clock, in nanoseconds.
	Times     []int64 `json:"times,omitempty"`
	Monotonic []int64 `json:"monotonic,omitempty"`
	// Random holds the random bytes, one after the other.
	Random []byte `json:"random,omitempty"`
	// Env is the environment.
	Env []string `json:"env,omitempty"`

	mu sync.Mutex
}

// Record returns a World that answers as w does and writes down what it answered.
func (r *Recording) Record(w World) World {
	w = w.orReal()
	r.mu.Lock()
	r.Env = slices.Clone(w.Env)
	r.mu.Unlock()
	return World{
		Now: func() time.Time {
			now := w.Now()
			r.mu.Lock()
			defer r.mu.Unlock()
			r.Times = append(r.Times, now.UnixNano())
			return now
		},
		Monotonic: func() time.Duration {
			now := w.Monotonic()
			r.mu.Lock()
			defer r.mu.Unlock()
			r.Monotonic = append(r.Monotonic, int64(now))
			return now
		},
		Random: func(p []byte) {
			w.Random(p)
			r.mu.Lock()
			defer r.mu.Unlock()
			r.Random = append(r.Random, p...)
		},
		Env: w.Env,
	}
}

// Replay returns a World that answers what was recorded, from the beginning. Where a guest asks for more than there is,
// clocks go on from the last reading by a microsecond at a time and random bytes are zero; more says so afterwards. The
// recording must not be changed meanwhile.
func (r *Recording) Replay() (w World, more func() bool) {
	p := &replay{recording: r, random: bytes.NewReader(r.Random)}
	return World{Now: p.now, Monotonic: p.monotonic, Random: p.fill, Env: slices.Clone(r.Env)}, func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.more
	}
}

// replay is where in a recording a replay stands.
type replay struct {
	recording *Recording
	mu        sync.Mutex
	times     int
	clock     int
	random    *bytes.Reader
	more      bool
}

func (p *replay) now() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return time.Unix(0, p.next(p.recording.Times, &p.times)).UTC()
}

func (p *replay) monotonic() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return time.Duration(p.next(p.recording.Monotonic, &p.clock))
}

// next returns reading number at, and a guess where there is none.
func (p *replay) next(readings []int64, at *int) int64 {
	*at++
	if *at <= len(readings) {
		return readings[*at-1]
	}
	p.more = true
	var last int64
	if len(readings) > 0 {
		last = readings[len(readings)-1]
	}
	return last + int64(*at-len(readings))*int64(time.Microsecond)
}

func (p *replay) fill(to []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	n, _ := p.random.Read(to)
	clear(to[n:])
	p.more = p.more || n < len(to)
}
