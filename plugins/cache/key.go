package main

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"github.com/weft-run/weft/pdk/go"
	"github.com/weft-run/weft/pdk/go/json"
)

// keyOf is the same for requests that ask the same: instructions, tools, options, and the messages with what a model sees of
// them. Ids and sources do not count.
func keyOf(c *pdk.ChatContext) string {
	request := c.Request()
	w := json.NewWriter(4 << 10)
	w.Object(func() {
		w.Name("instructions").String(request.Instructions)
		tools := slices.Clone(request.Tools)
		slices.Sort(tools)
		w.Name("tools").Strings(tools)
		if c.Options != "" {
			w.Name("options").Raw(c.Options)
		}
		w.Name("messages").Array(func() {
			messages := c.Messages()
			for i := range messages {
				plain := pdk.Message{Role: messages[i].Role, Contents: messages[i].Contents}
				w.Value(&plain)
			}
		})
	})
	sum := sha256.Sum256(w.Bytes())
	return "answer/" + hex.EncodeToString(sum[:])
}
