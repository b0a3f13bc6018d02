package main

import (
	"testing"

	"github.com/weft-run/weft/pdk/go/json"
)

// The same tables stand in package conformance: the two ways of playing must write and compare values alike.
func TestTidy(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ value, want json.Raw }{
		{"", "null"},
		{" null ", "null"},
		{"true", "true"},
		{"1.50", "1.50"},
		{"123456789012345678901234567890", "123456789012345678901234567890"},
		{"1E3", "1E3"},
		{"-0", "-0"},
		{`"a\u0062\/"`, `"ab/"`},
		{`"<é> \u0007 \n"`, `"<é> \u0007 \n"`},
		{`[ 1 , "two" , { } , [ ] ]`, `[1,"two",{},[]]`},
		{`{"b": 1, "a": {"d": 2, "c": [{"z": 1, "y": 2}]}, "aa": 3}`, `{"a":{"c":[{"y":2,"z":1}],"d":2},"aa":3,"b":1}`},
		{`{"\uffff": 1, "\ud83e\uddf5": 2}`, "{\"\U0001F9F5\":2,\"\uFFFF\":1}"},
	} {
		if have := tidy(c.value); have != c.want {
			t.Errorf("%s is written as %s, wanted %s", c.value, have, c.want)
		}
	}
}

func TestSame(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b json.Raw
		same bool
	}{
		{`{"a": 1, "b": [1, 2]}`, `{"b":[1,2],"a":1}`, true},
		{`{"a": 1}`, `{"a": 1, "b": null}`, false},
		{`{"a": 1}`, `{"b": 1}`, false},
		{`[1, 2]`, `[2, 1]`, false},
		{`[1]`, `[1, 1]`, false},
		{`1`, `1.0`, true},
		{`{"x": [10]}`, `{"x": [1e1]}`, true},
		{`1`, `"1"`, false},
		{`1`, `2`, false},
		{`12345678901234567890`, `12345678901234567891`, false},
		{`12345678901234567890`, `12345678901234567890`, true},
		{`"a"`, `"\u0061"`, true},
		{`null`, `false`, false},
		{`true`, `true`, true},
		{`{}`, `[]`, false},
	} {
		if same(c.a, c.b) != c.same || same(c.b, c.a) != c.same {
			t.Errorf("%s and %s: wanted same %v", c.a, c.b, c.same)
		}
	}
}

// A log line is printable ASCII, whatever stands in it.
func TestQuote(t *testing.T) {
	t.Parallel()
	const text = "a \"b\" \\ \n\x00\x7f é \u200b \U0001F9F5"
	const want = `"a \"b\" \\ \u000a\u0000\u007f \u00e9 \u200b \ud83e\uddf5"`
	have := quote(text)
	if have != want {
		t.Errorf("quoted as %s, wanted %s", have, want)
	}
	if r := json.NewReader(have); r.String() != text || r.End() != nil {
		t.Errorf("it does not come back: %v", r.Err())
	}
	if quote("") != `""` {
		t.Errorf("nothing is quoted as %s", quote(""))
	}
}
