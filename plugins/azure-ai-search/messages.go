package main

import (
	"math"
	"strings"

	"github.com/weft-run/weft/pdk/go"
	"github.com/weft-run/weft/pdk/go/json"
	"github.com/weft-run/weft/pdk/go/web"
)

// messages are what was found as messages, answers first and then documents, best first, as far as they fit into the limit
// together.
func (c *config) messages(found *answer) []pdk.Message {
	p := packer{left: c.MaxBytes}
	for _, e := range found.answers {
		text := web.Lines(e.Text, c.MaxDocumentBytes)
		if text == "" {
			continue
		}
		p.add(web.Passage(c.Index+"/"+e.Key, "Answer", text), map[string]json.Raw{
			"id": json.String(web.Line(e.Key, maxName)), "index": json.String(c.Index), "answer_score": rounded(e.Score),
		})
	}
	for i := range found.documents {
		d := &found.documents[i]
		text := c.passage(d)
		if text == "" || d.rank() < c.MinScore {
			continue
		}
		place, heading := c.source(d)
		p.add(web.Passage(place, heading, text), c.properties(d))
	}
	if len(p.messages) > 0 && c.ContextPrompt != "" {
		return append([]pdk.Message{pdk.User(c.ContextPrompt)}, p.messages...)
	}
	return p.messages
}

// packer gathers messages of a bounded length together.
type packer struct {
	left     int
	messages []pdk.Message
}

func (p *packer) add(text string, properties map[string]json.Raw) {
	if len(text) > p.left {
		return // a shorter one may still fit
	}
	p.left -= len(text)
	m := pdk.User(text)
	m.Properties = properties
	p.messages = append(p.messages, m)
}

// maxName is how many bytes keys and titles have at most.
const maxName = 300

// source says where a document stands: its address if it has one, else its key in the index.
func (c *config) source(d *document) (place, heading string) {
	id, title := web.Line(d.get(c.IDField), maxName), web.Line(d.get(c.TitleField), maxName)
	place = web.Link(d.get(c.URLField))
	switch {
	case place != "" && title == "":
		return place, id
	case place != "":
		return place, title
	case title == "":
		return c.Index, id
	case id == "":
		return c.Index, title
	}
	return c.Index + "/" + id, title
}

// passage is what of a document is shown.
func (c *config) passage(d *document) string {
	if c.Passages == passagesCaptions && len(d.Captions) > 0 {
		return web.Lines(strings.Join(d.Captions, "\n"), c.MaxDocumentBytes)
	}
	return web.Lines(c.content(d), c.MaxDocumentBytes)
}

// content is the text of a document: that of the field which holds it, else of all fields together.
func (c *config) content(d *document) string {
	if c.ContentField != "" {
		return d.get(c.ContentField)
	}
	for _, name := range contentFields {
		if text := d.get(name); text != "" {
			return text
		}
	}
	var all []string
	for _, f := range d.fields {
		if f.name != c.IDField && f.name != c.TitleField && f.name != c.URLField {
			all = append(all, f.name+": "+f.text)
		}
	}
	return strings.Join(all, "\n")
}

func (c *config) properties(d *document) map[string]json.Raw {
	p := map[string]json.Raw{"index": json.String(c.Index), "score": rounded(d.Score)}
	if d.ranked {
		p["reranker_score"] = rounded(d.Reranker)
	}
	if id := web.Line(d.get(c.IDField), maxName); id != "" {
		p["id"] = json.String(id)
	}
	if title := web.Line(d.get(c.TitleField), maxName); title != "" {
		p["title"] = json.String(title)
	}
	if url := web.Link(d.get(c.URLField)); url != "" {
		p["url"] = json.String(url)
	}
	return p
}

func rounded(score float64) json.Raw { return json.Float(math.Round(score*10_000) / 10_000) }
