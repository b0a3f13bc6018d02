package json

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"
	"unsafe"
)

// text reads the string at the current place. One without escapes is part of the source; the others are put together
// anew.
func (r *Reader) text() string {
	start := r.pos + 1
	end := plain(r.src, start)
	if end < len(r.src) && r.src[end] == '"' {
		r.pos = end + 1
		return r.src[start:end]
	}
	escaped := r.skipText()
	switch {
	case r.err != nil:
		return ""
	case escaped:
		return r.unescape(start, r.pos-1)
	}
	return r.src[start : r.pos-1]
}

// skipText moves behind the string at the current place and reports whether it holds escapes.
func (r *Reader) skipText() (escaped bool) {
	for i := r.pos + 1; ; {
		i = plain(r.src, i)
		if i == len(r.src) {
			r.pos = i
			r.syntax("the end of a string")
			return escaped
		}
		switch c := r.src[i]; {
		case c == '"':
			r.pos = i + 1
			return escaped
		case c == '\\':
			escaped = true
			r.pos = i
			if _, i = r.escape(); r.err != nil {
				return true
			}
		case c < ' ':
			r.pos = i
			r.syntax("an escape sequence in place of a control character")
			return escaped
		default:
			next, fault := foreign(r.src, i)
			if next < 0 {
				r.pos = fault
				r.syntax("valid UTF-8")
				return escaped
			}
			i = next
		}
	}
}

// unescape returns a part of the source, which is known to be valid, with what its escape sequences stand for.
func (r *Reader) unescape(from, to int) string {
	after := r.pos
	out := make([]byte, 0, to-from)
	for {
		n := strings.IndexByte(r.src[from:to], '\\')
		if n < 0 {
			break
		}
		out = append(out, r.src[from:from+n]...)
		r.pos = from + n
		var char rune
		char, from = r.escape()
		out = utf8.AppendRune(out, char)
	}
	out = append(out, r.src[from:to]...)
	r.pos = after
	return immutable(out)
}

// immutable returns bytes that nobody writes to any more as a string, without a copy.
func immutable(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// escape reads the escape sequence at the current place and returns what follows it.
func (r *Reader) escape() (char rune, next int) {
	i := r.pos + 1
	if i >= len(r.src) {
		r.syntax("an escape sequence")
		return 0, i
	}
	switch c := r.src[i]; c {
	case 'n':
		return '\n', i + 1
	case '"', '\\', '/':
		return rune(c), i + 1
	case 'b':
		return '\b', i + 1
	case 'f':
		return '\f', i + 1
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
