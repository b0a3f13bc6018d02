package index

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// What is taken of a query's text. What is beyond is left out.
const (
	MaxQuery      = 1 << 10 // bytes
	MaxQueryWords = 32
)

// expression writes words in the language of FTS5: any of them. What stands between quotes there is text and nothing else,
// and no word contains a quote.
func expression(words []string) string {
	return `"` + strings.Join(words, `" OR "`) + `"`
}

// queryWords takes the first words out of a text, each once.
func queryWords(text string) []string {
	if len(text) > MaxQuery {
		head := cut(text, MaxQuery)
		// A word that is cut is another word.
		if next, _ := utf8.DecodeRuneInString(text[len(head):]); isWord(next) {
			head = strings.TrimRightFunc(head, isWord)
		}
		text = head
	}
	var words []string
	seen := map[string]bool{}
	for word := range strings.FieldsFuncSeq(text, func(c rune) bool { return !isWord(c) }) {
		lower := strings.ToLower(word)
		if seen[lower] {
			continue // twice in the expression, it would count twice
		}
		seen[lower] = true
		if words = append(words, word); len(words) == MaxQueryWords {
			break
		}
	}
	return words
}

// isWord says whether a character is part of a word, for the tokenizer unicode61: letters, numbers, private characters, and
// the marks on them. Where it knows fewer than this program, a word is several to it, one after the other, or none.
func isWord(c rune) bool {
	return c != utf8.RuneError && (unicode.IsLetter(c) || unicode.IsNumber(c) || unicode.IsMark(c) || unicode.Is(unicode.Co, c))
}
