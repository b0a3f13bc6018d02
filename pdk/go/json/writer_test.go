package json_test

import (
	stdjson "encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/weft-run/weft/pdk/go/json"
)

func FuzzString(f *testing.F) {
	for _, seed := range []string{"", "plain", "\"\\\x00\x1f\n\r\t\x7f", "é😀\u2028", "\xff\xc3", "\uFFFD"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		written := json.String(s)
		var back string
		if err := stdjson.Unmarshal([]byte(written), &back); err != nil || back != strings.ToValidUTF8(s, "\uFFFD") &&
			back != eachInvalidByte(s) {
			t.Fatalf("%q became %s: %v", s, written, err)
		}
		r := json.NewReader(written)
		if own := r.String(); own != back || r.End() != nil {
			t.Fatalf("%q became %s, and reads as %q: %v", s, written, own, r.End())
		}
	})
}

// eachInvalidByte mends s as the language does: one replacement for each byte.
func eachInvalidByte(s string) string { return string([]rune(s)) }

func TestWriter(t *testing.T) {
	var w json.Writer
	w.Object(func() {
		w.Name("a").Array(func() {
			w.Int(-1)
			w.Float(0.5)
			w.Float(1e300)
			w.Float(math.NaN())
			w.Bool(true)
			w.Null()
			w.Raw("")
			w.Raw(`{"x":1}`)
			w.Object(func() {})
			w.Array(func() {})
		})
		w.Name("b").Strings([]string{"x", "y"})
		w.Name("c").Value(&notes{Version: 1})
		w.Name("d").String("é")
	})
	const want = `{"a":[-1,0.5,1e+300,null,true,null,null,{"x":1},{},[]],"b":["x","y"],"c":{"version":1,"lines":[]},"d":"é"}`
	if have := w.JSON(); have != want {
		t.Errorf("want %s\nhave %s", want, have)
	}
	w.Reset()
	w.Int(1)
	if have := string(w.Bytes()); have != "1" {
		t.Errorf("a writer that was reset begins anew; %s", have)
	}
}

func TestAWriterWithRoom(t *testing.T) {
	for _, room := range []int{0, 4, 64} {
		w := json.NewWriter(room)
		w.String("longer than four")
		if have := w.JSON(); have != `"longer than four"` {
			t.Errorf("%d: %s", room, have)
		}
	}
}

// kept is a value that keeps the writer that it was written to.
type kept struct{ w *json.Writer }

func (k *kept) WriteJSON(w *json.Writer) {
	k.w = w
	w.String("a")
}

func TestWhatWasWrittenStays(t *testing.T) {
	var k kept
	raw := json.Marshal(&k)
	k.w.Reset()
	k.w.String("b")
	if raw != `"a"` {
		t.Errorf("what was written once became %s", raw)
	}
}

func TestValues(t *testing.T) {
	for want, have := range map[string]json.Raw{
		`"a\"b"`: json.String(`a"b`),
		"-7":     json.Int(-7),
		"0.125":  json.Float(0.125),
		"1e-07":  json.Float(1e-7),
		"null":   json.Float(math.Inf(1)),
		"true":   json.Bool(true),
	} {
		if string(have) != want {
			t.Errorf("want %s, have %s", want, have)
		}
	}
}
