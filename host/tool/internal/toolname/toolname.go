// Package toolname knows which names of tools the model APIs take:
//
//	err := toolname.Check("read file")   // host.ErrToolName
//	name := toolname.Clean("read file")  // read_file
package toolname

import (
	"fmt"
	"strings"

	"github.com/weft-run/weft/host"
)

// maxLength is the longest name that all of them take.
const maxLength = 64

func allowed(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-'
}

// Check returns an error that wraps [host.ErrToolName] for a name that would be refused.
func Check(name string) error {
	switch {
	case name == "":
		return fmt.Errorf("%w: a tool needs a name", host.ErrToolName)
	case len(name) > maxLength:
		return fmt.Errorf("%w: %.80q has %d characters: model APIs take at most %d", host.ErrToolName, name, len(name), maxLength)
	case strings.ContainsFunc(name, func(r rune) bool { return !allowed(r) }):
		return fmt.Errorf("%w: %q: model APIs take letters, digits, _ and -", host.ErrToolName, name)
	}
	return nil
}

// Clean makes one _ of each run of characters that are not allowed, and drops those at the ends. What is left may be
// empty.
func Clean(name string) string {
	var b strings.Builder
	gap := false
	for _, r := range name {
		if !allowed(r) {
			gap = b.Len() > 0
			continue
		}
		if gap {
			b.WriteByte('_')
			gap = false
		}
		b.WriteRune(r)
	}
	return b.String()
}
