package message_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/message"
)

func ExampleMessage_Text() {
	m := message.New(message.RoleAssistant,
		message.Reasoning{Text: "hm"}, message.Text{Text: "A weft "}, message.Text{Text: "runs across."})
	fmt.Println(m.Text())
	// Output: A weft runs across.
}

func ExampleDecoder_DecodeList() {
	messages, err := new(message.Decoder).DecodeList([]byte(`[{"role":"user","text":"What is a weft?"},{"role":"user"}]`))
	fmt.Println(len(messages), err)
	messages, err = new(message.Decoder).DecodeList([]byte(`[{"role":"user","text":"What is a weft?"}]`))
	fmt.Println(len(messages), err)
	// Output:
	// 0 at /1: a message needs "contents" or "text", and this one has neither
	// 1 <nil>
}

// every is a message that uses everything a message can hold.
func every() *message.Message {
	return &message.Message{
		Role: message.RoleAssistant, ID: "m1", AuthorName: "ann", SourceID: "rag", SourceType: "func", Attribution: "important", Untrusted: true,
		Properties: map[string]jsontext.Value{"b": jsontext.Value(`[1.0]`), "a": jsontext.Value(`{"x":null}`)},
		Contents: []message.Content{
			message.Text{Text: "ä \"quoted\"\n<&>"},
			message.Reasoning{Text: "hm"},
			message.URI{URI: "data:image/png;base64,AA==", MediaType: "image/png"},
			message.URI{URI: "https://a/b"},
			message.FunctionCall{CallID: "1", Name: "t", Arguments: jsontext.Value(`{"n":1.50}`)},
			message.FunctionCall{CallID: "2", Name: "t"},
			message.FunctionResult{CallID: "1", Result: jsontext.Value(`"ok"`)},
			message.FunctionResult{CallID: "2", Result: jsontext.Value(`null`), Error: "no"},
			message.Error{Message: "bad", Code: "x"},
			message.ApprovalRequest{Call: message.FunctionCall{CallID: "3", Name: "t"}, Reason: "why"},
			message.Unknown{Type: "later", JSON: jsontext.Value(`{"type":"later","z":[1]}`)},
		},
	}
}

func TestJSONRoundTrip(t *testing.T) {
	text, err := every().AppendJSON(nil)
	require.NoError(t, err)
	var back message.Message
	require.NoError(t, back.UnmarshalJSON(text))
	require.Equal(t, every(), &back)
	again, err := back.AppendJSON(nil)
	require.NoError(t, err)
	require.Equal(t, string(text), string(again))
	require.True(t, json.Valid(text))
	require.Contains(t, string(text), `1.50`, "numbers keep their digits")
}

func TestCloneSharesNothingThatCanChange(t *testing.T) {
	m := every()
	c := m.Clone()
	require.Equal(t, m, c)
	c.Contents[0] = message.Text{Text: "other"}
	c.Contents[4].(message.FunctionCall).Arguments[2] = 'X'
	c.Properties["a"][1] = 'X'
	c.Properties["new"] = nil
	require.Equal(t, every(), m)
}

func TestEncodeRefusesWhatIsNoMessage(t *testing.T) {
	for want, m := range map[string]*message.Message{
		`role "root"`:                message.New("root"),
		"contents/0: text":           message.User("\xff"),
		"properties/p: not valid":    {Role: message.RoleUser, Properties: map[string]jsontext.Value{"p": jsontext.Value("{")}},
		"contents/0: not valid JSON": message.New(message.RoleAssistant, message.FunctionCall{Arguments: jsontext.Value("nope")}),
	} {
		_, err := m.AppendJSON(nil)
		require.ErrorContains(t, err, want)
	}
}

func TestDecodeSaysWhereAndWhat(t *testing.T) {
	for text, want := range map[string]string{
		`{"text":"a"}`:    `a message needs a "role"`,
		`{"role":"user"}`: `needs "contents" or "text"`,
		`{"role":"user","text":"a","contents":[]}`:                 "this one has both",
		`{"role":"root","text":"a"}`:                               `at /role: role "root" is not one of system, user, assistant, tool`,
		`{"role":1}`:                                               "at /role: a string was wanted, and a number is there",
		`{"role":"user","contents":{}}`:                            "at /contents: an array was wanted, and an object is there",
		`{"role":"user","contents":[1]}`:                           "at /contents/0: an object was wanted, and a number is there",
		`{"role":"user","contents":[{"text":"a"}]}`:                `at /contents/0: a content needs a "type"`,
		`{"role":"user","contents":[{"type":"text"}]}`:             `at /contents/0: a content of type "text" needs "text"`,
		`{"role":"user","contents":[{"type":"text","text":null}]}`: "at /contents/0/text: a string was wanted, and null is there",
		`{"role":"user","role":"user","text":"a"}`:                 "duplicate",
		`{"role":"user","text":"a"} 1`:                             "more JSON follows",
		`{"role":"user","text":"a"`:                                "unexpected EOF",
		`{"ROLE":"user","text":"a"}`:                               `a message needs a "role"`,
	} {
		require.ErrorContains(t, new(message.Message).UnmarshalJSON([]byte(text)), want, text)
	}
}

func TestUnknownMembersAreCountedAndUnknownKindsKept(t *testing.T) {
	text := `{"role":"user","later":1,"contents":[{"type":"text","text":"a","later":{}},{"type":"later","x":1}]}`
	var d message.Decoder
	m, err := d.Message(jsontext.NewDecoder(strings.NewReader(text)))
	require.NoError(t, err)
	require.Equal(t, 2, d.Unknown)
	require.Equal(t, "a", m.Text())
	require.Equal(t, message.Kind("later"), m.Contents[1].Kind())

	d = message.Decoder{RefuseUnknownKinds: true}
	_, err = d.Message(jsontext.NewDecoder(strings.NewReader(text)))
	require.ErrorContains(t, err, `at /contents/1: content type "later" is not one of`)
}

// What decodes encodes again, to something that decodes to the same.
func FuzzDecode(f *testing.F) {
	text, err := every().AppendJSON(nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte(`{"role":"user","text":"a"}`))
	f.Add([]byte(`{"role":"tool","contents":[{"type":"function_result","call_id":"1","result":1e999}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var m message.Message
		if m.UnmarshalJSON(data) != nil {
			return
		}
		again, err := m.AppendJSON(nil)
		require.NoError(t, err)
		var back message.Message
		require.NoError(t, back.UnmarshalJSON(again))
		third, err := back.AppendJSON(nil)
		require.NoError(t, err)
		require.Equal(t, string(again), string(third))
	})
}
