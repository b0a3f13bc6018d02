package abi

import _ "embed"

//go:embed schema.json
var schema []byte

// Schema returns the contract as JSON Schema (draft 2020-12). Its definitions In, Out and Description are the objects that a
// hook receives and returns; Functions says by name which definitions a host function takes and returns (clause HF-17).
func Schema() []byte { return append([]byte(nil), schema...) }
