package main

import (
	"strings"
	"unicode"
)

// maxLength is how many characters of a value are kept.
const maxLength = 120

// sentences splits a text into its statements: questions are left out, and so is the punctuation at the end.
func sentences(text string) []string {
	var all []string
	start := 0
	add := func(end int, question bool) {
		s := tidy(text[start:end])
		if s != "" && !question && !startsQuestion(s) {
			all = append(all, s)
		}
	}
	for i, c := range text {
		if i < start {
			continue
		}
		switch c {
		case '\n', '\r', ';':
			add(i, false)
			start = i + 1
		case '.', '!', '?', '…', '。', '！', '？':
			rest := text[i:]
			marks := rest[:len(rest)-len(strings.TrimLeft(rest, ".!?…。！？\"'”’)"))]
			wide := c == '。' || c == '！' || c == '？'
			if next := rest[len(marks):]; next != "" && !wide && !unicode.IsSpace(rune(next[0])) {
				continue // 1.26, example.org
			}
			if c == '.' && abbreviated(text[start:i]) {
				continue
			}
			add(i, strings.ContainsAny(marks, "?？"))
			start = i + len(marks)
		}
	}
	add(len(text), false)
	return all
}

// abbreviated reports whether the full stop behind s belongs to its last word.
func abbreviated(s string) bool {
	last := strings.ToLower(s[strings.LastIndexAny(s, " \t")+1:])
	switch last {
	case "dr", "mr", "mrs", "ms", "prof", "st", "e.g", "i.e", "etc":
		return true
	}
	return len(last) == 1 && last != "i" // an initial: Ada K. Lovelace
}

// startsQuestion tells questions that lack their mark.
func startsQuestion(s string) bool {
	first, _, _ := strings.Cut(strings.ToLower(s), " ")
	switch strings.Trim(first, ",:") {
	case "what", "what's", "who", "who's", "whose", "whom", "where", "where's", "when", "why", "how", "which", "do", "does",
		"did", "is", "are", "am", "was", "were", "can", "could", "would", "should", "shall", "will", "may", "might", "have",
		"has", "if", "suppose", "imagine", "pretend":
		return true
	}
	return false
}

// tidy makes any text one line of visible characters: what a user wrote is data, and must not look like several
// instructions when it is told to the agent.
func tidy(s string) string {
	s = strings.Map(func(c rune) rune {
		switch {
		case c == '’' || c == '‘':
			return '\''
		case c == '“' || c == '”':
			return '"'
		case unicode.IsSpace(c), unicode.IsControl(c):
			return ' '
		case unicode.Is(unicode.Cf, c), unicode.Is(unicode.Co, c), c == unicode.ReplacementChar:
			return -1 // direction marks, zero width characters, tags
		}
		return c
	}, s)
	return strings.Join(strings.Fields(s), " ")
}

// value makes the rest of a sentence a value: without punctuation around it and not too long. It is empty where nothing
// is left.
func value(s string) string {
	s = trimmed(s)
	count := 0
	for i := range s {
		if count++; count > maxLength {
			s = s[:i]
			if space := strings.LastIndexByte(s, ' '); space > maxLength/2 {
				s = s[:space]
			}
			return trimmed(s)
		}
	}
	return s
}

func trimmed(s string) string { return strings.Trim(s, " .,;:!?-–—\"'`()[]{}<>*_…") }

func isSeparator(c rune) bool {
	return !unicode.IsLetter(c) && !unicode.IsNumber(c) && !unicode.IsMark(c)
}
