package conformance

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/weft-run/weft/internal/strictjson"
)

// maxDepth is how deep a scenario file may nest.
const maxDepth = 64

// node is one JSON value of a file, with its place.
type node struct {
	at    jsontext.Pointer
	raw   jsontext.Value
	names []string         // of an object, in their order
	byKey map[string]*node // of an object
	list  []*node          // of an array
	text  string           // of a string
}

// parseTree reads a file. Duplicate names and invalid UTF-8 are errors.
func parseTree(data []byte) (*node, error) {
	dec, err := strictjson.Decoder(data, maxDepth)
	if err != nil {
		return nil, err
	}
	raw, err := strictjson.Raw(dec)
	if err == nil {
		err = strictjson.End(dec)
	}
	if err != nil {
		return nil, strictjson.AsFault(err)
	}
	return newNode("", raw)
}

func newNode(at jsontext.Pointer, raw jsontext.Value) (*node, error) {
	n := &node{at: at, raw: raw}
	dec, err := strictjson.Decoder(raw, maxDepth)
	if err != nil {
		return nil, err
	}
	switch raw.Kind() {
	case '{':
		n.byKey = map[string]*node{}
		err = strictjson.Object(dec, new(int), func(name string) (bool, error) {
			n.names = append(n.names, name)
			value, err := strictjson.Raw(dec)
			if err == nil {
				n.byKey[name], err = newNode(at.AppendToken(name), value)
			}
			return true, err
		})
	case '[':
		n.list = []*node{}
		err = strictjson.Array(dec, func() error {
			value, err := strictjson.Raw(dec)
			if err != nil {
				return err
			}
			element, err := newNode(at.AppendToken(strconv.Itoa(len(n.list))), value)
			n.list = append(n.list, element)
			return err
		})
	case '"':
		n.text, err = strictjson.String(dec)
	}
	return n, err
}

// is tells the value's kind in words.
func (n *node) is() string {
	switch n.raw.Kind() {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "a string"
	case '0':
		return "a number"
	case 'n':
		return "null"
	}
	return "a boolean"
}

// faults collects everything that is wrong with a file.
type faults struct {
	file string
	all  []string
}

func (f *faults) add(at jsontext.Pointer, format string, args ...any) {
	place := string(at)
	if place == "" {
		place = "/"
	}
	f.all = append(f.all, fmt.Sprintf("%s: %s: %s", f.file, place, fmt.Sprintf(format, args...)))
}

// Error lists the faults, a line each.
func (f *faults) Error() string { return strings.Join(f.all, "\n") }

// err is nil where nothing is wrong.
func (f *faults) err() error {
	if len(f.all) == 0 {
		return nil
	}
	return f
}
