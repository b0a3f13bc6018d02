package engine

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// printable returns text that comes from a guest in a form that may be written to a log or a terminal: on one line,
// valid UTF-8, with everything that does not print (control characters, escape sequences, characters that turn the
// direction of writing) escaped as in a Go string.
func printable(text string) string { return escape(text, false) }

// printableLines is printable, but leaves the ends of lines.
func printableLines(text string) string { return escape(text, true) }

func escape(text string, lines bool) string {
	fine := func(r rune) bool { return r == '\n' && lines || r != utf8.RuneError && unicode.IsPrint(r) }
	if strings.IndexFunc(text, func(r rune) bool { return !fine(r) }) < 0 {
		return text
	}
	var b strings.Builder
	for _, r := range text { // Invalid bytes come out as utf8.RuneError.
		if fine(r) || r == utf8.RuneError {
			b.WriteRune(r)
			continue
		}
		quoted := strconv.QuoteRuneToASCII(r)
		b.WriteString(quoted[1 : len(quoted)-1])
	}
	return b.String()
}

// cut shortens text to at most n bytes, not in the middle of a character, and returns how many bytes it left out.
func cut(text string, n int) (string, int) {
	if len(text) <= n {
		return text, 0
	}
	end := n
	for end > 0 && end > n-utf8.UTFMax && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end], len(text) - end
}
