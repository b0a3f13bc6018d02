package web

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Line makes one line of a text: white space and control characters become single spaces, characters that nobody sees are
// left out, and what has more than so many bytes is cut.
func Line(text string, most int) string { return Cut(visible(bounded(text, most), false), most) }

// Lines does the same as [Line], and keeps the lines of the text, without empty ones.
func Lines(text string, most int) string { return Cut(visible(bounded(text, most), true), most) }

// bounded is the beginning of a text of which so many bytes are wanted in the end, so that a long one costs no more than
// what is made of it.
func bounded(text string, most int) string { return text[:min(len(text), 8*most+1024)] }

// visible leaves out what nobody sees, such as marks of direction and tags, in which a text can hide what only a model
// reads. The two joiners stay, since words of some scripts are written with them.
func visible(text string, lines bool) string {
	var b strings.Builder
	b.Grow(min(len(text), 4<<10))
	var gap byte // what is due before the next character
	for _, c := range text {
		switch {
		case c == '\n' && lines:
			gap = '\n'
		case unicode.IsSpace(c) || unicode.IsControl(c):
			if gap != '\n' {
				gap = ' '
			}
		case c != '\u200c' && c != '\u200d' && unicode.Is(unicode.Cf, c) || c == utf8.RuneError:
		default:
			if gap != 0 && b.Len() > 0 {
				b.WriteByte(gap)
			}
			gap = 0
			b.WriteRune(c)
		}
	}
	return b.String()
}

// Cut cuts a text that has more than so many bytes, at a space where there is one near the end, and puts an ellipsis
// there, which counts too.
func Cut(text string, most int) string {
	const ellipsis = "…"
	if len(text) <= most {
		return text
	}
	at := most - len(ellipsis)
	if at <= 0 {
		return ""
	}
	for at > 0 && !utf8.RuneStart(text[at]) {
		at--
	}
	if space := strings.LastIndexAny(text[:at], " \n"); space > at*3/4 {
		at = space
	}
	return text[:at] + ellipsis
}

// Passage is a text under a line that says where it stands, [PLACE § HEADING], as it is put into a run's context. The text
// cannot have such a line of its own: a bracket at the beginning of a line gets a backslash.
func Passage(place, heading, text string) string {
	if text != "" {
		text = strings.ReplaceAll("\n"+text, "\n[", "\n\\[")
	}
	return "[" + label(place) + strings.TrimRight(" § "+label(heading), " ") + "]" + text
}

// label is a text without brackets, in one line.
func label(text string) string {
	const most = 2000
	return Line(strings.Map(func(c rune) rune {
		if c == '[' || c == ']' {
			return ' '
		}
		return c
	}, text), most)
}
