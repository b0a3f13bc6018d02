package engine

import (
	"time"

	"github.com/weft-run/weft/host/wasm/engine/pool"
)

// Stats says what the instances of a module do, and what they did since it was loaded.
type Stats struct {
	// Live is how many instances there are, Idle how many of them no call uses, Making how many are being made.
	Live, Idle, Making int
	// Waiting is how many calls wait for an instance.
	Waiting int

	// Created and Discarded are how many instances were made and closed; Failed is how many could not be made.
	Created, Discarded, Failed int
	// Reasons says why instances were closed: faulty (the call failed), spent (it could not be made clean, as where its
	// memory grew), interrupted, expired (idle too long), trimmed (for the memory that it held) or closed.
	Reasons map[string]int
	// Borrowed is how many times a call got an instance, Waits how many times one waited for it, Busy how many calls were
	// turned away.
	Borrowed, Waits, Busy int
	// Resting says that a call would be turned away now because the last ones failed; see Limits.Faults.
	Resting bool
	// WaitTime is how long calls waited together, LongestWait how long the one that waited longest.
	WaitTime, LongestWait time.Duration
}

func statsOf(s pool.Stats, resting bool) Stats {
	out := Stats{
		Resting: resting, Live: s.Live, Idle: s.Idle, Making: s.Making, Waiting: s.Waiting,
		Created: int(s.Created), Discarded: int(s.Discarded.Total()), Failed: int(s.Failed), Reasons: map[string]int{},
		Borrowed: int(s.Borrowed), Waits: int(s.Waits), Busy: int(s.Busy), WaitTime: s.WaitTime, LongestWait: s.LongestWait,
	}
	for reason, n := range s.Discarded {
		if n > 0 {
			out.Reasons[pool.Reason(reason).String()] = int(n)
		}
	}
	return out
}
