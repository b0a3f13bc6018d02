package main

import (
	"math"
	"slices"
)

// The constants of BM25: k1 is how soon more of one term stops to matter, b how much a long passage is marked down.
const (
	bm25K1 = 1.2
	bm25B  = 0.75
)

// What a term counts in a heading: in the passage's own, and in those above it.
const (
	weightHeading = 4
	weightAbove   = 1
)

// maxQueryTerms bounds the work for a question into which somebody pasted a book.
const maxQueryTerms = 64

// weightPart is what a part of an identifier counts in a question, next to the identifier.
const weightPart = 0.4

// index finds passages. It is built once and then only read. All postings stand in one slice, so that the snapshot that
// the host takes is small and the garbage collector has little to follow.
type index struct {
	passages []passage
	lengths  []float32
	average  float64
	terms    map[string]int32 // term to its place in starts
	starts   []int32          // where a term's postings begin; they end where the next term's begin
	postings []posting
}

// posting says how much of a term is in a passage.
type posting struct {
	passage int32
	weight  float32
}

func newIndex(files []file) *index {
	x := &index{terms: map[string]int32{}}
	for _, f := range files {
		x.passages = append(x.passages, passages(f)...)
	}
	x.passages = slices.Clip(x.passages)
	x.lengths = make([]float32, len(x.passages))

	type occurrence struct {
		term int32
		posting
	}
	var all []occurrence
	var latest []int32 // where in all each term occurred last
	var total float64
	for i, p := range x.passages {
		count := func(weight float32) func([]byte, bool) {
			return func(term []byte, _ bool) {
				id, ok := x.terms[string(term)]
				if !ok {
					id = int32(len(x.terms))
					x.terms[string(term)] = id
					latest = append(latest, -1)
				}
				x.lengths[i]++
				if at := latest[id]; at >= 0 && all[at].passage == int32(i) {
					all[at].weight += weight
					return
				}
				latest[id] = int32(len(all))
				all = append(all, occurrence{term: id, posting: posting{passage: int32(i), weight: weight}})
			}
		}
		for level, title := range p.path {
			if level == len(p.path)-1 {
				tokens(title, count(weightHeading))
			} else {
				tokens(title, count(weightAbove))
			}
		}
		tokens(p.file, count(weightAbove))
		tokens(p.text, count(1))
		total += float64(x.lengths[i])
	}
	x.average = total / float64(max(1, len(x.passages)))

	// The occurrences are in the order of the passages. Put down term by term they stay so, and need no sorting.
	x.starts = make([]int32, len(x.terms)+1)
	for _, o := range all {
		x.starts[o.term+1]++
	}
	for i := 1; i < len(x.starts); i++ {
		x.starts[i] += x.starts[i-1]
	}
	x.postings = make([]posting, len(all))
	next := slices.Clone(x.starts)
	for _, o := range all {
		x.postings[next[o.term]] = o.posting
		next[o.term]++
	}
	return x
}

// hit is a passage that was found. Its score is from 0 to 1: how near it comes to a passage that is about nothing but
// the question.
type hit struct {
	*passage
	score float64
}

// search returns the passages that fit a question best, best first: at most limit, and none below least.
func (x *index) search(question string, limit int, least float64) []hit {
	weights := map[string]float64{}
	var order []string // so that equal questions give equal sums
	tokens(question, func(word []byte, part bool) {
		term := string(word)
		weight := 1.0
		if part {
			weight = weightPart
		}
		if _, known := weights[term]; !known {
			if len(order) == maxQueryTerms {
				return
			}
			order = append(order, term)
		}
		weights[term] = max(weights[term], weight)
	})
	scores := make([]float64, len(x.passages))
	var best float64
	for _, term := range order {
		found := x.find(term)
		rarity := weights[term] * math.Log(1+(float64(len(x.passages)-len(found))+0.5)/(float64(len(found))+0.5))
		best += rarity * (bm25K1 + 1)
		for _, p := range found {
			weight := float64(p.weight)
			length := 1 - bm25B + bm25B*float64(x.lengths[p.passage])/x.average
			scores[p.passage] += rarity * weight * (bm25K1 + 1) / (weight + bm25K1*length)
		}
	}
	// The few best are kept in order as they come. Of equal ones the first in the folder is first.
	var hits []hit
	for i, sum := range scores {
		score := sum / best
		if sum == 0 || score < least || len(hits) == limit && score <= hits[limit-1].score {
			continue
		}
		at := len(hits)
		for at > 0 && hits[at-1].score < score {
			at--
		}
		hits = slices.Insert(hits, at, hit{passage: &x.passages[i], score: score})
		hits = hits[:min(len(hits), limit)]
	}
	return hits
}

func (x *index) find(term string) []posting {
	id, ok := x.terms[term]
	if !ok {
		return nil
	}
	return x.postings[x.starts[id]:x.starts[id+1]]
}
