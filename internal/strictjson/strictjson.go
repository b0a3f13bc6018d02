// Package strictjson reads JSON from strangers, token by token: duplicate names and invalid UTF-8 are errors, types are
// never coerced, and every error carries the JSON pointer of its place.
package strictjson

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
)

// Fault is a value that is not what was wanted.
type Fault struct {
	// Pointer is the JSON pointer of the place; empty for the whole.
	Pointer string
	// Reason says what was wanted and what was there.
	Reason string
}

// Error is the place and the reason.
func (f *Fault) Error() string {
	if f.Pointer == "" {
		return f.Reason
	}
	return "at " + f.Pointer + ": " + f.Reason
}

// Faultf makes a fault at the place where dec stands; dec may be nil.
func Faultf(dec *jsontext.Decoder, format string, args ...any) error {
	f := &Fault{Reason: fmt.Sprintf(format, args...)}
	if dec != nil {
		f.Pointer = string(dec.StackPointer())
	}
	return f
}

// Under moves a fault below a place, for values that were decoded on their own.
func Under(place jsontext.Pointer, err error) error {
	if f := AsFault(err); f != nil {
		return &Fault{Pointer: string(place) + f.Pointer, Reason: f.Reason}
	}
	return err
}

// AsFault finds the fault in err: one made here, or a syntax error put into the same form. It is nil for a nil error.
func AsFault(err error) *Fault {
	var f *Fault
	var syntax *jsontext.SyntacticError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &f):
		return f
	case errors.As(err, &syntax):
		return &Fault{
			Pointer: string(syntax.JSONPointer),
			Reason:  fmt.Sprintf("not valid JSON: %v (byte %d)", syntax.Err, syntax.ByteOffset),
		}
	}
	return &Fault{Reason: "not valid JSON: " + err.Error()}
}

// Decoder reads one value from data, which it shares and does not change. Where it nests deeper than maxDepth, that is a
// fault before any of it is decoded.
func Decoder(data []byte, maxDepth int) (*jsontext.Decoder, error) {
	depth := 0
	for i := 0; i < len(data); i++ {
		switch data[i] {
		case '"':
			i = closingQuote(data, i)
		case '{', '[':
			if depth++; depth > maxDepth {
				return nil, Faultf(nil, "JSON nests deeper than %d levels (byte %d)", maxDepth, i)
			}
		case '}', ']':
			depth--
		}
	}
	dec := decoders.Get().(*jsontext.Decoder)
	dec.Reset(bytes.NewBuffer(data)) // a buffer is read in place
	return dec, nil
}

// decoders served before: most documents are small, and what a decoder allocates for one is more than its values.
var decoders = sync.Pool{New: func() any { return new(jsontext.Decoder) }}

// Release gives a decoder of [Decoder] back, where many documents are read. The caller uses it no more, nor a value that it
// did not copy.
func Release(dec *jsontext.Decoder) {
	dec.Reset(nothing) // it keeps no document alive
	decoders.Put(dec)
}

// nothing is what a decoder reads that nobody uses. It must be a buffer, for a decoder keeps no memory of those.
var nothing = &bytes.Buffer{}

// End makes sure that nothing follows the value that was read.
func End(dec *jsontext.Decoder) error {
	switch _, err := dec.ReadToken(); {
	case errors.Is(err, io.EOF):
		return nil
	case err != nil:
		return err
	}
	return Faultf(nil, "more JSON follows; one value was wanted")
}

// Object reads an object. member is called before each value and reports whether it read it; what it does not know is
// passed over and counted in unknown.
func Object(dec *jsontext.Decoder, unknown *int, member func(name string) (bool, error)) error {
	if err := expect(dec, '{', "an object"); err != nil {
		return err
	}
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	for dec.PeekKind() != '}' {
		token, err := dec.ReadToken()
		if err != nil {
			return err
		}
		known, err := member(token.String())
		if err != nil {
			return err
		}
		if !known {
			*unknown++
			if err := dec.SkipValue(); err != nil {
				return err
			}
		}
	}
	_, err := dec.ReadToken()
	return err
}

// Array reads an array; element is called before each value and reads it.
func Array(dec *jsontext.Decoder, element func() error) error {
	if err := expect(dec, '[', "an array"); err != nil {
		return err
	}
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	for dec.PeekKind() != ']' {
		if err := element(); err != nil {
			return err
		}
	}
	_, err := dec.ReadToken()
	return err
}

// String reads a string.
func String(dec *jsontext.Decoder) (string, error) {
	if err := expect(dec, '"', "a string"); err != nil {
		return "", err
	}
	token, err := dec.ReadToken()
	if err != nil {
		return "", err
	}
	return token.String(), nil
}

// Strings reads an array of strings.
func Strings(dec *jsontext.Decoder) ([]string, error) {
	out := []string{}
	err := Array(dec, func() error {
		s, err := String(dec)
		out = append(out, s)
		return err
	})
	return out, err
}

// Bool reads a boolean.
func Bool(dec *jsontext.Decoder) (bool, error) {
	if kind := dec.PeekKind(); kind != 't' && kind != 'f' {
		return false, expect(dec, 't', "a boolean")
	}
	token, err := dec.ReadToken()
	if err != nil {
		return false, err
	}
	return token.Bool(), nil
}

// Int reads a whole number.
func Int(dec *jsontext.Decoder) (int, error) {
	if err := expect(dec, '0', "a whole number"); err != nil {
		return 0, err
	}
	raw, err := dec.ReadValue()
	if err != nil {
		return 0, err
	}
	n, err := strconv.Atoi(string(raw))
	if err != nil {
		return 0, Faultf(dec, "a whole number was wanted, and %s is there", raw)
	}
	return n, nil
}

// Float reads a number.
func Float(dec *jsontext.Decoder) (float64, error) {
	if err := expect(dec, '0', "a number"); err != nil {
		return 0, err
	}
	raw, err := dec.ReadValue()
	if err != nil {
		return 0, err
	}
	f, err := strconv.ParseFloat(string(raw), 64)
	if err != nil {
		return 0, Faultf(dec, "the number %s is too large", raw)
	}
	return f, nil
}

// Raw reads any value and keeps its bytes.
func Raw(dec *jsontext.Decoder) (jsontext.Value, error) {
	v, err := dec.ReadValue()
	return v.Clone(), err
}

// RawObject reads an object and keeps its bytes.
func RawObject(dec *jsontext.Decoder) (jsontext.Value, error) {
	if err := expect(dec, '{', "an object"); err != nil {
		return nil, err
	}
	return Raw(dec)
}

// Members reads an object into its members' bytes.
func Members(dec *jsontext.Decoder) (map[string]jsontext.Value, error) {
	out := map[string]jsontext.Value{}
	err := Object(dec, new(int), func(name string) (bool, error) {
		v, err := Raw(dec)
		out[name] = v
		return true, err
	})
	return out, err
}

// expect reads a value of another kind to its end, so that a syntax error in it is told as such and the pointer names
// the value.
func expect(dec *jsontext.Decoder, kind jsontext.Kind, want string) error {
	have := dec.PeekKind()
	if have == kind {
		return nil
	}
	if _, err := dec.ReadValue(); err != nil {
		return err
	}
	return Faultf(dec, "%s was wanted, and %s is there", want, kindName(have))
}

func kindName(k jsontext.Kind) string {
	switch k {
	case 'n':
		return "null"
	case 't', 'f':
		return "a boolean"
	case '"':
		return "a string"
	case '0':
		return "a number"
	case '{':
		return "an object"
	}
	return "an array"
}
