package watch

import (
	"context"
	"time"
)

// haste says how something may be read that never settles.
type haste int

const (
	patient haste = iota // not at all: it is still being written
	apart                // by two equal readings that are the settle time apart
	inARow               // by two equal readings with a moment between them
)

// momentOf is what part of the settle time is between two readings in a row.
const momentOf = 50

// settle waits until nothing changes any more, and reads what is there then. False: that is what was read before, or ctx
// ended.
func (t *thing) settle(ctx context.Context) (outcome, bool) {
	began := time.Now()
	before := t.survey(ctx) // at the last survey
	rush := rush{thing: t, from: began.Add(t.watcher.options.MaxWait)}
	for {
		last, quiet := t.hush(ctx, before, rush.next())
		if ctx.Err() != nil {
			return outcome{}, false
		}
		now := t.survey(ctx)
		if quiet && now.same(last) {
			if t.unchanged(now) {
				return outcome{}, false
			}
			if got, ok := t.read(ctx, now); ok {
				return got, true
			}
		}
		if got, ok := rush.try(ctx, before, now); ok {
			return got, true
		}
		before = now
	}
}

// hush waits until there was no notification for the settle time, but not longer than limit. True: there was none. The state
// is that at the last notification, or the given one.
func (t *thing) hush(ctx context.Context, last state, limit time.Duration) (state, bool) {
	settle := t.watcher.options.Settle
	heard := time.Now()
	quiet, end := time.NewTimer(settle), time.NewTimer(limit)
	defer quiet.Stop()
	defer end.Stop()
	for {
		select {
		case <-ctx.Done():
			return last, false
		case <-quiet.C:
			return last, true
		case <-end.C:
			return last, time.Since(heard) >= settle
		case <-t.woken:
			heard = time.Now()
			quiet.Reset(settle)
			last = t.source.glance(last)
		}
	}
}

// unchanged reports that what was found is what was read last, as far as can be known without reading it.
func (t *thing) unchanged(now state) bool {
	if t.settledAt.IsZero() || t.fault != "" || now.err != nil || !now.same(t.settled) {
		return false
	}
	for _, e := range now.entries {
		if e.stamp.mode.IsRegular() && !e.stamp.tells(t.settledAt) {
			return false
		}
	}
	return true
}

// read reads what has settled, and remembers what that was.
func (t *thing) read(ctx context.Context, now state) (outcome, bool) {
	at := time.Now()
	got, ok := t.source.read(ctx, now)
	if ok {
		t.settled, t.settledAt = now, at
	}
	return got, ok
}

// A rush reads what changes without a pause.
type rush struct {
	thing *thing
	from  time.Time // when a reading may be delivered
	read  bool      // there was a reading at the survey before, which was the settle time ago
	prior digest    // of that
}

// next is after how long to look at the latest. The first reading is a settle time early, for the one that is delivered to
// be compared with.
func (r *rush) next() time.Duration {
	settle := r.thing.watcher.options.Settle
	return max(time.Until(r.from)-settle, settle)
}

// try reads in a rush, where it is time and the source allows it.
func (r *rush) try(ctx context.Context, before, now state) (outcome, bool) {
	options := r.thing.watcher.options
	left := time.Until(r.from)
	if left > options.Settle {
		return outcome{}, false
	}
	how := r.thing.source.haste(before, now, options.MaxWait)
	got, ok := outcome{}, false
	if how == inARow && left <= 0 {
		got, ok = r.thing.source.readTwice(ctx, options.Settle/momentOf)
	}
	if how == apart {
		got, ok = r.thing.source.read(ctx, now)
		same := r.read && got.digest == r.prior
		r.read, r.prior = ok, got.digest
		ok = ok && same
	} else {
		r.read = false
	}
	if !ok || got.err != nil { // an error while things change may be gone in a moment
		return outcome{}, false
	}
	r.thing.settledAt = time.Time{} // what is read in a rush may have changed already
	return got, true
}

func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
