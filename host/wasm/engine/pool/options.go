package pool

import "time"

// Unlimited takes a limit of Options away. It is explicit on purpose: zero means the default.
const Unlimited = -1

// The defaults of Options.
const (
	// DefaultMost is how many resources may exist where Options.Most is zero.
	DefaultMost = 128
	// DefaultQueue is how many callers may wait where Options.Queue is zero.
	DefaultQueue = 1024
)

// Options says how a Pool works. The zero value is usable.
type Options struct {
	// Most is how many resources may exist at once, those being made or closed included. 0 means DefaultMost, Unlimited no
	// limit. Beyond it callers wait.
	Most int
	// Queue is how many callers may wait at once. 0 means DefaultQueue, Unlimited no limit. Further ones get a *BusyError.
	Queue int
	// Keep is how many idle resources are kept; one that comes back beyond it is closed at once. 0 and Unlimited mean all
	// of them, which is right for resources that cost little at rest: a limit here closes in the middle of a burst what the
	// burst needs again a moment later, and IdleTime waits for its end. One more than Pool.Warm asks for is always kept,
	// for otherwise each call would make one and close one.
	Keep int
	// IdleTime is after how long without use an idle resource is closed. It is closed a little later, by a quarter of
	// IdleTime at most. 0 means never.
	IdleTime time.Duration
}

// orDefaults returns the options with what is not set replaced by its default.
func (o Options) orDefaults() Options {
	if o.Most == 0 {
		o.Most = DefaultMost
	}
	if o.Queue == 0 {
		o.Queue = DefaultQueue
	}
	if o.Keep == 0 {
		o.Keep = Unlimited
	}
	return o
}

// exceeds says whether n is above limit. Nothing is above Unlimited.
func exceeds(n, limit int) bool { return limit >= 0 && n > limit }
