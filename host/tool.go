package host

import (
	"errors"
	"fmt"
	"reflect"
)

// checkTools reports tools of an agent that cannot stand beside each other.
func checkTools(tools []Tool) error {
	var faults []error
	seen := map[string]Tool{}
	for i, t := range tools {
		if t == nil {
			faults = append(faults, fmt.Errorf("tools/%d: a tool is nil", i))
			continue
		}
		name := t.Definition().Name
		if name == "" {
			faults = append(faults, fmt.Errorf("tools/%d: a tool needs a name", i))
		}
		if other, ok := seen[name]; ok && !sameTool(t, other) {
			faults = append(faults, fmt.Errorf("tools/%d: duplicate tool %q: rename or remove one of them", i, name))
		}
		seen[name] = t
	}
	return errors.Join(faults...)
}

// sameTool reports whether two values are one tool. Values that Go cannot compare never are.
func sameTool(a, b Tool) bool {
	return reflect.TypeOf(a).Comparable() && reflect.TypeOf(b).Comparable() && a == b
}
