package schema

import (
	"bytes"
	"cmp"
	stdjson "encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/weft-run/weft/host"
)

// Limits bound what [ParseWith] takes. A zero field stands for its default.
type Limits struct {
	// Bytes is the size of the document. Default: 64 KiB.
	Bytes int
	// Depth is how deep objects and arrays may nest in the document. Default: 64.
	Depth int
}

// Defaults of [Limits].
const (
	defaultBytes = 64 << 10
	defaultDepth = 64
)

// maxValueDepth is how deep a value may nest.
const maxValueDepth = 128

// maxMessage bounds the text of an error of Validate, which quotes the value.
const maxMessage = 1 << 10

// drafts are what $schema may say.
var drafts = []string{
	"", "https://json-schema.org/draft/2020-12/schema", "http://json-schema.org/draft-07/schema#", "https://json-schema.org/draft-07/schema#",
}

// Schema is a JSON Schema, checked and ready. It is safe for use by many goroutines.
type Schema struct {
	document []byte
	resolved *jsonschema.Resolved
	graph    *graph
}

var _ host.Schema = (*Schema)(nil)

// Parse reads a schema from its document, a JSON object or boolean, within the default limits. References, patterns and
// structure are checked here, so that Validate can only fail of a value.
func Parse(document []byte) (*Schema, error) { return ParseWith(document, Limits{}) }

// ParseWith is [Parse] within limits of the caller's own.
func ParseWith(document []byte, l Limits) (*Schema, error) {
	maxBytes, maxDepth := cmp.Or(l.Bytes, defaultBytes), cmp.Or(l.Depth, defaultDepth)
	if len(document) > maxBytes {
		return nil, fmt.Errorf("%w: %d bytes, at most %d are allowed", ErrTooLarge, len(document), maxBytes)
	}
	if at, deep := deeper(document, maxDepth); deep {
		return nil, fmt.Errorf("%w: more than %d objects and arrays inside each other, at byte %d", ErrTooLarge, maxDepth, at)
	}
	var strict any // refuses names that stand twice, and what is not UTF-8
	if err := json.Unmarshal(document, &strict); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSchema, err)
	}
	if err := joined(structure(strict, "#", true)); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSchema, err)
	}
	var root jsonschema.Schema
	if err := stdjson.Unmarshal(document, &root); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSchema, err)
	}
	if !slices.Contains(drafts, root.Schema) {
		return nil, fmt.Errorf("%w: $schema is %.80q: leave it out, or write it for draft 2020-12 or 7", ErrSchema, root.Schema)
	}
	g, err := newGraph(&root)
	if err != nil {
		return nil, err
	}
	resolved, err := root.Resolve(&jsonschema.ResolveOptions{})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSchema, err)
	}
	return &Schema{document: bytes.Clone(document), resolved: resolved, graph: g}, nil
}

// deeper reports where the brackets of a document nest deeper than allowed. It needs no memory, and so goes before
// anything that reads the document for good.
func deeper(document []byte, allowed int) (at int, deep bool) {
	depth, quoted := 0, false
	for i := 0; i < len(document); i++ {
		switch c := document[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			if depth++; depth > allowed {
				return i, true
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return 0, false
}

// JSON is the schema's document.
func (s *Schema) JSON() []byte { return s.document }

// Validate holds one JSON value against the schema. What does not fit is [ErrInvalid], with the place and what was
// wanted; a value that would take too many steps is [ErrTooComplex]. Duplicate names, invalid UTF-8 and numbers beyond
// float64 in the value are errors too.
func (s *Schema) Validate(value jsontext.Value) error {
	if at, deep := deeper(value, maxValueDepth); deep {
		return fmt.Errorf("%w: more than %d objects and arrays inside each other, at byte %d", ErrTooComplex, maxValueDepth, at)
	}
	var v any
	if err := json.Unmarshal(value, &v); err != nil {
		return fmt.Errorf("not one JSON value: %w", err)
	}
	if err := s.graph.check(v); err != nil {
		return err
	}
	if err := s.resolved.Validate(v); err != nil {
		return fmt.Errorf("%w: %s", ErrInvalid, short(strings.TrimPrefix(err.Error(), "validating root: ")))
	}
	return nil
}

// short cuts a text that quotes a large value.
func short(text string) string {
	if len(text) <= maxMessage {
		return text
	}
	return strings.ToValidUTF8(text[:maxMessage], "") + "…"
}
