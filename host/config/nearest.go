package config

import "strings"

// nearest returns the word that have was likely meant to be, or "".
func nearest(have string, words []string) string {
	best, distance := "", 64
	for _, w := range words {
		longer := max(len(have), len(w))
		if d := editDistance(strings.ToLower(have), w); d < distance && d <= longer/3 {
			best, distance = w, d
		}
	}
	return best
}

// didYouMean is the hint for a word that is not known.
func didYouMean(have string, words []string) string {
	if w := nearest(have, words); w != "" {
		return "did you mean " + w + "?"
	}
	return ""
}

// editDistance counts the letters to insert, delete, replace or swap with their neighbour to get from a to b. Words
// longer than 64 bytes count as far away.
func editDistance(a, b string) int {
	if len(a) > 64 || len(b) > 64 {
		return 64
	}
	before, last := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row := make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}
