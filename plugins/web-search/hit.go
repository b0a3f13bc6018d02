package main

import (
	"strings"

	"github.com/weft-run/weft/pdk/go"
	"github.com/weft-run/weft/pdk/go/json"
	"github.com/weft-run/weft/pdk/go/web"
)

// hit is a result of a search: plain text of a bounded length.
type hit struct {
	URL   string
	Title string
	Text  string
}

// maxTitle is how many bytes a title has at most.
const maxTitle = 200

// found gathers the hits of one search.
type found struct {
	config  *config
	most    int // how many hits are wanted
	hits    []hit
	dropped int // results without an address or text, or that were there before
}

// add takes a result in as the service gave it: strings of any content.
func (f *found) add(url, title, html string) {
	if len(f.hits) == f.most {
		return
	}
	h := hit{URL: web.Link(url), Title: web.Plain(title, maxTitle), Text: web.Plain(html, f.config.MaxHitBytes)}
	if h.URL == "" || h.Title == "" && h.Text == "" {
		f.dropped++
		return
	}
	for _, earlier := range f.hits {
		if earlier.URL == h.URL {
			f.dropped++
			return
		}
	}
	f.hits = append(f.hits, h)
}

// messages are the hits as messages, best first, as far as they fit into the limit together.
func (c *config) messages(hits []hit) []pdk.Message {
	var all []pdk.Message
	left := c.MaxBytes
	for _, h := range hits {
		text := web.Passage(h.URL, h.Title, h.Text)
		if len(text) > left {
			continue // a shorter one may still fit
		}
		left -= len(text)
		m := pdk.User(text)
		m.Properties = map[string]json.Raw{"url": json.String(h.URL), "title": json.String(h.Title)}
		all = append(all, m)
	}
	if len(all) > 0 && c.ContextPrompt != "" {
		all = append([]pdk.Message{pdk.User(c.ContextPrompt)}, all...)
	}
	return all
}

// text reads a string; anything else is passed over and gives nothing. What members of a result hold is up to strangers, and
// one that is wrong spoils no other.
func text(r *json.Reader) string {
	if r.Kind() == json.KindString {
		return r.String()
	}
	r.Raw()
	return ""
}

// texts reads an array of strings and joins them.
func texts(r *json.Reader) string {
	if r.Kind() != json.KindArray {
		r.Raw()
		return ""
	}
	var all []string
	for range r.Array() {
		if s := text(r); s != "" {
			all = append(all, s)
		}
	}
	return strings.Join(all, "\n")
}

// objects reads an array of objects, with what else is in it passed over: read gets the members of each, and end is called
// behind each. An array that is none is a fault.
func objects(r *json.Reader, read func(name string), end func()) {
	for range r.Array() {
		if r.Kind() != json.KindObject {
			r.Raw()
			continue
		}
		for name := range r.Object() {
			read(name)
		}
		end()
	}
}
