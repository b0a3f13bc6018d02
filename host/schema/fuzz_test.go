package schema_test

import (
	"errors"
	"testing"

	"github.com/weft-run/weft/host/schema"
)

// seeds are schemas with a value each.
var seeds = [][2]string{
	{`{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"],"additionalProperties":false}`, `{"a":1}`},
	{`{"$defs":{"n":{"anyOf":[{"type":"null"},{"properties":{"next":{"$ref":"#/$defs/n"}}}]}},"$ref":"#/$defs/n"}`, `{"next":{"next":null}}`},
	{`{"items":{"multipleOf":0.5},"prefixItems":[true],"contains":{"const":1},"uniqueItems":true}`, `["x",0.5,1]`},
	{`{"if":{"minimum":1},"then":{"maximum":2},"else":{"not":{}}}`, `1.5`},
	{`{"oneOf":[{"minLength":2},{"pattern":"^a"}],"enum":["a","bb"]}`, `"a"`},
	{`{"allOf":[{"properties":{"a":true}}],"unevaluatedProperties":false,"dependentRequired":{"a":["b"]}}`, `{"a":1}`},
	{`{"patternProperties":{"^x":{"type":"string"}},"propertyNames":{"maxLength":3},"minProperties":1}`, `{"xy":"z"}`},
	{`{"$ref":"#"}`, `1e400`},
}

// FuzzValidate: whatever a stranger's schema and a model's value are, both end with an answer, and a value that fits
// keeps fitting.
func FuzzValidate(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s[0]), []byte(s[1]))
	}
	f.Fuzz(func(t *testing.T, document, value []byte) {
		s, err := schema.Parse(document)
		if err != nil {
			return
		}
		first := s.Validate(value)
		if again := s.Validate(value); (first == nil) != (again == nil) || errors.Is(first, schema.ErrTooComplex) != errors.Is(again, schema.ErrTooComplex) {
			t.Fatalf("%s: first %v, then %v", value, first, again)
		}
	})
}
