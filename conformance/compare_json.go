package conformance

import (
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// sameJSON reports whether two values say the same: whitespace, the order of keys and the way of writing strings do not
// count, and numbers are equal if they are written alike or are the same float64.
func sameJSON(a, b jsontext.Value) bool {
	a, b = tidy(a), tidy(b)
	if string(a) == string(b) {
		return true
	}
	x, errX := newNode("", a)
	y, errY := newNode("", b)
	return errX == nil && errY == nil && sameNode(x, y)
}

func sameNode(a, b *node) bool {
	if a.raw.Kind() != b.raw.Kind() || len(a.names) != len(b.names) || len(a.list) != len(b.list) {
		return false
	}
	switch a.raw.Kind() {
	case '{':
		for name, value := range a.byKey {
			if other := b.byKey[name]; other == nil || !sameNode(value, other) {
				return false
			}
		}
		return true
	case '[':
		for i, value := range a.list {
			if !sameNode(value, b.list[i]) {
				return false
			}
		}
		return true
	case '0':
		return string(a.raw) == string(b.raw) || sameNumber(string(a.raw), string(b.raw))
	case '"':
		return a.text == b.text
	}
	return true
}

// exactFloat is the largest whole number up to which float64 tells neighbours apart.
const exactFloat = 1 << 53

func sameNumber(a, b string) bool {
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	return errX == nil && errY == nil && x == y && x < exactFloat && x > -exactFloat
}

// tidy writes a value without spaces and with sorted keys; numbers keep their digits. Nothing becomes null.
func tidy(v jsontext.Value) jsontext.Value {
	if len(v) == 0 {
		return jsontext.Value("null")
	}
	out := v.Clone()
	if err := out.Format(jsontext.ReorderRawObjects(true)); err != nil {
		return v
	}
	return out
}
