package pdk

import (
	"github.com/weft-run/weft/pdk/go/internal/extism"
	"github.com/weft-run/weft/pdk/go/json"
)

// Hit is a document, or a passage of one, that was found.
type Hit struct {
	ID    string
	Score float64
	Title string
	Text  string
	// URL and Metadata, an object, are empty where there are none.
	URL      string
	Metadata json.Raw
}

// Document is what an index holds.
type Document struct {
	ID    string
	Text  string
	Title string
	URL   string
	// Metadata is an object; empty for none.
	Metadata json.Raw
}

// Search searches an index of the host, best hit first. A limit of 0 means 5; 50 is the most. Right: search, with that
// index. The error is an [*Error].
func Search(index, query string, limit int) ([]Hit, error) {
	var hits []Hit
	err := ask(extism.Search, func(w *json.Writer) {
		w.Name("index").String(index)
		w.Name("query").String(query)
		if limit != 0 {
			w.Name("limit").Int(limit)
		}
	}, func(name string, r *json.Reader) {
		if name == "hits" {
			hits = appendList(hits, r)
		}
	})
	return hits, err
}

// IndexPut puts documents into an index; they take the place of those with the same ids. Right: search, with that index and
// mode "rw". The error is an [*Error].
func IndexPut(index string, documents ...Document) error {
	return ask(extism.IndexPut, func(w *json.Writer) {
		w.Name("index").String(index)
		w.Name("documents")
		writeAll(w, documents)
	}, nil)
}

// IndexDelete removes documents from an index, and returns how many there were. Right: search, with that index and mode
// "rw". The error is an [*Error].
func IndexDelete(index string, ids ...string) (deleted int, err error) {
	err = ask(extism.IndexDelete, func(w *json.Writer) {
		w.Name("index").String(index)
		w.Name("ids").Strings(ids)
	}, func(name string, r *json.Reader) {
		if name == "deleted" {
			deleted = r.Int()
		}
	})
	return deleted, err
}

// ReadJSON reads a hit.
func (h *Hit) ReadJSON(r *json.Reader) {
	for name := range r.Object() {
		switch name {
		case "id":
			h.ID = r.String()
		case "score":
			h.Score = r.Float()
		case "title":
			h.Title = r.String()
		case "text":
			h.Text = r.String()
		case "url":
			h.URL = r.String()
		case "metadata":
			h.Metadata = r.Raw()
		}
	}
}

// WriteJSON writes a document.
func (d *Document) WriteJSON(w *json.Writer) {
	w.Object(func() {
		w.Name("id").String(d.ID)
		w.Name("text").String(d.Text)
		writeOptional(w, "title", d.Title)
		writeOptional(w, "url", d.URL)
		writePart(w, "metadata", d.Metadata)
	})
}
