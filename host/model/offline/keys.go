package offline

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// key is the name of a parameter in the text, with what follows it.
type key struct {
	span
	parameter *parameter
	value     int // where the value begins
	equals    bool
}

// byName takes values that stand behind their names: first those with an equals sign or a colon between, which are meant
// as such, and later those without, where what follows is of the right type.
func (f *filling) byName(marked bool) {
	area := f.within.values
	if marked {
		area = f.within.keys
	}
	keys := f.keys(area, marked)
	for i, k := range keys {
		if !f.open(k.parameter) || !f.free(k.span) {
			continue
		}
		within := span{k.value, area.to}
		if k.from < f.within.name.from {
			within.to = f.within.name.from
		}
		if i+1 < len(keys) {
			within.to = min(within.to, keys[i+1].from)
		}
		for _, u := range f.used {
			if u.from >= within.from {
				within.to = min(within.to, u.from)
			}
		}
		within.to = max(within.to, within.from)
		v, at, ok := f.value(k.parameter, within, k.equals)
		switch {
		case ok:
			f.set(k.parameter, v, span{k.from, at.to})
		case marked:
			f.used = append(f.used, span{k.from, max(k.value, at.to)})
			f.unfit = append(f.unfit, fault{k.parameter, fmt.Sprintf("%s is to be %s, and %s is not", k.parameter.name,
				k.parameter.describe(), quoted(oneLine(f.text[at.from:at.to])))})
		}
	}
}

// keys are the names of parameters in a part of the text, the longest where they overlap.
func (f *filling) keys(area span, marked bool) []key {
	var all []key
	for _, p := range f.takes.list {
		if p.name == "" {
			continue
		}
		for _, at := range find(f.text[area.from:area.to], p.name) {
			at = span{area.from + at.from, area.from + at.to}
			rest := f.text[at.to:area.to]
			behind := strings.TrimLeft(rest, " \t")
			mark := behind != "" && (behind[0] == '=' || behind[0] == ':')
			if insideQuote(f.quotes, at) || mark != marked {
				continue
			}
			k := key{span: at, parameter: p, value: area.to - len(behind)}
			if mark {
				k.equals = behind[0] == '='
				k.value++
			}
			all = append(all, k)
		}
	}
	slices.SortStableFunc(all, func(a, b key) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(b.to, a.to)) })
	end := 0
	return slices.DeleteFunc(all, func(k key) bool {
		if k.from < end {
			return true
		}
		end = k.to
		return false
	})
}
