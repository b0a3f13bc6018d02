package offline

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// form is how a sentence stood in its text.
type form int

const (
	prose form = iota
	listItem
	tableRow
	codeLine
)

// sentence is what can be quoted: a sentence, a list item, a row of a table, a line of code.
type sentence struct {
	text string
	form form
	// context is what else says what the sentence is about: the heading above it, the line that introduces its list, the
	// head of its table, the sentence before it where it begins with a pronoun.
	context string
}

// shortLine is up to how many characters a line is taken to end where its author ended it. Longer ones are wrapped text.
const shortLine = 40

var (
	headingLine = regexp.MustCompile(`^#{1,6}\s+(.*?)\s*#*$`)
	itemLine    = regexp.MustCompile(`^\s*(?:[-*+•]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?(.*)$`)
	tableRule   = regexp.MustCompile(`^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$`)
)

// splitter goes through a Markdown text line by line.
type splitter struct {
	out     []sentence
	heading string
	lead    string // the line that introduces the list or the code that follows
	pending []string
	form    form // of pending
	fenced  bool
	head    []string // the table's head; nil outside of tables
	inTable bool
}

// sentences takes a text apart. It reads Markdown as people write it, not to the letter of any specification.
func sentences(text string) []sentence {
	var s splitter
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		next := ""
		if i+1 < len(lines) {
			next = lines[i+1]
		}
		s.line(strings.TrimRightFunc(line, unicode.IsSpace), next)
	}
	s.flush()
	return s.out
}

func (s *splitter) line(line, next string) {
	trimmed := strings.TrimSpace(line)
	if strings.HasPrefix(trimmed, "```") || strings.HasPrefix(trimmed, "~~~") {
		s.flush()
		s.fenced = !s.fenced
		return
	}
	if s.fenced {
		if trimmed != "" {
			s.add(codeLine, codeSpan(trimmed))
		}
		return
	}
	if trimmed == "" {
		s.flush()
		s.inTable, s.head = false, nil
		return
	}
	if s.table(trimmed, next) {
		return
	}
	for strings.HasPrefix(trimmed, ">") {
		trimmed = strings.TrimSpace(trimmed[1:])
		line = trimmed
	}
	if strings.HasPrefix(line, "#") {
		if m := headingLine.FindStringSubmatch(line); m != nil {
			s.flush()
			s.heading, s.lead = plain(m[1]), ""
			return
		}
	}
	comment := strings.HasPrefix(trimmed, "<!--") && strings.HasSuffix(trimmed, "-->")
	if comment || !strings.ContainsFunc(trimmed, wordRune) { // a line of dashes, stars or the like
		s.flush()
		return
	}
	if m := itemLine.FindStringSubmatch(line); m != nil {
		s.flush()
		s.form, s.pending = listItem, []string{m[1]}
		return
	}
	if s.form == listItem && len(s.pending) == 0 && line == trimmed {
		s.form = prose // a paragraph that is not indented ends the list
		s.lead = ""
	}
	s.pending = append(s.pending, trimmed)
	if s.form == prose && utf8.RuneCountInString(trimmed) < shortLine {
		s.flush()
	}
}

// table takes the line where it belongs to a table.
func (s *splitter) table(line, next string) bool {
	if s.inTable {
		if !strings.Contains(line, "|") {
			s.inTable, s.head = false, nil
			return false
		}
		if !tableRule.MatchString(line) {
			s.add(tableRow, s.row(cells(line)))
		}
		return true
	}
	if !strings.Contains(line, "|") {
		return false
	}
	begins := strings.Contains(next, "|") && tableRule.MatchString(next)
	isRow := strings.HasPrefix(line, "|") && strings.HasSuffix(line, "|") && len(line) > 2
	if !begins && !isRow {
		return false
	}
	s.flush()
	s.inTable = true
	if begins {
		s.head = cells(line)
	} else if !tableRule.MatchString(line) {
		s.add(tableRow, s.row(cells(line)))
	}
	return true
}

// row joins the cells of a row: two as "a: b", more as "a · head: b · head: c".
func (s *splitter) row(row []string) string {
	var b strings.Builder
	width := max(len(row), len(s.head))
	for i, cell := range row {
		if cell == "" {
			continue
		}
		switch {
		case b.Len() == 0:
		case width <= 2:
			b.WriteString(": ")
		default:
			b.WriteString(" · ")
			if i < len(s.head) && s.head[i] != "" {
				b.WriteString(s.head[i] + ": ")
			}
		}
		b.WriteString(cell)
	}
	return b.String()
}

// cells are the cells of a row, cut at pipes that are neither escaped nor in code.
func cells(line string) []string {
	line = strings.TrimSuffix(strings.TrimPrefix(line, "|"), "|")
	var out []string
	start, code := 0, false
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case '\\':
			i++
		case '`':
			code = !code
		case '|':
			if !code {
				out = append(out, line[start:i])
				start = i + 1
			}
		}
	}
	out = append(out, line[start:])
	for i, c := range out {
		out[i] = plain(strings.ReplaceAll(strings.TrimSpace(c), `\|`, "|"))
	}
	return out
}

// flush cuts what was gathered into sentences.
func (s *splitter) flush() {
	if len(s.pending) == 0 {
		return
	}
	text := plain(strings.Join(s.pending, " "))
	s.pending = s.pending[:0]
	for _, one := range cut(text) {
		s.add(s.form, one)
	}
	if s.form == prose {
		s.lead = ""
		if strings.HasSuffix(text, ":") {
			s.lead = text
		}
	}
}

func (s *splitter) add(f form, text string) {
	if !strings.ContainsFunc(text, wordRune) {
		return
	}
	about := []string{s.heading}
	if f != prose {
		about = append(about, s.lead)
	}
	about = append(about, s.head...)
	if n := len(s.out); f == prose && n > 0 && s.out[n-1].form == prose && pronounFirst(text) {
		about = append(about, s.out[n-1].text)
	}
	s.out = append(s.out, sentence{text: text, form: f, context: strings.Join(about, " ")})
}

var pronouns = set(`it they he she this these those both each its their`)

func pronounFirst(text string) bool {
	first, _, _ := strings.Cut(text, " ")
	return pronouns[strings.ToLower(first)]
}
