package abi_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/abi"
	"github.com/weft-run/weft/message"
)

// definition is one of the schema's definitions, as a schema that can validate.
func definition(t testing.TB, name string) *jsonschema.Resolved {
	t.Helper()
	s := schemaOf(t)
	s.OneOf = nil
	s.Ref = "#/$defs/" + name
	resolved, err := s.Resolve(nil)
	require.NoError(t, err)
	return resolved
}

// validate holds JSON text against a definition.
func validate(t *testing.T, name string, text []byte) error {
	t.Helper()
	var value any
	require.NoError(t, json.Unmarshal(text, &value))
	return definition(t, name).Validate(value)
}

// The Go types and the schema name the same members, and ask for the same ones.
func TestSchemaHoldsTheTypes(t *testing.T) {
	s := schemaOf(t)
	for name, typ := range map[string]reflect.Type{
		"In": reflect.TypeFor[abi.In](), "Run": reflect.TypeFor[abi.Run](), "Source": reflect.TypeFor[abi.Source](),
		"Response": reflect.TypeFor[abi.Response](), "Usage": reflect.TypeFor[abi.Usage](), "Out": reflect.TypeFor[abi.Out](),
		"Description": reflect.TypeFor[abi.Description](), "Grants": reflect.TypeFor[abi.Grants](),
		"FileGrant": reflect.TypeFor[abi.FileGrant](), "SearchGrant": reflect.TypeFor[abi.SearchGrant](),
		"HTTPGrant": reflect.TypeFor[abi.HTTPGrant](), "Budget": reflect.TypeFor[abi.Budget](),
		"Request": reflect.TypeFor[abi.Request](), "Iteration": reflect.TypeFor[abi.Iteration](), "Call": reflect.TypeFor[abi.Call](),
		"Result": reflect.TypeFor[abi.Result](), "Update": reflect.TypeFor[abi.Update](), "Tool": reflect.TypeFor[abi.Tool](),
		"Middleware": reflect.TypeFor[abi.Middleware](),

		"Splice": reflect.TypeFor[abi.Splice](), "GetMessages": reflect.TypeFor[abi.GetMessages](), "Range": reflect.TypeFor[abi.Range](),
		"KVGet": reflect.TypeFor[abi.KVGet](), "KVSet": reflect.TypeFor[abi.KVSet](), "KVDelete": reflect.TypeFor[abi.KVDelete](),
		"KVList": reflect.TypeFor[abi.KVList](), "Complete": reflect.TypeFor[abi.Complete](),
		"CompleteOptions": reflect.TypeFor[abi.CompleteOptions](), "ResponseFormat": reflect.TypeFor[abi.ResponseFormat](),
		"Embed": reflect.TypeFor[abi.Embed](), "Search": reflect.TypeFor[abi.Search](), "IndexPut": reflect.TypeFor[abi.IndexPut](),
		"Document": reflect.TypeFor[abi.Document](), "IndexDelete": reflect.TypeFor[abi.IndexDelete](),
		"Emit": reflect.TypeFor[abi.Emit](), "EventRequest": reflect.TypeFor[abi.EventRequest](),
	} {
		t.Run(name, func(t *testing.T) {
			members, required := membersOf(typ)
			def := s.Defs[name]
			var inSchema []string
			for member := range def.Properties {
				inSchema = append(inSchema, member)
			}
			require.ElementsMatch(t, members, inSchema)
			require.ElementsMatch(t, required, def.Required)
		})
	}
}

// membersOf are the members that a Go type has in JSON, and those of them that are always there.
func membersOf(typ reflect.Type) (members, required []string) {
	for i := range typ.NumField() {
		tag, options, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
		if tag == "-" {
			continue
		}
		members = append(members, tag)
		if options != "omitzero" {
			required = append(required, tag)
		}
	}
	return members, required
}

// The fixed lists are the same in Go and in the schema.
func TestSchemaHoldsTheLists(t *testing.T) {
	s := schemaOf(t)
	require.Equal(t, texts(abi.Hooks), values(s.Defs["In"].Properties["hook"].Enum))
	require.Equal(t, texts(abi.Codes), values(s.Defs["Error"].Properties["code"].Enum))
	require.Equal(t, texts(message.Roles), values(s.Defs["Role"].Enum))
	var kinds []string
	for _, c := range s.Defs["Content"].OneOf {
		kind := c.Properties["type"]
		if kind.Const != nil {
			kinds = append(kinds, (*kind.Const).(string))
		}
		kinds = append(kinds, values(kind.Enum)...)
	}
	require.ElementsMatch(t, texts(message.Kinds), kinds)
}

// What the schema takes and refuses, the decoder takes and refuses too.
func TestSchemaAgreesWithTheDecoder(t *testing.T) {
	for text, good := range map[string]bool{
		`{}`: true,
		`{"extend_messages":[{"role":"user","text":"a"}],"extend_instructions":["b"],"state":{"n":1},"metadata":{"k":null}}`: true,
		`{"extend_messages":[{"role":"user","contents":[{"type":"uri","uri":"https://a/b.png"}]}]}`:                          true,
		`{"extend_messages":[{"role":"user","contents":[]}],"later":"member"}`:                                               true,
		`{"error":{"message":"no"}}`:                                         true,
		`{"error":{"code":"odd","message":"no"}}`:                            false,
		`{"error":{"code":"failed"}}`:                                        false,
		`{"extend_messages":[{"role":"root","text":"a"}]}`:                   false,
		`{"extend_messages":[{"role":"user"}]}`:                              false,
		`{"extend_messages":[{"role":"user","text":"a","contents":[]}]}`:     false,
		`{"extend_messages":[{"role":"user","contents":[{"type":"odd"}]}]}`:  false,
		`{"extend_messages":[{"role":"user","contents":[{"type":"text"}]}]}`: false,
		`{"extend_instructions":"one"}`:                                      false,
		`{"state":[]}`:                                                       false,
		`{"metadata":1}`:                                                     false,
		`[]`:                                                                 false,
	} {
		_, err := abi.DecodeOut(abi.HookBeforeRun, "", []byte(text))
		if got := err == nil; got != good {
			t.Errorf("decoder: %s: taken=%v, want %v (%v)", text, got, good, err)
		}
		if got := validate(t, "Out", []byte(text)) == nil; got != good {
			t.Errorf("schema: %s: taken=%v, want %v", text, got, good)
		}
	}
}

// The host gives contents of types that a plugin may not write, and that it passes over (MSG-4).
func TestSchemaTakesContentsThatOnlyTheHostWrites(t *testing.T) {
	message := `{"role":"user","contents":[{"type":"function_approval_response","approved":true,"function_call":{"call_id":"1","name":"n"}}]}`
	require.NoError(t, validate(t, "In", []byte(`{"abi":1,"hook":"after_run","input":[`+message+`],"response":{"messages":[`+message+`]}}`)))
	require.NoError(t, validate(t, "In", []byte(`{"abi":1,"hook":"on_update","update":`+message+`}`)))
	require.Error(t, validate(t, "Out", []byte(`{"extend_messages":[`+message+`]}`)))
}

func texts[T ~string](list []T) []string {
	out := make([]string, 0, len(list))
	for _, v := range list {
		out = append(out, string(v))
	}
	return out
}

func values(enum []any) []string {
	out := make([]string, 0, len(enum))
	for _, v := range enum {
		out = append(out, v.(string))
	}
	return slices.Clip(out)
}
