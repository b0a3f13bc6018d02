package wasm

import (
	"fmt"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/schema"
	"github.com/weft-run/weft/internal/strictjson"
)

// toolSchemaDepth is how deep the schema of a tool may nest.
const toolSchemaDepth = 16

// schemasKept bounds the schemas that are kept of one version of a plugin, in bytes of their text.
const schemasKept = 16 * defaultToolSchema

// toolSchemas are the schemas of a plugin's tools. They are kept: to read one takes longer than all else that a run does with
// a plugin, and most plugins add the same tools to each run.
type toolSchemas struct {
	mu    sync.Mutex
	known map[string]host.Schema
	size  int // of the keys
}

// of is the schema of a text of at most limit bytes.
func (s *toolSchemas) of(text jsontext.Value, limit int64) (host.Schema, error) {
	s.mu.Lock()
	known, ok := s.known[string(text)]
	s.mu.Unlock()
	if ok {
		return known, nil
	}
	parsed, err := parseToolSchema(text, limit)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.size += len(text); s.known == nil || s.size > schemasKept {
		s.known, s.size = map[string]host.Schema{}, len(text)
	}
	s.known[string(text)] = parsed
	return parsed, nil
}

// parseToolSchema reads the schema of a tool's arguments. References are refused: they could lead anywhere, and round in a
// circle.
func parseToolSchema(text jsontext.Value, limit int64) (host.Schema, error) {
	if beyond(int64(len(text)), limit) {
		return nil, &SizeError{Limit: "tool_schema", Value: limit, Seen: int64(len(text))}
	}
	if _, err := strictjson.Decoder(text, toolSchemaDepth); err != nil {
		return nil, err
	}
	if word := reference(text); word != "" {
		return nil, fmt.Errorf("the schema uses %q, which that of a tool may not", word)
	}
	return schema.Parse(text)
}
