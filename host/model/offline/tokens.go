package offline

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// word is one word of a text, as it is compared.
type word struct {
	// lower is the word as it stands, in lower case, without a possessive.
	lower string
	// term is what it is compared by: its stem, or an identifier as a whole.
	term string
	// parts are the terms of the pieces of a compound such as before_run, host/wasm or callNext.
	parts []string
	// identifier says that it is a name from code or a file, not a word of the language.
	identifier bool
}

// words splits a text. A name such as before_run, abi.md or IN-2 stays one word.
func words(text string) []word {
	var out []word
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		switch {
		case ideographic(r): // no spaces between words: each character stands for itself
			out = append(out, word{lower: string(r), term: string(r)})
			i += n
		case wordRune(r):
			end := compoundEnd(text, i)
			out = append(out, newWord(text[i:end]))
			i = end
		default:
			i += n
		}
	}
	return out
}

func wordRune(r rune) bool {
	if r < utf8.RuneSelf {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
	}
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r))
}

func ideographic(r rune) bool {
	return r >= 0x2E80 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana)
}

// joiner says that r between two characters of a word holds them together.
func joiner(r rune) bool {
	switch r {
	case '_', '-', '.', '/', ':', '\'', '’':
		return true
	}
	return false
}

// compoundEnd is where the word that begins at i ends.
func compoundEnd(text string, i int) int {
	for i < len(text) {
		r, n := utf8.DecodeRuneInString(text[i:])
		if joiner(r) {
			next, _ := utf8.DecodeRuneInString(text[i+n:])
			if !wordRune(next) || ideographic(next) {
				return i
			}
		} else if !wordRune(r) || ideographic(r) {
			return i
		}
		i += n
	}
	return i
}

func newWord(text string) word {
	// Apostrophes: a possessive goes, a contraction is closed up.
	text = strings.ReplaceAll(text, "’", "'")
	text = strings.TrimSuffix(strings.TrimSuffix(text, "'s"), "'S")
	text = strings.ReplaceAll(text, "'", "")
	w := word{lower: strings.ToLower(text)}
	pieces, letters := split(text)
	if len(pieces) < 2 {
		w.term = stem(w.lower)
		return w
	}
	w.term = strings.ReplaceAll(w.lower, "-", "_")
	w.identifier = letters && identifierForm(text)
	for _, outer := range strings.FieldsFunc(w.lower, func(r rune) bool { return strings.ContainsRune("./:", r) }) {
		if outer != w.lower && strings.ContainsAny(outer, "_-") {
			w.parts = append(w.parts, strings.ReplaceAll(outer, "-", "_"))
		}
	}
	for _, p := range pieces {
		w.parts = append(w.parts, stem(strings.ToLower(p)))
	}
	return w
}

// split cuts a compound at its joiners and humps, and says whether there are letters in it at all.
func split(text string) (pieces []string, letters bool) {
	start, before := 0, rune(0)
	for i, r := range text {
		hump := unicode.IsUpper(r) && unicode.IsLower(before)
		if hump || joiner(r) {
			if i > start {
				pieces = append(pieces, text[start:i])
			}
			start = i
			if !hump {
				start += utf8.RuneLen(r)
			}
		}
		letters = letters || unicode.IsLetter(r)
		before = r
	}
	if start < len(text) {
		pieces = append(pieces, text[start:])
	}
	return pieces, letters
}

// identifierForm tells before_run, abi.md, host/wasm, callNext and IN-2 from least-privilege and e.g.
func identifierForm(text string) bool {
	if len(text) <= 3 && strings.Contains(text, ".") { // e.g, i.e
		return false
	}
	if strings.ContainsAny(text, "_./:") || strings.ContainsFunc(text, unicode.IsDigit) {
		return true
	}
	return !strings.Contains(text, "-")
}

// stem takes the commonest English endings off, so that receives, received and receiving are one term. What it leaves
// need not be a word.
func stem(w string) string {
	if strings.ContainsFunc(w, func(r rune) bool { return r < 'a' || r > 'z' }) {
		return w
	}
	switch {
	case len(w) < 4:
		return w
	case strings.HasSuffix(w, "ies") && len(w) > 4, strings.HasSuffix(w, "ied") && len(w) > 4:
		return w[:len(w)-3] + "y"
	case strings.HasSuffix(w, "sses"), strings.HasSuffix(w, "xes"), strings.HasSuffix(w, "ches"), strings.HasSuffix(w, "shes"):
		return w[:len(w)-2]
	case strings.HasSuffix(w, "ss"), strings.HasSuffix(w, "us"), strings.HasSuffix(w, "is"):
		return w
	}
	w = strings.TrimSuffix(w, "s")
	for _, ending := range [...]string{"ing", "ed"} {
		rest := strings.TrimSuffix(w, ending)
		if len(rest) == len(w) || len(rest) < 3 || !strings.ContainsAny(rest, "aeiouy") {
			continue
		}
		if n := len(rest); rest[n-1] == rest[n-2] && !strings.ContainsRune("lszaeiou", rune(rest[n-1])) {
			rest = rest[:n-1] // stopped, running
		}
		w = rest
		break
	}
	if len(w) > 3 {
		w = strings.TrimSuffix(w, "e")
	}
	return w
}
