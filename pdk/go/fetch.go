package pdk

import (
	"github.com/weft-run/weft/pdk/go/internal/extism"
	"github.com/weft-run/weft/pdk/go/json"
)

// Part names a list of messages that a hook may fetch from.
type Part string

// The lists that there are; which of them a hook has depends on the hook and on its rights.
const (
	PartContext  Part = "context"  // what providers added to the run. Right: read "context:SOURCE" or "context:*"
	PartInput    Part = "input"    // the run's new messages. Right: read "input"
	PartRequest  Part = "request"  // what a model is sent. Right: read "request"
	PartResponse Part = "response" // the answer so far. Right: read "response"
)

// Range asks for a part of a list of messages.
type Range struct {
	// Part is the list; empty means [PartContext].
	Part Part
	// SourceID, with PartContext, is whose messages are wanted; empty means those of all sources that may be read.
	SourceID string
	// Start is the first message; below 0 it counts from the end.
	Start int
	// Count is how many are wanted; 0 means all that follow.
	Count int
}

// Page is what a [Range] came to.
type Page struct {
	Messages []Message
	// Start is where the first of the messages stands in the list, from the front.
	Start int
	// Total is how many messages the whole list has.
	Total int
}

// GetMessages fetches messages from the host, a page for each range in their order. All pages together may have as much
// as a hook's input; beyond that the error has [CodeLimit], and without the right to read a part it has [CodeDenied]. No
// range is no page, and nothing is asked.
func GetMessages(ranges ...Range) ([]Page, error) {
	if len(ranges) == 0 {
		return nil, nil
	}
	pages := make([]Page, 0, len(ranges))
	err := ask(extism.GetMessages, func(w *json.Writer) {
		w.Name("ranges")
		writeAll(w, ranges)
	}, func(name string, r *json.Reader) {
		if name == "ranges" {
			pages = appendList[Page](pages, r)
		}
	})
	if err == nil && len(pages) != len(ranges) {
		err = NewError(CodeInternal, "the host returned other messages than those that were asked for")
	}
	if err != nil {
		return nil, err
	}
	return pages, nil
}

// fetch fetches one range. What the host refuses is the hook's failure.
func fetch(wanted Range) []Message {
	pages, err := GetMessages(wanted)
	if err != nil {
		panic(asError(err))
	}
	return pages[0].Messages
}

// last asks for the last messages of a list.
func last(part Part, sourceID string, n int) []Message {
	if n <= 0 {
		return nil
	}
	return fetch(Range{Part: part, SourceID: sourceID, Start: -n})
}

// WriteJSON writes the range.
func (g *Range) WriteJSON(w *json.Writer) {
	w.Object(func() {
		writeOptional(w, "part", string(g.Part))
		writeOptional(w, "source_id", g.SourceID)
		if g.Start != 0 {
			w.Name("start").Int(g.Start)
		}
		if g.Count != 0 {
			w.Name("count").Int(g.Count)
		}
	})
}

// ReadJSON reads a page.
func (p *Page) ReadJSON(r *json.Reader) {
	for name := range r.Object() {
		switch name {
		case "messages":
			p.Messages = appendMessages(p.Messages, r)
		case "start":
			p.Start = r.Int()
		case "total":
			p.Total = r.Int()
		}
	}
}

// Source counts what one provider added to the run so far.
type Source struct {
	SourceID string
	Count    int
}

// Messages fetches the messages that the source added. Right: read "context:SOURCE" or "context:*"; without it the hook
// fails.
func (s *Source) Messages() []Message {
	if s.Count == 0 {
		return nil
	}
	return fetch(Range{SourceID: s.SourceID})
}

// Last fetches the last n messages that the source added, or all where it added fewer. Right: as for [Source.Messages].
func (s *Source) Last(n int) []Message { return last(PartContext, s.SourceID, n) }

// ReadJSON reads a source.
func (s *Source) ReadJSON(r *json.Reader) {
	for name := range r.Object() {
		switch name {
		case "source_id":
			s.SourceID = r.String()
		case "count":
			s.Count = r.Int()
		}
	}
}

// Messages fetches what all sources that the plugin may read added to the run so far, in order.
func (in *In) Messages() []Message {
	if in.context == "" {
		return nil
	}
	return fetch(Range{Part: PartContext})
}
