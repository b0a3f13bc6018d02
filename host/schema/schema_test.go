package schema_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host/schema"
)

func TestWhatAStrangersSchemaIsRefusedFor(t *testing.T) {
	deep := func(n int) string { return strings.Repeat(`{"not":`, n) + `{}` + strings.Repeat(`}`, n) }
	bomb := `{"$ref":"#/$defs/0","$defs":{`
	for i := range 30 {
		bomb += fmt.Sprintf(`"%d":{"anyOf":[{"$ref":"#/$defs/%d"},{"$ref":"#/$defs/%d"}]},`, i, i+1, i+1)
	}
	bomb += `"30":{}}}`
	for name, c := range map[string]struct {
		document string
		kind     error
		says     []string
	}{
		"nothing":                   {``, schema.ErrSchema, []string{"EOF"}},
		"no JSON":                   {`{"type":`, schema.ErrSchema, nil},
		"two documents":             {`{} {}`, schema.ErrSchema, []string{"after top-level value"}},
		"one name twice":            {`{"type":"string","type":"number"}`, schema.ErrSchema, []string{"duplicate", "type"}},
		"not UTF-8":                 {"{\"title\":\"\xff\"}", schema.ErrSchema, []string{"UTF-8"}},
		"a number":                  {`7`, schema.ErrSchema, []string{"a JSON object, or true or false, and this is the number 7"}},
		"too many bytes":            {`{"title":"` + strings.Repeat("a", 64<<10) + `"}`, schema.ErrTooLarge, []string{"65548 bytes", "65536"}},
		"too deep":                  {deep(64), schema.ErrTooLarge, []string{"more than 64"}},
		"much too deep":             {strings.Repeat(`[`, 60_000), schema.ErrTooLarge, []string{"more than 64"}},
		"an unknown type":           {`{"properties":{"a":{"type":"text"}}}`, schema.ErrSchema, []string{"#/properties/a/type", `"text"`, "string"}},
		"properties of a list":      {`{"properties":[]}`, schema.ErrSchema, []string{"#/properties: want an object of schemas"}},
		"a schema that is a text":   {`{"items":"string"}`, schema.ErrSchema, []string{`#/items: want a schema (an object, or true or false), got the string "string"`}},
		"required as a boolean":     {`{"properties":{"a":{"required":true}}}`, schema.ErrSchema, []string{"#/properties/a/required: want an array of strings, got true"}},
		"an unknown draft":          {`{"$schema":"http://json-schema.org/draft-04/schema#"}`, schema.ErrSchema, []string{"2020-12", "draft-04"}},
		"a pattern with look-ahead": {`{"properties":{"a":{"pattern":"(?=x)"}}}`, schema.ErrPattern, []string{"#/properties/a/pattern", "(?="}},
		"a pattern of a member":     {`{"patternProperties":{"(":{}}}`, schema.ErrPattern, []string{"#/patternProperties/("}},
		"a pattern that explodes":   {`{"pattern":"((x{10}){10}y{900}){10}"}`, schema.ErrPattern, nil},
		"a reference over HTTP":     {`{"$ref":"https://example.com/s.json"}`, schema.ErrRemoteReference, []string{"#/$ref", "https://example.com/s.json", "$defs"}},
		"a reference to a file":     {`{"items":{"$ref":"file:///etc/passwd"}}`, schema.ErrRemoteReference, []string{"#/items/$ref"}},
		"a relative reference":      {`{"$ref":"other.json#/a"}`, schema.ErrRemoteReference, nil},
		"a reference to its own id's neighbour": {
			`{"$id":"https://example.com/a.json","$ref":"b.json"}`, schema.ErrRemoteReference, nil,
		},
		"a reference to nothing":         {`{"$ref":"#/$defs/a"}`, schema.ErrReference, []string{"#/$ref", `"#/$defs/a"`}},
		"an anchor that is not":          {`{"$ref":"#a"}`, schema.ErrReference, nil},
		"itself":                         {`{"$ref":"#"}`, schema.ErrCycle, []string{"#: it leads to itself"}},
		"itself, dynamically":            {`{"$dynamicAnchor":"a","$dynamicRef":"#a"}`, schema.ErrCycle, nil},
		"itself by way of another":       {`{"$ref":"#/$defs/a","$defs":{"a":{"allOf":[{"$ref":"#"}]}}}`, schema.ErrCycle, []string{"#: it leads to itself"}},
		"itself in anyOf":                {`{"anyOf":[{"type":"string"},{"$ref":"#"}]}`, schema.ErrCycle, nil},
		"itself in oneOf":                {`{"oneOf":[{"$ref":"#"}]}`, schema.ErrCycle, nil},
		"itself in not":                  {`{"not":{"$ref":"#"}}`, schema.ErrCycle, nil},
		"itself in if":                   {`{"if":{"$ref":"#"}}`, schema.ErrCycle, nil},
		"itself in then":                 {`{"if":{},"then":{"$ref":"#"}}`, schema.ErrCycle, nil},
		"itself in else":                 {`{"if":{},"else":{"$ref":"#"}}`, schema.ErrCycle, nil},
		"itself in dependentSchemas":     {`{"dependentSchemas":{"a":{"$ref":"#"}}}`, schema.ErrCycle, nil},
		"itself in dependencies":         {`{"dependencies":{"a":{"$ref":"#"}}}`, schema.ErrCycle, nil},
		"itself where nothing leads yet": {`{"$defs":{"a":{"$ref":"#/$defs/a"}}}`, schema.ErrCycle, []string{"#/$defs/a: it leads to itself"}},
		"two to the power of thirty":     {bomb, schema.ErrTooComplex, []string{"10000"}},
		"a long name in the place of a fault": {
			`{"properties":{"` + strings.Repeat("n", 9000) + `":7}}`, schema.ErrSchema, []string{"nnn…: want a schema"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := schema.Parse([]byte(c.document))
			require.ErrorIs(t, err, c.kind)
			for _, text := range c.says {
				assert.ErrorContains(t, err, text)
			}
		})
	}
}

func TestAllReferencesAndPatternsAtOnce(t *testing.T) {
	_, err := schema.Parse([]byte(`{"properties":{"a":{"$ref":"#/nowhere"},"b":{"pattern":"["},"c":{"$ref":"x.json"}}}`))
	for _, kind := range []error{schema.ErrReference, schema.ErrPattern, schema.ErrRemoteReference} {
		require.ErrorIs(t, err, kind)
	}
	for _, at := range []string{"#/properties/a/$ref", "#/properties/b/pattern", "#/properties/c/$ref"} {
		assert.ErrorContains(t, err, at)
	}
}

func TestLimitsOfTheCallersOwn(t *testing.T) {
	document := []byte(`{"properties":{"a":{"type":"string"}}}`)
	_, err := schema.ParseWith(document, schema.Limits{Bytes: 10})
	require.ErrorIs(t, err, schema.ErrTooLarge)
	_, err = schema.ParseWith(document, schema.Limits{Depth: 2})
	require.ErrorIs(t, err, schema.ErrTooLarge)
	_, err = schema.ParseWith(document, schema.Limits{Bytes: len(document), Depth: 3})
	require.NoError(t, err)
}

func TestWhatAModelIsToldOfItsArguments(t *testing.T) {
	s, err := schema.Parse([]byte(`{"type":"object","required":["city"],"additionalProperties":false,"properties":{
		"city":{"type":"string"},"days":{"type":"integer","minimum":1,"maximum":14},"units":{"enum":["metric","imperial"]}}}`))
	require.NoError(t, err)
	for value, want := range map[string][]string{
		`{"city":"Bonn"}`:                  nil,
		`{"city":"Bonn","days":14.0}`:      nil,
		`{"city":7}`:                       {"/properties/city", `7 has type "integer", want "string"`},
		`{}`:                               {"required", "city"},
		`{"city":"Bonn","days":0}`:         {"/properties/days", "minimum"},
		`{"city":"Bonn","days":1.5}`:       {"/properties/days", "1.5", "integer"},
		`{"city":"Bonn","town":"x"}`:       {"town"},
		`{"city":"Bonn","units":"kelvin"}`: {"/properties/units", "kelvin"},
		`["Bonn"]`:                         {"array", "object"},
		`null`:                             {"null", "object"},
		`{"city":"` + strings.Repeat("a", 9000) + `","days":"` + strings.Repeat("b", 9000) + `"}`: {"/properties/days", "…"},
	} {
		err := s.Validate([]byte(value))
		if want == nil {
			assert.NoError(t, err, value)
			continue
		}
		require.ErrorIs(t, err, schema.ErrInvalid, value)
		assert.Less(t, len(err.Error()), 2000)
		for _, text := range want {
			assert.ErrorContains(t, err, text)
		}
	}
	for _, value := range []string{`{"city":"Bonn"} {}`, `{"city":`, `{"city":"a","city":"b"}`, "{\"city\":\"\xff\"}", `{"city":"a","days":1e400}`, ``} {
		err := s.Validate([]byte(value))
		require.ErrorContains(t, err, "not one JSON value", "%s", value)
		require.NotErrorIs(t, err, schema.ErrInvalid)
	}
	require.NoError(t, s.Validate([]byte(`{"city":"a","days":12}`)))
}

func TestRecursionThroughTheValueIsFine(t *testing.T) {
	for _, document := range []string{
		`{"type":"object","properties":{"children":{"type":"array","items":{"$ref":"#"}}}}`,
		`{"$id":"https://example.com/tree","$ref":"#node","$defs":{"n":{"$anchor":"node","type":"object",
			"properties":{"children":{"items":{"$ref":"https://example.com/tree#node"}}}}}}`,
		`{"$dynamicAnchor":"t","type":"object","properties":{"children":{"items":{"$dynamicRef":"#t"}}}}`,
		`{"definitions":{"n":{"type":"object","properties":{"children":{"items":{"$ref":"#/definitions/n"}}}}},"$ref":"#/definitions/n"}`,
	} {
		s, err := schema.Parse([]byte(document))
		require.NoError(t, err, document)
		require.NoError(t, s.Validate([]byte(`{"children":[{},{"children":[{}]}]}`)))
		require.ErrorIs(t, s.Validate([]byte(`{"children":[{},{"children":[7]}]}`)), schema.ErrInvalid)
	}
}

// TestWorkIsBounded: each schema is small and refers to itself in a way that is allowed, and each level of the value
// doubles the work.
func TestWorkIsBounded(t *testing.T) {
	object := func(n int) string { return strings.Repeat(`{"a":`, n) + `1` + strings.Repeat(`}`, n) }
	list := func(n int) string { return strings.Repeat(`[`, n) + `1` + strings.Repeat(`]`, n) }
	for keyword, nested := range map[string]func(int) string{
		`"properties":{"a":{"$ref":"#"}}`:         object,
		`"patternProperties":{"^a":{"$ref":"#"}}`: object,
		`"additionalProperties":{"$ref":"#"}`:     object,
		`"items":{"$ref":"#"}`:                    list,
		`"prefixItems":[{"$ref":"#"}]`:            list,
		`"contains":{"$ref":"#"},"minContains":0`: list,
	} {
		s, err := schema.Parse([]byte(`{"anyOf":[{"$ref":"#/$defs/m"},{"$ref":"#/$defs/m"}],"$defs":{"m":{` + keyword + `}}}`))
		require.NoError(t, err, keyword)
		require.NoError(t, s.Validate([]byte(nested(8))), keyword)
		require.ErrorIs(t, s.Validate([]byte(nested(60))), schema.ErrTooComplex, keyword)
	}
}

func TestManyGoroutines(t *testing.T) {
	s, err := schema.Parse([]byte(`{"properties":{"a":{"pattern":"^x"}},"unevaluatedProperties":false}`))
	require.NoError(t, err)
	var wg sync.WaitGroup
	for range 64 {
		wg.Go(func() {
			for range 100 {
				assert.NoError(t, s.Validate([]byte(`{"a":"x"}`)))
				assert.ErrorIs(t, s.Validate([]byte(`{"b":1}`)), schema.ErrInvalid)
			}
		})
	}
	wg.Wait()
}
