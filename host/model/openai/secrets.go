package openai

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	hidden = "[hidden]"
	// minSecret is how long the value of a header must be to be taken for a secret: shorter ones would make holes in plain
	// words.
	minSecret   = 8
	maxErrorLen = 1000
)

// secrets are what no error may say. They are behind a function, so that a struct with a client in it prints an address
// for them, whatever the verb.
type secrets struct{ values func() []string }

// newSecrets are the key and the values of the headers, each as it is and as it stands in a URL.
func newSecrets(c Config) secrets {
	var all []string
	add := func(value string) {
		if value == "" {
			return
		}
		all = append(all, value)
		if quoted := url.QueryEscape(value); quoted != value {
			all = append(all, quoted)
		}
	}
	add(c.APIKey)
	for _, values := range c.Headers {
		for _, v := range values {
			for word := range strings.FieldsSeq(v) { // "Bearer x": the scheme alone is no secret
				if len(word) >= minSecret {
					add(word)
				}
			}
		}
	}
	slices.SortFunc(all, func(a, b string) int { return len(b) - len(a) }) // one may be a part of another
	return secrets{values: func() []string { return all }}
}

// hide is an error without secrets: its text has none, is in one line and not too long. Where the text had one, the error
// below it cannot be reached any more.
func (s secrets) hide(prefix string, err error) error {
	text := err.Error()
	if prefix != "" {
		text = prefix + ": " + text
	}
	clean := s.clean(text)
	if clean != text {
		return errors.New(oneLine(clean))
	}
	return &clear{text: oneLine(clean), err: err}
}

// clean is a text without secrets. It is to be called before a text is cut, which may leave a part of one.
func (s secrets) clean(text string) string {
	for _, v := range s.values() {
		text = strings.ReplaceAll(text, v, hidden)
	}
	return text
}

// clear is an error whose text was looked through.
type clear struct {
	text string
	err  error
}

func (e *clear) Error() string { return e.text }
func (e *clear) Unwrap() error { return e.err }

// oneLine escapes what would not print, and cuts what is too long for an error.
func oneLine(text string) string {
	var b strings.Builder
	for i, r := range text {
		if b.Len() >= maxErrorLen {
			fmt.Fprintf(&b, "… (%d bytes more)", len(text)-i)
			break
		}
		switch {
		case r == utf8.RuneError, !unicode.IsPrint(r):
			quoted := fmt.Sprintf("%+q", r)
			b.WriteString(quoted[1 : len(quoted)-1])
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
