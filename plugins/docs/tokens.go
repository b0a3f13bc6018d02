package main

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// tokens calls yield with each term of a text, as the index knows it: in lower case, without its ending, and without the
// words that are in every text. An identifier gives itself, whole, and then its parts: before_run, before, run. yield is
// told which is which; the term's memory is used again for the next.
func tokens(text string, yield func(term []byte, part bool)) {
	var buf [64]byte
	for start := 0; start < len(text); {
		kind, size := charAt(text, start)
		if kind == charOther || kind == charJoint {
			start += size
			continue
		}
		end, compound := word(text, start)
		if compound {
			yield(lower(buf[:0], text[start:end]), false)
			parts(text[start:end], func(p string) { single(buf[:0], p, true, yield) })
		} else {
			single(buf[:0], text[start:end], false, yield)
		}
		start = end
	}
}

// char is what a character means for where words begin and end.
type char byte

const (
	charOther char = iota
	charLower      // a small letter
	charUpper      // a capital letter
	charDigit      // a digit, a mark, a letter that is neither small nor capital
	charJoint      // what joins two parts of an identifier
	charWide       // the first byte of a character that is not ASCII
)

// chars are the characters of ASCII. Looking them up saves two calls for each byte of a text, which are slow in
// WebAssembly.
var chars = func() (table [256]char) {
	for c := range table {
		switch {
		case c >= 'a' && c <= 'z':
			table[c] = charLower
		case c >= 'A' && c <= 'Z':
			table[c] = charUpper
		case c >= '0' && c <= '9':
			table[c] = charDigit
		case c == '_' || c == '-' || c == '.' || c == ':':
			table[c] = charJoint
		case c >= utf8.RuneSelf:
			table[c] = charWide
		}
	}
	return table
}()

// charAt tells what stands at a place, and how many bytes it takes.
func charAt(text string, i int) (kind char, size int) {
	if kind := chars[text[i]]; kind != charWide {
		return kind, 1
	}
	c, size := utf8.DecodeRuneInString(text[i:])
	switch {
	case c == utf8.RuneError:
		return charOther, size
	case unicode.IsUpper(c):
		return charUpper, size
	case unicode.IsLower(c):
		return charLower, size
	case unicode.IsLetter(c) || unicode.IsNumber(c) || unicode.IsMark(c):
		return charDigit, size
	}
	return charOther, size
}

// word finds the end of the word that begins at start, and reports whether it has parts.
func word(text string, start int) (end int, compound bool) {
	last := charOther
	for end = start; end < len(text); {
		kind, size := chars[text[end]], 1
		if kind == charWide {
			kind, size = charAt(text, end)
		}
		switch kind {
		case charOther:
			return end, compound
		case charUpper:
			compound = compound || last == charLower
		case charJoint:
			// It joins only where a word goes on behind it.
			if end+1 == len(text) {
				return end, compound
			}
			if next, _ := charAt(text, end+1); next == charOther || next == charJoint {
				return end, compound
			}
			compound = true
		}
		last = kind
		end += size
	}
	return end, compound
}

// parts splits an identifier at its joints: before_run, before-run, BeforeRun.
func parts(word string, yield func(string)) {
	start := 0
	last := charOther
	for i := 0; i < len(word); {
		kind, size := charAt(word, i)
		switch {
		case kind == charJoint:
			yield(word[start:i])
			start = i + 1
		case kind == charUpper && last == charLower:
			yield(word[start:i])
			start = i
		}
		last = kind
		i += size
	}
	yield(word[start:])
}

// single yields a word that has no parts, unless it says nothing.
func single(buf []byte, word string, part bool, yield func(term []byte, part bool)) {
	term := lower(buf, word)
	if len(term) == 1 && term[0] >= 'a' && term[0] <= 'z' || isStopWord(term) {
		return
	}
	yield(stem(term), part)
}

func lower(buf []byte, word string) []byte {
	for i := range len(word) {
		c := word[i]
		if c >= utf8.RuneSelf {
			return append(buf[:0], strings.ToLower(word)...)
		}
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		buf = append(buf, c)
	}
	return buf
}

// stem cuts the commonest English endings off a word, so that "receives", "received" and "receiving" are one term. It
// need not be right, only the same for the words of one family.
func stem(word []byte) []byte {
	if len(word) < 4 || !isASCII(word) {
		return word
	}
	switch {
	case ends(word, "ies") && len(word) > 4:
		word = append(word[:len(word)-3], 'y')
	case ends(word, "sses"), ends(word, "shes"), ends(word, "ches"), ends(word, "xes"):
		word = word[:len(word)-2]
	case ends(word, "ss"), ends(word, "us"), ends(word, "is"):
	case ends(word, "s"):
		word = word[:len(word)-1]
	}
	switch {
	case ends(word, "ing") && hasVowel(word[:len(word)-3]) && len(word) > 5:
		word = undoubled(word[:len(word)-3])
	case ends(word, "ed") && hasVowel(word[:len(word)-2]) && len(word) > 4:
		word = undoubled(word[:len(word)-2])
	}
	if ends(word, "e") && len(word) > 3 {
		word = word[:len(word)-1]
	}
	return word
}

func ends(word []byte, ending string) bool {
	return len(word) >= len(ending) && string(word[len(word)-len(ending):]) == ending
}

// undoubled makes "runn" of "running" the "run" that it comes from.
func undoubled(word []byte) []byte {
	last := len(word) - 1
	if last > 1 && word[last] == word[last-1] && !strings.ContainsRune("lsz", rune(word[last])) {
		return word[:last]
	}
	return word
}

func hasVowel(word []byte) bool { return strings.ContainsAny(string(word), "aeiouy") }

func isASCII(word []byte) bool {
	for _, c := range word {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// isStopWord tells words that are in every text and tell none from the others.
func isStopWord(word []byte) bool {
	switch string(word) {
	case "a", "about", "an", "and", "any", "are", "as", "at", "be", "been", "but", "by", "can", "could", "did",
		"do", "does", "for", "from", "had", "has", "have", "how", "i", "if", "in", "into", "is", "it", "its", "me",
		"my", "not", "of", "on", "or", "our", "should", "so", "some", "such", "than", "that", "the", "their", "them",
		"then", "there", "these", "they", "this", "those", "to", "us", "was", "we", "were", "what", "when", "where",
		"which", "who", "why", "will", "with", "would", "you", "your", "please", "tell":
		return true
	}
	return false
}
