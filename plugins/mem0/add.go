package main

import (
	"strings"

	"github.com/weft-run/weft/pdk/go"
	"github.com/weft-run/weft/pdk/go/json"
	"github.com/weft-run/weft/pdk/go/web"
)

// maxTurn is how many bytes of one message are remembered.
const maxTurn = 16_000

// turn is a message as Mem0 takes it.
type turn struct{ role, content string }

// turnsOf are the messages of people and models that have text. What tools were asked and answered is not remembered.
func turnsOf(messages []pdk.Message) []turn {
	var all []turn
	for i := range messages {
		m := &messages[i]
		text := strings.TrimSpace(m.Text())
		if text == "" || m.Role != pdk.RoleUser && m.Role != pdk.RoleAssistant && m.Role != pdk.RoleSystem {
			continue
		}
		all = append(all, turn{string(m.Role), web.Cut(text, maxTurn)})
	}
	return all
}

// add has the service make memories of what was said. It does so later; what it answers is that it will.
func (c *config) add(turns []turn, s scope) error {
	path := "/v3/memories/add/"
	if c.API == apiV2 {
		path = "/v1/memories/"
	}
	var w json.Writer
	w.Object(func() {
		w.Name("messages").Array(func() {
			for _, t := range turns {
				w.Object(func() {
					w.Name("role").String(t.role)
					w.Name("content").String(t.content)
				})
			}
		})
		for i, id := range s {
			if id != "" {
				w.Name(idNames[i]).String(id)
			}
		}
		if c.Infer != "" {
			w.Name("infer").Raw(c.Infer)
		}
		if c.API == apiV2 {
			w.Name("version").String("v2")
			w.Name("output_format").String("v1.1")
		}
	})
	return c.request(path, w.JSON()).Read(anything{})
}

// anything reads any JSON and keeps nothing of it.
type anything struct{}

func (anything) ReadJSON(r *json.Reader) { r.Raw() }
