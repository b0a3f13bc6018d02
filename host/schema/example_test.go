package schema_test

import (
	"errors"
	"fmt"

	"github.com/weft-run/weft/host/schema"
)

func ExampleParse() {
	s, err := schema.Parse([]byte(`{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(s.Validate([]byte(`{"city":"Bonn"}`)))
	fmt.Println(s.Validate([]byte(`{"city":7}`)))
	// Output:
	// <nil>
	// does not fit the schema: validating /properties/city: type: 7 has type "integer", want "string"
}

func ExampleParse_refused() {
	_, err := schema.Parse([]byte(`{"properties":{"a":{"$ref":"https://example.com/a.json"}}}`))
	fmt.Println(errors.Is(err, schema.ErrRemoteReference))
	// Output: true
}

func ExampleFor() {
	s, err := schema.For[struct {
		City string `json:"city" jsonschema:"the city's name"`
		Days int    `json:"days,omitzero"`
	}]()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(string(s.JSON()))
	fmt.Println(errors.Is(s.Validate([]byte(`{"town":"Bonn"}`)), schema.ErrInvalid))
	// Output:
	// {"type":"object","properties":{"city":{"type":"string","description":"the city's name"},"days":{"type":"integer"}},"required":["city"],"additionalProperties":false}
	// true
}
