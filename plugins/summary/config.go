package main

import (
	"github.com/weft-run/weft/pdk/go"
	"github.com/weft-run/weft/pdk/go/json"
)

// config is the plugin's configuration; config.schema.json says the same to the host.
type config struct {
	Source       string
	Keep, Every  int
	MaxTokens    int
	Instructions string
}

// ReadJSON reads the configuration, which the host held against the schema.
func (c *config) ReadJSON(r *json.Reader) {
	for name := range r.Object() {
		switch name {
		case "source":
			c.Source = r.String()
		case "keep":
			c.Keep = r.Int()
		case "every":
			c.Every = r.Int()
		case "max_tokens":
			c.MaxTokens = r.Int()
		case "instructions":
			c.Instructions = r.String()
		}
	}
}

// history is where the history's messages begin in the context, and how many there are.
func (c *config) history(in *pdk.In) (start, count int) {
	for _, s := range in.Context() {
		if s.SourceID == c.Source {
			return start, s.Count
		}
		start += s.Count
	}
	return 0, 0
}

// state is what the plugin keeps of a session: a summary of the first messages of its history.
type state struct {
	Text    string
	Covered int
}

// ReadJSON reads what was kept.
func (s *state) ReadJSON(r *json.Reader) {
	for name := range r.Object() {
		switch name {
		case "summary":
			s.Text = r.String()
		case "covered":
			s.Covered = r.Int()
		}
	}
}

// WriteJSON writes what is to be kept.
func (s *state) WriteJSON(w *json.Writer) {
	w.Object(func() {
		w.Name("summary").String(s.Text)
		w.Name("covered").Int(s.Covered)
	})
}

// cut is what the plugin's middleware is told: which messages of the request go, and what comes in their place.
type cut struct {
	start, count int
	text         string
}

// ReadJSON reads a cut.
func (c *cut) ReadJSON(r *json.Reader) {
	for name := range r.Object() {
		switch name {
		case "start":
			c.start = r.Int()
		case "count":
			c.count = r.Int()
		case "text":
			c.text = r.String()
		}
	}
}

// WriteJSON writes a cut.
func (c *cut) WriteJSON(w *json.Writer) {
	w.Object(func() {
		w.Name("start").Int(c.start)
		w.Name("count").Int(c.count)
		w.Name("text").String(c.text)
	})
}
