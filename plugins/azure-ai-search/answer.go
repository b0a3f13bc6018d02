package main

import (
	"strings"

	"github.com/weft-run/weft/pdk/go"
	"github.com/weft-run/weft/pdk/go/json"
	"github.com/weft-run/weft/pdk/go/web"
)

// answer is what the service found.
type answer struct {
	config    *config
	answers   []extract
	documents []document
}

// extract is an answer that the service took out of a document.
type extract struct {
	Key   string
	Text  string
	Score float64
}

// document is a document that was found.
type document struct {
	Score    float64
	Reranker float64
	ranked   bool // anew, by the semantic ranker
	Captions []string
	// fields are those that hold texts, in the order in which they came.
	fields []field
}

type field struct{ name, text string }

// contentFields are the fields in which the text of a document is looked for, where the config names none.
var contentFields = []string{"content", "text", "description", "body", "chunk"}

func (a *answer) ReadJSON(r *json.Reader) {
	complete := false
	for name := range r.Object() {
		switch name {
		case "value":
			complete = true
			for range r.Array() {
				if len(a.documents) == a.config.Top {
					continue // more than was asked for
				}
				var d document
				d.ReadJSON(r)
				a.documents = append(a.documents, d)
			}
		case "@search.answers":
			if r.Null() {
				continue
			}
			for range r.Array() {
				if len(a.answers) == a.config.Answers {
					continue
				}
				var e extract
				e.ReadJSON(r)
				a.answers = append(a.answers, e)
			}
		case "@search.semanticPartialResponseReason":
			if reason := text(r); reason != "" {
				pdk.LogWarn("the semantic ranker did not finish (" + web.Line(reason, 40) + "): documents are ranked by their search score")
			}
		}
	}
	if r.Err() == nil && !complete {
		r.Fail("value is missing, which holds the documents")
	}
}

func (e *extract) ReadJSON(r *json.Reader) {
	for name := range r.Object() {
		switch name {
		case "key":
			e.Key = text(r)
		case "text":
			e.Text = text(r)
		case "score":
			e.Score = r.Float()
		}
	}
}

func (d *document) ReadJSON(r *json.Reader) {
	for name := range r.Object() {
		switch {
		case name == "@search.score":
			d.Score = r.Float()
		case name == "@search.rerankerScore":
			if !r.Null() {
				d.Reranker, d.ranked = r.Float(), true
			}
		case name == "@search.captions":
			if !r.Null() {
				d.captions(r)
			}
		case strings.HasPrefix(name, "@"):
		default:
			if value := text(r); value != "" {
				d.fields = append(d.fields, field{name, value})
			}
		}
	}
}

func (d *document) captions(r *json.Reader) {
	for range r.Array() {
		for name := range r.Object() {
			if name == "text" {
				if caption := text(r); caption != "" {
					d.Captions = append(d.Captions, caption)
				}
			}
		}
	}
}

// text reads a string, or the strings of an array. Anything else, such as a vector, is passed over.
func text(r *json.Reader) string {
	switch r.Kind() {
	case json.KindString:
		return r.String()
	case json.KindArray:
		var all []string
		for range r.Array() {
			if r.Kind() == json.KindString {
				all = append(all, r.String())
			}
		}
		return strings.Join(all, ", ")
	}
	r.Raw()
	return ""
}

// get is the text of a field; empty where there is none.
func (d *document) get(name string) string {
	for _, f := range d.fields {
		if f.name == name {
			return f.text
		}
	}
	return ""
}

// rank is the score by which the document stands where it stands.
func (d *document) rank() float64 {
	if d.ranked {
		return d.Reranker
	}
	return d.Score
}
