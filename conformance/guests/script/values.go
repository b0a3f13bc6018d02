package main

import (
	"slices"
	"strconv"
	"unicode/utf16"

	"github.com/weft-run/weft/pdk/go/json"
)

// object is a JSON object whose members keep their order and their bytes.
type object struct {
	names  []string
	values []json.Raw
}

// ReadJSON reads an object.
func (o *object) ReadJSON(r *json.Reader) {
	for name := range r.Object() {
		o.set(name, r.Raw())
	}
}

// WriteJSON writes the object.
func (o *object) WriteJSON(w *json.Writer) {
	w.Object(func() {
		for i, name := range o.names {
			w.Name(name).Raw(o.values[i])
		}
	})
}

// get is the value of a key; empty where there is none.
func (o *object) get(name string) json.Raw {
	if i := slices.Index(o.names, name); i >= 0 {
		return o.values[i]
	}
	return ""
}

func (o *object) set(name string, value json.Raw) {
	if i := slices.Index(o.names, name); i >= 0 {
		o.values[i] = value
		return
	}
	o.names, o.values = append(o.names, name), append(o.values, value)
}

// has reports whether the object has all members of another one, with the same values.
func (o *object) has(wanted object) bool {
	for i, name := range wanted.names {
		have := o.get(name)
		if have == "" || !same(have, wanted.values[i]) {
			return false
		}
	}
	return true
}

// tidy writes a value without spaces and with sorted keys; numbers keep their digits. Nothing becomes null.
func tidy(value json.Raw) json.Raw {
	var w json.Writer
	writeTidy(&w, value)
	return w.JSON()
}

func writeTidy(w *json.Writer, value json.Raw) {
	r := json.NewReader(value)
	switch r.Kind() {
	case json.KindObject:
		var o object
		o.ReadJSON(r)
		order := slices.Clone(o.names)
		slices.SortFunc(order, compareNames)
		w.Object(func() {
			for _, name := range order {
				w.Name(name)
				writeTidy(w, o.get(name))
			}
		})
	case json.KindArray:
		w.Array(func() {
			for range r.Array() {
				writeTidy(w, r.Raw())
			}
		})
	case json.KindString:
		w.String(r.String())
	default:
		w.Raw(r.Raw())
	}
}

// compareNames orders names by their UTF-16 code units, as RFC 8785 does.
func compareNames(a, b string) int {
	return slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b)))
}

// same reports whether two values say the same. Numbers are equal if they are written alike or are the same float64.
func same(a, b json.Raw) bool {
	a, b = tidy(a), tidy(b)
	if a == b {
		return true
	}
	x, y := json.NewReader(a), json.NewReader(b)
	if x.Kind() != y.Kind() {
		return false
	}
	switch x.Kind() {
	case json.KindObject:
		var p, q object
		p.ReadJSON(x)
		q.ReadJSON(y)
		return len(p.names) == len(q.names) && p.has(q)
	case json.KindArray:
		return slices.EqualFunc(elements(x), elements(y), same)
	case json.KindNumber:
		return sameNumber(a, b)
	}
	return false
}

func elements(r *json.Reader) []json.Raw {
	var all []json.Raw
	for range r.Array() {
		all = append(all, r.Raw())
	}
	return all
}

// exactFloat is the largest whole number up to which float64 tells neighbours apart.
const exactFloat = 1 << 53

func sameNumber(a, b json.Raw) bool {
	x, errX := strconv.ParseFloat(string(a), 64)
	y, errY := strconv.ParseFloat(string(b), 64)
	return errX == nil && errY == nil && x == y && x < exactFloat && x > -exactFloat
}

// quote is text as a JSON string of printable ASCII only.
func quote(text string) string {
	const digits = "0123456789abcdef"
	b := []byte{'"'}
	for _, unit := range utf16.Encode([]rune(text)) {
		switch {
		case unit == '"' || unit == '\\':
			b = append(b, '\\', byte(unit))
		case unit >= ' ' && unit <= '~':
			b = append(b, byte(unit))
		default:
			b = append(b, '\\', 'u', digits[unit>>12], digits[unit>>8&15], digits[unit>>4&15], digits[unit&15])
		}
	}
	return string(append(b, '"'))
}
