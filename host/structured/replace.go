package structured

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/message"
)

// withAnswer is a reply whose text is the bare answer and nothing else: the fence and the space around it are gone.
func withAnswer(r *host.Response, answer jsontext.Value) *host.Response {
	if r.Text() == string(answer) {
		return r
	}
	out := *r
	out.Messages = make([]*message.Message, 0, len(r.Messages))
	placed := false
	for _, m := range r.Messages {
		c := *m
		c.Contents = place(m.Contents, answer, &placed)
		if len(c.Contents) > 0 {
			out.Messages = append(out.Messages, &c)
		}
	}
	return &out
}

// updatesWithAnswer is withAnswer for a stream.
func updatesWithAnswer(updates []*host.Update, answer jsontext.Value) []*host.Update {
	text := ""
	for _, u := range updates {
		text += u.Text()
	}
	if text == string(answer) {
		return updates
	}
	out := make([]*host.Update, 0, len(updates))
	placed := false
	for _, u := range updates {
		c := *u
		c.Contents = place(u.Contents, answer, &placed)
		out = append(out, &c)
	}
	return out
}

// place puts the answer where the first text stood, and drops the other texts.
func place(contents []message.Content, answer jsontext.Value, placed *bool) []message.Content {
	out := make([]message.Content, 0, len(contents))
	for _, content := range contents {
		if content.Kind() != message.KindText {
			out = append(out, content)
			continue
		}
		if !*placed {
			*placed = true
			out = append(out, message.Text{Text: string(answer)})
		}
	}
	return out
}
