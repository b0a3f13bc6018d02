package offline

import (
	"cmp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// filling is the arguments of one call, while they are read from a question.
type filling struct {
	tool   *tool
	text   string
	quotes []quotation
	within wish

	takes     *parameters // nil where the tool's schema is none
	values    map[string]jsontext.Value
	used      []span
	unfit     []fault
	missing   []*parameter
	arguments jsontext.Value // nil until all is there and fits
	refused   jsontext.Value // arguments that do not hold against the whole schema
}

// fault is what was said and cannot be used; the parameter is nil where no name was said.
type fault struct {
	parameter *parameter
	reason    string
}

// fill reads the arguments of a wish from the question: what stands there with its name, then what can be told by its
// type, and at last the rest for the one text that is still wanted.
func fill(w wish, question string) *filling {
	f := &filling{tool: w.tool, text: question, quotes: quotations(question), within: w, values: map[string]jsontext.Value{}}
	takes, err := readParameters(w.tool.parameters)
	if err != nil {
		return f
	}
	f.takes = takes
	said := question[unglued(question, w.values).from:w.values.to]
	if raw, ok := leadingJSON(said); ok && raw.Kind() == '{' {
		f.finish(raw)
		return f
	} else if strings.HasPrefix(said, `{"`) {
		f.unfit = append(f.unfit, fault{reason: "What you give it begins like a JSON object and is none"})
		return f
	}
	f.byName(true)
	f.byName(false)
	f.byUnit()
	f.byEnum()
	f.byType()
	f.byRest()
	for _, p := range takes.list {
		if p.required && f.open(p) {
			f.missing = append(f.missing, p)
		}
	}
	if len(f.missing)+len(f.unfit) == 0 {
		f.finish(f.object())
	}
	return f
}

// complete says whether the tool can be called.
func (f *filling) complete() bool { return f.arguments != nil }

func (f *filling) finish(arguments jsontext.Value) {
	arguments = arguments.Clone()
	if arguments.Compact() == nil && f.takes.fits(arguments) {
		f.arguments = arguments
	} else {
		f.refused = arguments
	}
}

// object is the arguments so far, in the order of the schema.
func (f *filling) object() jsontext.Value {
	out := jsontext.Value("{")
	for _, p := range f.takes.list {
		if v := f.values[p.name]; v != nil {
			if len(out) > 1 {
				out = append(out, ',')
			}
			out = append(append(append(out, textValue(p.name)...), ':'), v...)
		}
	}
	return append(out, '}')
}

func (f *filling) set(p *parameter, v jsontext.Value, at span) {
	f.values[p.name] = v
	f.used = append(f.used, at)
}

// free says whether a part of the text is not used yet.
func (f *filling) free(at span) bool {
	return !slices.ContainsFunc(f.used, at.meets)
}

// open says whether a parameter has neither a value nor a fault.
func (f *filling) open(p *parameter) bool {
	return f.values[p.name] == nil && !slices.ContainsFunc(f.unfit, func(x fault) bool { return x.parameter == p })
}

// byUnit takes numbers that stand before their names, as in "3 days".
func (f *filling) byUnit() {
	list := f.tokens()
	for _, p := range f.takes.list {
		if !f.open(p) || !p.is("integer", "number") || len(p.enum) > 0 || p.name == "" {
			continue
		}
		for _, at := range list {
			behind := len(f.text[at.to:f.within.values.to]) - len(strings.TrimLeft(f.text[at.to:f.within.values.to], " "))
			end := matched(f.text[:f.within.values.to], at.to+behind, p.name)
			if behind == 0 || end < 0 || !alone(f.text, span{at.to + behind, end}) {
				continue
			}
			if v, ok := p.parse(f.text[at.from:at.to], false); ok && f.free(span{at.from, end}) {
				f.set(p, v, span{at.from, end})
				break
			}
		}
	}
}

// byEnum takes the values of enums where they stand as words.
func (f *filling) byEnum() {
	for _, p := range f.takes.list {
		if !f.open(p) {
			continue
		}
		if p.is("array") && p.items != nil && len(p.items.enum) > 0 {
			f.allOf(p)
			continue
		}
		for _, at := range f.enumWords(p) {
			if _, v, ok := f.enumAt(p, at); ok && f.free(at) {
				f.set(p, v, at)
				break
			}
		}
	}
}

// enumWords are the places where values of an enum stand, the longest first where several begin at one.
func (f *filling) enumWords(p *parameter) []span {
	var out []span
	area := f.within.values
	for _, v := range p.enum {
		for _, at := range find(f.text[area.from:area.to], enumText(v)) {
			out = append(out, span{area.from + at.from, area.from + at.to})
		}
	}
	slices.SortFunc(out, func(a, b span) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(b.to, a.to)) })
	return out
}

// enumAt is the value of an enum that a part of the text begins with.
func (f *filling) enumAt(p *parameter, within span) (span, jsontext.Value, bool) {
	within = unglued(f.text, within)
	best, value := within, jsontext.Value(nil)
	for _, v := range p.enum {
		end := matched(f.text[:within.to], within.from, enumText(v))
		if at := (span{within.from, end}); end > within.from && alone(f.text, at) && (value == nil || end > best.to) {
			best, value = at, v
		}
	}
	return best, value, value != nil
}

// maxElements is how many elements of an array are gathered from running text.
const maxElements = 256

// allOf takes all elements that can be told by their type for an array: the values of an enum, or numbers.
func (f *filling) allOf(p *parameter) {
	list := f.tokens()
	if len(p.items.enum) > 0 {
		list = f.enumWords(p.items)
	}
	out := jsontext.Value("[")
	var taken []span
	end := 0
	for _, at := range list {
		v, ok := p.items.parse(f.text[at.from:at.to], false)
		if len(p.items.enum) > 0 {
			_, v, ok = f.enumAt(p.items, at)
		}
		if !ok || at.from < end || !f.free(at) {
			continue
		}
		if len(taken) > 0 {
			out = append(out, ',')
		}
		out, taken, end = append(out, v...), append(taken, at), at.to
		if len(taken) == maxElements {
			break
		}
	}
	if len(taken) > 0 {
		f.values[p.name] = append(out, ']')
		f.used = append(f.used, taken...)
	}
}

// byType takes numbers, true and false, and quoted texts for what is required, in the order in which they stand.
func (f *filling) byType() {
	for _, p := range f.takes.list {
		if !p.required || !f.open(p) || len(p.enum) > 0 {
			continue
		}
		area := unglued(f.text, f.within.values)
		switch {
		case p.is("array") && strings.HasPrefix(f.text[area.from:area.to], "["):
			if v, at, ok := f.value(p, area, false); ok {
				f.set(p, v, at)
			}
		case p.is("integer", "number", "boolean"):
			if at, v, ok := f.next(p); ok {
				f.set(p, v, at)
			}
		case p.is("array") && p.items != nil && p.items.is("integer", "number", "boolean"):
			f.allOf(p)
		case p.free():
			for _, q := range f.quotes {
				if f.within.values.holds(q.span) && f.free(q.span) {
					v, _ := p.parse(f.text[q.inner.from:q.inner.to], true)
					f.set(p, v, q.span)
					break
				}
			}
		}
	}
}

// next is the first value in the text that a parameter takes by its type.
func (f *filling) next(p *parameter) (span, jsontext.Value, bool) {
	for _, at := range f.tokens() {
		if v, ok := p.parse(f.text[at.from:at.to], false); ok && f.free(at) {
			return at, v, true
		}
	}
	return span{}, nil, false
}

// tokens are the words of the part where values may stand, without those in quotes.
func (f *filling) tokens() []span {
	return slices.DeleteFunc(tokens(f.text, f.within.values), func(at span) bool { return insideQuote(f.quotes, at) })
}
