package host

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
)

var (
	// ErrDuplicateTool is returned where two different tools have one name.
	ErrDuplicateTool = errors.New("duplicate tool")
	// ErrToolName is returned for a name of a tool that model APIs would refuse.
	ErrToolName = errors.New("tool name")
)

// What the model APIs take as a tool's name.
const (
	toolNameLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
	toolNameLength  = 64
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
		if err := checkToolName(name); err != nil {
			faults = append(faults, fmt.Errorf("tools/%d: %w", i, err))
		}
		if other, ok := seen[name]; ok && !sameTool(t, other) {
			faults = append(faults, fmt.Errorf("tools/%d: %w %q: rename or remove one of them", i, ErrDuplicateTool, name))
		}
		seen[name] = t
	}
	return errors.Join(faults...)
}

func checkToolName(name string) error {
	if name == "" {
		return fmt.Errorf("%w: a tool needs a name", ErrToolName)
	}
	if len(name) > toolNameLength || strings.Trim(name, toolNameLetters) != "" {
		return fmt.Errorf("%w: %.80q: model APIs take 1 to %d letters, digits, _ and -", ErrToolName, name, toolNameLength)
	}
	return nil
}

// sameTool reports whether two values are one tool. Values that Go cannot compare never are.
func sameTool(a, b Tool) bool {
	return reflect.TypeOf(a).Comparable() && reflect.TypeOf(b).Comparable() && a == b
}

type callIDKey struct{}

// CallID is the id of the call that a tool answers, for [FunctionTool.Call]; empty in any other context.
func CallID(ctx context.Context) string {
	id, _ := ctx.Value(callIDKey{}).(string)
	return id
}
