package config

import "github.com/weft-run/weft/internal/nearest"

// didYouMean is the hint for a word that is not known.
func didYouMean(have string, words []string) string {
	if w := nearest.Word(have, words); w != "" {
		return "did you mean " + w + "?"
	}
	return ""
}
