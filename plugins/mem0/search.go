package main

import (
	"strings"

	"github.com/weft-run/weft/pdk/go"
	"github.com/weft-run/weft/pdk/go/json"
	"github.com/weft-run/weft/pdk/go/web"
)

const (
	// maxQuery is how many bytes of the input are searched for.
	maxQuery = 4000
	// maxMemory is how many bytes one memory has at most. They are sentences, as a rule.
	maxMemory = 1000
)

// memory is one thing that is remembered, in one line.
type memory struct {
	ID   string
	Text string
}

// queryOf is what memories are searched for by: the texts of the input.
func queryOf(input []pdk.Message) string {
	var all []string
	for i := range input {
		if text := input[i].Text(); text != "" {
			all = append(all, text)
		}
	}
	return web.Lines(strings.Join(all, "\n"), maxQuery)
}

// search finds the memories of a scope, those of the user first.
func (c *config) search(query string, s scope) ([]memory, error) {
	path := "/v3/memories/search/"
	if c.API == apiV2 {
		path = "/v2/memories/search/"
	}
	var found memories
	for _, filter := range s.partitions() {
		var w json.Writer
		w.Object(func() {
			w.Name("query").String(query)
			w.Name("filters").Raw(filter)
			w.Name("top_k").Int(c.TopK)
			if c.Threshold != "" {
				w.Name("threshold").Raw(c.Threshold)
			}
			if c.Rerank != "" {
				w.Name("rerank").Raw(c.Rerank)
			}
		})
		found.left = c.TopK
		if err := c.request(path, w.JSON()).Read(&found); err != nil {
			return nil, err
		}
	}
	return found.all, nil
}

// memories gathers the answers of searches. What is there already is not added again.
type memories struct {
	all  []memory
	left int // how many more this answer may have
}

// ReadJSON reads an answer: an object with results, or, as earlier versions of the API have it, with memories, or an array.
func (m *memories) ReadJSON(r *json.Reader) {
	if r.Kind() == json.KindArray {
		m.list(r)
		return
	}
	complete := false
	for name := range r.Object() {
		if name == "results" || name == "memories" {
			complete = true
			m.list(r)
		}
	}
	if r.Err() == nil && !complete {
		r.Fail("results is missing, which holds the memories")
	}
}

func (m *memories) list(r *json.Reader) {
	for range r.Array() {
		if m.left == 0 {
			continue // more than was asked for
		}
		m.left--
		var found memory
		for name := range r.Object() {
			switch name {
			case "id":
				found.ID = text(r)
			case "memory":
				found.Text = web.Line(text(r), maxMemory)
			}
		}
		m.add(found)
	}
}

func (m *memories) add(found memory) {
	if found.Text == "" {
		return
	}
	for _, known := range m.all {
		if known.ID != "" && known.ID == found.ID || known.Text == found.Text {
			return
		}
	}
	m.all = append(m.all, found)
}

// text reads a string; anything else is passed over and gives nothing.
func text(r *json.Reader) string {
	if r.Kind() == json.KindString {
		return r.String()
	}
	r.Raw()
	return ""
}

// messages are the memories as one message, a line each, as far as they fit into the limit. Without any there is none.
func (c *config) messages(found []memory) []pdk.Message {
	var lines, ids []string
	left := c.MaxBytes
	for _, m := range found {
		if len(m.Text) > left {
			continue // a shorter one may still fit
		}
		left -= len(m.Text)
		lines = append(lines, "- "+m.Text)
		if m.ID != "" {
			ids = append(ids, m.ID)
		}
	}
	if lines == nil {
		return nil
	}
	if c.ContextPrompt != "" {
		lines = append([]string{c.ContextPrompt}, lines...)
	}
	message := pdk.User(strings.Join(lines, "\n"))
	var w json.Writer
	w.Strings(ids)
	message.Properties = map[string]json.Raw{"memory_ids": w.JSON()}
	return []pdk.Message{message}
}
