package watch

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"runtime/debug"
	"time"
)

type digest = [sha256.Size]byte

// A source is a file or a folder, and how it is read. Only the goroutine of its thing uses it.
type source interface {
	// survey finds what is there.
	survey(ctx context.Context, s *surveyor) state
	// glance is called after every notification while things change. It returns what is there now, or what was there before
	// where more than a glance is needed.
	glance(before state) state
	// read reads what the survey found. False: it is not that any more, or ctx ended.
	read(ctx context.Context, found state) (outcome, bool)
	// readTwice reads what is there now two times, with a pause between them. False: the two differ, or ctx ended.
	readTwice(ctx context.Context, pause time.Duration) (outcome, bool)
	// haste says how it may be read while it never settles; before and now are what the last two surveys found.
	haste(before, now state, maxWait time.Duration) haste
	String() string
}

// An outcome is what reading a source led to.
type outcome struct {
	digest digest
	data   []byte
	err    error
}

// A thing is a file or folder that is watched, by a goroutine of its own.
type thing struct {
	watcher *Watcher
	source  source
	report  func(outcome)
	woken   chan struct{} // something happened to it; holds one
	again   chan struct{} // notifications of it may be missing; holds one

	have   digest // what the caller has; zero: nothing
	fault  string // the error that the caller was told of; empty: none since it has something
	places places // what it wants notifications of
	deaf   bool   // it does not get all of them

	settled   state     // what was there when have was read, if nothing moved at that time
	settledAt time.Time // when the reading began; zero: settled says nothing
}

func newThing(w *Watcher, s source, have digest, report func(outcome)) *thing {
	return &thing{
		watcher: w, source: s, report: report, have: have,
		woken: make(chan struct{}, 1), again: make(chan struct{}, 1),
	}
}

// wake says that something happened to the thing.
func (t *thing) wake() { signal(t.woken) }

// look makes the thing look at what is there.
func (t *thing) look() { signal(t.again) }

func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

func (t *thing) run(ctx context.Context) {
	t.watcher.notices.join(t)
	defer func() { t.watcher.notices.leave(t, t.places) }()
	for {
		if got, ok := t.settle(ctx); ok {
			t.deliver(ctx, got)
		}
		if !t.rest(ctx) {
			return
		}
	}
}

// rest waits until there is a reason to look. False: ctx ended.
func (t *thing) rest(ctx context.Context) bool {
	var tick <-chan time.Time
	if interval := t.interval(); interval > 0 {
		timer := time.NewTimer(interval)
		defer timer.Stop()
		tick = timer.C
	}
	select {
	case <-ctx.Done():
		return false
	case <-t.woken:
	case <-t.again:
	case <-tick:
	}
	return ctx.Err() == nil
}

// interval is after how long it is looked at without a notification; not positive: never.
func (t *thing) interval() time.Duration {
	interval, poll := t.watcher.options.Rescan, t.watcher.options.Poll
	if t.deaf && poll > 0 && (poll < interval || interval <= 0) {
		return poll
	}
	return interval
}

// survey finds what is there, and asks for notifications of it.
func (t *thing) survey(ctx context.Context) state {
	select {
	case <-t.again: // here it is done
	default:
	}
	s := &surveyor{thing: t, places: places{}}
	found := t.source.survey(ctx, s)
	if ctx.Err() != nil { // an incomplete survey knows less than the last one
		t.places = merge(t.places, s.places)
		return found
	}
	t.watcher.notices.keep(t, t.places, s.places)
	t.places, t.deaf = s.places, s.deaf
	return found
}

func merge(a, b places) places {
	all := places{}
	for _, p := range []places{a, b} {
		for folder, names := range p {
			all[folder] = names
		}
	}
	return all
}

// deliver reports what is news to the caller.
func (t *thing) deliver(ctx context.Context, got outcome) {
	if got.err != nil {
		text := got.err.Error()
		neverThere := errors.Is(got.err, fs.ErrNotExist) && t.have == digest{} && t.fault == ""
		if text == t.fault || neverThere {
			return
		}
		t.fault = text
	} else {
		if got.digest == t.have && t.fault == "" {
			return
		}
		t.have, t.fault = got.digest, ""
	}
	if ctx.Err() != nil {
		return
	}
	defer func() {
		if r := recover(); r != nil {
			t.watcher.options.Logger.Error("a callback of a watched path panicked", "path", t.source.String(),
				"panic", fmt.Sprint(r), "stack", string(debug.Stack()))
		}
	}()
	t.report(got)
}
