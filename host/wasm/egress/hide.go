package egress

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"html"
	"net/url"
	"slices"
	"strings"
)

// hider knows what must not be read.
type hider struct {
	// forms are all texts that show a secret, in lower case. They are behind a function, as in Secret.
	forms   func() [][]byte
	longest int
}

func newHider(secrets map[string]Secret) *hider {
	var all [][]byte
	for _, secret := range secrets {
		for _, form := range formsOf(secret.value()) {
			all = append(all, lower([]byte(form)))
		}
	}
	slices.SortFunc(all, bytes.Compare)
	all = slices.CompactFunc(all, bytes.Equal)
	h := &hider{forms: func() [][]byte { return all }}
	for _, form := range all {
		h.longest = max(h.longest, len(form))
	}
	return h
}

// formsOf are the forms in which a server may send a value back. None is shorter than what is put in its place.
func formsOf(value string) []string {
	inHTML := html.EscapeString(value)
	forms := []string{
		value, url.QueryEscape(value), url.PathEscape(value), hex.EncodeToString([]byte(value)),
		inHTML, strings.NewReplacer("&#34;", "&quot;", "&#39;", "&#x27;").Replace(inHTML),
		inJSON(value, true), inJSON(value, false), strings.ReplaceAll(inJSON(value, false), "/", `\/`),
	}
	for shift := range 3 {
		for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			forms = append(forms, inBase64(value, shift, encoding))
		}
	}
	return forms
}

func inJSON(value string, escapeHTML bool) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(escapeHTML)
	_ = e.Encode(value) // A string has an encoding.
	return strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(b.String()), `"`), `"`)
}

// inBase64 is what a value looks like in the base64 of a longer text, after a number of bytes that leaves the rest shift
// when it is divided by three: only those characters that depend on nothing but the value.
func inBase64(value string, shift int, encoding *base64.Encoding) string {
	text := encoding.EncodeToString(append(make([]byte, shift), value...))
	if (shift+len(value))%3 != 0 {
		text = text[:len(text)-1] // It depends on what follows, too.
	}
	return text[(shift*8+5)/6:]
}

// lower is bytes.ToLower for ASCII alone, so that nothing changes its length.
func lower(text []byte) []byte {
	out := make([]byte, len(text))
	for i, c := range text {
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		out[i] = c
	}
	return out
}

// text hides secrets in a text.
func (h *hider) text(text string) string {
	m := masker{hider: h}
	out, _ := m.mask(nil, []byte(text), true)
	return string(out)
}

// shows tells whether a text shows a secret.
func (h *hider) shows(text string) bool { return h.text(text) != text }

// masker hides secrets in a text that comes piece by piece. Its output is never longer than its input.
type masker struct {
	*hider
	// covered is how much of what comes next belongs to a secret that began before.
	covered int
}

// mask appends to out what src is without secrets, as far as that can be known: up to where a form could begin that goes on
// behind src, or up to the end where src is the last piece. It returns how much of src was used up; the rest is to be
// passed again, with more behind it. Forms that overlap are hidden as one.
func (m *masker) mask(out, src []byte, last bool) (_ []byte, used int) {
	used = len(src)
	if !last {
		used = max(0, len(src)-m.longest+1)
	}
	found := m.search(src)
	shown := m.covered // All before it is dealt with.
	for from := 0; ; {
		start, length := found.next(from)
		if start < 0 || start >= used {
			break
		}
		if start >= shown {
			out = append(append(out, src[shown:start]...), hidden...)
		}
		shown = max(shown, start+length)
		from = start + 1
	}
	if shown < used {
		out = append(out, src[shown:used]...)
		shown = used
	}
	m.covered = shown - used
	return out, used
}

// search finds the forms in one piece.
type search struct {
	text  []byte
	forms [][]byte
	at    []int // where each form is next; len(text) where it is not
}

func (h *hider) search(src []byte) *search {
	forms := h.forms()
	s := &search{text: lower(src), forms: forms, at: make([]int, len(forms))}
	for i := range s.at {
		s.at[i] = -1
	}
	return s
}

// next returns the first place from which on a form stands, and the length of the longest one there; -1 where there is none.
func (s *search) next(from int) (start, length int) {
	start = len(s.text)
	for i, form := range s.forms {
		if s.at[i] < from {
			if n := bytes.Index(s.text[from:], form); n >= 0 {
				s.at[i] = from + n
			} else {
				s.at[i] = len(s.text)
			}
		}
		switch {
		case s.at[i] < start:
			start, length = s.at[i], len(form)
		case s.at[i] == start:
			length = max(length, len(form))
		}
	}
	if start == len(s.text) {
		return -1, 0
	}
	return start, length
}
