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
	depth int
	path  []step
	err   *Error
}

// step is one level of the way to the current value: a member's name, or the index of an element.
type step struct {
	name  string
	index int // -1 in an object
}

// NewReader returns a reader of src.
func NewReader[Text ~string](src Text) *Reader { return &Reader{src: string(src)} }

// Kind tells what the next value is, by its first character and without reading it.
func (r *Reader) Kind() Kind {
	if r.err != nil {
		return KindNone
	}
	r.space()
	if r.pos >= len(r.src) {
		return KindNone
	}
	return kindOf(r.src[r.pos])
}

// String reads a string.
func (r *Reader) String() string {
	if !r.want(KindString) {
		return ""
	}
	return r.text()
}

// Bool reads true or false.
func (r *Reader) Bool() bool {
	if !r.want(KindBool) {
		return false
	}
	value := r.src[r.pos] == 't'
	r.skip()
	return value && r.err == nil
}

// Int reads a whole number. One with a fraction or an exponent is a fault, as is one beyond 64 bits.
func (r *Reader) Int() int {
	if !r.want(KindNumber) {
		return 0
	}
	text := r.number()
	if r.err != nil {
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
	if !r.want(KindNumber) {
		return 0
	}
	text := r.number()
	if r.err != nil {
		return 0
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		r.Fail("a number of at most 64 bits was wanted, and " + text + " is there")
		return 0
	}
	return f
}

// Null reads null if it is the next value, and reports whether it was.
func (r *Reader) Null() bool {
	if r.Kind() != KindNull {
		return false
	}
	r.skip()
	return r.err == nil
}

// Raw reads any value and returns it as it stands, checked to be valid JSON.
func (r *Reader) Raw() Raw {
	if r.err != nil {
		return ""
	}
	r.space()
	start := r.pos
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
		if !r.open(KindObject, -1) {
			return
		}
		wanted := true
		for first := true; r.more('}', first); first = false {
			if !r.at('"') {
				r.syntax("a member's name in double quotes")
				return
			}
			name := r.text()
			r.space()
			if r.err == nil && !r.at(':') {
				r.syntax("a colon after a member's name")
			}
			if r.err != nil {
				return
			}
			r.pos++
			r.path[len(r.path)-1].name = name
			r.space()
			start := r.pos
			if wanted {
				wanted = yield(name)
			}
			if r.err == nil && r.pos == start {
				r.skip()
			}
		}
		r.close()
	}
}

// Array reads an array: the loop gets each index and reads the element, or leaves it, in which case it is passed over.
// After a break the rest of the array is passed over too.
func (r *Reader) Array() iter.Seq[int] {
	return func(yield func(int) bool) {
		if !r.open(KindArray, 0) {
			return
		}
		wanted := true
		for i := 0; r.more(']', i == 0); i++ {
			r.path[len(r.path)-1].index = i
			start := r.pos
			if wanted {
				wanted = yield(i)
			}
			if r.err == nil && r.pos == start {
				r.skip()
			}
		}
		r.close()
	}
}

// Fail records a fault of the current value, such as a name that is in no list. The first fault wins.
func (r *Reader) Fail(reason string) {
	if r.err == nil {
		r.err = &Error{Pointer: r.pointer(), Offset: -1, Reason: reason}
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
		r.space()
		if r.pos < len(r.src) {
			r.syntax("the end")
		}
	}
	return r.Err()
}

// want reports whether the next value is of the kind, and records a fault if it is not.
func (r *Reader) want(kind Kind) bool {
	have := r.Kind()
	if have == kind {
		return true
	}
	if have == KindNone {
		r.syntax(kind.String())
	}
	r.Fail(kind.String() + " was wanted, and " + have.String() + " is there")
	return false
}

func (r *Reader) open(kind Kind, index int) bool {
	if !r.want(kind) || !r.deeper() {
		return false
	}
	r.pos++
	r.path = append(r.path, step{index: index})
	return true
}

func (r *Reader) close() {
	if r.err == nil {
		r.path = r.path[:len(r.path)-1]
		r.depth--
	}
}

// more moves to the next element, or behind the end of the array or object.
func (r *Reader) more(end byte, first bool) bool {
	if r.err != nil {
		return false
	}
	r.space()
	if r.at(end) {
		r.pos++
		return false
	}
	if first {
		return true
	}
	if !r.at(',') {
		r.syntax("a comma or " + string(rune(end)))
		return false
	}
	r.pos++
	r.space()
	return true
}

func (r *Reader) deeper() bool {
	if r.depth++; r.depth > MaxDepth {
		r.Fail("arrays and objects nest deeper than " + strconv.Itoa(MaxDepth) + " levels")
		return false
	}
	return true
}
