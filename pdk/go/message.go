package pdk

import (
	"strings"

	"github.com/weft-run/weft/pdk/go/json"
)

// Role says who speaks in a message.
type Role string

// The roles of a conversation.
const (
	RoleSystem    Role = "system"
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool"
)

// Message is one entry of a conversation.
type Message struct {
	Role     Role
	Contents []Content

	// MessageID is the message's id where a service gave one.
	MessageID string
	// AuthorName tells speakers of one role apart.
	AuthorName string
	// SourceID and SourceType name the provider that added the message. The host sets them.
	SourceID   string
	SourceType string
	// Attribution is the author's own mark for filtering and compaction, such as "ephemeral".
	Attribution string
	// Properties are further values that travel with the message and are not sent to a model.
	Properties map[string]json.Raw
}

// User returns a user message of one text.
func User(text string) Message { return textMessage(RoleUser, text) }

// System returns a system message of one text. To add it takes the right roles "system".
func System(text string) Message { return textMessage(RoleSystem, text) }

// Assistant returns an assistant message of one text. To add it takes the right roles "assistant".
func Assistant(text string) Message { return textMessage(RoleAssistant, text) }

func textMessage(role Role, text string) Message {
	return Message{Role: role, Contents: []Content{Text{Text: text}}}
}

// Text returns the texts of the message joined with nothing between them. Other contents are passed over.
func (m *Message) Text() string {
	if len(m.Contents) == 1 {
		text, _ := m.Contents[0].(Text)
		return text.Text
	}
	var b strings.Builder
	for _, c := range m.Contents {
		if text, ok := c.(Text); ok {
			b.WriteString(text.Text)
		}
	}
	return b.String()
}

// ReadJSON reads a message, in the short form {"role", "text"} too.
func (m *Message) ReadJSON(r *json.Reader) {
	for name := range r.Object() {
		switch name {
		case "role":
			m.Role = Role(r.String())
		case "contents":
			m.Contents = readContents(r)
		case "text":
			m.Contents = []Content{Text{Text: r.String()}}
		case "message_id":
			m.MessageID = r.String()
		case "author_name":
			m.AuthorName = r.String()
		case "source_id":
			m.SourceID = r.String()
		case "source_type":
			m.SourceType = r.String()
		case "attribution":
			m.Attribution = r.String()
		case "properties":
			m.Properties = map[string]json.Raw{}
			for property := range r.Object() {
				m.Properties[property] = r.Raw()
			}
		}
	}
}

// WriteJSON writes a message, in the short form where it says all.
func (m *Message) WriteJSON(w *json.Writer) {
	w.Object(func() {
		w.Name("role").String(string(m.Role))
		if text, ok := m.onlyText(); ok {
			w.Name("text").String(text)
		} else {
			w.Name("contents")
			writeContents(w, m.Contents)
		}
		writeOptional(w, "message_id", m.MessageID)
		writeOptional(w, "author_name", m.AuthorName)
		writeOptional(w, "source_id", m.SourceID)
		writeOptional(w, "source_type", m.SourceType)
		writeOptional(w, "attribution", m.Attribution)
		if len(m.Properties) > 0 {
			w.Name("properties").Object(func() {
				for _, name := range sortedNames(m.Properties) {
					w.Name(name).Raw(m.Properties[name])
				}
			})
		}
	})
}

func (m *Message) onlyText() (string, bool) {
	if len(m.Contents) != 1 {
		return "", false
	}
	text, ok := m.Contents[0].(Text)
	return text.Text, ok
}

func writeOptional(w *json.Writer, name, value string) {
	if value != "" {
		w.Name(name).String(value)
	}
}

func appendMessages(all []Message, r *json.Reader) []Message { return appendList(all, r) }

func writeMessages(w *json.Writer, all []Message) { writeAll(w, all) }
