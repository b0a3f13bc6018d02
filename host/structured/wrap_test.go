package structured

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/schema"
)

func TestWrappedSchemasKeepTheirReferences(t *testing.T) {
	for _, c := range []struct{ name, document, want string }{
		{"object", `{"type":"object"}`, `{"type":"object"}`},
		{"true", `true`, `{"value":true}`},
		{"self", `{"items":{"$ref":"#"}}`, `{"value":{"items":{"$ref":"#/properties/value"}}}`},
		{"below", `{"items":{"$ref":"#/prefixItems/0"}}`, `{"value":{"items":{"$ref":"#/properties/value/prefixItems/0"}}}`},
		{"elsewhere", `{"$ref":"https://example.com/s#/a"}`, `{"value":{"$ref":"https://example.com/s#/a"}}`},
		{"own base", `{"$id":"https://example.com/","$ref":"#/x"}`, `{"value":{"$id":"https://example.com/","$ref":"#/x"}}`},
		{"base below", `{"items":{"$id":"https://example.com/","$ref":"#/x"}}`, `{"value":{"items":{"$id":"https://example.com/","$ref":"#/x"}}}`},
		{"a value", `{"const":{"$ref":"#/x"}}`, `{"value":{"const":{"$ref":"#/x"}}}`},
		{
			"a name", `{"properties":{"const":{"$ref":"#/x"},"$ref":{"type":"string"}}}`,
			`{"value":{"properties":{"const":{"$ref":"#/properties/value/x"},"$ref":{"type":"string"}}}}`,
		},
		{"list", `{"anyOf":[{"$ref":"#/x"}]}`, `{"value":{"anyOf":[{"$ref":"#/properties/value/x"}]}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			sent, wrapped, err := wrapSchema([]byte(c.document))
			require.NoError(t, err)
			want := c.want
			if wrapped {
				want = `{"type":"object","properties":` + c.want + `,"required":["value"],"additionalProperties":false}`
			}
			assert.Equal(t, c.name != "object", wrapped)
			assert.JSONEq(t, want, string(sent))
		})
	}
	sent, _, err := wrapSchema([]byte(`{"$schema":"s","$defs":{"a":{"$ref":"#/$defs/a"}},"$ref":"#/$defs/a"}`))
	require.NoError(t, err)
	assert.JSONEq(t, `{"$schema":"s","$defs":{"a":{"$ref":"#/$defs/a"}},"type":"object","properties":{"value":{"$ref":"#/$defs/a"}},
		"required":["value"],"additionalProperties":false}`, string(sent))
	_, _, err = wrapSchema([]byte(`{`))
	require.ErrorContains(t, err, "not JSON")
}

// FuzzAnswer gives the reader of answers whatever a model may write.
func FuzzAnswer(f *testing.F) {
	for _, seed := range []string{`{"value":["a"]}`, "```json\n{\"value\":[]}\n```", "```", "``````", "```\n```", `{"value":null}`, "\xff", strings.Repeat("[", 200), "null x"} {
		f.Add(seed)
	}
	s, err := schema.For[[]string]()
	require.NoError(f, err)
	wrapped, err := newFormat(s, Config{})
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, text string) {
		answer, value, wrong := wrapped.check(reply{text: text, finish: host.FinishStop})
		if wrong != nil {
			require.ErrorIs(t, wrong, ErrInvalid)
			require.LessOrEqual(t, len(wrong.Text), longestText)
			return
		}
		require.True(t, answer.IsValid())
		require.Contains(t, text, string(answer), "nothing was made up")
		require.NoError(t, s.Validate(value))
		again, err := bare(string(answer))
		require.NoError(t, err)
		require.Equal(t, answer, again)
	})
}
