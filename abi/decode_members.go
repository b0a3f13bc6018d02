package abi

import (
	"bytes"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/weft-run/weft/internal/strictjson"
)

// members are the members of an object by name, each with what reads its value.
type members map[string]func() error

// decodeInput reads an object and nothing behind it.
func decodeInput(data []byte, required []string, known func(dec *jsontext.Decoder, unknown *int) members) (unknown int, err error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return 0, &OutputError{Reason: "the input is empty; a JSON object was wanted"}
	}
	dec, err := strictjson.Decoder(data, Depth)
	if err == nil {
		defer strictjson.Release(dec)
		err = readMembers(dec, &unknown, required, known(dec, &unknown))
	}
	if err == nil {
		err = strictjson.End(dec)
	}
	if err != nil {
		return unknown, outputError(err)
	}
	return unknown, nil
}

// readMembers reads an object, and tells all members that are missing.
func readMembers(dec *jsontext.Decoder, unknown *int, required []string, known members) error {
	missing := slices.Clone(required)
	err := strictjson.Object(dec, unknown, func(name string) (bool, error) {
		read := known[name]
		if read == nil {
			return false, nil
		}
		missing = slices.DeleteFunc(missing, func(m string) bool { return m == name })
		return true, read()
	})
	if err == nil && len(missing) > 0 {
		err = strictjson.Faultf(dec, "missing: %s", strings.Join(missing, ", "))
	}
	return err
}

func text(dec *jsontext.Decoder, into *string) func() error {
	return func() (err error) {
		*into, err = strictjson.String(dec)
		return err
	}
}

func boolean(dec *jsontext.Decoder, into *bool) func() error {
	return func() (err error) {
		*into, err = strictjson.Bool(dec)
		return err
	}
}

func raw(dec *jsontext.Decoder, into *jsontext.Value) func() error {
	return func() (err error) {
		*into, err = strictjson.Raw(dec)
		return err
	}
}

func whole(dec *jsontext.Decoder, into *int) func() error {
	return func() (err error) {
		*into, err = strictjson.Int(dec)
		return err
	}
}

func number(dec *jsontext.Decoder, into **float64) func() error {
	return func() error {
		f, err := strictjson.Float(dec)
		*into = &f
		return err
	}
}

// word reads one of a list of words.
func word(dec *jsontext.Decoder, name string, words []string, into *string) func() error {
	return func() error {
		err := text(dec, into)()
		if err == nil && !slices.Contains(words, *into) {
			err = strictjson.Faultf(dec, "%s %q is not one of %s", name, *into, strings.Join(words, ", "))
		}
		return err
	}
}

// anyNumber is no upper bound.
const anyNumber = -1

// between reads a whole number of a range.
func between(dec *jsontext.Decoder, name string, least, most int, into *int) func() error {
	return func() error {
		err := whole(dec, into)()
		switch {
		case err != nil:
		case *into < least && most == anyNumber:
			err = strictjson.Faultf(dec, "%s is %d; at least %d was wanted", name, *into, least)
		case *into < least, most != anyNumber && *into > most:
			err = strictjson.Faultf(dec, "%s is %d; %d to %d was wanted", name, *into, least, most)
		}
		return err
	}
}

func version(dec *jsontext.Decoder, least int, into **int64) func() error {
	return func() error {
		var n int
		err := between(dec, "if_version", least, anyNumber, &n)()
		*into = new(int64(n))
		return err
	}
}

// texts reads 1 to most texts.
func texts(dec *jsontext.Decoder, name string, most int, into *[]string) func() error {
	return func() error {
		return bounded(dec, name, most, into, func() (string, error) { return strictjson.String(dec) })
	}
}

// bounded reads an array of 1 to most elements. It stops at the first one too many.
func bounded[T any](dec *jsontext.Decoder, name string, most int, into *[]T, element func() (T, error)) error {
	err := strictjson.Array(dec, func() error {
		if len(*into) == most {
			return strictjson.Faultf(dec, "there are more than %d %s", most, name)
		}
		e, err := element()
		*into = append(*into, e)
		return err
	})
	if err == nil && len(*into) == 0 {
		err = strictjson.Faultf(dec, "there are no %s; at least one was wanted", name)
	}
	return err
}
