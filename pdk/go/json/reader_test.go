package json_test

import (
	"bytes"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/weft-run/weft/pdk/go/json"
)

// anything reads any value into what encoding/json makes of it with UseNumber.
func anything(r *json.Reader) any {
	switch r.Kind() {
	case json.KindString:
		return r.String()
	case json.KindNumber:
		return stdjson.Number(r.Raw())
	case json.KindBool:
		return r.Bool()
	case json.KindArray:
		all := []any{}
		for range r.Array() {
			all = append(all, anything(r))
		}
		return all
	case json.KindObject:
		all := map[string]any{}
		for name := range r.Object() {
			all[name] = anything(r)
		}
		return all
	}
	if !r.Null() {
		r.Raw() // whatever is there is at fault
	}
	return nil
}

// std reads the same with encoding/json.
func std(data []byte) (any, error) {
	if !stdjson.Valid(data) {
		return nil, errors.New("invalid")
	}
	d := stdjson.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var v any
	err := d.Decode(&v)
	return v, err
}

// stricter reports whether err is of a kind that encoding/json does not know: it mends what is not Unicode, and nests
// deeper.
func stricter(err error, data []byte) bool {
	text := err.Error()
	return strings.Contains(text, "valid UTF-8") && !utf8.Valid(data) ||
		strings.Contains(text, "surrogate pair") && bytes.Contains(bytes.ToLower(data), []byte(`\ud`)) ||
		strings.Contains(text, "nest deeper")
}

func FuzzReader(f *testing.F) {
	for _, seed := range []string{
		`{"a": [1, -2.5e+3, true, false, null, "x\n\u00e9\ud83d\ude00"], "b": {}, "c": [], "a": 0}`,
		` [ ] `, `""`, `"\u12"`, `01`, `-`, `1.`, `1e`, `{"a" 1}`, `{"a":1,}`, `[1,]`, `[1 2]`, `nul`, `nulll`, `{} {}`,
		`"\ud83d"`, `"\udE00\ud83d"`, "\"\xff\"", "\"\t\"", `"\x"`, `{1:2}`, `{"":{"":[[[]]]}}`, ``, ` `, `[`, `{"a":`, `"`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		want, wantErr := std(data)

		r := json.NewReader(string(data))
		have := anything(r)
		err := r.End()

		skipping := json.NewReader(string(data))
		skipping.Raw()
		if skipErr := skipping.End(); (skipErr == nil) != (err == nil) {
			t.Fatalf("reading says %v, passing over says %v", err, skipErr)
		}
		switch {
		case err != nil && wantErr == nil && !stricter(err, data):
			t.Fatalf("%q is valid, and refused: %v", data, err)
		case err == nil && wantErr != nil:
			t.Fatalf("%q is not valid, and taken: %v", data, have)
		case err == nil && !reflect.DeepEqual(have, want):
			t.Fatalf("%q\nwant %#v\nhave %#v", data, want, have)
		}
	})
}

func TestFaults(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"wrong type", `{"lines": ["a", 2]}`, "at /lines/1: a string was wanted, and a number is there"},
		{"null", `{"version": null}`, "at /version: a number was wanted, and null is there"},
		{"fraction", `{"version": 1.5}`, "at /version: a whole number of at most 64 bits was wanted, and 1.5 is there"},
		{
			"too large", `{"version": 12345678901234567890}`,
			"at /version: a whole number of at most 64 bits was wanted, and 12345678901234567890 is there",
		},
		{"escaped pointer", `{"a/b~c": tru}`, "at /a~1b~0c: not valid JSON at byte 10: a value was wanted, and 't' is there"},
		{"after the end", `{} 1`, "not valid JSON at byte 3: the end was wanted, and '1' is there"},
		{"nothing", ``, "not valid JSON at byte 0: an object was wanted, and the text ends"},
		{"no comma", `{"version": 1 "lines": []}`, "at /version: not valid JSON at byte 14: a comma or } was wanted, and '\"' is there"},
		{"open", `{"lines": ["a`, "at /lines/0: not valid JSON at byte 13: the end of a string was wanted, and the text ends"},
		{"no value", `{"a": [1, {"b":`, "at /a/1/b: not valid JSON at byte 15: a value was wanted, and the text ends"},
		{"no name", `{"a": 1, }`, "at /a: not valid JSON at byte 9: a member's name in double quotes was wanted, and '}' is there"},
		{"no digit", `{"version": -}`, "at /version: not valid JSON at byte 13: a digit was wanted, and '}' is there"},
		{
			"half a pair", `{"lines": ["\ud83d"]}`,
			"at /lines/0: not valid JSON at byte 12: a whole surrogate pair was wanted, and '\\\\' is there",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := json.Unmarshal(c.in, &notes{})
			var fault *json.Error
			if !errors.As(err, &fault) || err.Error() != c.want {
				t.Errorf("want %s\nhave %v", c.want, err)
			}
		})
	}
}

// FuzzPointer has each value of a text be the one at fault, before it is read and after, and wants the way to it that it
// went itself.
func FuzzPointer(f *testing.F) {
	for _, seed := range []string{
		`{"a": [1, {"b/~": "x,]}\\\""}, []], "": {"c": null, "\u00e9\n": [[2], [true, [{}]]]}}`, `[[],{},[[1],2]]`, ` 7 `, `{}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		whole := json.NewReader(text)
		if whole.Raw(); whole.End() != nil || len(text) > 1000 {
			return
		}
		for _, after := range []bool{false, true} {
			for at, more := 0, true; more; at++ {
				p := prober{r: json.NewReader(text), at: at, after: after}
				p.value("")
				var fault *json.Error
				if more = errors.As(p.r.Err(), &fault); more && fault.Pointer != p.want {
					t.Fatalf("%s: want %q, have %q", text, p.want, fault.Pointer)
				}
			}
		}
	})
}

// prober reads a text and has its value number at be at fault.
type prober struct {
	r     *json.Reader
	at    int
	after bool
	want  string
}

func (p *prober) value(path string) {
	p.at--
	if p.at == -1 {
		p.want = path
		for p.want != "" && strings.Count(p.want, "/") > 32 {
			p.want = p.want[:strings.LastIndexByte(p.want, '/')]
		}
		if p.after {
			p.r.Raw()
		}
		p.r.Fail("wrong")
		return
	}
	switch p.r.Kind() {
	case json.KindObject:
		for name := range p.r.Object() {
			p.value(path + "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name))
		}
	case json.KindArray:
		for i := range p.r.Array() {
			p.value(path + "/" + strconv.Itoa(i))
		}
	default:
		p.r.Raw()
	}
}

// TestUTF8 tries what stands at the edges of what is valid, at each place of a word.
func TestUTF8(t *testing.T) {
	edges := []byte{0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF, 0xE0, 0xE1, 0xEC, 0xED, 0xEE, 0xEF, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xFF}
	for _, a := range edges {
		for _, b := range edges {
			for _, c := range edges {
				for _, d := range edges {
					text := "12345"[:d%6] + string([]byte{a, b, c, d}) + "678"
					r := json.NewReader(`"` + text + `"`)
					have := r.String()
					if err := r.End(); (err == nil) != utf8.ValidString(text) || err == nil && have != text {
						t.Fatalf("%q: %q, %v", text, have, err)
					}
				}
			}
		}
	}
}

func TestDepth(t *testing.T) {
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	for n, ok := range map[int]bool{1: true, json.MaxDepth: true, json.MaxDepth + 1: false, 1_000_000: false} {
		r := json.NewReader(deep(n))
		r.Raw()
		if err := r.End(); (err == nil) != ok {
			t.Errorf("%d levels: %v", n, err)
		}
		var fault *json.Error
		if errors.As(r.Err(), &fault) && fault.Pointer != strings.Repeat("/0", 32) {
			t.Errorf("%d levels: the way should be told for the first 32: %s", n, fault.Pointer)
		}
	}
	r := json.NewReader("[" + strings.Repeat("[1],", 2*json.MaxDepth) + "[]]")
	for range r.Array() {
		for range r.Array() {
		}
	}
	if err := r.End(); err != nil {
		t.Errorf("what stands side by side does not nest: %v", err)
	}
}

func TestBreakPassesOverTheRest(t *testing.T) {
	r := json.NewReader(`[{"a": 1, "b": [2, 3], "c": 4}, [5, 6, 7], 8]`)
	var seen []int
	for i := range r.Array() {
		switch i {
		case 0:
			for name := range r.Object() {
				if name == "b" {
					for range r.Array() {
						seen = append(seen, r.Int())
						break
					}
					break
				}
			}
		case 1:
			for range r.Array() {
				seen = append(seen, r.Int())
				break
			}
		default:
			seen = append(seen, r.Int())
		}
	}
	if err := r.End(); err != nil || fmt.Sprint(seen) != "[2 5 8]" {
		t.Errorf("2, 5 and 8 were wanted; %v, %v", seen, err)
	}
}

func TestTheFirstFaultWins(t *testing.T) {
	r := json.NewReader(`[1, "x"]`)
	for range r.Array() {
		_ = r.String()
		r.Fail("later")
	}
	if r.Kind() != json.KindNone || r.Raw() != "" || r.Int() != 0 || r.Float() != 0 || r.Bool() || r.Null() {
		t.Error("after a fault every read gives a zero value")
	}
	if err := r.End(); err == nil || err.Error() != "at /0: a string was wanted, and a number is there" {
		t.Error(err)
	}
}

func TestAfterAFaultNothingIsRead(t *testing.T) {
	for _, text := range []string{`{"a": "x", "b": "y"}`, `{"a":"x","b":"y"}`} {
		r := json.NewReader(text)
		members := 0
		for range r.Object() {
			members++
			r.Fail("wrong")
			if have := r.String(); have != "" {
				t.Errorf("%s: %q was read", text, have)
			}
		}
		if members != 1 {
			t.Errorf("%s: %d members were read", text, members)
		}
	}
}

func TestToLookAtAValueIsNotToReadIt(t *testing.T) {
	for _, text := range []string{`{"a": [1], "b": "x"}`, `{"a":[1],"b":"x"}`, "{ \"a\"\n:\t[ 1 ]\r, \"b\" : \"x\" }"} {
		r := json.NewReader(text)
		have := ""
		for range r.Object() {
			if r.Kind() == json.KindString {
				have = r.String()
			}
		}
		if err := r.End(); err != nil || have != "x" {
			t.Errorf("%s: %q, %v", text, have, err)
		}
	}
}

func TestACopyLooksAhead(t *testing.T) {
	r := json.NewReader(`{"a": {"kind": "x"}}`)
	for range r.Object() {
		ahead := *r
		for range ahead.Object() {
			if kind := ahead.String(); kind != "x" {
				t.Error(kind)
			}
		}
		if raw := r.Raw(); raw != `{"kind": "x"}` {
			t.Error(raw)
		}
	}
	if err := r.End(); err != nil {
		t.Error(err)
	}
}
