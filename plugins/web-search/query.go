package main

import (
	"strings"
	"unicode/utf8"

	"github.com/weft-run/weft/pdk/go/web"
)

// What a search may have. Brave takes no more, and no search engine finds more with more words.
const (
	maxWords      = 50
	maxCharacters = 400
)

// words are the words of a question with which the web is searched.
func words(question string) string {
	all := strings.Fields(web.Line(question, 8*maxCharacters))
	text := strings.Join(all[:min(len(all), maxWords)], " ")
	if utf8.RuneCountInString(text) <= maxCharacters {
		return text
	}
	text = string([]rune(text)[:maxCharacters])
	if space := strings.LastIndexByte(text, ' '); space > 0 {
		text = text[:space]
	}
	return text
}

// plainWords are words without what SearXNG reads as commands: a bang, a language or a time limit before the search, by
// which a question could choose the engines, or have the answer redirected elsewhere.
func plainWords(text string) string {
	var all []string
	for word := range strings.FieldsSeq(text) {
		if word = strings.TrimLeft(word, "!:<?"); word != "" {
			all = append(all, word)
		}
	}
	return strings.Join(all, " ")
}
