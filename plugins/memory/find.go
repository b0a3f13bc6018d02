package main

import (
	"cmp"
	"slices"
	"strings"

	"github.com/weft-run/weft/pdk/go"
)

// mostHits is how many hits the index is asked for: others may be of other users.
const mostHits = 50

// fitting are the facts that fit a question, best first.
func (c *config) fitting(query string) ([]fact, error) {
	if c.Find == findEmbed {
		return c.nearest(query)
	}
	hits, err := pdk.Search(c.Index, query, mostHits)
	if err != nil {
		return nil, err
	}
	var facts []fact
	for _, hit := range hits {
		if len(facts) == c.MaxAdded {
			break
		}
		if !strings.HasPrefix(hit.ID, c.prefix()) || hit.Score < c.MinScore {
			continue
		}
		// The storage is the plugin's own, and the index perhaps not: only what the storage holds is remembered.
		f := fact{Key: hit.ID}
		version, err := store().Read(hit.ID, &f)
		if err != nil {
			return nil, err
		}
		if version > 0 {
			facts = append(facts, f)
		}
	}
	return facts, nil
}

// nearest are the facts whose vectors are nearest to that of a question.
func (c *config) nearest(query string) ([]fact, error) {
	all, err := c.facts()
	if err != nil || len(all) == 0 {
		return nil, err
	}
	embeddings, err := pdk.Embed(query)
	if err != nil {
		return nil, err
	}
	asked := direction(embeddings[0])
	type scored struct {
		fact  int
		score float64
	}
	var ranked []scored
	for i := range all {
		if score := cosine(asked, all[i].Vector); score > 0 && score >= c.MinScore {
			ranked = append(ranked, scored{i, score})
		}
	}
	slices.SortStableFunc(ranked, func(a, b scored) int { return cmp.Compare(b.score, a.score) })
	var out []fact
	for _, r := range ranked[:min(len(ranked), c.MaxAdded)] {
		out = append(out, all[r.fact])
	}
	return out, nil
}

// heading stands before what is remembered, for the model.
const heading = "What is remembered of earlier conversations (may be outdated):"

func reminder(facts []fact) string {
	var b strings.Builder
	b.WriteString(heading)
	for i := range facts {
		b.WriteString("\n- (" + cut(facts[i].At, len("2006-01-02")) + ") " + facts[i].Text)
	}
	return b.String()
}
