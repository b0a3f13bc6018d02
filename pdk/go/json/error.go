package json

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Kind tells what a value is.
type Kind byte

// The kinds of values.
const (
	KindNone   Kind = iota // no value: the end, or a character that begins none
	KindNull               // null
	KindBool               // true or false
	KindNumber             // a number
	KindString             // a string
	KindArray              // an array
	KindObject             // an object
)

// String names the kind as an error does: "a number".
func (k Kind) String() string {
	return [...]string{"a value", "null", "a boolean", "a number", "a string", "an array", "an object"}[k]
}

func kindOf(c byte) Kind {
	switch c {
	case 'n':
		return KindNull
	case 't', 'f':
		return KindBool
	case '"':
		return KindString
	case '[':
		return KindArray
	case '{':
		return KindObject
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return KindNumber
	}
	return KindNone
}

// Error says what is wrong with a JSON text, and where.
type Error struct {
	// Pointer is the JSON pointer of the value; empty for the whole.
	Pointer string
	// Offset is the byte at which the text stops being JSON; -1 where it is JSON and yet not what was wanted.
	Offset int
	// Reason says what was wanted and what was there.
	Reason string
}

// Error is the place and the reason.
func (e *Error) Error() string {
	text := e.Reason
	if e.Offset >= 0 {
		text = "not valid JSON at byte " + strconv.Itoa(e.Offset) + ": " + text
	}
	if e.Pointer != "" {
		text = "at " + e.Pointer + ": " + text
	}
	return text
}

// syntax records that the text is no JSON from here on.
func (r *Reader) syntax(wanted string) {
	found := "the text ends"
	if r.pos < len(r.src) {
		char, _ := utf8.DecodeRuneInString(r.src[r.pos:])
		found = strconv.QuoteRune(char) + " is there"
	}
	r.fail(r.pos, wanted+" was wanted, and "+found)
}

// maxPointer is how many levels a pointer has at most. The pointer to a fault that lies deeper is that of what it is in.
const maxPointer = 32

// pointer is the JSON pointer (RFC 6901) of the current value. It is found by going over the text again, so that reading
// need not keep track of it. Up to the current place the text is known to be valid.
func (r *Reader) pointer() string {
	type step struct {
		name  string
		index int // -1 in an object
	}
	var path []step
	from, to := 0, 0 // the last string
	for i := 0; i < r.pos && i < len(r.src); i++ {
		switch r.src[i] {
		case '{':
			path = append(path, step{index: -1})
		case '[':
			path = append(path, step{})
		case '}', ']':
			path = path[:len(path)-1]
		case ',':
			if top := &path[len(path)-1]; top.index >= 0 {
				top.index++
			}
		case ':':
			text := Reader{src: r.src}
			path[len(path)-1].name = text.unescape(from, to)
		case '"':
			from = i + 1
			for i = from; i < r.pos && r.src[i] != '"'; i++ {
				if r.src[i] == '\\' {
					i++
				}
			}
			to = i
		}
	}
	var b strings.Builder
	for _, s := range path[:min(len(path), maxPointer)] {
		b.WriteByte('/')
		if s.index >= 0 {
			b.WriteString(strconv.Itoa(s.index))
			continue
		}
		for i := range len(s.name) {
			switch c := s.name[i]; c {
			case '~':
				b.WriteString("~0")
			case '/':
				b.WriteString("~1")
			default:
				b.WriteByte(c)
			}
		}
	}
	return b.String()
}
