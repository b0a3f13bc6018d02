package pool

import "time"

// Reason says why a resource was closed.
type Reason uint8

const (
	// Faulty is what its borrower found it to be: something went wrong with it.
	Faulty Reason = iota
	// Spent is what its borrower found it to be: it did its work and cannot be used again.
	Spent
	// Interrupted is for one that was out or being made when Pool.Interrupt or Pool.Close ended that.
	Interrupted
	// Expired is for one that nobody used for Options.IdleTime.
	Expired
	// Surplus is for one that came back when Options.Keep idle ones were there.
	Surplus
	// Trimmed is for one that Pool.Trim closed.
	Trimmed
	// Closed is for one that was idle when the pool was closed, or came back later.
	Closed

	reasons = iota
)

// String returns the reason as one word in lower case, for a metric's label.
func (r Reason) String() string {
	if r >= reasons {
		return "unknown"
	}
	return [reasons]string{"faulty", "spent", "interrupted", "expired", "surplus", "trimmed", "closed"}[r]
}

// Discards is how many resources were closed for each Reason, which is the index.
type Discards [reasons]uint64

// Total returns how many were closed for any reason.
func (d Discards) Total() uint64 {
	var total uint64
	for _, n := range d {
		total += n
	}
	return total
}

// Stats says what a pool does at one moment, and what it did since it was made.
type Stats struct {
	// Live is how many resources exist, Idle how many of them no one uses, Making how many are being made.
	Live, Idle, Making int
	// Waiting is how many callers wait.
	Waiting int

	// Created is how many were made, Failed how many times making one failed.
	Created, Failed uint64
	// Discarded is how many were closed.
	Discarded Discards
	// Borrowed is how many times one was lent.
	Borrowed uint64
	// Waits is how many times a caller waited, those that left included. Busy is how many callers got a *BusyError.
	Waits, Busy uint64
	// WaitTime is how long callers waited together, LongestWait how long the one who waited longest. A wait counts when
	// it is over.
	WaitTime, LongestWait time.Duration
}

// waited counts a wait that is over.
func (s *Stats) waited(d time.Duration) {
	s.WaitTime += d
	s.LongestWait = max(s.LongestWait, d)
}
