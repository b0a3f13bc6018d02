package host

import (
	"errors"
	"fmt"
	"reflect"
)

// checkTools reports tools of an agent that cannot stand beside each other, and makes their schemas ready.
func checkTools(tools []Tool) (map[string]toolSchema, error) {
	var faults []error
	seen := map[string]toolSchema{}
	for i, t := range tools {
		if t == nil {
			faults = append(faults, fmt.Errorf("tools/%d: a tool is nil", i))
			continue
		}
		name := t.Definition().Name
		if name == "" {
			faults = append(faults, fmt.Errorf("tools/%d: a tool needs a name", i))
		}
		if other, ok := seen[name]; ok && !sameTool(t, other.tool) {
			faults = append(faults, fmt.Errorf("tools/%d: duplicate tool %q: rename or remove one of them", i, name))
		}
		schema, err := resolveSchema(t.Definition())
		if err != nil {
			faults = append(faults, fmt.Errorf("tools/%d: %w", i, err))
		}
		seen[name] = toolSchema{t, schema}
	}
	return seen, errors.Join(faults...)
}

// sameTool reports whether two values are one tool. Values that Go cannot compare never are.
func sameTool(a, b Tool) bool {
	return reflect.TypeOf(a).Comparable() && reflect.TypeOf(b).Comparable() && a == b
}
