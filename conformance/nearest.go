package conformance

import "strings"

// nearest says which of the valid words a wrong one was probably meant to be, or lists them all where none is near.
func nearest(word string, valid []string) string {
	best, distance := "", max(2, len(word)/3)+1
	for _, v := range valid {
		if d := editDistance(word, v); d < distance {
			best, distance = v, d
		}
	}
	if best != "" {
		return `did you mean "` + best + `"?`
	}
	if len(valid) == 0 {
		return "none is valid here"
	}
	return "valid are " + strings.Join(valid, ", ")
}

// editDistance counts the letters to insert, remove, replace or swap with their neighbour.
func editDistance(a, b string) int {
	before, last, now := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		now[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			now[j] = min(last[j]+1, now[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				now[j] = min(now[j], before[j-2]+1)
			}
		}
		before, last, now = last, now, before
	}
	return last[len(b)]
}
