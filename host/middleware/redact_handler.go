package middleware

import (
	"context"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// Redacted stands in a log in place of a value that must not be there.
const Redacted = "[REDACTED]"

// DefaultMaxLogValue is how many bytes of one value stand in a log.
const DefaultMaxLogValue = 1024

// DefaultRedactKeys are the words that make an attribute secret: one that has them among the words of its key, such as
// access_token, X-Api-Key and dbPassword, yet not input_tokens. They are authorization, password, passwd, passphrase, pwd,
// secret, token, api_key, apikey, private_key, access_key, session_key, credential, credentials, cookie, ssn, card_number,
// iban and pin.
func DefaultRedactKeys() []string {
	return []string{
		"authorization", "password", "passwd", "passphrase", "pwd", "secret", "token", "api_key", "apikey", "private_key",
		"access_key", "session_key", "credential", "credentials", "cookie", "ssn", "card_number", "iban", "pin",
	}
}

// RedactConfig says what does not go into a log as it is.
type RedactConfig struct {
	// Keys are words of keys whose values are left out; several words are joined by _. Default: [DefaultRedactKeys].
	Keys []string
	// Patterns are left out of values and messages, besides what [Secret] finds. Default: none.
	Patterns []*regexp.Regexp
	// MaxValue is how many bytes of one value are kept. Default: [DefaultMaxLogValue]. Negative: all.
	MaxValue int
}

func (c RedactConfig) withDefaults() RedactConfig {
	if c.Keys == nil {
		c.Keys = DefaultRedactKeys()
	}
	c.MaxValue = orDefault(c.MaxValue, DefaultMaxLogValue)
	return c
}

// redactingHandler cleans what goes into another handler.
type redactingHandler struct {
	config RedactConfig
	keys   []string // "_" + word + "_"
	inner  slog.Handler
	secret bool // the group that is open has a secret name
}

var _ slog.Handler = (*redactingHandler)(nil)

// NewRedactingHandler returns a handler that cleans records on their way to another. Values of secret keys are replaced by
// [Redacted], in groups and in JSON too; so is what looks like a credential, in any value and in the message. Control
// characters, invisible ones and bytes that are no UTF-8 are written as escapes, so no value can forge a line or change a
// terminal. Long values are cut. Values of unknown types become text. It is as safe for many goroutines as the other.
func NewRedactingHandler(inner slog.Handler, c RedactConfig) slog.Handler {
	h := &redactingHandler{config: c.withDefaults(), inner: inner}
	for _, key := range h.config.Keys {
		h.keys = append(h.keys, "_"+keyWords(key)+"_")
	}
	return h
}

// Enabled asks the other handler.
func (h *redactingHandler) Enabled(ctx context.Context, l slog.Level) bool {
	return h.inner.Enabled(ctx, l)
}

// Handle cleans a record.
func (h *redactingHandler) Handle(ctx context.Context, r slog.Record) error {
	clean := slog.NewRecord(r.Time, r.Level, h.text(r.Message), r.PC)
	r.Attrs(func(a slog.Attr) bool {
		clean.AddAttrs(h.attr(a, h.secret))
		return true
	})
	return h.inner.Handle(ctx, clean)
}

// WithAttrs cleans attributes that stand in all records.
func (h *redactingHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	other := *h
	clean := make([]slog.Attr, len(attrs))
	for i, a := range attrs {
		clean[i] = h.attr(a, h.secret)
	}
	other.inner = h.inner.WithAttrs(clean)
	return &other
}

// WithGroup opens a group. Everything in a group of a secret name is secret.
func (h *redactingHandler) WithGroup(name string) slog.Handler {
	other := *h
	other.secret = h.secret || h.isSecret(name)
	other.inner = h.inner.WithGroup(h.text(name))
	return &other
}

func (h *redactingHandler) attr(a slog.Attr, secret bool) slog.Attr {
	secret = secret || h.isSecret(a.Key)
	v := a.Value.Resolve()
	if v.Kind() == slog.KindGroup {
		group := slices.Clone(v.Group())
		for i := range group {
			group[i] = h.attr(group[i], secret)
		}
		return slog.Attr{Key: h.text(a.Key), Value: slog.GroupValue(group...)}
	}
	if secret {
		return slog.String(h.text(a.Key), Redacted)
	}
	switch v.Kind() {
	case slog.KindString:
		v = slog.StringValue(h.text(v.String()))
	case slog.KindAny:
		v = h.any(v.Any())
	}
	return slog.Attr{Key: h.text(a.Key), Value: v}
}

func (h *redactingHandler) any(v any) slog.Value {
	switch v := v.(type) {
	case nil:
		return slog.AnyValue(nil)
	case error:
		return slog.StringValue(h.text(v.Error()))
	case jsontext.Value:
		return slog.StringValue(h.text(h.json(v)))
	case []byte:
		return slog.StringValue(h.text(string(v)))
	}
	return slog.StringValue(h.text(fmt.Sprintf("%+v", v)))
}

// json is a JSON value without the members of secret names.
func (h *redactingHandler) json(v jsontext.Value) string {
	return string(editJSON(v, jsonEdit{
		text: func(s string) string { return s },
		member: func(name string) (string, bool) {
			return Redacted, h.isSecret(name)
		},
	}))
}

func (h *redactingHandler) isSecret(key string) bool {
	words := "_" + keyWords(key) + "_"
	return slices.ContainsFunc(h.keys, func(secret string) bool { return strings.Contains(words, secret) })
}

// keyWords is a key in lower case with _ between its words, however it is written.
func keyWords(key string) string {
	var b strings.Builder
	lower, gap := false, false
	for _, r := range key {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			gap = b.Len() > 0
			continue
		}
		if gap || lower && unicode.IsUpper(r) {
			b.WriteByte('_')
		}
		lower, gap = unicode.IsLower(r) || unicode.IsDigit(r), false
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// text is a text that can stand in a log.
func (h *redactingHandler) text(s string) string {
	s, _ = redactText([]Detector{Secret()}, s)
	for _, p := range h.config.Patterns {
		s = p.ReplaceAllLiteralString(s, Redacted)
	}
	return escaped(s, h.config.MaxValue)
}

// escaped is a text of at most so many bytes, and how long it was where it is cut.
func escaped(s string, most int) string {
	var b strings.Builder
	for at := 0; at < len(s); {
		r, size := utf8.DecodeRuneInString(s[at:])
		piece := s[at : at+size]
		switch {
		case r == utf8.RuneError && size == 1:
			piece = fmt.Sprintf(`\x%02x`, s[at])
		case r == '\n':
			piece = `\n`
		case r == '\t':
			piece = `\t`
		case r == '\r':
			piece = `\r`
		case unicode.IsControl(r), unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co):
			piece = fmt.Sprintf(`\u{%x}`, r)
		}
		if most >= 0 && b.Len()+len(piece) > most {
			fmt.Fprintf(&b, "… (%d bytes)", len(s))
			break
		}
		b.WriteString(piece)
		at += size
	}
	return b.String()
}
