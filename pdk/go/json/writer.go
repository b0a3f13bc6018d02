package json

import (
	"math"
	"strconv"
	"unicode/utf8"
)

// Writable is a type that writes itself.
type Writable interface {
	// WriteJSON writes exactly one value to w.
	WriteJSON(w *Writer)
}

// Marshal returns v's JSON.
func Marshal(v Writable) Raw {
	w := Writer{buf: make([]byte, 0, 128)}
	v.WriteJSON(&w)
	raw := Raw(immutable(w.buf))
	w.buf = nil // whatever v may still write with it
	return raw
}

// String returns s as a JSON value.
func String(s string) Raw { return Raw(immutable(appendText(make([]byte, 0, len(s)+2), s))) }

// Int returns n as a JSON value.
func Int(n int) Raw { return Raw(strconv.Itoa(n)) }

// Float returns f as a JSON value; what JSON cannot say, NaN and the infinities, is null.
func Float(f float64) Raw { return Raw(appendFloat(nil, f)) }

// Bool returns b as a JSON value.
func Bool(b bool) Raw { return Raw(strconv.FormatBool(b)) }

// Writer writes one JSON value and sets the commas. It does not check that each member has a name and each name a
// value: what is written wrong, the host refuses.
//
// The zero value is ready to use. It is not safe for concurrent use.
type Writer struct {
	buf   []byte
	comma bool // the next name or element needs one
}

// NewWriter returns a writer with room for so many bytes. It gets itself more where that is not enough.
func NewWriter(room int) *Writer { return &Writer{buf: make([]byte, 0, room)} }

// Object writes an object; members writes its names and values.
func (w *Writer) Object(members func()) {
	w.separate()
	w.buf = append(w.buf, '{')
	w.comma = false
	members()
	w.buf = append(w.buf, '}')
	w.comma = true
}

// Array writes an array; elements writes its values.
func (w *Writer) Array(elements func()) {
	w.separate()
	w.buf = append(w.buf, '[')
	w.comma = false
	elements()
	w.buf = append(w.buf, ']')
	w.comma = true
}

// Name writes the name of the next member and returns w, for the value: w.Name("count").Int(3).
func (w *Writer) Name(name string) *Writer {
	w.separate()
	w.buf = append(appendText(w.buf, name), ':')
	w.comma = false
	return w
}

// String writes a string. Bytes that are no UTF-8 become U+FFFD.
func (w *Writer) String(s string) {
	w.separate()
	w.buf = appendText(w.buf, s)
}

// Int writes a whole number.
func (w *Writer) Int(n int) {
	w.separate()
	w.buf = strconv.AppendInt(w.buf, int64(n), 10)
}

// Float writes a number; what JSON cannot say, NaN and the infinities, is written as null.
func (w *Writer) Float(f float64) {
	w.separate()
	w.buf = appendFloat(w.buf, f)
}

// Bool writes true or false.
func (w *Writer) Bool(b bool) {
	w.separate()
	w.buf = strconv.AppendBool(w.buf, b)
}

// Null writes null.
func (w *Writer) Null() { w.Raw("null") }

// Raw writes a value as it stands, unchecked; an empty one is null.
func (w *Writer) Raw(value Raw) {
	if value == "" {
		value = "null"
	}
	w.separate()
	w.buf = append(w.buf, value...)
}

// Strings writes an array of strings.
func (w *Writer) Strings(all []string) {
	w.Array(func() {
		for _, s := range all {
			w.String(s)
		}
	})
}

// Value writes what v writes.
func (w *Writer) Value(v Writable) { v.WriteJSON(w) }

// JSON returns what was written.
func (w *Writer) JSON() Raw { return Raw(w.buf) }

// Bytes returns what was written, in memory that the next write or [Writer.Reset] reuses.
func (w *Writer) Bytes() []byte { return w.buf }

// Reset makes w empty and keeps its memory.
func (w *Writer) Reset() {
	w.buf = w.buf[:0]
	w.comma = false
}

func (w *Writer) separate() {
	if w.comma {
		w.buf = append(w.buf, ',')
	}
	w.comma = true
}

// appendText appends s in quotes, with as few escapes as JSON allows.
func appendText(b []byte, s string) []byte {
	const digits = "0123456789abcdef"
	b = append(b, '"')
	start := 0
	for i := plain(s, 0); i < len(s); i = plain(s, i) {
		c := s[i]
		if c >= utf8.RuneSelf {
			next, fault := foreign(s, i)
			if next < 0 {
				b = append(append(b, s[start:fault]...), "\uFFFD"...)
				next = fault + 1
				start = next
			}
			i = next
			continue
		}
		b = append(b, s[start:i]...)
		switch c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\n':
			b = append(b, '\\', 'n')
		case '\r':
			b = append(b, '\\', 'r')
		case '\t':
			b = append(b, '\\', 't')
		default:
			b = append(b, '\\', 'u', '0', '0', digits[c>>4], digits[c&15])
		}
		i++
		start = i
	}
	return append(append(b, s[start:]...), '"')
}

func appendFloat(b []byte, f float64) []byte {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return append(b, "null"...)
	}
	format := byte('f')
	if size := math.Abs(f); size != 0 && (size < 1e-6 || size >= 1e21) {
		format = 'e'
	}
	return strconv.AppendFloat(b, f, format, -1, 64)
}
