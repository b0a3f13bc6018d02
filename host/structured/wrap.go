package structured

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// valuePlace is where a wrapped schema stands in its wrapper.
const valuePlace = "#/properties/value"

// wrapSchema returns the schema that a service is sent: the document itself where it describes objects, and otherwise one
// of an object with the one member "value".
func wrapSchema(document []byte) (sent jsontext.Value, wrapped bool, err error) {
	var node any
	if err := json.Unmarshal(document, &node); err != nil {
		return nil, false, fmt.Errorf("not JSON: %w", err)
	}
	root, _ := node.(map[string]any)
	if root["type"] == "object" {
		return jsontext.Value(document).Clone(), false, nil
	}
	wrapper := map[string]any{
		"type": "object", "properties": map[string]any{"value": node}, "required": []string{"value"}, "additionalProperties": false,
	}
	if _, ownBase := root["$id"]; !ownBase {
		relocate(node)
		for _, name := range [...]string{"$schema", "$defs"} { // they belong to the root, and services look for them there
			if v, ok := root[name]; ok {
				wrapper[name] = v
				delete(root, name)
			}
		}
	}
	sent, err = json.Marshal(wrapper, json.Deterministic(true))
	return sent, true, err
}

// relocate makes the references of a schema follow it into its wrapper. Definitions move to the wrapper's root, so
// references to them stay.
func relocate(node any) {
	switch n := node.(type) {
	case []any:
		for _, item := range n {
			relocate(item)
		}
	case map[string]any:
		for name, value := range n {
			switch name {
			case "$ref", "$dynamicRef":
				if ref, ok := value.(string); ok && (ref == "#" || strings.HasPrefix(ref, "#/") && !strings.HasPrefix(ref, "#/$defs/")) {
					n[name] = valuePlace + ref[1:]
				}
			case "const", "enum", "default", "examples": // values, and no schemas
			case "properties", "patternProperties", "dependentSchemas", "$defs", "definitions":
				if members, ok := value.(map[string]any); ok { // names that the author chose
					for _, member := range members {
						relocateBelow(member)
					}
				}
			default:
				relocateBelow(value)
			}
		}
	}
}

// relocateBelow is relocate for what stands below the root: a schema with an $id is the base of its own references.
func relocateBelow(node any) {
	if m, ok := node.(map[string]any); ok && m["$id"] != nil {
		return
	}
	relocate(node)
}
