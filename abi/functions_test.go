package abi_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/jsonschema-go/jsonschema"
	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/abi"
	"github.com/weft-run/weft/message"
)

// functionDecoders are the decoders of what host functions take, by the function's name.
var functionDecoders = map[string]func([]byte) (any, int, error){
	"get_messages": untyped(abi.DecodeGetMessages), "kv_get": untyped(abi.DecodeKVGet), "kv_set": untyped(abi.DecodeKVSet),
	"kv_delete": untyped(abi.DecodeKVDelete), "kv_list": untyped(abi.DecodeKVList), "complete": untyped(abi.DecodeComplete),
	"embed": untyped(abi.DecodeEmbed), "search": untyped(abi.DecodeSearch), "index_put": untyped(abi.DecodeIndexPut),
	"index_delete": untyped(abi.DecodeIndexDelete), "emit": untyped(abi.DecodeEmit), "request": untyped(abi.DecodeEventRequest),
}

func untyped[T any](decode func([]byte) (*T, int, error)) func([]byte) (any, int, error) {
	return func(data []byte) (any, int, error) {
		in, unknown, err := decode(data)
		return in, unknown, err
	}
}

func TestInputsOfHostFunctionsAreReadWhole(t *testing.T) {
	for _, c := range []struct {
		function, text string
		want           any
	}{
		{"get_messages", `{"ranges":[{},{"part":"input","start":-2,"count":0},{"source_id":"docs","start":3,"count":4}]}`, &abi.GetMessages{Ranges: []abi.Range{
			{Part: "context"}, {Part: "input", Start: -2, Count: new(0)}, {Part: "context", SourceID: "docs", Start: 3, Count: new(4)},
		}}},
		{"kv_get", `{"scope":"agent","key":"a/../b"}`, &abi.KVGet{Scope: "agent", Key: "a/../b"}},
		{"kv_set", `{"scope":"session","key":"k","value":{"n": 1.50},"if_version":0,"ttl":60}`, &abi.KVSet{
			Scope: "session", Key: "k", Value: jsontext.Value(`{"n": 1.50}`), IfVersion: new(int64(0)), TTL: 60,
		}},
		{"kv_set", `{"scope":"session","key":"k","value":null}`, &abi.KVSet{Scope: "session", Key: "k", Value: jsontext.Value(`null`)}},
		{"kv_delete", `{"scope":"agent","key":"k","if_version":7}`, &abi.KVDelete{Scope: "agent", Key: "k", IfVersion: new(int64(7))}},
		{"kv_list", `{"scope":"agent"}`, &abi.KVList{Scope: "agent", Limit: 100}},
		{"kv_list", `{"scope":"agent","prefix":"p","after":"pa","limit":1000,"values":true}`, &abi.KVList{
			Scope: "agent", Prefix: "p", After: "pa", Limit: 1000, Values: true,
		}},
		{"complete", `{"messages":[{"role":"user","text":"a"}],"instructions":"b","options":{"temperature":0.5,"top_p":1,"max_tokens":9,"seed":-1,
			"stop":["x"],"response_format":{"name":"n","description":"d","schema":{"type":"object"},"strict":true}}}`, &abi.Complete{
			Messages: []*message.Message{message.User("a")}, Instructions: "b",
			Options: abi.CompleteOptions{
				Temperature: new(0.5), TopP: new(1.0), MaxTokens: new(9), Seed: new(-1), Stop: []string{"x"},
				ResponseFormat: &abi.ResponseFormat{Name: "n", Description: "d", Schema: jsontext.Value(`{"type":"object"}`), Strict: true},
			},
		}},
		{"embed", `{"texts":["a","b"]}`, &abi.Embed{Texts: []string{"a", "b"}}},
		{"search", `{"index":"docs","query":"q"}`, &abi.Search{Index: "docs", Query: "q", Limit: 5}},
		{"index_put", `{"index":"docs","documents":[{"id":"1","text":"t","title":"h","url":"u","metadata":{"k":[1]}}]}`, &abi.IndexPut{
			Index: "docs", Documents: []abi.Document{{ID: "1", Text: "t", Title: "h", URL: "u", Metadata: jsontext.Value(`{"k":[1]}`)}},
		}},
		{"index_delete", `{"index":"docs","ids":["1"]}`, &abi.IndexDelete{Index: "docs", IDs: []string{"1"}}},
		{"emit", `{"name":"a.b_c-1","data":[1]}`, &abi.Emit{Name: "a.b_c-1", Data: jsontext.Value(`[1]`)}},
		{"request", `{"name":"ask","wait_ms":250}`, &abi.EventRequest{Name: "ask", WaitMS: 250}},
	} {
		in, unknown, err := functionDecoders[c.function]([]byte(c.text))
		require.NoError(t, err, c.text)
		require.Equal(t, c.want, in)
		require.Zero(t, unknown)

		again, err := json.Marshal(in) // what one side writes, the other reads
		require.NoError(t, err)
		in, _, err = functionDecoders[c.function](again)
		require.NoError(t, err, "%s", again)
		require.Equal(t, compacted(t, c.want), compacted(t, in))
	}
}

func compacted(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	require.NoError(t, err)
	return string(text)
}

func TestMembersThatNoVersionNamesArePassedOverAndCounted(t *testing.T) {
	for function, text := range map[string]string{
		"get_messages": `{"later":1,"ranges":[{"later":{}}]}`,
		"kv_set":       `{"scope":"agent","SCOPE":1,"key":"k","Key":[],"value":1}`,
		"complete":     `{"messages":[{"role":"user","text":"a","later":1}],"options":{"later":1}}`,
		"index_put":    `{"index":"docs","later":1,"documents":[{"id":"1","text":"t","later":1}]}`,
	} {
		_, unknown, err := functionDecoders[function]([]byte(text))
		require.NoError(t, err, text)
		require.Equal(t, 2, unknown, text)
	}
}

func TestInputsOfHostFunctionsThatBreakTheContractAreRefused(t *testing.T) {
	list := func(n int, element string) string { return "[" + strings.Repeat(element+",", n-1) + element + "]" }
	for _, c := range []struct{ function, text, want string }{
		{"get_messages", `{"ranges":[]}`, "at /ranges: there are no ranges; at least one was wanted"},
		{"get_messages", `{"ranges":` + list(257, "{}") + `}`, "there are more than 256 ranges"},
		{"get_messages", `{"ranges":[{"part":"secrets"}]}`, `at /ranges/0/part: part "secrets" is not one of context, input, request, response`},
		{"get_messages", `{"ranges":[{"source_id":"a","part":"input"}]}`, `"source_id" belongs to the part context, and the part is input`},
		{"get_messages", `{"ranges":[{"count":-1}]}`, "at /ranges/0/count: count is -1; at least 0 was wanted"},
		{"get_messages", `{"ranges":[{"start":1.5}]}`, "at /ranges/0/start: a whole number was wanted, and 1.5 is there"},
		{"get_messages", `{"ranges":[{"start":99999999999999999999}]}`, "a whole number was wanted"},
		{"kv_get", `{"key":1}`, "at /key: a string was wanted, and a number is there"},
		{"kv_get", `{}`, "missing: scope, key"},
		{"kv_get", `{"scope":"other","key":"k"}`, `at /scope: scope "other" is not one of session, agent`},
		{"kv_set", `{"scope":"agent","key":"k"}`, "missing: value"},
		{"kv_set", `{"scope":"agent","key":"k","value":1,"if_version":-1}`, "at /if_version: if_version is -1; at least 0 was wanted"},
		{"kv_set", `{"scope":"agent","key":"k","value":1,"ttl":0}`, "ttl is 0; 1 to 3153600000 was wanted"},
		{"kv_set", `{"scope":"agent","key":"k","value":1,"ttl":9223372036854775807}`, "ttl is 9223372036854775807"},
		{"kv_set", `{"scope":"agent","key":"k","value":{"a":1,"a":2}}`, "duplicate"},
		{"kv_set", `{"scope":"agent","key":"k","value":` + strings.Repeat("[", 64) + strings.Repeat("]", 64) + `}`, "nests deeper than 64 levels"},
		{"kv_delete", `{"scope":"agent","key":"k","if_version":0}`, "if_version is 0; at least 1 was wanted"},
		{"kv_list", `{"scope":"agent","limit":1001}`, "limit is 1001; 1 to 1000 was wanted"},
		{"kv_list", `{"scope":"agent","limit":0}`, "limit is 0; 1 to 1000 was wanted"},
		{"kv_list", `{"scope":"agent","values":1}`, "a boolean was wanted"},
		{"complete", `{"messages":[]}`, "at /messages: there are no messages"},
		{"complete", `{"messages":[{"role":"root","text":"a"}]}`, `role "root" is not one of`},
		{"complete", `{"messages":[{"role":"user","text":"a"}],"options":{"model":"large"}}`, "the option model is the host's; complete takes temperature,"},
		{"complete", `{"messages":[{"role":"user","text":"a"}],"options":{"store":true}}`, "the option store is the host's"},
		{"complete", `{"messages":[{"role":"user","text":"a"}],"options":{"temperature":1e999}}`, "at /options/temperature: the number 1e999 is too large"},
		{"complete", `{"messages":[{"role":"user","text":"a"}],"options":{"max_tokens":0}}`, "max_tokens is 0; at least 1 was wanted"},
		{"complete", `{"messages":[{"role":"user","text":"a"}],"options":{"response_format":{}}}`, "missing: name"},
		{"complete", `{"messages":[{"role":"user","text":"a"}],"options":{"response_format":{"name":"a b"}}}`, `name "a b" is not 1 to 64 letters`},
		{"embed", `{"texts":[]}`, "there are no texts"},
		{"embed", `{"texts":` + list(257, `"a"`) + `}`, "there are more than 256 texts"},
		{"search", `{"index":"docs"}`, "missing: query"},
		{"search", `{"index":"docs","query":"q","limit":51}`, "limit is 51; 1 to 50 was wanted"},
		{"index_put", `{"index":"docs","documents":` + list(257, `{"id":"1","text":"t"}`) + `}`, "there are more than 256 documents"},
		{"index_put", `{"index":"docs","documents":[{"id":"1"}]}`, "at /documents/0: missing: text"},
		{"index_put", `{"index":"docs","documents":[{"id":"1","text":"t","metadata":1}]}`, "at /documents/0/metadata: an object was wanted"},
		{"index_delete", `{"index":"docs","ids":` + list(1001, `"a"`) + `}`, "there are more than 1000 ids"},
		{"emit", `{"name":"weft.done"}`, `name "weft.done" begins with "weft.", as the host's own events do`},
		{"emit", `{"name":"a b"}`, `name "a b" is not 1 to 64 letters, digits, _, . and -`},
		{"emit", `{"name":"` + strings.Repeat("a", 65) + `"}`, "is not 1 to 64 letters"},
		{"emit", `{"name":"wörk"}`, "is not 1 to 64 letters"},
		{"emit", "{\"name\":\"a\\n\"}", "is not 1 to 64 letters"},
		{"request", `{"name":""}`, "is not 1 to 64 letters"},
		{"request", `{"name":"a","wait_ms":86400001}`, "wait_ms is 86400001; 1 to 86400000 was wanted"},
	} {
		t.Run(fmt.Sprintf("%s %.60s", c.function, c.text), func(t *testing.T) {
			_, _, err := functionDecoders[c.function]([]byte(c.text))
			require.ErrorContains(t, err, c.want)
			require.ErrorAs(t, err, new(*abi.OutputError))
		})
	}
}

func TestEveryHostFunctionReadsItsInputStrictly(t *testing.T) {
	for name, decode := range functionDecoders {
		for text, want := range map[string]string{
			"":                           "the input is empty; a JSON object was wanted",
			" \n":                        "the input is empty",
			"null":                       "an object was wanted, and null is there",
			"[]":                         "an object was wanted, and an array is there",
			`{"later":1,"later":2}`:      "duplicate",
			"{\"later\":\"\xff\"}":       "invalid UTF-8",
			`{"later":"\ud800"}`:         "surrogate",
			strings.Repeat("[", 100_000): "nests deeper than 64 levels",
			`{"later":` + "NaN}":         "not valid JSON",
			`{"later":1} trailing`:       "", // what is missing may be told first
			`{"scope":1,"name":1,"ranges":1,"index":1,"texts":1,"messages":1}`: "was wanted, and a number is there",
		} {
			_, _, err := decode([]byte(text))
			require.ErrorContains(t, err, want, "%s %.60s", name, text)
			require.ErrorAs(t, err, new(*abi.OutputError), "%s %.60s", name, text)
		}
	}
	_, _, err := abi.DecodeKVGet([]byte(`{"scope":"agent","key":"k"}{}`))
	require.ErrorContains(t, err, "more JSON follows")
}

// Whatever a guest gives to a host function, decoding neither panics nor lets through what the schema refuses, nor reads what
// it would not read again.
func FuzzDecodeFunctions(f *testing.F) {
	f.Add([]byte(`{"ranges":[{"part":"input","start":-1,"count":2}]}`))
	f.Add([]byte(`{"scope":"session","key":"k","value":[1],"if_version":0,"ttl":1,"prefix":"a","limit":3,"values":true}`))
	f.Add([]byte(`{"scope":"session","key":"k","value":1e999}`))
	f.Add([]byte(`{"messages":[{"role":"user","text":"a"}],"options":{"stop":["a"],"response_format":{"name":"n","schema":{}}}}`))
	f.Add([]byte(`{"index":"i","query":"q","ids":["a"],"documents":[{"id":"1","text":"t","metadata":{}}],"texts":["a"],"name":"n"}`))
	f.Add([]byte(`{"splice":[{"start":-1,"delete":1,"insert":[{"role":"user","text":"a"}]}],"input":[],"instructions":"a","arguments":{}}`))
	f.Add([]byte(`{"extend_messages":[{"role":"user","text":"a"}],"extend_tools":[{"name":"t"}],"extend_middleware":[{"layer":"chat"}]}`))
	decoders := inputDecoders(f)
	definitions := map[string]*jsonschema.Resolved{}
	for name := range decoders {
		definitions[name] = definition(f, name)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for name, decode := range decoders {
			in, _, err := decode(data)
			if err != nil {
				if own := (*abi.OutputError)(nil); !errors.As(err, &own) {
					t.Fatalf("%s: an error of another type: %T %v", name, err, err)
				}
				continue
			}
			if err := meets(definitions[name], data); err != nil {
				t.Fatalf("%s: decoded, and the schema refuses it: %v\n%s", name, err, data)
			}
			again, err := json.Marshal(in)
			if err == nil {
				_, _, err = decode(again)
			}
			if err != nil {
				t.Fatalf("%s: decoded, and not again: %v\n%s\n%s", name, err, data, again)
			}
		}
	})
}

// meets holds what a decoder took against a definition. Nothing at all is as an empty object, and numbers that no float
// holds, which decoders keep as they are, are left to them.
func meets(definition *jsonschema.Resolved, data []byte) error {
	if len(data) == 0 {
		data = []byte(`{}`)
	}
	var value any
	if err := json.Unmarshal(data, &value); err != nil {
		if _, large := errors.AsType[*json.UnmarshalTypeError](err); large {
			return nil
		}
		return err
	}
	return definition.Validate(value)
}
