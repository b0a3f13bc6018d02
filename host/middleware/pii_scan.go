package middleware

import (
	"strings"
	"unicode/utf8"
)

// match is what a detector says of one place in a text.
type match struct {
	// size is how many bytes are found; 0 for none.
	size int
	// more says that the text ends too early to tell. It is false where the text is final.
	more bool
	// tail, where not nil, takes what follows the match and belongs to it, rune by rune, until it says no.
	tail func(r rune) bool
}

var (
	nothing  = match{}
	tooEarly = match{more: true}
)

// atEnd is the answer of a detector that came to the end of the text while a match could still grow.
func atEnd(final bool) match { return match{more: !final} }

// scanner replaces what detectors find in a text that comes in pieces. Whether something is found at a place depends on the
// rune before it and a bounded stretch behind it and on nothing else. The scanner decides place by place and waits where
// that stretch is not there yet, so the pieces make no difference to what comes out.
type scanner struct {
	detectors []Detector
	held      string // not decided yet
	before    rune   // the last rune that was decided; 0 at the beginning
	tail      func(r rune) bool
	found     []string // labels, each once
}

// feed takes a piece of the text and returns what may leave. With final, that is all of it.
func (s *scanner) feed(piece string, final bool) string {
	text := piece
	if s.held != "" {
		text = s.held + piece
	}
	var out strings.Builder
	at := 0
	for at < len(text) {
		rest := text[at:]
		if !final && !utf8.FullRuneInString(rest) {
			break
		}
		r, size := utf8.DecodeRuneInString(rest)
		if s.tail != nil {
			if s.tail(r) {
				s.before, at = r, at+size
				continue
			}
			s.tail = nil
		}
		found, label := s.find(rest, final)
		if found.more {
			break
		}
		if found.size == 0 {
			out.WriteString(rest[:size])
			s.before, at = r, at+size
			continue
		}
		out.WriteString("[" + label + "]")
		s.note(label)
		s.before, _ = utf8.DecodeLastRuneInString(rest[:found.size])
		s.tail, at = found.tail, at+found.size
	}
	s.held = text[at:]
	if final {
		s.before, s.tail = 0, nil
	}
	return out.String()
}

// find asks all detectors about the beginning of rest. The longest match counts, and of two the earlier detector's.
func (s *scanner) find(rest string, final bool) (match, string) {
	var best match
	label := ""
	for _, d := range s.detectors {
		m := d.scan(s.before, rest, final)
		if m.more {
			return tooEarly, ""
		}
		if m.size > best.size {
			best, label = m, d.label
		}
	}
	return best, label
}

func (s *scanner) note(label string) {
	for _, known := range s.found {
		if known == label {
			return
		}
	}
	s.found = append(s.found, label)
}

// redactText is a whole text with what detectors find replaced, and the labels of what they found.
func redactText(detectors []Detector, text string) (string, []string) {
	s := scanner{detectors: detectors}
	return s.feed(text, true), s.found
}
