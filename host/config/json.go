package config

import (
	"math"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// appendJSON appends a value as JSON. Keys keep their order and numbers their digits.
func (d *decoder) appendJSON(b []byte, n *node) []byte {
	switch n.kind {
	case kindNull:
		return append(b, "null"...)
	case kindBool:
		return append(b, n.text...)
	case kindNumber:
		return d.appendNumber(b, n)
	case kindText:
		return appendQuoted(b, n.text)
	case kindList:
		b = append(b, '[')
		for i, item := range n.items {
			if i > 0 {
				b = append(b, ',')
			}
			b = d.appendJSON(b, item)
		}
		return append(b, ']')
	default:
		b = append(b, '{')
		for i, e := range n.entries {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(appendQuoted(b, e.key), ':')
			if e.value == nil {
				b = append(b, "null"...) // a fault is on record
				continue
			}
			b = d.appendJSON(b, e.value)
		}
		return append(b, '}')
	}
}

// appendNumber takes numbers as JSON has them: in decimal digits, and small enough for what reads them.
func (d *decoder) appendNumber(b []byte, n *node) []byte {
	f, err := strconv.ParseFloat(n.text, 64)
	switch {
	case !jsonNumber.MatchString(n.text):
		d.fault(n, "write it in decimal digits, or put it in quotes for text", "%s is no number that JSON has", n.text)
	case err != nil || math.IsInf(f, 0):
		d.fault(n, "put it in quotes for text", "the number %s is too large", n.text)
	}
	return append(b, n.text...)
}

// appendQuoted appends text that the parser took for valid; what is not valid UTF-8 after all (an escape in quotes can
// say so) is replaced.
func appendQuoted(b []byte, text string) []byte {
	b, _ = jsontext.AppendQuote(b, strings.ToValidUTF8(text, "\uFFFD"))
	return b
}

func quotedPath(name string) string { return strconv.Quote(shortened(name)) }
