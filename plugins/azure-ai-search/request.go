package main

import (
	"strconv"
	"strings"

	"github.com/weft-run/weft/pdk/go"
	"github.com/weft-run/weft/pdk/go/json"
)

// request is the body of a search. Where the host makes the vector of the question, it is asked for it.
func (c *config) request(question string) (json.Raw, error) {
	var vector []float32
	if c.embeds() {
		vectors, err := pdk.Embed(question)
		if err != nil {
			return "", err
		}
		vector = vectors[0]
	}
	w := json.NewWriter(1024 + 12*len(vector))
	w.Object(func() {
		if c.Mode != modeVector {
			c.writeText(w, question)
		}
		if len(c.VectorFields) > 0 {
			c.writeVector(w, question, vector)
		}
		optional := func(name, value string) {
			if value != "" {
				w.Name(name).String(value)
			}
		}
		optional("filter", c.Filter)
		optional("searchFields", strings.Join(c.SearchFields, ","))
		optional("select", strings.Join(c.Select, ","))
		w.Name("top").Int(c.Top)
	})
	return w.JSON(), nil
}

// writeText writes what is searched for in texts.
func (c *config) writeText(w *json.Writer, question string) {
	search := question
	if c.QueryType != queryFull {
		search = plainQuery(question)
	}
	w.Name("search").String(search)
	if c.Mode != modeSemantic {
		w.Name("queryType").String(c.QueryType)
		return
	}
	w.Name("queryType").String("semantic")
	w.Name("semanticConfiguration").String(c.SemanticConfiguration)
	if search != question {
		w.Name("semanticQuery").String(question) // the ranker reads sentences, and no syntax
	}
	if c.Passages == passagesCaptions {
		w.Name("captions").String("extractive|highlight-false")
	}
	if c.Answers > 0 {
		w.Name("answers").String("extractive|count-" + strconv.Itoa(c.Answers))
	}
}

// writeVector writes what is searched for in vectors: a vector, or a text of which the service makes one.
func (c *config) writeVector(w *json.Writer, question string, vector []float32) {
	k := c.K
	if k == 0 {
		k = c.Top
		if c.Mode == modeSemantic || c.Mode == modeHybrid {
			k = max(k, 50) // what is ranked anew, or together with others, needs something to choose from
		}
	}
	w.Name("vectorQueries").Array(func() {
		w.Object(func() {
			if vector != nil {
				w.Name("kind").String("vector")
				w.Name("vector").Array(func() {
					for _, f := range vector {
						w.Raw(json.Raw(strconv.FormatFloat(float64(f), 'g', -1, 32)))
					}
				})
			} else {
				w.Name("kind").String("text")
				w.Name("text").String(question)
			}
			w.Name("fields").String(strings.Join(c.VectorFields, ","))
			w.Name("k").Int(k)
		})
	})
}

// plainQuery is a text in the simple query syntax, in which no sign of it is an operator: a question that has a minus or a
// quotation mark asks for no less.
func plainQuery(text string) string {
	var b strings.Builder
	b.Grow(len(text))
	for i := range len(text) {
		if strings.IndexByte(`+-|"()'*~\`, text[i]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(text[i])
	}
	return b.String()
}
