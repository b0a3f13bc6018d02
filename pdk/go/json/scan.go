package json

import (
	"math/bits"
	"unsafe"
)

// How Go is compiled to WebAssembly decides the shape of what follows. A jump costs several times what it does natively,
// a call as much as three jumps, and a variable too many in a loop is kept in memory. So loops are small functions with
// few variables, text is looked at eight bytes at a time, and what nearly always comes next is asked for first.

// space returns the place of the first character from i on that is not white space.
func space(s string, i int) int {
	for i < len(s) && s[i] <= ' ' && (s[i] == ' ' || s[i] == '\n' || s[i] == '\t' || s[i] == '\r') {
		i++
	}
	return i
}

// plain returns the place of the first character from i on that needs attention in a string: a quote, a backslash, a
// control character or one beyond ASCII. Where there is none, that is the end.
func plain(s string, i int) int {
	const (
		ones  = 0x0101010101010101
		highs = 0x8080808080808080
	)
	for i+8 <= len(s) {
		word := *(*uint64)(unsafe.Add(unsafe.Pointer(unsafe.StringData(s)), i))
		// The high bit of a byte of these is set if it is a control character, a quote or a backslash. Bits above the
		// lowest one that is set mean nothing.
		control := (word - ones*' ') &^ word
		quote := word ^ ones*'"'
		quote = (quote - ones) &^ quote
		backslash := word ^ ones*'\\'
		backslash = (backslash - ones) &^ backslash
		if found := (word | control | quote | backslash) & highs; found != 0 {
			return i + bits.TrailingZeros64(found)/8
		}
		i += 8
	}
	for i < len(s) && s[i] >= ' ' && s[i] < 0x80 && s[i] != '"' && s[i] != '\\' {
		i++
	}
	return i
}

// foreign returns the place of the first ASCII character from i on, or -1 and the place of the first byte that is no
// UTF-8 (RFC 3629, section 4).
func foreign(s string, i int) (next, fault int) {
	for i < len(s) && s[i] >= 0x80 {
		c := s[i]
		size, low, high := 2, byte(0x80), byte(0xBF)
		switch {
		case c < 0xC2 || c > 0xF4:
			return -1, i
		case c >= 0xF0:
			size = 4
		case c >= 0xE0:
			size = 3
		}
		switch c {
		case 0xE0:
			low = 0xA0
		case 0xED:
			high = 0x9F
		case 0xF0:
			low = 0x90
		case 0xF4:
			high = 0x8F
		}
		if i+size > len(s) || s[i+1] < low || s[i+1] > high ||
			size > 2 && s[i+2]&0xC0 != 0x80 || size > 3 && s[i+3]&0xC0 != 0x80 {
			return -1, i
		}
		i += size
	}
	return i, 0
}

// skip moves behind the next value, and checks it on the way.
func (r *Reader) skip() {
	if r.pos < len(r.src) && r.src[r.pos] == '"' {
		r.skipText()
		return
	}
	switch r.Kind() {
	case KindString:
		r.skipText()
	case KindNumber:
		r.number()
	case KindObject:
		if r.open() {
			for _, ok := r.member(true); ok; _, ok = r.member(false) {
				r.skip()
			}
		}
	case KindArray:
		if r.open() {
			for first := true; r.next(']', first); first = false {
				r.skip()
			}
		}
	default:
		r.literal()
	}
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
	src, start := r.src, r.pos
	i := start
	if src[i] == '-' {
		i++
	}
	whole := i
	i = digits(src, i)
	if i > whole && src[whole] == '0' {
		i = whole + 1
	}
	ok := i > whole
	if ok && i < len(src) && src[i] == '.' {
		fraction := i + 1
		i = digits(src, fraction)
		ok = i > fraction
	}
	if ok && i < len(src) && src[i]|0x20 == 'e' {
		i++
		if i < len(src) && (src[i] == '+' || src[i] == '-') {
			i++
		}
		exponent := i
		i = digits(src, i)
		ok = i > exponent
	}
	r.pos = i
	if !ok {
		r.syntax("a digit")
		return ""
	}
	return src[start:i]
}

// digits returns the place of the first character from i on that is no digit.
func digits(s string, i int) int {
	for i < len(s) && s[i]-'0' <= 9 {
		i++
	}
	return i
}
