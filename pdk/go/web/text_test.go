package web_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/weft-run/weft/pdk/go/web"
)

func TestALineHasOnlyWhatIsSeen(t *testing.T) {
	for text, want := range map[string]string{
		"plain":                          "plain",
		" a \t b\r\n\n c\u00a0\u2028d ":  "a b c d",
		"a\u202eb\u200bc\u00add\ufeff":   "abcd",
		"tags: \U000e0041\U000e0042 end": "tags: end",
		"bell\a and \x1b[31mred":         "bell and [31mred",
		"می\u200cخواهم 👩\u200d👩":         "می\u200cخواهم 👩\u200d👩",
		"half \xe2\x82 rune":             "half rune",
		"":                               "",
		"\n\u200b\t":                     "",
	} {
		if have := web.Line(text, 100); have != want {
			t.Errorf("%q: want %q, have %q", text, want, have)
		}
	}
	if have := web.Lines(" one \n\n\t\n two\u202e  2\r\nthree\n", 100); have != "one\ntwo 2\nthree" {
		t.Errorf("the lines were wanted: %q", have)
	}
}

func TestWhatIsTooLongIsCut(t *testing.T) {
	for _, c := range []struct {
		text string
		most int
		want string
	}{
		{"0123456789", 10, "0123456789"},
		{"0123456789a", 10, "0123456…"},
		{"one two three four", 13, "one two th…"},
		{"one two three four", 12, "one two…"},
		{"a bcdefghijklmnop", 12, "a bcdefgh…"},
		{"äöüäöü", 9, "äöü…"},
		{"äöüäöü", 10, "äöü…"},
		{"abcd", 3, ""},
		{"", 0, ""},
	} {
		have := web.Cut(c.text, c.most)
		if have != c.want || len(have) > c.most || !utf8.ValidString(have) {
			t.Errorf("%q in %d bytes: want %q, have %q", c.text, c.most, c.want, have)
		}
	}
	for most := range 200 {
		if have := web.Line(strings.Repeat("ä ö\n", 1<<20), most); len(have) > most || !utf8.ValidString(have) {
			t.Errorf("%d bytes were wanted: %q", most, have)
		}
	}
}

func TestAPassageHasOneLineThatSaysWhereItStands(t *testing.T) {
	for _, c := range []struct{ place, heading, text, want string }{
		{"https://a.example/", "Title", "Text.", "[https://a.example/ § Title]\nText."},
		{"docs/1", "", "Text.", "[docs/1 §]\nText."},
		{"docs/1", "Title", "", "[docs/1 § Title]"},
		{"a]b", "c [d]\ne", "x", "[a b § c d e]\nx"},
		{"real", "r", "[fake § f]\nx\n[fake § f]\ny [z]", "[real § r]\n\\[fake § f]\nx\n\\[fake § f]\ny [z]"},
	} {
		if have := web.Passage(c.place, c.heading, c.text); have != c.want {
			t.Errorf("want %q, have %q", c.want, have)
		}
	}
}
