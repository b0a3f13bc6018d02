// Package nearest finds the word that somebody likely meant.
package nearest

import "strings"

// far is farther than any word that is worth naming.
const far = 64

// Word returns the word that have was likely meant to be, without regard to case, or "". At most a third of the letters
// may differ.
func Word(have string, words []string) string {
	best, distance := "", far
	for _, w := range words {
		if d := editDistance(strings.ToLower(have), strings.ToLower(w)); d < distance && d <= max(len(have), len(w))/3 {
			best, distance = w, d
		}
	}
	return best
}

// editDistance counts the letters to insert, delete, replace or swap with their neighbour to get from a to b. Words
// longer than 64 bytes count as far away.
func editDistance(a, b string) int {
	if len(a) > far || len(b) > far {
		return far
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
