package offline

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// choose takes the sentences that answer, the best first; none where nothing fits.
func (r *ranking) choose(maxSentences, maxLength int) []*candidate {
	var chosen []*candidate
	length := 0
	take := func(c *candidate) bool {
		n := utf8.RuneCountInString(c.text)
		if len(chosen) == maxSentences || len(chosen) > 0 && length+n > maxLength || repeated(chosen, c) {
			return false
		}
		chosen, length = append(chosen, c), length+n
		return true
	}
	if len(r.sorted) == 0 {
		return nil
	}
	best := r.sorted[0]
	switch {
	case r.fits(best):
		take(best)
		r.takeIntroduced(best, take)
		for _, c := range r.sorted[1:] {
			if r.fits(c) && (c.score >= best.score-0.12 || r.gain(chosen, c) >= 0.2) {
				take(c)
			}
		}
	case r.names() >= 2:
		// Two names may be told of in two sentences: what tells before_run from after_run.
		for _, c := range r.sorted {
			if c.score > 0 && r.newName(chosen, c) {
				take(c)
			}
		}
		if r.coverOf(chosen) < needed || r.namesLeft(chosen) {
			return nil
		}
	}
	return chosen
}

// fits says whether a sentence covers enough of the question to be quoted alone.
func (r *ranking) fits(c *candidate) bool {
	if c.passage.origin == fromInstructions && !c.directed && directives[c.words[0].lower] {
		return c.cover >= directive && len(r.q.groups) > 1
	}
	return c.cover >= needed && c.score >= needed
}

// takeIntroduced takes the list or the code that a sentence ending in a colon introduces.
func (r *ranking) takeIntroduced(c *candidate, take func(*candidate) bool) {
	if c.form != prose || !strings.HasSuffix(c.text, ":") {
		return
	}
	byIndex := map[int]*candidate{}
	for _, other := range r.sorted {
		if other.passage == c.passage {
			byIndex[other.index] = other
		}
	}
	for i := c.index + 1; ; i++ {
		other := byIndex[i]
		if other == nil || other.form == prose || !take(other) {
			return
		}
	}
}

// gain is the share of the question that a sentence covers and those chosen do not.
func (r *ranking) gain(chosen []*candidate, c *candidate) float64 {
	gain := 0.0
	for i, h := range c.hits {
		covered := slices.ContainsFunc(chosen, func(o *candidate) bool { return o.hits[i] >= likened })
		if h >= likened && !covered {
			gain += r.weights[i]
		}
	}
	return gain / r.total
}

// coverOf is the share of the question that the chosen cover together.
func (r *ranking) coverOf(chosen []*candidate) float64 {
	sum := 0.0
	for i, w := range r.weights {
		best := 0.0
		for _, c := range chosen {
			best = max(best, c.hits[i])
		}
		sum += w * best
	}
	return sum / r.total
}

// names is how many identifiers the question has.
func (r *ranking) names() int {
	n := 0
	for _, g := range r.q.groups {
		if g.word.identifier {
			n++
		}
	}
	return n
}

func (r *ranking) newName(chosen []*candidate, c *candidate) bool {
	for i, g := range r.q.groups {
		told := slices.ContainsFunc(chosen, func(o *candidate) bool { return o.hits[i] == whole })
		if g.word.identifier && c.hits[i] == whole && !told {
			return true
		}
	}
	return false
}

func (r *ranking) namesLeft(chosen []*candidate) bool {
	for i, g := range r.q.groups {
		told := slices.ContainsFunc(chosen, func(o *candidate) bool { return o.hits[i] == whole })
		if g.word.identifier && !told {
			return true
		}
	}
	return false
}

// repeated says whether a sentence says what a chosen one says already.
func repeated(chosen []*candidate, c *candidate) bool {
	return slices.ContainsFunc(chosen, func(o *candidate) bool {
		if o == c {
			return true
		}
		common := 0
		for t := range c.terms {
			if o.terms[t] > 0 {
				common++
			}
		}
		return 10*common >= 8*(len(c.terms)+len(o.terms)-common)
	})
}
