package offline

import (
	"strings"
)

// glue are the words around a value that are no part of it.
var (
	glueBefore = set(`with for on of in at to from about by is are be as that using use tool function called named and please like`)
	glueAfter  = set(`with for on of in at to from about by is as using and then please thanks`)
)

// byRest gives what is left of the text to the only text, or list of texts, that is still required.
func (f *filling) byRest() {
	var wants *parameter
	for _, p := range f.takes.list {
		texts := p.free() || p.is("array") && (p.items == nil || p.items.free())
		if !p.required || !f.open(p) || !texts {
			continue
		}
		if wants != nil {
			return
		}
		wants = p
	}
	if wants == nil {
		return
	}
	var b strings.Builder
	from := f.within.values.from
	for _, u := range append(inOrder(f.used), span{f.within.values.to, f.within.values.to}) {
		if u.to <= from {
			continue
		}
		b.WriteString(f.text[from:max(from, min(u.from, f.within.values.to))])
		b.WriteByte(' ')
		from = u.to
	}
	rest := b.String()
	all := unglued(rest, span{0, len(rest)})
	text := rest[all.from:all.to]
	if wants.is("array") {
		if v, ok := wants.list(text, span{0, len(text)}, quotations(text)); ok {
			f.values[wants.name] = v
		}
		return
	}
	if v, ok := wants.parse(text, false); ok {
		f.values[wants.name] = v
	}
}

// unglued is a part of a text without the marks and the words around it that are no part of a value.
func unglued(text string, s span) span {
	for {
		s = trimmed(text, s, ":,;!?=", ":,;.!?")
		first, last := s, s
		first.to = compoundEnd(text[:s.to], s.from)
		last.from = s.from + strings.LastIndexAny(text[s.from:s.to], " \t\n,") + 1
		dash, _, apart := strings.Cut(text[s.from:s.to], " ")
		switch {
		case apart && strings.Trim(dash, ".-–—>") == "":
			s.from += len(dash)
		case first.from < first.to && glueBefore[strings.ToLower(text[first.from:first.to])]:
			s.from = first.to
		case last.from > s.from && glueAfter[strings.ToLower(text[last.from:last.to])]:
			s.to = last.from
		default:
			return s
		}
	}
}
