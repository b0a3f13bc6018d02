package web_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/weft-run/weft/pdk/go/web"
)

func TestPlainTextOfHTML(t *testing.T) {
	for html, want := range map[string]string{
		"plain":                               "plain",
		"a <strong>b</strong>c":               "a bc",
		"one<br>two<p>three</p>four":          "one two three four",
		`x<a href="/?a>b" title='c>d'>y</a>z`: "xyz",
		"x<a href=/y>z</a>":                   "xz",
		"A<SCRIPT>alert('</b>')</SCRIPT >B":   "A B",
		"A<style>b{}</style>B":                "A B",
		"A<script>never ends":                 "A",
		"A<script src=x>s</script":            "A",
		"a<!-- <b>hidden</b> -->b<!--":        "a b",
		"<!DOCTYPE html><html><body>x":        "x",
		"1 < 2 > 0, vector<int> &c <3":        "1 < 2 > 0, vector<int> &c <3",
		"an open <a href=":                    "an open <a href=",
		"Tom &amp; Jerry &lt;b&gt;":           "Tom & Jerry <b>",
		"&amp;lt;":                            "&lt;",
		"&eacute;&Eacute;&szlig;&mdash;":      "éÉß—",
		"&#65;&#x42;&#X43;&#8364;":            "ABC€",
		"don&#146;t":                          "don’t",
		"&#0;&#55296;&#x110000;&#xx;&#;x":     "x",
		"&unknown; &amp &; AT&T; a&b=c;":      "&unknown; &amp &; AT&T; a&b=c;",
		"a&nbsp;&shy;b&#8238;c&#10;d":         "a bc d",
		"&lt;script&gt;x&lt;/script&gt;":      "<script>x</script>",
		"<scr<script>ipt>y":                   "<scr",
		"":                                    "",
		"<":                                   "<",
		"&":                                   "&",
		"</":                                  "</",
	} {
		if have := web.Plain(html, 1000); have != want {
			t.Errorf("%q: want %q, have %q", html, want, have)
		}
	}
}

// However the text is made, it takes time in proportion to what is wanted of it.
func TestHostileHTMLIsBounded(t *testing.T) {
	for _, part := range []string{"<a ", "<script></script>", "<!--", "&", "<", "<a x='", "&#x", "<script>", "\u202e", "</b", "&amp"} {
		text := strings.Repeat(part, (1<<20)/len(part))
		if have := web.Plain(text, 500); len(have) > 500 || !utf8.ValidString(have) {
			t.Errorf("%q: at most 500 bytes were wanted, %d are there", part, len(have))
		}
	}
}

func FuzzPlain(f *testing.F) {
	for _, seed := range []string{"a<b>c</b>&amp;<script>x</script><!-- y -->", "<a href='>'>", "&#x10ffff;", "\xff<\xfe&", "<!doctype"} {
		f.Add(seed, 20)
	}
	f.Fuzz(func(t *testing.T, html string, most int) {
		most = min(max(most, 0), 1<<16)
		have := web.Plain(html, most)
		if len(have) > most || !utf8.ValidString(have) || strings.ContainsAny(have, "\n\t\x00") || strings.TrimSpace(have) != have {
			t.Fatalf("%q in %d bytes: %q", html, most, have)
		}
	})
}
