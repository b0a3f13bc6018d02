package offline

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// span is a part of a text, by bytes.
type span struct{ from, to int }

func (s span) holds(o span) bool { return s.from <= o.from && o.to <= s.to }

func (s span) meets(o span) bool { return s.from < o.to && o.from < s.to }

// find is where a name stands in a text as a word of its own, in any case. Where the name has _ or -, the text may have
// either, or white space.
func find(text, name string) []span {
	var out []span
	for i := 0; i < len(text); {
		if end := matched(text, i, name); end > i && alone(text, span{i, end}) {
			out = append(out, span{i, end})
			i = end
			continue
		}
		_, n := utf8.DecodeRuneInString(text[i:])
		i += n
	}
	return out
}

// matched is where a name that begins at a place in a text ends there; -1 where another text stands there.
func matched(text string, at int, name string) int {
	for _, want := range name {
		r, n := utf8.DecodeRuneInString(text[at:])
		switch {
		case n == 0:
			return -1
		case want == '_' || want == '-':
			if r != '_' && r != '-' && !unicode.IsSpace(r) {
				return -1
			}
		case r != want && unicode.ToLower(r) != unicode.ToLower(want):
			return -1
		}
		at += n
	}
	return at
}

// alone says whether a part of a text is no piece of a longer word or name.
func alone(text string, s span) bool {
	before, n := utf8.DecodeLastRuneInString(text[:s.from])
	further, _ := utf8.DecodeLastRuneInString(text[:s.from-n])
	after, n := utf8.DecodeRuneInString(text[s.to:])
	beyond, _ := utf8.DecodeRuneInString(text[s.to+n:])
	oclock := (before == '\'' || before == '’') && wordRune(further)
	return !oclock && !goesOn(before, further) && !goesOn(after, beyond)
}

// goesOn says whether a word goes on with r, behind which next stands.
func goesOn(r, next rune) bool {
	if wordRune(r) {
		return !ideographic(r)
	}
	return r == '_' || strings.ContainsRune("-./", r) && wordRune(next)
}

// quotation is a text in quotation marks.
type quotation struct {
	span
	inner span
}

// marks are the quotation marks, each with the one that closes it.
var marks = map[rune]rune{'"': '"', '\'': '\'', '`': '`', '“': '”', '„': '“', '‘': '’', '«': '»'}

// quotations are the quoted parts of a text. A mark that nothing closes is none; an apostrophe inside a word neither.
func quotations(text string) []quotation {
	var out []quotation
	before := ' '
	open := map[rune]bool{} // marks that nothing closes from here on
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		closing, opens := marks[r]
		if opens && !wordRune(before) && !open[r] {
			if to := closed(text, i+n, closing); to >= 0 {
				out = append(out, quotation{span{i, to + utf8.RuneLen(closing)}, span{i + n, to}})
				i, before = to+utf8.RuneLen(closing), closing
				continue
			}
			open[r] = true
		}
		i, before = i+n, r
	}
	return out
}

// closed is where the quotation whose text begins at a place is closed; -1 for nowhere.
func closed(text string, from int, closing rune) int {
	for i, r := range text[from:] {
		if r != closing {
			continue
		}
		if next, _ := utf8.DecodeRuneInString(text[from+i+utf8.RuneLen(r):]); !wordRune(next) {
			return from + i
		}
	}
	return -1
}

// holding is the quotation that a part of the text stands in.
func holding(quotes []quotation, at span) (quotation, bool) {
	i, _ := slices.BinarySearchFunc(quotes, at.from, func(q quotation, from int) int { return cmp.Compare(q.to, from+1) })
	if i < len(quotes) && quotes[i].holds(at) {
		return quotes[i], true
	}
	return quotation{}, false
}

func insideQuote(quotes []quotation, at span) bool {
	_, inside := holding(quotes, at)
	return inside
}

// quotedAt is the quotation that begins at a place.
func quotedAt(quotes []quotation, at int) (quotation, bool) {
	q, inside := holding(quotes, span{at, at + 1})
	return q, inside && q.from == at
}

// tokens are the parts of a text between white space, commas and semicolons, without the marks around them.
func tokens(text string, within span) []span {
	var out []span
	start := -1
	add := func(end int) {
		if start >= 0 {
			if s := trimmed(text, span{start, end}, "()", ".:!?()"); s.from < s.to {
				out = append(out, s)
			}
		}
		start = -1
	}
	for i, r := range text[within.from:within.to] {
		if unicode.IsSpace(r) || r == ',' || r == ';' {
			add(within.from + i)
		} else if start < 0 {
			start = within.from + i
		}
	}
	add(within.to)
	return out
}

// trimmed is a part without white space and without some marks at its ends.
func trimmed(text string, s span, left, right string) span {
	whole := text[s.from:s.to]
	rest := strings.TrimRightFunc(whole, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(right, r) })
	kept := strings.TrimLeftFunc(rest, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(left, r) })
	return span{s.from + len(rest) - len(kept), s.from + len(rest)}
}

// inOrder is a sorted copy of a list of parts.
func inOrder(list []span) []span {
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b span) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to)) })
	return list
}
