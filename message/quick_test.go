package message_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/internal/strictjson"
	"github.com/weft-run/weft/message"
)

// lists are lists that the quick reader reads, gives up on in part, and gives up on altogether.
var lists = []string{
	`[]`, ` [ ] `, `[`, `[{}]`, `null`, `[null]`, `[] 1`, `[{"role":"user","text":"a"},]`, `[,]`, ``,
	`[{"role":"user","text":"a"}]`,
	`[{"role":"user","text":"a"} {"role":"user","text":"b"}]`,
	`[{"role":"user","contents":[]},{"role":"user","text":""}]`,
	" [\t{ \"role\" : \"user\" ,\r\n \"contents\" : [ { \"text\" : \"a\" , \"type\" : \"text\" } ] } ] ",
	`[{"role":"user","text":"a","contents":[]}]`,
	`[{"role":"user","role":"user","text":"a"}]`,
	`[{"role":"user","text":"a","later":1,"later":2}]`,
	`[{"role":"user","text":"a","later":1},{"role":"user","text":"b"}]`,
	`[{"role":"user","text":"a","later":1},{"role":"root","text":"b"}]`,
	`[{"r\u006fle":"user","text":"\ud83d\ude00\n\/\"\\ä"}]`,
	`[{"role":"user","text":"\ud83d"}]`, `[{"role":"user","text":"\x"}]`, `[{"role":"user","text":"a\`,
	"[{\"role\":\"user\",\"text\":\"\xff\"}]", "[{\"role\":\"user\",\"text\":\"\\n\xff\"}]", "[{\"role\":\"user\",\"text\":\"a\nb\"}]",
	`[{"role":"user","contents":[{"type":"text"}]}]`, `[{"role":"user","contents":[{"text":"a"}]}]`,
	`[{"role":"user","contents":[{"type":"text","text":"a","uri":"u","approved":true}]}]`,
	`[{"role":"user","contents":[{"type":"text","text":"a"} {"type":"text","text":"a"}]}]`,
	`[{"role":"user","contents":[{"type":"later","x":{"y":1.0}},{"type":"text","text":"a","later":[1]}]}]`,
	`[{"role":"user","contents":[{"type":"text","text":"a"}],"properties":{"a":1.50,"b":{"c":[null,true]},"":""}}]`,
	`[{"role":"user","text":"a","properties":{"a":1,"a":2}}]`, `[{"role":"user","text":"a","properties":{"a":}}]`,
	`[{"role":"user","text":"a","properties":{"a":{"b":1,"b":2}}}]`, `[{"role":"user","text":"a","properties":{"a":01}}]`,
	`[{"role":"user","text":"a","properties":[]}]`, `[{"role":"user","text":"a","properties":{"\n":{},"a":"\ud800"}}]`,
	`[{"role":"assistant","contents":[{"type":"function_call","call_id":"1","name":"t","arguments":{"n":1.50,"s":"]}"}}]}]`,
	`[{"role":"assistant","contents":[{"type":"function_call","call_id":"1","name":"t","arguments":nope}]}]`,
	`[{"role":"tool","contents":[{"type":"function_result","call_id":"1","result":1e999}]}]`,
	`[{"role":"tool","contents":[{"type":"function_result","call_id":"1","result":}]}]`,
	`[{"role":"assistant","contents":[{"type":"function_approval_request","function_call":{"type":"function_call","call_id":"1","name":"t","x":1}}]}]`,
	`[{"role":"user","contents":[{"type":"function_approval_response","approved":true,"function_call":{"type":"function_call","call_id":"1","name":"t"}}]}]`,
	`[{"role":"user","contents":[{"type":"function_approval_response","approved":true}]}]`,
	`[{"role":"assistant","contents":[{"type":"function_approval_request","reason":"why","function_call":{"type":"function_call","call_id":"1","name":"t"}}]}]`,
	`[{"role":"user","text":"a","untrusted":true},{"role":"user","untrusted":false,"text":"b"},{"role":"user","text":"c"}]`,
	`[{"role":"user","text":"a","untrusted": true },{"role":"user","text":"b","untrusted":tru}]`,
	`[{"role":"user","text":"a","untrusted":true,"untrusted":false}]`, `[{"role":"user","text":"a","untrusted":1}]`,
	`[{"role":"user","text":"a","untrusted":null}]`, `[{"role":"user","text":"a","untrusted":"true"}]`, `[{"role":"user","text":"a","untrusted":}]`,
	`[{"role":"tool","contents":[{"type":"function_result","call_id":"1","result":` + strings.Repeat("[", 70) + strings.Repeat("]", 70) + `}]}]`,
	`[{"role":"tool","contents":[{"type":"function_result","call_id":"1","result":` + strings.Repeat("[", 600) + strings.Repeat("]", 600) + `}]}]`,
	`[{"role":"tool","text":"","properties":{"deep":` + strings.Repeat("[", 509) + strings.Repeat("]", 509) + `}}]`,
	`[{"role":"tool","text":"","properties":{"deep":` + strings.Repeat("[", 510) + strings.Repeat("]", 510) + `}}]`,
	`[` + strings.Repeat(`{"role":"user","message_id":"m","contents":[{"type":"text","text":"a"},{"type":"error","message":"e","code":"c"}]},`, 200) +
		`{"role":"system","text":"` + strings.Repeat("long ", 2000) + `","author_name":"ann"}]`,
}

// same holds the fast ways to read messages against the decoder's own: the same messages, count and error from any bytes.
func same(t *testing.T, data []byte) {
	t.Helper()
	for _, refuse := range []bool{false, true} {
		strict, fast := message.Decoder{RefuseUnknownKinds: refuse}, message.Decoder{RefuseUnknownKinds: refuse}
		want, wantErr := list(&strict, data)
		got, err := fast.DecodeList(data)
		requireSameError(t, wantErr, err, data)
		require.Equal(t, want, got, "%q", data)
		require.Equal(t, strict.Unknown, fast.Unknown, "%q", data)
	}
	for _, one := range [][]byte{data, []byte(strings.TrimSuffix(strings.TrimPrefix(string(data), "["), "]"))} {
		want, wantErr := single(one)
		got := &message.Message{}
		err := got.UnmarshalJSON(one)
		requireSameError(t, wantErr, err, one)
		if err == nil {
			require.Equal(t, want, got, "%q", one)
		}
	}
}

func list(d *message.Decoder, data []byte) ([]*message.Message, error) {
	dec, err := strictjson.Decoder(data, 512)
	if err != nil {
		return nil, err
	}
	out, err := d.List(dec)
	if err == nil {
		err = strictjson.End(dec)
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}

func single(data []byte) (*message.Message, error) {
	dec, err := strictjson.Decoder(data, 256)
	if err != nil {
		return nil, err
	}
	m, err := new(message.Decoder).Message(dec)
	if err != nil {
		return nil, err
	}
	return m, strictjson.End(dec)
}

func requireSameError(t *testing.T, want, got error, data []byte) {
	t.Helper()
	if want == nil {
		require.NoError(t, got, "%q", data)
		return
	}
	require.EqualError(t, got, want.Error(), "%q", data)
}

func TestQuickReadsWhatTheDecoderReads(t *testing.T) {
	for _, text := range lists {
		same(t, []byte(text))
	}
	all, err := message.AppendList(nil, []*message.Message{every(), message.User("hi"), every()})
	require.NoError(t, err)
	same(t, all)
	got, err := new(message.Decoder).DecodeList(all)
	require.NoError(t, err)
	require.Equal(t, every(), got[2])
}

// Neighbours share memory, and no room in which one could write into the other.
func TestNeighboursCannotBeWrittenInto(t *testing.T) {
	text := `[` + strings.Repeat(`{"role":"user","contents":[{"type":"text","text":"a"}]},`, 100) + `{"role":"user","text":"z"}]`
	messages, err := new(message.Decoder).DecodeList([]byte(text))
	require.NoError(t, err)
	for _, m := range messages {
		_ = append(m.Contents, message.Text{Text: "b"})
	}
	for _, m := range messages[:100] {
		require.Equal(t, "a", m.Text())
	}
}

// ordinary is a message that uses everything which the quick reader knows.
func ordinary() *message.Message {
	m := every()
	m.Contents = slices.DeleteFunc(m.Contents, func(c message.Content) bool { return c.Kind() == "later" })
	return m
}

// What was read does not change with the bytes that it was read from.
func TestReadMessagesShareNothingWithTheirJSON(t *testing.T) {
	want := []*message.Message{ordinary(), every(), ordinary()}
	data, err := message.AppendList(nil, want)
	require.NoError(t, err)
	messages, err := new(message.Decoder).DecodeList(data)
	require.NoError(t, err)
	clear(data)
	require.Equal(t, want, messages)
}

func FuzzQuick(f *testing.F) {
	for _, text := range lists {
		f.Add([]byte(text))
	}
	text, err := message.AppendList(nil, []*message.Message{every(), message.User("hi"), ordinary()})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Fuzz(same)
}

func BenchmarkDecodeList(b *testing.B) {
	var messages []*message.Message
	for range 1000 {
		messages = append(messages, message.User("a question of some length, as people ask them"), ordinary())
	}
	data, err := message.AppendList(nil, messages)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := new(message.Decoder).DecodeList(data); err != nil {
			b.Fatal(err)
		}
	}
}
