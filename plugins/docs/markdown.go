package main

import "strings"

// passageBytes is how long a passage is at most. Longer sections are split between paragraphs.
const passageBytes = 1000

// passage is what is found and added as one piece.
type passage struct {
	file    string
	path    []string // headings, from the outermost to the passage's own
	heading string   // the path as it is shown
	text    string   // part of the file, without its heading
}

// passages splits a Markdown file: by headings, and where a section is long, by paragraphs.
func passages(f file) []passage {
	s := splitter{file: f}
	s.split(withoutFrontMatter(f.text))
	return s.done
}

// splitter gathers the passages of one file.
type splitter struct {
	file   file
	levels [6]string // the heading of each level that is open
	titles int       // how many headings of the first level there were
	done   []passage
}

func (s *splitter) split(text string) {
	start, at := 0, 0
	var fence string // what closes the code block that is open
	for line := range strings.Lines(text) {
		end := at + len(line)
		if mark := fenceMark(line); mark != "" {
			switch {
			case fence == "":
				fence = mark
			case strings.HasPrefix(mark, fence) && strings.TrimSpace(line) == mark:
				fence = ""
			}
		} else if level, title := heading(line); level > 0 && fence == "" {
			s.section(text[start:at])
			s.open(level, title)
			start = end
		}
		at = end
	}
	s.section(text[start:])
}

// open makes a heading the current one and closes those of its level and below.
func (s *splitter) open(level int, title string) {
	s.levels[level-1] = title
	clear(s.levels[level:])
	if level == 1 {
		s.titles++
	}
}

// section makes passages of the text under the current heading.
func (s *splitter) section(text string) {
	text = strings.Trim(text, "\r\n")
	var path []string
	for _, title := range s.levels {
		if title != "" {
			path = append(path, title)
		}
	}
	shown := path
	if len(path) > 1 && s.levels[0] != "" && s.titles == 1 {
		shown = path[1:] // the title of the whole file tells nothing about a part of it
	}
	if len(path) == 0 {
		shown = []string{s.file.name}
	}
	for _, part := range chunks(text, passageBytes) {
		if strings.TrimSpace(part) == "" {
			continue
		}
		s.done = append(s.done, passage{file: s.file.name, path: path, heading: strings.Join(shown, " > "), text: part})
	}
}

// heading reads an ATX heading: "## Title ##".
func heading(line string) (level int, title string) {
	rest := strings.TrimLeft(line, " ")
	if len(line)-len(rest) > 3 {
		return 0, ""
	}
	for level < len(rest) && rest[level] == '#' {
		level++
	}
	rest = rest[level:]
	if level == 0 || level > 6 || rest != "" && strings.IndexByte(" \t\r\n", rest[0]) < 0 {
		return 0, ""
	}
	title = strings.TrimSpace(rest)
	if bare := strings.TrimRight(title, "#"); bare == "" || strings.HasSuffix(bare, " ") {
		title = strings.TrimSpace(bare)
	}
	return level, oneLine(title)
}

// oneLine takes out what only marks up a heading, and what could end the line that names it.
func oneLine(title string) string {
	title = strings.NewReplacer("`", "", "**", "", "[", "", "]", "", "\t", " ").Replace(title)
	return strings.Join(strings.Fields(title), " ")
}

// fenceMark returns the backquotes or tildes that open or close a code block, if the line begins with them.
func fenceMark(line string) string {
	rest := strings.TrimLeft(line, " \t")
	for _, char := range []byte{'`', '~'} {
		n := 0
		for n < len(rest) && rest[n] == char {
			n++
		}
		if n >= 3 {
			if char == '`' && strings.Contains(rest[n:], "`") {
				return "" // code within a line
			}
			return rest[:n]
		}
	}
	return ""
}

// withoutFrontMatter cuts off the metadata between two lines "---" with which a file may begin.
func withoutFrontMatter(text string) string {
	text = strings.TrimPrefix(text, "\uFEFF")
	rest, ok := strings.CutPrefix(text, "---\n")
	if !ok {
		return text
	}
	if _, body, ok := strings.Cut(rest, "\n---\n"); ok {
		return body
	}
	return text
}

// chunks splits a text into pieces of at most size bytes: between paragraphs if that is enough, else between lines, else
// between words. Code blocks are kept whole as long as they fit.
func chunks(text string, size int) []string {
	if len(text) <= size {
		return []string{text}
	}
	var done []string
	start, end := 0, 0 // the piece that grows
	for _, p := range paragraphs(text) {
		if p-start > size && end > start {
			done = append(done, strings.Trim(text[start:end], "\r\n"))
			start = end
		}
		for p-start > size {
			cut := start + breakBefore(text[start:p], size)
			done = append(done, strings.Trim(text[start:cut], "\r\n"))
			start = cut
		}
		end = p
	}
	return append(done, strings.Trim(text[start:], "\r\n"))
}

// paragraphs returns where the paragraphs of a text end. An item of a list is one too, because lists can be long. A code
// block is one, whatever is in it.
func paragraphs(text string) []int {
	var ends []int
	at := 0
	fence := ""
	for line := range strings.Lines(text) {
		if fence == "" && at > 0 && isItem(line) {
			ends = append(ends, at)
		}
		at += len(line)
		if mark := fenceMark(line); mark != "" {
			if fence == "" {
				fence = mark
			} else if strings.HasPrefix(mark, fence) {
				fence = ""
			}
		}
		if fence == "" && strings.TrimSpace(line) == "" {
			ends = append(ends, at)
		}
	}
	return append(ends, len(text))
}

// isItem reports whether a line begins an item of a list: "- one", "* one", "1. one".
func isItem(line string) bool {
	digits := 0
	for digits < len(line) && line[digits] >= '0' && line[digits] <= '9' {
		digits++
	}
	if digits > 0 {
		return strings.HasPrefix(line[digits:], ". ") || strings.HasPrefix(line[digits:], ") ")
	}
	return strings.HasPrefix(line, "- ") || strings.HasPrefix(line, "* ") || strings.HasPrefix(line, "+ ")
}

// breakBefore finds the best place to cut a text that is longer than size: behind a line, behind a word, behind a
// character.
func breakBefore(text string, size int) int {
	if i := strings.LastIndexByte(text[:size], '\n'); i > 0 {
		return i + 1
	}
	if i := strings.LastIndexByte(text[:size], ' '); i > 0 {
		return i + 1
	}
	cut := size
	for cut > 1 && text[cut]&0xC0 == 0x80 {
		cut--
	}
	return cut
}
