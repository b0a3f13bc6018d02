package json

import (
	"strconv"
	"strings"
)

// OneOf reads a text that is one of some words. Another one is a fault that lists them.
func (r *Reader) OneOf(words ...string) string {
	have := r.String()
	if r.err != nil {
		return ""
	}
	for _, word := range words {
		if have == word {
			return word
		}
	}
	const most = 40 // bytes of what somebody else wrote
	if len(have) > most {
		have = strings.ToValidUTF8(have[:most], "") + "…"
	}
	r.Fail("one of " + strings.Join(words, ", ") + " was wanted, and " + strconv.Quote(have) + " is there")
	return ""
}

// Within reads a whole number from least to most. Another one is a fault that names both.
func (r *Reader) Within(least, most int) int {
	n := r.Int()
	if r.err == nil && (n < least || n > most) {
		r.Fail("a number from " + strconv.Itoa(least) + " to " + strconv.Itoa(most) + " was wanted, and " + strconv.Itoa(n) + " is there")
	}
	if r.err != nil {
		return 0
	}
	return n
}
