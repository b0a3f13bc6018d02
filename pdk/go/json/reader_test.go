package json_test

import (
	"bytes"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"reflect"
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

func TestDepth(t *testing.T) {
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	for n, ok := range map[int]bool{1: true, json.MaxDepth: true, json.MaxDepth + 1: false, 1_000_000: false} {
		r := json.NewReader(deep(n))
		r.Raw()
		if err := r.End(); (err == nil) != ok {
			t.Errorf("%d levels: %v", n, err)
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
