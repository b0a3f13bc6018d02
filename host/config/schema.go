package config

import (
	"bytes"
	_ "embed"
)

//go:embed weft.schema.json
var schema []byte

// Schema is the JSON Schema of a weft.yaml (draft 2020-12), with a description and the default of each key. Editors can
// be pointed at it; reading does not need it.
func Schema() []byte { return bytes.Clone(schema) }
