package host

import (
	"slices"
	"strings"

	"github.com/weft-run/weft/message"
)

// collector adds updates up to the response that they are pieces of.
type collector struct {
	response Response
	current  *message.Message
	text     strings.Builder // the text or reasoning that the last content of current is growing into
}

func (c *collector) add(u *Update) {
	if u.ResponseID != "" {
		c.response.ID = u.ResponseID
	}
	if u.ConversationID != "" {
		c.response.ConversationID = u.ConversationID
	}
	if u.Model != "" {
		c.response.Model = u.Model
	}
	if u.FinishReason != "" {
		c.response.FinishReason = u.FinishReason
	}
	if u.Usage != nil {
		if c.response.Usage == nil {
			c.response.Usage = &Usage{}
		}
		c.response.Usage.add(*u.Usage)
	}
	if len(u.Contents) == 0 {
		return
	}
	role := u.Role
	if role == "" {
		role = message.RoleAssistant
	}
	newID := u.MessageID != "" && c.current != nil && c.current.ID != "" && u.MessageID != c.current.ID
	if c.current == nil || c.current.Role != role || newID || u.begins {
		c.flush()
		c.current = &message.Message{Role: role, ID: u.MessageID, AuthorName: u.AuthorName}
		c.response.Messages = append(c.response.Messages, c.current)
	}
	if c.current.ID == "" {
		c.current.ID = u.MessageID
	}
	for _, content := range u.Contents {
		c.addContent(content)
	}
}

// addContent lets neighbouring texts, and neighbouring reasoning, grow into one content.
func (c *collector) addContent(content message.Content) {
	var piece string
	switch t := content.(type) {
	case message.Text:
		piece = t.Text
	case message.Reasoning:
		piece = t.Text
	default:
		c.flush()
		c.current.Contents = append(c.current.Contents, content)
		return
	}
	if n := len(c.current.Contents); n == 0 || c.current.Contents[n-1].Kind() != content.Kind() {
		c.flush()
		c.current.Contents = append(c.current.Contents, content)
	}
	c.text.WriteString(piece)
}

// flush writes the text that grew into its content.
func (c *collector) flush() {
	if c.current == nil || c.text.Len() == 0 {
		return
	}
	last := &c.current.Contents[len(c.current.Contents)-1]
	switch (*last).(type) {
	case message.Text:
		*last = message.Text{Text: c.text.String()}
	case message.Reasoning:
		*last = message.Reasoning{Text: c.text.String()}
	}
	c.text.Reset()
}

func (c *collector) done() *Response {
	c.flush()
	return &c.response
}

// updatesOf are updates that add up to a response that was not streamed: one per message.
func updatesOf(r *Response) []*Update {
	updates := make([]*Update, 0, len(r.Messages))
	for _, m := range r.Messages {
		updates = append(updates, &Update{
			begins: true, Role: m.Role, Contents: m.Contents, MessageID: m.ID, AuthorName: m.AuthorName, ResponseID: r.ID,
		})
	}
	return updates
}

// withoutCalls is a response without calls; messages that held nothing else are gone.
func withoutCalls(r *Response) *Response {
	out := *r
	out.Messages = nil
	for _, m := range r.Messages {
		kept := keepContents(m.Contents)
		switch {
		case len(kept) == len(m.Contents):
			out.Messages = append(out.Messages, m)
		case len(kept) > 0:
			c := *m
			c.Contents = kept
			out.Messages = append(out.Messages, &c)
		}
	}
	return &out
}

// withoutCalls is an update without calls.
func (u *Update) withoutCalls() *Update {
	kept := keepContents(u.Contents)
	if len(kept) == len(u.Contents) {
		return u
	}
	out := *u
	out.Contents = kept
	return &out
}

func keepContents(contents []message.Content) []message.Content {
	var kept []message.Content
	for _, c := range contents {
		if c.Kind() != message.KindFunctionCall {
			kept = append(kept, c)
		}
	}
	return kept
}

// withoutContents leaves out contents, and messages that hold nothing else. The list is the same where nothing is left
// out.
func withoutContents(messages []*message.Message, hidden func(message.Content) bool) []*message.Message {
	var out []*message.Message
	for i, m := range messages {
		if !slices.ContainsFunc(m.Contents, hidden) {
			if out != nil {
				out = append(out, m)
			}
			continue
		}
		if out == nil {
			out = append(make([]*message.Message, 0, len(messages)), messages[:i]...)
		}
		if kept := slices.DeleteFunc(slices.Clone(m.Contents), hidden); len(kept) > 0 {
			c := *m
			c.Contents = kept
			out = append(out, &c)
		}
	}
	if out == nil {
		return messages
	}
	return out
}
