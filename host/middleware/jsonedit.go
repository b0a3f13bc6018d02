package middleware

import (
	"bytes"
	"errors"
	"io"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// jsonEdit is what is put in place of the parts of a JSON value. number and member may be nil.
type jsonEdit struct {
	// text gets strings, and the names of members. It is mandatory.
	text func(s string) string
	// number gets a number's digits. Where it returns others, a string stands in its place.
	number func(digits string) string
	// member gets the name of a member and returns a text in place of its whole value, or says no.
	member func(name string) (instead string, ok bool)
}

// editJSON is a value with its parts replaced. What stays keeps its bytes where nothing changes, and its digits in any
// case. A value that is no JSON is taken for a text.
func editJSON(value jsontext.Value, edit jsonEdit) jsontext.Value {
	if len(bytes.TrimSpace(value)) == 0 {
		return value
	}
	e := jsonEditor{jsonEdit: edit, dec: jsontext.NewDecoder(bytes.NewReader(value), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))}
	if err := e.only(); err != nil {
		if text := edit.text(string(value)); text != string(value) {
			return quoted(text)
		}
		return value
	}
	if !e.changed {
		return value
	}
	return e.out
}

type jsonEditor struct {
	jsonEdit
	dec     *jsontext.Decoder
	out     jsontext.Value
	changed bool
}

// only reads one value, behind which nothing stands.
func (e *jsonEditor) only() error {
	if err := e.value(); err != nil {
		return err
	}
	if _, err := e.dec.ReadToken(); !errors.Is(err, io.EOF) {
		return errors.New("something stands behind the value")
	}
	return nil
}

func (e *jsonEditor) value() error {
	switch e.dec.PeekKind() {
	case '{':
		return e.object()
	case '[':
		return e.array()
	case '"':
		token, err := e.dec.ReadToken()
		if err == nil {
			e.out = append(e.out, quoted(e.edited(token.String()))...)
		}
		return err
	}
	raw, err := e.dec.ReadValue()
	if err != nil {
		return err
	}
	if raw.Kind() == '0' && e.number != nil {
		if digits := e.number(string(raw)); digits != string(raw) {
			e.changed = true
			e.out = append(e.out, quoted(digits)...)
			return nil
		}
	}
	e.out = append(e.out, raw...)
	return nil
}

func (e *jsonEditor) array() error {
	if _, err := e.dec.ReadToken(); err != nil {
		return err
	}
	e.out = append(e.out, '[')
	for first := true; e.dec.PeekKind() != ']'; first = false {
		if !first {
			e.out = append(e.out, ',')
		}
		if err := e.value(); err != nil {
			return err
		}
	}
	e.out = append(e.out, ']')
	_, err := e.dec.ReadToken()
	return err
}

// object edits the names too. Two that become the same are told apart by a number.
func (e *jsonEditor) object() error {
	if _, err := e.dec.ReadToken(); err != nil {
		return err
	}
	e.out = append(e.out, '{')
	names, next := map[string]bool{}, map[string]int{} // next is where counting goes on for a name
	for first := true; e.dec.PeekKind() != '}'; first = false {
		token, err := e.dec.ReadToken()
		if err != nil {
			return err
		}
		name := token.String()
		clean := e.edited(name)
		written := clean
		for names[written] {
			next[clean]++
			written = clean + " " + strconv.Itoa(next[clean]+1)
			e.changed = true
		}
		names[written] = true
		if !first {
			e.out = append(e.out, ',')
		}
		e.out = append(append(e.out, quoted(written)...), ':')
		if e.member != nil {
			if instead, ok := e.member(name); ok {
				e.changed = true
				e.out = append(e.out, quoted(instead)...)
				if err := e.dec.SkipValue(); err != nil {
					return err
				}
				continue
			}
		}
		if err := e.value(); err != nil {
			return err
		}
	}
	e.out = append(e.out, '}')
	_, err := e.dec.ReadToken()
	return err
}

func (e *jsonEditor) edited(s string) string {
	other := e.text(s)
	e.changed = e.changed || other != s
	return other
}

// quoted is a text as JSON. What is not valid UTF-8 in it is replaced.
func quoted(text string) jsontext.Value {
	raw, err := jsontext.AppendQuote(nil, text)
	if err != nil {
		raw, _ = jsontext.AppendQuote(nil, string(bytes.ToValidUTF8([]byte(text), []byte("\uFFFD"))))
	}
	return raw
}
