package engine

import "fmt"

// The levels that a guest may log at, and what get_log_level calls them.
const (
	levelTrace = "trace"
	levelDebug = "debug"
	levelInfo  = "info"
	levelWarn  = "warn"
	levelError = "error"

	numberTrace = 0
	numberOff   = 1<<31 - 1
)

// logs passes what a guest logs in one call on to the host, within limits.
type logs struct {
	to            func(level, text string)
	lines, length int
	written       int
	dropped       int
}

func (l *logs) write(level string, line []byte) {
	if exceeds(l.written+1, l.lines) {
		l.dropped++
		return
	}
	l.written++
	if l.to == nil {
		return
	}
	left := 0
	if exceeds(len(line), l.length) {
		// No more of a long line is copied than is used.
		head, _ := cut(string(line[:l.length+1]), l.length)
		line, left = line[:len(head)], len(line)-len(head)
	}
	text := printable(string(line))
	if left > 0 {
		text += fmt.Sprintf(" ... (%s more)", size(int64(left)))
	}
	l.to(level, text)
}

// close says how much was dropped, if anything was.
func (l *logs) close() {
	switch {
	case l.dropped == 0 || l.to == nil:
	case l.dropped == 1:
		l.to(levelWarn, "1 line dropped")
	default:
		l.to(levelWarn, count(l.dropped)+" lines dropped")
	}
}

// printed keeps the first bytes of what a guest prints. What it prints beyond them is lost, and the guest is not told.
type printed struct {
	buf []byte
}

// printedLimit is how much of what a guest prints is kept, in bytes.
const printedLimit = 4 * kib

func (t *printed) Write(p []byte) (int, error) {
	room := printedLimit - len(t.buf)
	t.buf = append(t.buf, p[:min(room, len(p))]...)
	return len(p), nil
}
