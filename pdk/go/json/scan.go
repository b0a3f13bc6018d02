package json

import (
	"unicode/utf16"
	"unicode/utf8"
	"unsafe"
)

// space moves to the next character that is not white space. It is small enough to be inlined, and mostly there is none.
func (r *Reader) space() {
	if r.pos < len(r.src) && r.src[r.pos] <= ' ' {
		r.spaces()
	}
}

func (r *Reader) spaces() {
	for r.pos < len(r.src) {
		switch r.src[r.pos] {
		case ' ', '\n', '\t', '\r':
			r.pos++
		default:
			return
		}
	}
}

func (r *Reader) at(c byte) bool { return r.pos < len(r.src) && r.src[r.pos] == c }

// skip moves behind the next value, and checks it on the way.
func (r *Reader) skip() {
	r.space()
	if r.pos >= len(r.src) {
		r.syntax("a value")
		return
	}
	switch kindOf(r.src[r.pos]) {
	case KindString:
		r.skipText()
	case KindNumber:
		r.number()
	case KindObject:
		r.skipAll('}', true)
	case KindArray:
		r.skipAll(']', false)
	default:
		r.literal()
	}
}

// skipAll moves behind an array or an object.
func (r *Reader) skipAll(end byte, named bool) {
	if !r.deeper() {
		return
	}
	r.pos++
	for first := true; r.more(end, first); first = false {
		if named {
			if !r.at('"') {
				r.syntax("a member's name in double quotes")
				return
			}
			r.skipText()
			r.space()
			if r.err == nil && !r.at(':') {
				r.syntax("a colon after a member's name")
			}
			if r.err != nil {
				return
			}
			r.pos++
		}
		r.skip()
	}
	r.depth--
}

func (r *Reader) literal() {
	for _, word := range [...]string{"null", "true", "false"} {
		if len(r.src)-r.pos >= len(word) && r.src[r.pos:r.pos+len(word)] == word {
			r.pos += len(word)
			return
		}
	}
	r.syntax("a value")
}

// number reads a number and returns its text.
func (r *Reader) number() string {
	start := r.pos
	if r.at('-') {
		r.pos++
	}
	if r.at('0') {
		r.pos++
	} else if !r.digits() {
		return ""
	}
	if r.at('.') {
		r.pos++
		if !r.digits() {
			return ""
		}
	}
	if r.at('e') || r.at('E') {
		r.pos++
		if r.at('+') || r.at('-') {
			r.pos++
		}
		if !r.digits() {
			return ""
		}
	}
	return r.src[start:r.pos]
}

func (r *Reader) digits() bool {
	start := r.pos
	for r.pos < len(r.src) && r.src[r.pos] >= '0' && r.src[r.pos] <= '9' {
		r.pos++
	}
	if r.pos == start {
		r.syntax("a digit")
		return false
	}
	return true
}

// skipText moves behind a string and reports whether it holds escapes.
func (r *Reader) skipText() (escaped bool) {
	src, i := r.src, r.pos+1
	for i < len(src) {
		i = plain(src, i)
		if i == len(src) {
			break
		}
		switch c := src[i]; {
		case c == '"':
			r.pos = i + 1
			return escaped
		case c == '\\':
			escaped = true
			r.pos = i
			_, i = r.escape()
			if r.err != nil {
				return true
			}
		case c < ' ':
			r.pos = i
			r.syntax("an escape sequence in place of a control character")
			return escaped
		case c < utf8.RuneSelf:
			i++
		default:
			char, size := utf8.DecodeRuneInString(src[i:])
			if char == utf8.RuneError && size == 1 {
				r.pos = i
				r.syntax("valid UTF-8")
				return escaped
			}
			i += size
		}
	}
	r.pos = len(src)
	r.syntax("the end of a string")
	return escaped
}

// plain moves over the characters that need no attention, eight at a time: a loop over single bytes is slow in
// WebAssembly as Go compiles it, and most of what is read is text.
func plain(s string, i int) int {
	const (
		ones  = 0x0101010101010101
		highs = 0x8080808080808080
	)
	for ; i+8 <= len(s); i += 8 {
		word := *(*uint64)(unsafe.Add(unsafe.Pointer(unsafe.StringData(s)), i))
		// The high bit of a byte of these is set if it is a control character, a quote or a backslash; where one is set,
		// the bits of bytes above it mean nothing.
		control := (word - ones*' ') &^ word
		quote := word ^ ones*'"'
		quote = (quote - ones) &^ quote
		backslash := word ^ ones*'\\'
		backslash = (backslash - ones) &^ backslash
		if (word|control|quote|backslash)&highs != 0 {
			break
		}
	}
	return i
}

// text reads a string. One without escapes is part of the source; the others are put together anew.
func (r *Reader) text() string {
	start := r.pos
	escaped := r.skipText()
	if r.err != nil {
		return ""
	}
	if !escaped {
		return r.src[start+1 : r.pos-1]
	}
	end := r.pos
	out := make([]byte, 0, end-start)
	for i := start + 1; i < end-1; {
		if r.src[i] != '\\' {
			out = append(out, r.src[i])
			i++
			continue
		}
		r.pos = i
		var char rune
		char, i = r.escape()
		out = utf8.AppendRune(out, char)
	}
	r.pos = end
	return string(out)
}

// escape reads the escape sequence at the current place and returns what follows it.
func (r *Reader) escape() (char rune, next int) {
	i := r.pos + 1
	if i >= len(r.src) {
		r.syntax("an escape sequence")
		return 0, i
	}
	switch c := r.src[i]; c {
	case '"', '\\', '/':
		return rune(c), i + 1
	case 'b':
		return '\b', i + 1
	case 'f':
		return '\f', i + 1
	case 'n':
		return '\n', i + 1
	case 'r':
		return '\r', i + 1
	case 't':
		return '\t', i + 1
	case 'u':
		char, ok := r.hex(i + 1)
		if !ok {
			break
		}
		i += 5
		if !utf16.IsSurrogate(char) {
			return char, i
		}
		if i+1 < len(r.src) && r.src[i] == '\\' && r.src[i+1] == 'u' {
			if low, ok := r.hex(i + 2); ok {
				if pair := utf16.DecodeRune(char, low); pair != utf8.RuneError {
					return pair, i + 6
				}
			}
		}
		r.syntax("a whole surrogate pair")
		return 0, i
	}
	r.syntax("an escape sequence")
	return 0, i
}

func (r *Reader) hex(i int) (rune, bool) {
	if i+4 > len(r.src) {
		return 0, false
	}
	var value rune
	for _, c := range []byte(r.src[i : i+4]) {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		value = value<<4 | rune(c)
	}
	return value, true
}
