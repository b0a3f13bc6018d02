package json

import (
	"iter"
	"strconv"
)

// MaxDepth is how deep arrays and objects may nest.
const MaxDepth = 512

// Raw is one JSON value as text. It is immutable, so parts of what was read are kept without a copy, and a constant may
// stand where a value is wanted.
type Raw string

// Readable is a type that reads itself.
type Readable interface {
	// ReadJSON reads the next value of r, exactly one. Faults go to r: see [Reader.Fail].
	ReadJSON(r *Reader)
}

// Unmarshal reads src, one JSON value, into v. The error is an [*Error].
func Unmarshal[Text ~string](src Text, v Readable) error {
	r := NewReader(src)
	v.ReadJSON(r)
	return r.End()
}

// Reader reads one JSON value from front to back. A method that reads a value moves behind it. After the first fault
// every method returns a zero value; [Reader.End] tells it.
//
// Strings and raw values share the memory of what is read and keep it alive. A Reader may be copied to look ahead. It is
// not safe for concurrent use.
type Reader struct {
	src   string
	pos   int
	depth int // of the arrays and objects that the current place is in
	err   *Error
}

// NewReader returns a reader of src.
func NewReader[Text ~string](src Text) *Reader { return &Reader{src: string(src)} }

// Kind tells what the next value is, by its first character and without reading it.
func (r *Reader) Kind() Kind {
	if r.err != nil {
		return KindNone
	}
	r.pos = space(r.src, r.pos)
	if r.pos == len(r.src) {
		return KindNone
	}
	return kindOf(r.src[r.pos])
}

// String reads a string.
func (r *Reader) String() string {
	if r.pos < len(r.src) && r.src[r.pos] == '"' || r.want('"', KindString) {
		return r.text()
	}
	return ""
}

// Bool reads true or false.
func (r *Reader) Bool() bool {
	if r.Kind() != KindBool {
		r.unwanted(KindBool)
		return false
	}
	value := r.src[r.pos] == 't'
	r.literal()
	return value && r.err == nil
}

// Int reads a whole number. One with a fraction or an exponent is a fault, as is one beyond 64 bits.
func (r *Reader) Int() int {
	text := r.numeral()
	if text == "" {
		return 0
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		r.Fail("a whole number of at most 64 bits was wanted, and " + text + " is there")
		return 0
	}
	return int(n)
}

// Float reads a number. One that is too large for a float64 is a fault.
func (r *Reader) Float() float64 {
	text := r.numeral()
	if text == "" {
		return 0
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		r.Fail("a number of at most 64 bits was wanted, and " + text + " is there")
		return 0
	}
	return f
}

// numeral reads a number as it stands. After a fault it is empty.
func (r *Reader) numeral() string {
	if r.Kind() != KindNumber {
		r.unwanted(KindNumber)
		return ""
	}
	return r.number()
}

// Null reads null if it is the next value, and reports whether it was.
func (r *Reader) Null() bool {
	if r.Kind() != KindNull {
		return false
	}
	r.literal()
	return r.err == nil
}

// Raw reads any value and returns it as it stands, checked to be valid JSON.
func (r *Reader) Raw() Raw {
	if r.err != nil {
		return ""
	}
	start := space(r.src, r.pos)
	r.skip()
	if r.err != nil {
		return ""
	}
	return Raw(r.src[start:r.pos])
}

// Strings reads an array of strings. An empty array gives an empty slice, not nil.
func (r *Reader) Strings() []string {
	all := []string{}
	for range r.Array() {
		all = append(all, r.String())
	}
	return all
}

// Object reads an object: the loop gets each name and reads its value, or leaves it, in which case it is passed over.
// After a break the rest of the object is passed over too.
func (r *Reader) Object() iter.Seq[string] {
	return func(yield func(string) bool) {
		if !r.want('{', KindObject) || !r.open() {
			return
		}
		wanted := true
		for name, ok := r.member(true); ok; name, ok = r.member(false) {
			start := r.pos
			if wanted {
				wanted = yield(name)
			}
			if r.pos == start {
				r.skip()
			}
		}
	}
}

// Array reads an array: the loop gets each index and reads the element, or leaves it, in which case it is passed over.
// After a break the rest of the array is passed over too.
func (r *Reader) Array() iter.Seq[int] {
	return func(yield func(int) bool) {
		if !r.want('[', KindArray) || !r.open() {
			return
		}
		wanted := true
		for i := 0; r.next(']', i == 0); i++ {
			start := r.pos
			if wanted {
				wanted = yield(i)
			}
			if r.pos == start {
				r.skip()
			}
		}
	}
}

// Fail records a fault of the current value, such as a name that is in no list. The first fault wins.
func (r *Reader) Fail(reason string) { r.fail(-1, reason) }

// fail records a fault, and moves to the end, where there is nothing to read.
func (r *Reader) fail(offset int, reason string) {
	if r.err == nil {
		r.err = &Error{Pointer: r.pointer(), Offset: offset, Reason: reason}
		r.pos = len(r.src)
	}
}

// Err returns the first fault so far: an [*Error], or nil.
func (r *Reader) Err() error {
	if r.err == nil {
		return nil
	}
	return r.err
}

// End returns the first fault, and it is one if anything but white space follows.
func (r *Reader) End() error {
	if r.err == nil {
		r.pos = space(r.src, r.pos)
		if r.pos < len(r.src) {
			r.syntax("the end")
		}
	}
	return r.Err()
}

// want reports whether the next value begins with the character, and records a fault if it does not.
func (r *Reader) want(c byte, kind Kind) bool {
	if r.err != nil {
		return false
	}
	r.pos = space(r.src, r.pos)
	if r.pos < len(r.src) && r.src[r.pos] == c {
		return true
	}
	r.unwanted(kind)
	return false
}

// unwanted records that the next value is of another kind.
func (r *Reader) unwanted(wanted Kind) {
	have := r.Kind()
	if have == KindNone {
		r.syntax(wanted.String())
	}
	r.Fail(wanted.String() + " was wanted, and " + have.String() + " is there")
}

// open moves behind the bracket that opens an array or an object.
func (r *Reader) open() bool {
	if r.depth == MaxDepth {
		r.Fail("arrays and objects nest deeper than " + strconv.Itoa(MaxDepth) + " levels")
		return false
	}
	r.depth++
	r.pos++
	return true
}

// member reads the name of the next member of an object and moves to its value, or behind the end of the object.
func (r *Reader) member(first bool) (name string, ok bool) {
	src, i := r.src, r.pos
	if !first {
		if i == len(src) || src[i] != ',' {
			return r.spaced(first)
		}
		i++
	}
	// What a machine wrote has no white space, and names without escapes.
	if i < len(src) && src[i] == '"' {
		end := plain(src, i+1)
		if end+2 < len(src) && src[end] == '"' && src[end+1] == ':' && src[end+2] > ' ' {
			r.pos = end + 2
			return src[i+1 : end], true
		}
	}
	return r.spaced(first)
}

// spaced does what member does, for any text.
func (r *Reader) spaced(first bool) (name string, ok bool) {
	if !r.next('}', first) {
		return "", false
	}
	if r.pos == len(r.src) || r.src[r.pos] != '"' {
		r.syntax("a member's name in double quotes")
		return "", false
	}
	name = r.text()
	r.pos = space(r.src, r.pos)
	if r.pos == len(r.src) || r.src[r.pos] != ':' {
		r.syntax("a colon after a member's name")
		return "", false
	}
	r.pos = space(r.src, r.pos+1)
	return name, true
}

// next moves to the next element of an array or member of an object, or behind its end.
func (r *Reader) next(end byte, first bool) bool {
	src, i := r.src, space(r.src, r.pos)
	r.pos = i
	switch {
	case r.err != nil:
		return false
	case i < len(src) && src[i] == end:
		r.pos = i + 1
		r.depth--
		return false
	case first:
		return true
	case i == len(src) || src[i] != ',':
		r.syntax("a comma or " + string(rune(end)))
		return false
	}
	r.pos = space(src, i+1)
	return true
}
