package conformance

import (
	"strings"

	"github.com/weft-run/weft/internal/nearest"
)

// meant says which of the valid words a wrong one was probably meant to be, or lists them all where none is near.
func meant(word string, valid []string) string {
	if best := nearest.Word(word, valid); best != "" {
		return `did you mean "` + best + `"?`
	}
	if len(valid) == 0 {
		return "none is valid here"
	}
	return "valid are " + strings.Join(valid, ", ")
}
