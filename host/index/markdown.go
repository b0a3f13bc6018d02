package index

import "strings"

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

// unmarked takes out what only marks up a heading.
var unmarked = strings.NewReplacer("`", "", "**", "", "[", "", "]", "")

func oneLine(title string) string { return strings.Join(strings.Fields(unmarked.Replace(title)), " ") }

// fence follows the code blocks of a text, line by line.
type fence struct {
	mark string // what closes the one that is open
}

// isOpen takes the next line, and says whether it belongs to a code block.
func (f *fence) isOpen(line string) bool {
	mark := fenceMark(line)
	switch {
	case f.mark == "":
		f.mark = mark
		return mark != ""
	case strings.HasPrefix(mark, f.mark) && strings.TrimSpace(line) == mark:
		f.mark = ""
	}
	return true
}

// fenceMark returns the backquotes or tildes that open or close a code block, if the line begins with them.
func fenceMark(line string) string {
	rest := strings.TrimLeft(line, " \t")
	if rest == "" || rest[0] != '`' && rest[0] != '~' {
		return ""
	}
	n := len(rest) - len(strings.TrimLeft(rest, rest[:1]))
	if n < 3 || rest[0] == '`' && strings.Contains(rest[n:], "`") {
		return "" // code within a line
	}
	return rest[:n]
}

// frontMatter returns where the text begins behind the metadata between two lines "---", and a byte order mark, with which
// a file may begin.
func frontMatter(text string) int {
	body := strings.TrimPrefix(text, "\uFEFF")
	first := true
	at := len(text) - len(body)
	begin := at
	for line := range strings.Lines(body) {
		at += len(line)
		switch bare := strings.TrimRight(line, "\r\n"); {
		case first && bare != "---":
			return begin
		case !first && bare == "---":
			return at
		}
		first = false
	}
	return begin
}

// chunks splits a text into pieces of at most size bytes: between paragraphs if that is enough, else between lines, else
// between words. Code blocks are kept whole as long as they fit. The pieces together are the text.
func chunks(text string, size int) []string {
	var done []string
	start, end := 0, 0 // the piece that grows
	for _, p := range paragraphs(text) {
		if p-start > size && end > start {
			done = append(done, text[start:end])
			start = end
		}
		for p-start > size {
			n := breakBefore(text[start:p], size)
			done = append(done, text[start:start+n])
			start += n
		}
		end = p
	}
	return append(done, text[start:])
}

// paragraphs returns where the paragraphs of a text end. An item of a list is one too, because lists can be long. A code
// block is one, whatever is in it.
func paragraphs(text string) []int {
	var ends []int
	var fence fence
	at := 0
	for line := range strings.Lines(text) {
		inCode := fence.isOpen(line)
		if !inCode && at > 0 && isItem(line) {
			ends = append(ends, at)
		}
		at += len(line)
		if !inCode && strings.TrimSpace(line) == "" {
			ends = append(ends, at)
		}
	}
	return append(ends, len(text))
}

// isItem reports whether a line begins an item of a list: "- one", "* one", "1. one".
func isItem(line string) bool {
	if rest := strings.TrimLeft(line, "0123456789"); len(rest) < len(line) {
		return strings.HasPrefix(rest, ". ") || strings.HasPrefix(rest, ") ")
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
	return len(cut(text, size))
}
