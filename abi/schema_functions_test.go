package abi_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/abi"
	"github.com/weft-run/weft/message"
)

// nextDecoders are the decoders of what call_next takes, by the definition of their layer.
var nextDecoders = map[string]func([]byte) (any, int, error){
	"ContextNext": func(data []byte) (any, int, error) { n, err := abi.DecodeNext(data); return n, 0, err },
	"AgentNext":   layerNext(abi.LayerAgent), "ChatNext": layerNext(abi.LayerChat), "FunctionNext": layerNext(abi.LayerFunction),
}

func layerNext(layer abi.Layer) func([]byte) (any, int, error) {
	return func(data []byte) (any, int, error) { n, err := abi.DecodeLayerNext(layer, data); return n, 0, err }
}

// inputDecoders are the decoders of everything that a host function takes, by the definition that says the same.
func inputDecoders(t testing.TB) map[string]func([]byte) (any, int, error) {
	t.Helper()
	decoders := maps.Clone(nextDecoders)
	for name, f := range functionDefinitions(t) {
		if decode := functionDecoders[name]; decode != nil {
			decoders[f.input] = decode
		}
	}
	require.Len(t, decoders, len(nextDecoders)+len(functionDecoders))
	return decoders
}

// functionDefinitions are the definitions that Functions names, by the name of the function.
func functionDefinitions(t testing.TB) map[string]struct{ input, output string } {
	t.Helper()
	all := map[string]struct{ input, output string }{}
	for name, f := range schemaOf(t).Defs["Functions"].Properties {
		all[name] = struct{ input, output string }{
			strings.TrimPrefix(f.Properties["input"].Ref, "#/$defs/"), strings.TrimPrefix(f.Properties["output"].Ref, "#/$defs/"),
		}
	}
	return all
}

func schemaOf(t testing.TB) *jsonschema.Schema {
	t.Helper()
	var s jsonschema.Schema
	require.NoError(t, json.Unmarshal(abi.Schema(), &s))
	return &s
}

func TestTheSchemaNamesTheInputAndOutputOfEveryHostFunction(t *testing.T) {
	definitions := schemaOf(t).Defs
	functions := functionDefinitions(t)
	require.ElementsMatch(t, append(slices.Collect(maps.Keys(functionDecoders)), "call_next"), slices.Collect(maps.Keys(functions)))
	for name, f := range functions {
		require.Contains(t, definitions, f.input, name)
		require.Equal(t, f.input+"Result", f.output)
		require.Contains(t, definitions, f.output, name)
	}
	var layers []string
	for _, d := range definitions["Next"].AnyOf {
		layers = append(layers, strings.TrimPrefix(d.Ref, "#/$defs/"))
	}
	require.ElementsMatch(t, slices.Collect(maps.Keys(nextDecoders)), layers)
}

// One Go type serves call_next at three layers, and effects at the fourth.
func TestSchemaHoldsTheMembersOfNext(t *testing.T) {
	definitions := schemaOf(t).Defs
	members := func(name string) []string { return slices.Collect(maps.Keys(definitions[name].Properties)) }
	var all []string
	for _, name := range []string{"AgentNext", "ChatNext", "FunctionNext"} {
		require.Empty(t, definitions[name].Required)
		all = append(all, members(name)...)
	}
	slices.Sort(all)
	inGo, _ := membersOf(reflect.TypeFor[abi.Next]())
	require.ElementsMatch(t, inGo, slices.Compact(all))

	effects, _ := membersOf(reflect.TypeFor[abi.Out]())
	require.ElementsMatch(t, effects, append(members("ContextNext"), values(definitions["ContextNext"].PropertyNames.Not.Enum)...))
	for name, member := range definitions["ContextNext"].Properties {
		require.Equal(t, definitions["Out"].Properties[name], member, name)
	}
}

func TestSchemaHoldsTheListsOfTheHostFunctions(t *testing.T) {
	definitions := schemaOf(t).Defs
	require.Equal(t, abi.Scopes, values(definitions["Scope"].Enum))
	require.Equal(t, abi.MessageParts, values(definitions["Range"].Properties["part"].Enum))
	require.Equal(t, texts(message.Kinds), values(definitions["ReceivedContent"].If.Properties["type"].Enum))
}

// inputs are texts for each definition of what a host function takes, and whether they are taken.
var inputs = map[string]map[string]bool{
	"ContextNext": {
		`{}`: true, `[]`: false, `null`: false, `{"later":1}`: true,
		`{"extend_messages":[{"role":"user","text":"a"}],"extend_instructions":["b"],"state":{"n":1},"metadata":{"k":null}}`: true,
		`{"extend_tools":[{"name":"t","parameters":{}}],"extend_middleware":[{"layer":"chat","data":1}]}`:                    true,
		`{"extend_middleware":[{"layer":"agent"}]}`:                                                                          false,
		`{"extend_tools":[{"name":""}]}`:                                                                                     false,
		`{"state":[]}`:                                                                                                       false,
		`{"response":{"text":"a"}}`:                                                                                          false,
		`{"error":{"message":"a"}}`:                                                                                          false,
		`{"terminate":true}`:                                                                                                 false,
	},
	"AgentNext": {
		`{}`: true, `{"input":[]}`: true, `{"input":[{"role":"user","text":"a"}],"options":{"temperature":1}}`: true,
		`{"input":{}}`: false, `{"input":[{"role":"user"}]}`: false, `{"options":[]}`: false, `{"options":null}`: false,
		`{"messages":1}`: true, // a member of another layer is none of this one
	},
	"ChatNext": {
		`{"messages":[],"instructions":"","options":{}}`: true,
		`{"splice":[]}`: true,
		`{"splice":[{},{"start":-1,"delete":2,"insert":[{"role":"user","text":"a"}]}]}`: true,
		`{"splice":` + many(256, `{}`) + `}`:                                            true,
		`{"splice":` + many(257, `{}`) + `}`:                                            false,
		`{"splice":[{"delete":-1}]}`:                                                    false,
		`{"splice":[{"start":"0"}]}`:                                                    false,
		`{"splice":[{"insert":[{"role":"root","text":"a"}]}]}`:                          false,
		`{"splice":[{"start":null}]}`:                                                   false,
		`{"messages":[],"splice":[{}]}`:                                                 false,
		`{"messages":[],"splice":[]}`:                                                   false,
		`{"messages":[{"role":"user","contents":[{"type":"odd"}]}]}`:                    false,
		`{"instructions":["a"]}`:                                                        false,
	},
	"FunctionNext": {`{}`: true, `{"arguments":{"a":1}}`: true, `{"arguments":null}`: true, `"a"`: false},
	"GetMessages": {
		`{"ranges":[{}]}`: true,
		`{"ranges":[{"part":"context","source_id":"docs","start":-2,"count":0},{"part":"input"},{"part":"request"},{"part":"response"}]}`: true,
		`{"ranges":[{"source_id":"docs","later":1}],"later":1}`:                                                                           true,
		`{"ranges":` + many(256, `{}`) + `}`:                                                                                              true,
		`{"ranges":` + many(257, `{}`) + `}`:                                                                                              false,
		`{}`:                                                                                                                              false, `{"ranges":[]}`: false, `{"ranges":{}}`: false, `{"ranges":[1]}`: false,
		`{"ranges":[{"part":"secrets"}]}`:                false,
		`{"ranges":[{"part":"input","source_id":"a"}]}`:  false,
		`{"ranges":[{"part":"input","source_id":""}]}`:   true,
		`{"ranges":[{"part":"input","source_id":null}]}`: false,
		`{"ranges":[{"count":-1}]}`:                      false,
		`{"ranges":[{"start":1.5}]}`:                     false,
		`{"ranges":[{"start":null}]}`:                    false,
	},
	"KVGet": {
		`{"scope":"agent","key":"k"}`: true, `{"scope":"session","key":"","later":1}`: true,
		`{"scope":"agent"}`: false, `{"key":"k"}`: false, `{"scope":"run","key":"k"}`: false, `{"scope":"agent","key":1}`: false,
	},
	"KVSet": {
		`{"scope":"agent","key":"k","value":null}`:                          true,
		`{"scope":"agent","key":"k","value":1,"if_version":0,"ttl":1}`:      true,
		`{"scope":"agent","key":"k","value":1,"ttl":3153600000}`:            true,
		`{"scope":"agent","key":"k"}`:                                       false,
		`{"scope":"agent","key":"k","value":1,"if_version":-1}`:             false,
		`{"scope":"agent","key":"k","value":1,"if_version":null}`:           false,
		`{"scope":"agent","key":"k","value":1,"ttl":0}`:                     false,
		`{"scope":"agent","key":"k","value":1,"ttl":3153600001}`:            false,
		`{"scope":"agent","key":"k","value":1,"if_version":1.5}`:            false,
		`{"scope":"everybody","key":"k","value":1,"if_version":1,"ttl":10}`: false,
	},
	"KVDelete": {
		`{"scope":"agent","key":"k"}`: true, `{"scope":"agent","key":"k","if_version":1}`: true,
		`{"scope":"agent"}`: false, `{"scope":"agent","key":"k","if_version":0}`: false, `{"scope":"","key":"k"}`: false,
	},
	"KVList": {
		`{"scope":"session"}`: true, `{"scope":"agent","prefix":"a","after":"ab","limit":1000,"values":true}`: true,
		`{}`: false, `{"scope":"agent","limit":0}`: false, `{"scope":"agent","limit":1001}`: false,
		`{"scope":"agent","values":1}`: false, `{"scope":"agent","prefix":null}`: false, `{"scope":"agent","after":1}`: false,
	},
	"Complete": {
		`{"messages":[{"role":"user","text":"a"}]}`: true,
		completing(`{"temperature":0.5,"top_p":1,"max_tokens":1,"seed":-1,"stop":["a"],"later":1,
			"response_format":{"name":"a_B-1","description":"d","schema":{},"strict":true}}`): true,
		completing(`{}`): true, completing(`{"stop":[]}`): true,
		`{}`: false, `{"messages":[]}`: false, `{"messages":[{"role":"user","text":"a"}],"instructions":1}`: false,
		`{"messages":[{"role":"user","contents":[{"type":"function_approval_request"}]}]}`: false,
		completing(`[]`): false, completing(`{"temperature":"hot"}`): false, completing(`{"max_tokens":0}`): false,
		completing(`{"seed":0.5}`): false, completing(`{"stop":"a"}`): false,
		completing(`{"model":"large"}`): false, completing(`{"instructions":"a"}`): false, completing(`{"conversation_id":"a"}`): false,
		completing(`{"store":true}`): false, completing(`{"tools":[]}`): false, completing(`{"tool_choice":"auto"}`): false,
		completing(`{"response_format":{}}`): false, completing(`{"response_format":{"name":""}}`): false,
		completing(`{"response_format":{"name":"a b"}}`): false, completing(`{"response_format":{"name":"a","schema":true}}`): false,
		completing(`{"response_format":{"name":"` + strings.Repeat("a", 64) + `"}}`): true,
		completing(`{"response_format":{"name":"` + strings.Repeat("a", 65) + `"}}`): false,
	},
	"Embed": {
		`{"texts":[""]}`: true, `{"texts":` + many(256, `"a"`) + `}`: true, `{"texts":` + many(257, `"a"`) + `}`: false,
		`{}`: false, `{"texts":[]}`: false, `{"texts":"a"}`: false, `{"texts":[1]}`: false,
	},
	"Search": {
		`{"index":"docs","query":""}`: true, `{"index":"docs","query":"q","limit":50}`: true,
		`{"index":"docs"}`: false, `{"query":"q"}`: false, `{"index":"docs","query":"q","limit":0}`: false,
		`{"index":"docs","query":"q","limit":51}`: false, `{"index":["docs"],"query":"q"}`: false,
	},
	"IndexPut": {
		`{"index":"docs","documents":[{"id":"1","text":"t","title":"h","url":"u","metadata":{"k":1},"later":1}]}`: true,
		`{"index":"docs","documents":` + many(256, `{"id":"1","text":"t"}`) + `}`:                                 true,
		`{"index":"docs","documents":` + many(257, `{"id":"1","text":"t"}`) + `}`:                                 false,
		`{"index":"docs"}`: false, `{"index":"docs","documents":[]}`: false, `{"documents":[{"id":"1","text":"t"}]}`: false,
		`{"index":"docs","documents":[{"id":"1"}]}`: false, `{"index":"docs","documents":[{"text":"t"}]}`: false,
		`{"index":"docs","documents":[{"id":"1","text":"t","metadata":[]}]}`: false,
		`{"index":"docs","documents":[{"id":"1","text":"t","url":null}]}`:    false,
	},
	"IndexDelete": {
		`{"index":"docs","ids":["1"]}`: true, `{"index":"docs","ids":` + many(1000, `"a"`) + `}`: true,
		`{"index":"docs","ids":` + many(1001, `"a"`) + `}`: false, `{"index":"docs","ids":[]}`: false, `{"index":"docs"}`: false,
		`{"ids":["1"]}`: false, `{"index":"docs","ids":[1]}`: false,
	},
	"Emit": events(nil),
	"EventRequest": events(map[string]bool{
		`{"name":"a","wait_ms":1}`: true, `{"name":"a","wait_ms":86400000}`: true, `{"name":"a","wait_ms":0}`: false,
		`{"name":"a","wait_ms":86400001}`: false, `{"name":"a","wait_ms":"1"}`: false,
	}),
}

func completing(options string) string {
	return `{"messages":[{"role":"user","text":"a"}],"options":` + options + `}`
}

func events(more map[string]bool) map[string]bool {
	all := map[string]bool{
		`{"name":"a"}`: true, `{"name":"A.b_c-1","data":null}`: true, `{"name":"weft"}`: true, `{"name":"a.weft.b"}`: true,
		`{"name":"` + strings.Repeat("a", 64) + `"}`: true, `{"name":"` + strings.Repeat("a", 65) + `"}`: false,
		`{}`: false, `{"name":""}`: false, `{"name":1}`: false, `{"name":"a b"}`: false, `{"name":"wörk"}`: false, `{"name":"a\n"}`: false,
		`{"name":"weft."}`: false, `{"name":"weft.done"}`: false, `{"name":"provider_skipped"}`: false,
		`{"name":"middleware_skipped"}`: false, `{"data":1}`: false,
	}
	maps.Copy(all, more)
	return all
}

func many(n int, element string) string {
	return "[" + strings.Repeat(element+",", n-1) + element + "]"
}

// What the schema takes and refuses, the decoders of the host functions take and refuse too.
func TestSchemaAgreesWithTheDecodersOfTheHostFunctions(t *testing.T) {
	decoders := inputDecoders(t)
	require.ElementsMatch(t, slices.Collect(maps.Keys(decoders)), slices.Collect(maps.Keys(inputs)))
	for name, texts := range inputs {
		resolved := definition(t, name)
		for text, good := range texts {
			t.Run(fmt.Sprintf("%s %.60s", name, text), func(t *testing.T) {
				_, _, err := decoders[name]([]byte(text))
				require.Equal(t, good, err == nil, "the decoder: %v", err)
				var value any
				require.NoError(t, json.Unmarshal([]byte(text), &value))
				err = resolved.Validate(value)
				require.Equal(t, good, err == nil, "the schema: %v", err)
			})
		}
	}
}

// The examples of what the functions return, and what they never do.
func TestSchemaTakesWhatHostFunctionsReturn(t *testing.T) {
	for name, texts := range map[string]map[string]bool{
		"Failure": {
			`{"error":{"code":"denied","message":"no"}}`: true, `{"error":{"code":"model","message":"no","cause":1}}`: true,
			`{"error":{}}`: false, `{}`: false, `{"error":"no"}`: false,
		},
		"NextResult": {`{}`: true, `{"response":{"messages":[]},"state":{},"context":[],"metadata":{}}`: true, `{"response":{"text":"a"}}`: false},
		"GetMessagesResult": {
			`{"ranges":[{"messages":[{"role":"user","contents":[{"type":"text","text":"a"}]}],"start":0,"total":1}]}`: true,
			`{"ranges":[{"messages":[{"role":"user","contents":[{"type":"odd","x":1}]}],"start":0,"total":1}]}`:       true,
			`{"ranges":[{"messages":[{"role":"user","contents":[{"type":"text"}]}],"start":0,"total":1}]}`:            false,
			`{"ranges":[{"messages":[{"role":"user","contents":[{}]}],"start":0,"total":1}]}`:                         false,
			`{"ranges":[{"messages":[{"role":"user","text":"a"}],"start":0,"total":1}]}`:                              false,
			`{"ranges":[{"messages":[],"start":-1,"total":1}]}`:                                                       false,
			`{"ranges":[{"messages":[]}]}`: false,
		},
		"KVGetResult":  {`{"found":false}`: true, `{"found":true,"value":null,"version":1}`: true, `{"found":true}`: false, `{}`: false},
		"KVListResult": {`{"entries":[{"key":"a","version":1}],"more":false}`: true, `{"entries":[{"key":"a"}],"more":false}`: false},
		"EmbedResult":  {`{"vectors":[[0.5,-1]]}`: true, `{"vectors":[0.5]}`: false},
		"SearchResult": {
			`{"hits":[{"id":"1","score":0.5,"title":"","text":"t","url":"u","metadata":{}}]}`: true, `{"hits":[{"id":"1"}]}`: false,
		},
		"EventRequestResult": {`{"answered":false}`: true, `{"answered":true,"answer":null}`: true, `{"answered":true}`: false},
	} {
		for text, good := range texts {
			err := validate(t, name, []byte(text))
			require.Equal(t, good, err == nil, "%s: %s: %v", name, text, err)
		}
	}
}
