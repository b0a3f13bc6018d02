package index

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"
)

// passageBytes is how long a passage is at most. Longer sections are split between paragraphs.
const passageBytes = 1000

// maxAnchor is how long what follows the path in an ID is at most: "#", the slug and a number behind each of two marks.
const maxAnchor = maxSlug + 32

// maxSlug is how long the slug of a heading is at most.
const maxSlug = 128

// passage is what is found and given as one piece.
type passage struct {
	path    string
	heading string // with those above it, as it is shown; empty before the first one
	anchor  string // tells it from the others of the file; empty for the first without a heading
	line    int    // where it begins, from 1
	text    string // part of the file, without its heading
}

// document is the passage as it is indexed.
func (p passage) document(prefix string) Document {
	d := Document{ID: prefix + p.path + p.anchor, Title: p.path, Text: p.text}
	if p.heading != "" {
		d.Title = p.path + " § " + p.heading
	}
	d.Title = cut(d.Title, MaxTitle)
	d.Metadata = fmt.Appendf(nil, `{"path":%s,"heading":%s,"line":%d}`, quoted(p.path), quoted(cut(p.heading, MaxTitle)), p.line)
	return d
}

func quoted(text string) []byte {
	out, _ := jsontext.AppendQuote(nil, text) // it is valid UTF-8
	return out
}

// passages splits a file: by headings where it is Markdown, and where a section is long, by paragraphs.
func passages(path, text string) []passage {
	s := splitter{path: path, text: text, slugs: map[string]int{"": 1}}
	s.split(!strings.HasSuffix(strings.ToLower(path), ".txt"))
	return s.done
}

// splitter gathers the passages of one file.
type splitter struct {
	path, text string
	levels     [6]string      // the heading of each level that is open
	titles     int            // how many headings of the first level there were
	slug       string         // of the current section
	slugs      map[string]int // those that are taken, with the number that the next of that name tries
	counted    int            // up to where the lines were counted
	lines      int            // how many there are up to there
	done       []passage
}

func (s *splitter) split(markdown bool) {
	at := 0
	if markdown {
		at = frontMatter(s.text)
	}
	start := at
	var fence fence
	for line := range strings.Lines(s.text[at:]) {
		end := at + len(line)
		if markdown && !fence.isOpen(line) {
			if level, title := heading(line); level > 0 {
				s.section(start, at)
				s.open(level, title)
				start = end
			}
		}
		at = end
	}
	s.section(start, at)
}

// open makes a heading the current one and closes those of its level and below.
func (s *splitter) open(level int, title string) {
	s.levels[level-1] = title
	clear(s.levels[level:])
	if level == 1 {
		s.titles++
	}
	name := slug(title)
	s.slug = name
	for s.slugs[s.slug] > 0 {
		s.slug = fmt.Sprintf("%s-%d", name, s.slugs[name])
		s.slugs[name]++
	}
	s.slugs[s.slug] = 1
}

// section makes passages of the text under the current heading.
func (s *splitter) section(start, end int) {
	heading := s.heading()
	n := 0
	for _, part := range chunks(s.text[start:end], passageBytes) {
		text := strings.Trim(part, "\r\n")
		from := start + strings.Index(part, text)
		start += len(part)
		if strings.TrimSpace(text) == "" {
			continue
		}
		n++
		p := passage{path: s.path, heading: heading, line: s.line(from), text: text}
		if s.slug != "" || n > 1 {
			p.anchor = "#" + s.slug
		}
		if n > 1 {
			p.anchor += fmt.Sprintf("~%d", n)
		}
		s.done = append(s.done, p)
	}
}

// heading is the current heading and those above it.
func (s *splitter) heading() string {
	var all []string
	for _, title := range s.levels {
		if title != "" {
			all = append(all, title)
		}
	}
	if len(all) > 1 && s.levels[0] != "" && s.titles == 1 {
		all = all[1:] // the title of the whole file tells nothing about a part of it
	}
	return strings.Join(all, " > ")
}

// line is the number of the line in which a place is. Places are asked for in their order.
func (s *splitter) line(at int) int {
	s.lines += strings.Count(s.text[s.counted:at], "\n")
	s.counted = at
	return s.lines + 1
}

// slug is what a heading is called in a link, as GitHub does it.
func slug(title string) string {
	s := strings.Map(func(c rune) rune {
		switch {
		case c == ' ':
			return '-'
		case c == '-' || c == '_' || isWord(c):
			return unicode.ToLower(c)
		}
		return -1
	}, title)
	return cut(s, maxSlug)
}
