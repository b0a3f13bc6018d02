package index

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// ellipsis stands where something was left out.
const ellipsis = "…"

// maxTrim is how much of an excerpt is left out at each end so that no word is cut.
const maxTrim = 60

// place is where a word of the query stands in a text.
type place struct {
	start, end int
	word       int // which one
}

// excerpt returns at most size bytes of a text that is longer: the first part of it where as many different words of the
// query as possible stand together.
//
// FTS5 has a function for that, snippet. It compares every place of a word with every other, so that one query for a common
// word of one long text would keep it busy for minutes.
func excerpt(text string, words []string, size int) string {
	size -= 2 * len(ellipsis)
	if size <= 0 {
		return cut(ellipsis, size+2*len(ellipsis))
	}
	first, last := densest(places(text, words), size)
	start := max(0, (first+last-size)/2) // what is found stands in the middle
	start = max(0, min(start, first, len(text)-size))
	end := min(len(text), start+size)

	// Where the ends of words are near, none is cut.
	if start > 0 {
		if i := strings.IndexAny(text[start:max(start, min(first, start+maxTrim))], " \n"); i >= 0 {
			start += i + 1
		}
		for start < end && !utf8.RuneStart(text[start]) {
			start++
		}
	}
	if end < len(text) {
		from := min(end, max(last, end-maxTrim))
		if i := strings.LastIndexAny(text[from:end], " \n"); i >= 0 {
			end = from + i
		}
		for end > start && !utf8.RuneStart(text[end]) {
			end--
		}
	}
	part := strings.TrimSpace(text[start:end])
	if start > 0 {
		part = ellipsis + part
	}
	if end < len(text) {
		part += ellipsis
	}
	return part
}

// places finds the words of a query in a text.
func places(text string, words []string) []place {
	var folded [][]rune
	for _, word := range words {
		folded = append(folded, fold(nil, word))
	}
	var all []place
	var buffer []rune
	for at := 0; at < len(text); {
		c, n := utf8.DecodeRuneInString(text[at:])
		if !isWord(c) {
			at += n
			continue
		}
		start := at
		for at < len(text) {
			if c, n = utf8.DecodeRuneInString(text[at:]); !isWord(c) {
				break
			}
			at += n
		}
		buffer = fold(buffer[:0], text[start:at])
		for i, word := range folded {
			if alike(buffer, word) {
				all = append(all, place{start, at, i})
				break
			}
		}
	}
	return all
}

// densest returns from where to where the most different words stand within size bytes, or 0 and 0 where there is none.
func densest(all []place, size int) (start, end int) {
	best := 0
	from := 0
	within := map[int]int{} // how often each word is there
	for _, p := range all {
		within[p.word]++
		for all[from].start < p.start && p.end-all[from].start > size {
			if within[all[from].word]--; within[all[from].word] == 0 {
				delete(within, all[from].word)
			}
			from++
		}
		if len(within) > best {
			best, start, end = len(within), all[from].start, p.end
		}
	}
	return start, end
}

// fold writes a word without case and marks.
func fold(to []rune, word string) []rune {
	for _, c := range word {
		if !unicode.IsMark(c) {
			to = append(to, unicode.ToLower(c))
		}
	}
	return to
}

// alike says whether two folded words may be one to the index, which compares without diacritics. A Latin letter that is
// not ASCII is taken for whatever letter stands there in the other word; here that is good enough.
func alike(a, b []rune) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] == b[i] {
			continue
		}
		plain, accented := min(a[i], b[i]), max(a[i], b[i])
		if plain > unicode.MaxASCII || accented <= unicode.MaxASCII || !unicode.Is(unicode.Latin, plain) || !unicode.Is(unicode.Latin, accented) {
			return false
		}
	}
	return true
}
