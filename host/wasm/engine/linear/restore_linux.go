package linear

const (
	// keepAfter is how many calls in a row must leave a kept page alone before it is dropped. To compare a page costs a
	// tenth of what its next page fault would, or less, so a page that turns out not to be needed has by then cost about
	// as much as one that was dropped too early.
	keepAfter = 16
	// keepMost is how much one memory keeps, in bytes, so that idle ones stay small whatever their calls did.
	keepMost = 4 << 20
	// joinPages is how many pages in between two that are dropped are dropped with them. The image's pages among them
	// must be mapped again when they are read, 16 to a fault; a second request to the kernel costs as much.
	joinPages = 16
)

// habits says of each page what calls do with it: 0 where it was not yet seen to be written; 1 where it was, and is not
// kept; else one more than the number of calls that may still leave it alone before it is dropped.
type habits []uint8

// written takes note that a call wrote to a page, and returns whether the page is worth keeping.
func (h habits) written(page int) bool {
	if h[page] == 0 {
		h[page] = 1
		return false
	}
	h[page] = 1 + keepAfter
	return true
}

// spared takes note that a call left a page as it is in the image, and returns whether the page is worth keeping.
//
// One that was not kept before is, for a while: a call wrote to it what was there, or it is among those pages of zeros
// that all memories share until they are written to, and that not every way of asking tells from others. To drop it would
// have the next call that reads it fault.
func (h habits) spared(page int) bool {
	if h[page] < 2 {
		h[page] = 1 + keepAfter
	} else {
		h[page]--
	}
	return h[page] > 1
}

// restoring is one Restore of a mapping.
type restoring struct {
	*mapping
	page int   // the size of one
	kept int64 // bytes
	// from and to bound a range that is to be dropped.
	from, to int
}

// all restores all pages that are the memory's own. It returns false where it could not find out which these are; some
// may be restored then and some not.
func (r *restoring) all() bool {
	if r.file.finder == nil {
		return false
	}
	memory := r.space[:r.size]
	answer := r.file.finder.answers.Get().(*answer)
	defer r.file.finder.answers.Put(answer)
	for at := 0; at < len(memory); {
		runs, next, err := r.file.finder.find(memory, at, answer)
		if err != nil || next <= at {
			return false
		}
		for _, run := range runs {
			for page := run.from; page < run.to; page += r.page {
				r.one(page)
			}
		}
		at = next
	}
	r.flush()
	return true
}

// one restores the page at an offset.
func (r *restoring) one(at int) {
	if r.keeps(at) {
		r.kept += int64(r.page)
		r.flush()
		return
	}
	if at-r.to > joinPages*r.page {
		r.flush()
	}
	if r.to == r.from {
		r.from = at
	}
	r.to = at + r.page
}

// keeps returns whether the page at an offset is kept, and if so restores it.
func (r *restoring) keeps(at int) bool {
	page, memory := at/r.page, r.space[:r.size]
	switch {
	case r.kept >= keepMost:
		r.habits.written(page)
		return false
	case r.habits[page] == 0 && !isAs(memory, r.file, at, at+r.page):
		return r.habits.written(page) // no: to copy it would be for nothing
	case r.habits[page] > 0 && copyBack(memory, r.file, at, at+r.page):
		return r.habits.written(page)
	}
	return r.habits.spared(page)
}

// flush drops the range that is to be dropped.
func (r *restoring) flush() {
	if r.from < r.to {
		r.kept += r.drop(r.from, r.to)
	}
	r.from, r.to = 0, 0
}
