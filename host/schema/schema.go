package schema

import (
	"bytes"
	stdjson "encoding/json"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/weft-run/weft/host"
)

// Schema is a JSON Schema, checked and ready. It is safe for use by many goroutines.
type Schema struct {
	document []byte
	resolved *jsonschema.Resolved
}

var _ host.Schema = (*Schema)(nil)

// Parse reads a schema from its document, a JSON object.
func Parse(document []byte) (*Schema, error) {
	var s jsonschema.Schema
	if err := stdjson.Unmarshal(document, &s); err != nil {
		return nil, fmt.Errorf("not a JSON Schema: %w", err)
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		return nil, fmt.Errorf("not a JSON Schema: %w", err)
	}
	return &Schema{document: bytes.Clone(document), resolved: resolved}, nil
}

// For makes the schema of a Go type: a struct's fields by their json tags, their descriptions from jsonschema tags.
func For[T any]() (*Schema, error) {
	s, err := jsonschema.For[T](nil)
	if err != nil {
		return nil, err
	}
	document, err := stdjson.Marshal(s)
	if err != nil {
		return nil, err
	}
	return Parse(document)
}

// JSON is the schema's document.
func (s *Schema) JSON() []byte { return s.document }

// Validate holds a JSON value against the schema. Duplicate names and invalid UTF-8 in it are errors too.
func (s *Schema) Validate(value jsontext.Value) error {
	var v any
	if err := json.Unmarshal(value, &v); err != nil {
		return err
	}
	return s.resolved.Validate(v)
}
