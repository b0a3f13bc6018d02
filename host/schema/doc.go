// Package schema makes JSON Schemas that an agent holds tool arguments and answers against:
//
//	s, err := schema.Parse([]byte(`{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}`))
//	err = s.Validate([]byte(`{"city":7}`)) // says where, and what was wanted
//
//	s, err = schema.For[struct {
//		City string `json:"city" jsonschema:"the city's name"`
//	}]()
//
// A schema may come from a stranger: it is read strictly, its size and depth are limited, nothing is ever fetched, and
// references that would never end are refused when it is made, not when it is used. The work of one Validate is limited
// as well: it is counted before it is done, whatever the schema and the value are.
//
// Draft 7 and 2020-12 are understood, as github.com/google/jsonschema-go does: format and the content keywords say
// something to people and models and are not checked; patterns are those of package regexp. An $id below the root is not
// supported.
package schema
