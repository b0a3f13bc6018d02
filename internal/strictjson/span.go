package strictjson

import (
	"bytes"
	"iter"

	"github.com/go-json-experiment/json/jsontext"
)

// Span finds where the value that begins at data[at] ends, and how deep it nests, by its brackets and quotes alone. It is
// many times faster than a decoder and checks nothing: of what is not valid JSON the end is some place in data.
func Span(data []byte, at int) (end, depth int) {
	open := 0
	for i := at; i < len(data); i++ {
		switch data[i] {
		case '"':
			if i = closingQuote(data, i); open == 0 {
				return min(i+1, len(data)), depth
			}
		case '{', '[':
			open++
			depth = max(depth, open)
		case '}', ']':
			switch open--; open {
			case 0:
				return i + 1, depth
			case -1: // it closes what the value stands in
				return i, depth
			}
		case ',', ' ', '\t', '\r', '\n':
			if open == 0 {
				return i, depth
			}
		}
	}
	return len(data), depth
}

// closingQuote is the index of the quote that ends the string which begins at data[at], or len(data).
func closingQuote(data []byte, at int) int {
	for from := at + 1; ; {
		n := bytes.IndexByte(data[from:], '"')
		if n < 0 {
			return len(data)
		}
		quote := from + n
		first := quote // of the backslashes before it
		for first > from && data[first-1] == '\\' {
			first--
		}
		if (quote-first)%2 == 0 {
			return quote
		}
		from = quote + 1
	}
}

// Split yields the members of an object that is known to be valid, in their order. The values share its bytes.
func Split(object jsontext.Value) iter.Seq2[string, jsontext.Value] {
	return func(yield func(string, jsontext.Value) bool) {
		at := skip(object, 0, '{')
		for at < len(object) && object[at] == '"' {
			end, _ := Span(object, at)
			name, _ := jsontext.AppendUnquote(nil, object[at:end]) // it is valid
			at = skip(object, end, ':')
			end, _ = Span(object, at)
			if !yield(string(name), object[at:end:end]) {
				return
			}
			at = skip(object, end, ',')
		}
	}
}

// skip is the index behind white space, one delimiter that may be there, and more white space.
func skip(data []byte, at int, delimiter byte) int {
	for ; at < len(data); at++ {
		switch c := data[at]; c {
		case ' ', '\t', '\r', '\n':
		case delimiter:
			delimiter = ' '
		default:
			return at
		}
	}
	return at
}
