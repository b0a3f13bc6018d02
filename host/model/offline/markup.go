package offline

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

var (
	link = regexp.MustCompile(`!?\[([^\[\]]*)\]\([^()\s]*\)`)

	// abbreviations have a full stop that ends no sentence.
	abbreviations = set(`e.g. i.e. etc. vs. cf. dr. mr. mrs. ms. prof. st. no. fig. approx. incl. p. v.`)
)

// plain takes emphasis and links out of a line of Markdown. Marks of code stay.
func plain(text string) string {
	text = oneLine(text)
	if strings.Contains(text, "](") {
		text = link.ReplaceAllString(text, "$1")
	}
	if strings.Contains(text, "*") {
		text = withoutEmphasis(text)
	}
	return text
}

// oneLine has one space wherever text has white space.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// withoutEmphasis drops pairs of runs of asterisks that open and close emphasis, outside of code.
func withoutEmphasis(text string) string {
	type run struct{ from, to int }
	var open []run
	drop := make([]bool, len(text))
	code := false
	for i := 0; i < len(text); i++ {
		if text[i] == '`' {
			code = !code
		}
		if text[i] != '*' || code {
			continue
		}
		r := run{from: i, to: i}
		for r.to < len(text) && text[r.to] == '*' {
			r.to++
		}
		i = r.to - 1
		before, _ := utf8.DecodeLastRuneInString(text[:r.from])
		after, _ := utf8.DecodeRuneInString(text[r.to:])
		n := len(open)
		closes := r.from > 0 && !unicode.IsSpace(before) && !wordRune(after)
		opens := r.to < len(text) && !unicode.IsSpace(after) && !wordRune(before)
		switch {
		case closes && n > 0 && open[n-1].to-open[n-1].from == r.to-r.from:
			for _, pair := range [...]run{open[n-1], r} {
				for j := pair.from; j < pair.to; j++ {
					drop[j] = true
				}
			}
			open = open[:n-1]
		case opens:
			open = append(open, r)
		}
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if !drop[i] {
			b.WriteByte(text[i])
		}
	}
	return b.String()
}

// codeSpan marks a line of code as such.
func codeSpan(line string) string {
	if strings.Contains(line, "`") {
		return line
	}
	return "`" + oneLine(line) + "`"
}

// cut splits running text into sentences.
func cut(text string) []string {
	var out []string
	start, code := 0, false
	for i, r := range text {
		if r == '`' {
			code = !code && strings.Contains(text[i+1:], "`")
		}
		if code || !strings.ContainsRune(".!?…。！？", r) {
			continue
		}
		end := i + utf8.RuneLen(r)
		end += len(text[end:]) - len(strings.TrimLeft(text[end:], `"'”’)]*`))
		if end < start || !strings.ContainsRune("。！？", r) && !ends(text[start:], end-start) {
			continue
		}
		if one := strings.TrimSpace(text[start:end]); one != "" {
			out = append(out, one)
		}
		start = end
	}
	if one := strings.TrimSpace(text[start:]); one != "" {
		out = append(out, one)
	}
	return out
}

// ends says whether text up to at, where there is a mark of punctuation, is a sentence, going by what comes next.
func ends(text string, at int) bool {
	rest := text[at:]
	if rest == "" {
		return true
	}
	next := strings.TrimLeftFunc(rest, unicode.IsSpace)
	if len(next) == len(rest) {
		return false
	}
	first, _ := utf8.DecodeRuneInString(next)
	if unicode.IsLower(first) {
		return false
	}
	said := text[:at]
	last := strings.ToLower(strings.TrimLeft(said[strings.LastIndexFunc(said, unicode.IsSpace)+1:], `("'“‘`))
	return !abbreviations[last]
}
