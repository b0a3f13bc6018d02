package schema_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host/schema"
)

// Validator and graph must agree where a reference leads: where they do not, a circle that the graph does not see ends the
// process with a stack that is full.
func TestReferencesHaveOneMeaning(t *testing.T) {
	for name, document := range map[string]string{
		"percent":         `{"$defs":{"a%20b":{},"a b":{"$ref":"#/$defs/a%20b"}},"$ref":"#/$defs/a%20b"}`,
		"anchors":         `{"$defs":{"a":{"$anchor":"x","$ref":"#x"},"b":{"$anchor":"x"}},"$ref":"#x"}`,
		"dynamic anchors": `{"$defs":{"a":{"$dynamicAnchor":"x","$dynamicRef":"#x"},"b":{"$anchor":"x"}},"$dynamicRef":"#x"}`,
		"id as anchor":    `{"$schema":"http://json-schema.org/draft-07/schema#","$id":"#foo","definitions":{"x":{"$anchor":"foo"}},"allOf":[{"$ref":"#foo"}]}`,
	} {
		s, err := schema.Parse([]byte(document))
		if err != nil {
			continue
		}
		require.NoError(t, s.Validate([]byte(`1`)), name)
	}
	s, err := schema.Parse([]byte(`{"$defs":{"a b":{"type":"string"}},"$ref":"#/$defs/a%20b"}`))
	require.NoError(t, err)
	require.ErrorIs(t, s.Validate([]byte(`1`)), schema.ErrInvalid)
}

func list(item string, n int) string { return strings.TrimSuffix(strings.Repeat(item+",", n), ",") }

// Small schemas and values whose check would take minutes or gigabytes.
func TestWorkIsCountedByWhatItCosts(t *testing.T) {
	var pairs, names strings.Builder
	for i := range 6000 {
		fmt.Fprintf(&pairs, `["%s","%s"],`, strings.Repeat("a", i%80), strings.Repeat("a", 80-i%80))
	}
	for i := range 8000 {
		fmt.Fprintf(&names, `"%d",`, i)
	}
	for name, c := range map[string]struct{ document, value string }{
		"items that are compared each with each": {`{"uniqueItems":true}`, "[" + strings.TrimSuffix(pairs.String(), ",") + "]"},
		"a long enum for many items":             {`{"items":{"enum":[` + list("1", 3000) + `,2]}}`, "[" + list("2", 5000) + "]"},
		"many alternatives for a long text":      {`{"anyOf":[` + list(`{"type":"null"}`, 400) + `]}`, `["` + strings.Repeat("a", 1<<20) + `"]`},
		"a long text deep inside":                {`{"type":"array","items":{"$ref":"#"}}`, strings.Repeat("[", 1000) + `"` + strings.Repeat("a", 1<<18) + `"` + strings.Repeat("]", 1000)},
		"a pattern that repeats":                 {`{"pattern":"` + strings.Repeat("a{0,1000}", 50) + `b"}`, `"` + strings.Repeat("a", 1<<14) + `"`},
		"many large patterns":                    {`{"allOf":[` + list(`{"pattern":"`+strings.Repeat("a{1000}", 200)+`"}`, 44) + `]}`, `1`},
		"many patterns for a long text":          {`{"allOf":[` + list(`{"pattern":"a$"}`, 300) + `]}`, `"` + strings.Repeat("a", 1<<20) + `"`},
		"many schemas for many items":            {`{"items":{"allOf":[` + list(`{}`, 9000) + `]}}`, "[" + list("1", 50000) + "]"},
		"many names for many items":              {`{"contains":{"required":[` + strings.TrimSuffix(names.String(), ",") + `]}}`, "[" + list("{}", 2000) + "]"},
		"a cost that jumps over the limit":       {`{"$defs":{"a":{"allOf":[` + list(`{}`, 5000) + `]}},"allOf":[` + list(`{"$ref":"#/$defs/a"}`, 200) + `]}`, "1"},
		"a long way to many schemas":             {`{"$defs":{"` + strings.Repeat("a", 16000) + `":{"prefixItems":[` + list("{}", 16000) + `]}}}`, "1"},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := schema.Parse([]byte(c.document))
			if err == nil {
				err = s.Validate([]byte(c.value))
			}
			require.Error(t, err)
			assert.True(t, errors.Is(err, schema.ErrTooComplex) || errors.Is(err, schema.ErrTooLarge), "%.200v", err)
		})
	}
	s, err := schema.Parse([]byte(`{"items":{"type":"object","required":["id"],"properties":{"id":{"type":"integer"},"name":{"type":"string"}}}}`))
	require.NoError(t, err)
	require.NoError(t, s.Validate([]byte("["+list(`{"id":1,"name":"an ordinary one"}`, 3000)+"]")), "what is usual passes")
}

func TestKeywordsAreReadByTheLetter(t *testing.T) {
	for _, document := range []string{`{"PROPERTIES":{"a":{"type":"string"}}}`, `{"properties":{"a":{"Type":"string"}}}`, `{"dependencies":{"a":{"Required":["b"]}}}`} {
		_, err := schema.Parse([]byte(document))
		require.ErrorIs(t, err, schema.ErrSchema, document)
		require.ErrorContains(t, err, "in these letters")
	}
}
