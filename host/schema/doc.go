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
// references that would never end are refused when it is made, not when it is used.
package schema
