package main

import (
	"strconv"

	"github.com/weft-run/weft/pdk/go"
	"github.com/weft-run/weft/pdk/go/json"
)

// request looks at what the model would be sent. What is to be redacted is replaced, message by message; a rule that blocks
// looks at what is new since the model last spoke, so that one bad question does not end a conversation for ever.
func (conf *config) request(c *pdk.ChatContext) *rule {
	messages := c.Messages()
	fresh := 0
	for i := range messages {
		if messages[i].Role == pdk.RoleAssistant {
			fresh = i + 1
		}
	}
	type change struct {
		at int
		by pdk.Message
	}
	var changes []change
	for i := range messages {
		contents, changed, blocked := conf.contents(messages[i].Contents, onRequest)
		if blocked != nil && i >= fresh {
			return blocked
		}
		if changed {
			m := messages[i]
			m.Contents = contents
			changes = append(changes, change{i, m})
		}
	}
	for _, ch := range changes {
		c.Splice(ch.at, 1, ch.by)
	}
	if len(changes) > 0 {
		pdk.LogDebug("redacted " + strconv.Itoa(len(changes)) + " messages of a request")
	}
	return nil
}

// response looks at what the model answered.
func (conf *config) response(c *pdk.ChatContext) {
	r := c.Response()
	if r == nil {
		return
	}
	found := false
	for i := range r.Messages {
		contents, changed, blocked := conf.contents(r.Messages[i].Contents, onResponse)
		if blocked != nil {
			pdk.LogInfo("rule " + strconv.Quote(blocked.Name) + " blocked a response")
			c.SetResponse(&pdk.Response{Messages: []pdk.Message{pdk.Assistant(blocked.Message)}, FinishReason: "content_filter"})
			return
		}
		if changed {
			r.Messages[i].Contents, found = contents, true
		}
	}
	if found {
		c.SetResponse(r)
	}
}

// contents looks at the texts among contents, results of tools included.
func (conf *config) contents(contents []pdk.Content, applies func(*rule) bool) (out []pdk.Content, changed bool, blocked *rule) {
	judge := func(text string) string {
		v := conf.judge(text, applies)
		if v.blocked != nil {
			blocked = v.blocked
		}
		changed = changed || v.changed
		return v.text
	}
	out = make([]pdk.Content, len(contents))
	for i, content := range contents {
		switch content := content.(type) {
		case pdk.Text:
			content.Text = judge(content.Text)
			out[i] = content
		case pdk.Reasoning:
			content.Text = judge(content.Text)
			out[i] = content
		case pdk.FunctionResult:
			out[i] = conf.result(content, judge)
		default:
			out[i] = content
		}
	}
	return out, changed, blocked
}

// refuse answers in the model's place.
func refuse(c *pdk.ChatContext, r *rule) error {
	pdk.LogInfo("rule " + strconv.Quote(r.Name) + " blocked a request")
	c.SetResponse(&pdk.Response{Messages: []pdk.Message{pdk.Assistant(r.Message)}, FinishReason: "content_filter"})
	return c.Terminate()
}

// result looks at what a tool returned. JSON that is more than a text becomes the text of it where something in it is
// replaced: what is left need not be JSON.
func (conf *config) result(r pdk.FunctionResult, judge func(string) string) pdk.FunctionResult {
	r.Error = judge(r.Error)
	var text string
	reader := json.NewReader(r.Result)
	if reader.Kind() == json.KindString {
		text = reader.String()
	} else {
		text = string(r.Result)
	}
	if after := judge(text); after != text {
		r.Result = json.String(after)
	}
	return r
}
