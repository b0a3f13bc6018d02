package strictjson_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/internal/strictjson"
)

var values = []string{
	`{}`, ` { } `, `[]`, `0`, `"a"`, `-1.50e+3`, `true`, ` null `, `"\\"`, `"\\\""`, `"\\\\\"]\\"`,
	`{"a":1}`, `{"a":{"b":[{}]},"c":"}"}`, " {\n\"a\" :\t[ 1 , 2 ] ,\r\"b\" : \"\\\"{\\\\\" } ",
	`{"\u00e4\"":1.50,"ä":12345678901234567890123,"":null}`, `[[],[[]],[[[]]]]`, `{"a":"` + strings.Repeat(`\"`, 100) + `[","b":[]}`,
}

func check(t *testing.T, data []byte) {
	t.Helper()
	for at := range len(data) + 1 { // whatever the bytes are
		end, depth := strictjson.Span(data, at)
		require.True(t, at <= end && end <= len(data) && depth >= 0)
	}
	value := jsontext.Value(bytes.TrimSpace(data))
	for range strictjson.Split(value) { // it ends
		continue
	}
	if !value.IsValid() {
		return
	}
	depth := nesting(t, value)
	end, found := strictjson.Span(append(value.Clone(), ",]}"...), 0)
	require.Equal(t, len(value), end)
	require.Equal(t, depth, found)
	_, err := strictjson.Decoder(value, depth)
	require.NoError(t, err)
	if depth > 0 {
		_, err = strictjson.Decoder(value, depth-1)
		require.ErrorContains(t, err, "nests deeper")
	}
	if value.Kind() != '{' {
		return
	}
	want, err := strictjson.Members(jsontext.NewDecoder(bytes.NewReader(value)))
	require.NoError(t, err)
	got := map[string]jsontext.Value{}
	for name, member := range strictjson.Split(value) {
		got[name] = member
	}
	require.Equal(t, want, got)
}

// nesting is how deep a value nests, as a decoder sees it.
func nesting(t *testing.T, value jsontext.Value) int {
	deepest := 0
	dec := jsontext.NewDecoder(bytes.NewReader(value))
	for {
		if _, err := dec.ReadToken(); err != nil {
			return deepest
		}
		deepest = max(deepest, dec.StackDepth())
		require.LessOrEqual(t, deepest, len(value))
	}
}

func TestSpanAgreesWithADecoder(t *testing.T) {
	for _, v := range values {
		check(t, []byte(v))
	}
	end, depth := strictjson.Span([]byte(`[1,"a]"] , 2`), 3)
	require.Equal(t, []int{7, 0}, []int{end, depth})
}

func TestSplitKeepsTheOrderAndStopsWhenTold(t *testing.T) {
	var names []string
	for name := range strictjson.Split(jsontext.Value(`{"b":1,"a":{"x":2},"c":3}`)) {
		if names = append(names, name); name == "a" {
			break
		}
	}
	require.Equal(t, []string{"b", "a"}, names)
}

// A decoder shares the bytes that it reads, and leaves them as they are.
func TestDecoderChangesNothing(t *testing.T) {
	text := `{"a":[1,{"b":"\u00e4"}],"c":"d"} `
	data := []byte(text)
	dec, err := strictjson.Decoder(data, 8)
	require.NoError(t, err)
	members, err := strictjson.Members(dec)
	require.NoError(t, err)
	require.NoError(t, strictjson.End(dec))
	require.Equal(t, text, string(data))
	clear(data)
	require.Equal(t, `[1,{"b":"\u00e4"}]`, string(members["a"]))
}

func FuzzSpan(f *testing.F) {
	for _, v := range values {
		f.Add([]byte(v))
	}
	f.Fuzz(check)
}
