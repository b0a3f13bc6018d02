package offline

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"
)

// What a match counts for, as a share of the weight of the question's word.
const (
	whole       = 1.0  // the term itself
	piece       = 0.85 // a piece of a compound
	likened     = 0.75 // another term of its class
	surrounding = 0.6  // in the heading, the introduction or the place
	partial     = 0.4  // some pieces of a compound, times their share
)

// What a quote needs, as shares of the weight of the whole question. Tuned with the table of rank_test.go.
const (
	needed    = 0.66 // the sentence with what is around it
	neededOwn = 0.3  // the sentence alone
	directive = 0.85 // an instruction to the model
)

// longSentence is from how many words on a sentence is likely to have the words of a question by chance.
const longSentence = 40

// candidate is a sentence in a ranking.
type candidate struct {
	sentence
	passage *passage
	words   []word
	terms   map[string]float64 // what a match with each of its terms counts for
	around  map[string]float64
	order   int // among all sentences
	index   int // in the passage

	hits  []float64 // by group of the question
	cover float64   // share of the question, with what is around
	score float64

	// directed says that the sentence may be quoted although it tells the model what to do.
	directed bool
}

// candidates are all sentences that may be quoted; keep chooses among them. Where ctx ends, it stops early.
func candidates(ctx context.Context, r *reading, keep func(p *passage, list []word) bool) []*candidate {
	var out []*candidate
	for _, p := range r.passages {
		if ctx.Err() != nil {
			return nil
		}
		for i, s := range p.sentences {
			c := &candidate{sentence: s, passage: p, words: words(s.text), order: len(out), index: i}
			if len(c.words) == 0 || keep != nil && !keep(p, c.words) {
				continue
			}
			c.terms = termsOf(c.words)
			c.around = termsOf(words(s.context + " " + p.place + " " + p.source))
			out = append(out, c)
		}
	}
	return out
}

func termsOf(list []word) map[string]float64 {
	out := make(map[string]float64, len(list))
	for _, w := range list {
		for _, p := range w.parts {
			out[p] = max(out[p], piece)
		}
		out[w.term] = whole
	}
	return out
}

// hit is what a set of terms counts for towards a word of the question.
func hit(w word, terms map[string]float64) float64 {
	best := terms[w.term]
	for _, other := range synonyms[w.term] {
		if terms[other] == whole {
			best = max(best, likened)
		}
	}
	if best == 0 && len(w.parts) > 0 {
		n := 0
		for _, p := range w.parts {
			if terms[p] > 0 {
				n++
			}
		}
		if n == len(w.parts) && !w.identifier {
			return likened
		}
		return partial * float64(n) / float64(len(w.parts))
	}
	return best
}

// ranking is the candidates of a question, the best first.
type ranking struct {
	q       question
	weights []float64
	total   float64
	sorted  []*candidate
}

// rank scores the candidates: how much of the question a sentence covers, rare words counting for more, and small
// bonuses for what else speaks for it.
func rank(q question, list []*candidate) *ranking {
	r := &ranking{q: q, sorted: list}
	for _, g := range q.groups {
		n := 0
		for _, c := range list {
			if c.terms[g.word.term] > 0 {
				n++
			}
		}
		rarity := math.Log(1+float64(len(list))/float64(max(n, 1))) / math.Log(2+float64(len(list)))
		r.weights = append(r.weights, g.weight*(1+rarity/2))
		r.total += r.weights[len(r.weights)-1]
	}
	for _, c := range list {
		r.scoreOne(c)
	}
	slices.SortStableFunc(r.sorted, func(a, b *candidate) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.order, b.order))
	})
	return r
}

func (r *ranking) scoreOne(c *candidate) {
	own, all, heading := 0.0, 0.0, 0.0
	named, names := 0, 0
	c.hits = make([]float64, len(r.q.groups))
	for i, g := range r.q.groups {
		inside, around := hit(g.word, c.terms), hit(g.word, c.around)
		c.hits[i] = inside
		own += r.weights[i] * inside
		all += r.weights[i] * max(inside, surrounding*around)
		heading += r.weights[i] * around
		if g.word.identifier {
			names++
			if max(inside, around) >= likened {
				named++
			}
		}
	}
	if r.total == 0 || own < neededOwn*r.total || names > 0 && named == 0 {
		return
	}
	subject := r.subject(c)
	if r.q.definition && subject == 0 && (len(r.q.groups) == 1 && heading == 0 || c.passage.origin == fromHistory) {
		return // a mention says of no thing what it is
	}
	c.cover = all / r.total
	c.score = c.cover + 0.06*heading/r.total + 0.04/float64(1+c.passage.rank) + r.nearness(c) + subject
	switch {
	case interrogative(c.text):
		c.score -= 0.3
	case c.form == codeLine:
		c.score -= 0.05
	case len(c.words) < 3 && c.form == prose:
		c.score -= 0.1
	case len(c.words) > longSentence:
		c.score -= min(0.3, 0.01*float64(len(c.words)-longSentence))
	}
}

// nearness rewards words that follow each other in the sentence as they do in the question.
func (r *ranking) nearness(c *candidate) float64 {
	bonus := 0.0
	for i := 1; i < len(c.hits); i++ {
		if c.hits[i-1] == 0 || c.hits[i] == 0 {
			continue
		}
		first, second := c.at(r.q.groups[i-1].word), c.at(r.q.groups[i].word)
		if first < 0 || second < 0 {
			continue
		}
		switch d := second - first; {
		case d > 0 && d <= 3:
			bonus += 0.12
		case d < 0 && d >= -3:
			bonus += 0.06
		}
	}
	return min(bonus, 0.15)
}

// subject rewards a sentence that begins with what is asked about, the more so where it then says what that is.
func (r *ranking) subject(c *candidate) float64 {
	for i, w := range c.words {
		if articles[w.lower] || w.identifier && clauseID(w.lower) {
			continue
		}
		for _, g := range r.q.groups {
			if g.word.term != w.term {
				continue
			}
			if r.q.definition && i+1 < len(c.words) && defines(c, i) {
				return 0.25
			}
			return 0.08
		}
		return 0
	}
	return 0
}

// defines says whether what follows the word at i says what it is: "x is …", and in lists and tables "x: …".
func defines(c *candidate, i int) bool {
	switch c.words[i+1].lower {
	case "is", "are", "means", "stands":
		return true
	}
	if c.form != tableRow && c.form != listItem || len(c.words) < i+4 {
		return false
	}
	for _, mark := range [...]string{": ", " · "} {
		if term, _, ok := strings.Cut(c.text, mark); ok && len(words(term)) == i+1 {
			return true
		}
	}
	return false
}

var articles = set(`a an the each every all`)

// clauseID tells the numbers of clauses, such as in-2.
func clauseID(lower string) bool {
	return lower[len(lower)-1] >= '0' && lower[len(lower)-1] <= '9'
}

// at is the position of a question's word in the sentence.
func (c *candidate) at(w word) int {
	return slices.IndexFunc(c.words, func(x word) bool {
		return x.term == w.term || slices.Contains(x.parts, w.term) || slices.Contains(synonyms[w.term], x.term)
	})
}
