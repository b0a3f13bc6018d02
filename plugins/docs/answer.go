package main

import (
	"math"
	"strings"

	"github.com/weft-run/weft/pdk/go"
	"github.com/weft-run/weft/pdk/go/json"
)

// question is what the user says in this run.
func question(in *pdk.In) string {
	var all []string
	for _, m := range in.Input() {
		if m.Role == pdk.RoleUser {
			all = append(all, m.Text())
		}
	}
	return strings.Join(all, "\n")
}

// messages makes context messages of what was found, best first, as long as they fit into maxBytes together.
func messages(hits []hit, maxBytes int) []pdk.Message {
	var all []pdk.Message
	for _, h := range hits {
		text := "[" + oneLine(h.file) + " § " + h.heading + "]\n" + h.text
		if len(text) > maxBytes {
			if len(all) > 0 {
				continue // a shorter one may still fit
			}
			text = text[:breakBefore(text, maxBytes)]
		}
		maxBytes -= len(text)
		m := pdk.User(text)
		m.Properties = map[string]json.Raw{
			"file":    json.String(h.file),
			"heading": json.String(h.heading),
			"score":   json.Float(math.Round(h.score*1000) / 1000),
		}
		all = append(all, m)
	}
	return all
}
