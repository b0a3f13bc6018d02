package offline

import (
	"bytes"
	"math"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"
)

var (
	wholeNumber = regexp.MustCompile(`^[+-]?[0-9]+$`)
	anyNumber   = regexp.MustCompile(`^[+-]?(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$`)
	listAnd     = regexp.MustCompile(`(?i)\s(?:and|or)\s`)
)

// parse makes a value of a whole text; not where it is none that the parameter takes. A quoted text is a text
// wherever one may stand.
func (p *parameter) parse(text string, quoted bool) (jsontext.Value, bool) {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(p.enum) > 0 {
		for _, v := range p.enum {
			if strings.EqualFold(enumText(v), text) {
				return v, true
			}
		}
		return nil, false
	}
	if !quoted || !p.may("string") {
		switch {
		case p.may("integer") && wholeNumber.MatchString(text):
			return numeral(text)
		case p.may("number") && anyNumber.MatchString(text):
			return numeral(text)
		case p.may("boolean") && (strings.EqualFold(text, "true") || strings.EqualFold(text, "false")):
			return jsontext.Value(strings.ToLower(text)), true
		}
	}
	if !p.may("string") || text == "" && !quoted {
		return nil, false
	}
	return textValue(text), true
}

func textValue(text string) jsontext.Value {
	raw, _ := jsontext.AppendQuote(nil, text) // the text is valid UTF-8, so there is no error
	return raw
}

// numeral is a number as JSON writes it; none where it is beyond what a program can hold.
func numeral(text string) (jsontext.Value, bool) {
	sign := ""
	if text[0] == '-' {
		sign = "-"
	}
	digits := strings.TrimLeft(strings.TrimLeft(text, "+-"), "0")
	if digits == "" || digits[0] < '0' || digits[0] > '9' {
		digits = "0" + digits
	}
	f, err := strconv.ParseFloat(digits, 64)
	if err != nil || math.IsInf(f, 0) {
		return nil, false
	}
	return jsontext.Value(sign + digits), true
}

// value reads a value that begins in a part of a text, and says how far it goes. Where a value follows an equals sign,
// it ends at white space unless it is quoted; elsewhere a text goes on to the next comma, semicolon or line.
func (f *filling) value(p *parameter, within span, equals bool) (jsontext.Value, span, bool) {
	within = trimmed(f.text, within, "", "")
	if within.from == within.to {
		return nil, within, false
	}
	list := p.is("array") && len(p.enum) == 0
	if q, ok := quotedAt(f.quotes, within.from); ok && q.to <= within.to && !list {
		v, fits := p.parse(f.text[q.inner.from:q.inner.to], true)
		return v, q.span, fits
	}
	if kind := f.text[within.from]; kind == '[' && p.may("array") || kind == '{' && p.may("object") {
		if raw, ok := leadingJSON(f.text[within.from:within.to]); ok {
			return raw, span{within.from, within.from + len(raw)}, true
		}
	}
	if at, v, ok := f.enumAt(p, within); ok {
		return v, at, true
	}
	switch {
	case list:
		at := f.listIn(within, equals)
		v, ok := p.list(f.text, at, f.quotes)
		return v, at, ok
	case p.free() && !equals:
		at := f.until(within, ",;\n")
		v, ok := p.parse(f.text[at.from:at.to], false)
		return v, at, ok
	}
	at := f.until(within, " \t\r\n\v\f\u00a0\u3000")
	at = trimmed(f.text, at, "", ",;.:!?")
	v, ok := p.parse(f.text[at.from:at.to], false)
	return v, at, ok
}

// until is what stands in a part before the first of some marks, without the words around it that say nothing.
func (f *filling) until(within span, ends string) span {
	if i := strings.IndexAny(f.text[within.from:within.to], ends); i >= 0 {
		within.to = within.from + i
	}
	return unglued(f.text, within)
}

// listIn is where a list that begins in a part ends. Behind an equals sign, white space ends it unless a comma stands
// before it.
func (f *filling) listIn(within span, equals bool) span {
	before := ' '
	for i, r := range f.text[within.from:within.to] {
		at := within.from + i
		if r == ';' || r == '\n' || equals && unicode.IsSpace(r) && before != ',' {
			within.to = at
			break
		}
		before = r
	}
	return unglued(f.text, within)
}

// list makes an array of the parts of a list.
func (p *parameter) list(text string, within span, quotes []quotation) (jsontext.Value, bool) {
	item := p.items
	if item == nil {
		item = &parameter{}
	}
	out := jsontext.Value("[")
	n := 0
	for _, at := range listed(text, within, quotes) {
		part, quoted := text[at.from:at.to], false
		if q, ok := quotedAt(quotes, at.from); ok && q.to == at.to {
			part, quoted = text[q.inner.from:q.inner.to], true
		}
		v, ok := item.parse(part, quoted)
		if !ok {
			return nil, false
		}
		if n++; n > 1 {
			out = append(out, ',')
		}
		out = append(out, v...)
	}
	return append(out, ']'), n > 0
}

// listed are the parts of a list between commas, and, or; what is quoted is not cut.
func listed(text string, within span, quotes []quotation) []span {
	var out []span
	start := within.from
	add := func(end int) {
		if s := trimmed(text, span{start, end}, "", ".!?"); s.from < s.to {
			if q, ok := quotedAt(quotes, s.from); ok && q.to <= within.to {
				s = q.span
			}
			out = append(out, s)
		}
	}
	var cuts []span
	for i, r := range text[within.from:within.to] {
		if r == ',' {
			cuts = append(cuts, span{within.from + i, within.from + i + 1})
		}
	}
	for _, m := range listAnd.FindAllStringIndex(text[within.from:within.to], -1) {
		cuts = append(cuts, span{within.from + m[0], within.from + m[1]})
	}
	for _, c := range inOrder(cuts) {
		if c.from < start || insideQuote(quotes, c) {
			continue
		}
		add(c.from)
		start = c.to
	}
	add(within.to)
	return out
}

// leadingJSON is the JSON value that a text begins with.
func leadingJSON(text string) (jsontext.Value, bool) {
	raw, err := jsontext.NewDecoder(bytes.NewReader([]byte(text))).ReadValue()
	if err != nil {
		return nil, false
	}
	return raw.Clone(), true
}
