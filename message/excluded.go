package message

import (
	"maps"

	"github.com/go-json-experiment/json/jsontext"
)

// PropertyExcluded is the property of a stored message that compaction leaves out: true, or absent.
const PropertyExcluded = "compaction_excluded"

// Excluded reports whether compaction marked the message as left out. The mark is part of the stored message: it is
// saved and restored with it.
func (m *Message) Excluded() bool { return m.Properties[PropertyExcluded].Kind() == 't' }

// WithExcluded returns a copy of the message with or without the mark. The copy shares all but the mark with m, so it is
// as read-only as m. Where the mark is as wanted already, it is m itself.
func (m *Message) WithExcluded(excluded bool) *Message {
	if m.Excluded() == excluded {
		return m
	}
	c := *m
	c.Properties = maps.Clone(m.Properties)
	if !excluded {
		delete(c.Properties, PropertyExcluded)
		return &c
	}
	if c.Properties == nil {
		c.Properties = map[string]jsontext.Value{}
	}
	c.Properties[PropertyExcluded] = jsontext.Value("true")
	return &c
}
