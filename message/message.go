package message

import (
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Role says who speaks in a message.
type Role string

// The roles of a conversation. Any other is refused where messages are decoded.
const (
	RoleSystem    Role = "system"
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool"
)

// Roles are all roles, in the order in which errors list them.
var Roles = []Role{RoleSystem, RoleUser, RoleAssistant, RoleTool}

// Valid reports whether r is one of [Roles].
func (r Role) Valid() bool { return slices.Contains(Roles, r) }

// Message is one entry of a conversation.
//
// A message is read-only once it was handed to an agent, a provider or a store: those share it. Use [Message.Clone] to
// get one that may be changed.
type Message struct {
	Role     Role
	Contents []Content

	// ID is the message's id where a service gave one.
	ID string
	// AuthorName tells speakers of one role apart.
	AuthorName string

	// SourceID and SourceType name the provider that added the message. The host sets them; a message that already has
	// a SourceID keeps it.
	SourceID   string
	SourceType string

	// Attribution is the author's own mark for filtering and compaction, such as "ephemeral" or "important". History
	// providers strip it before they store.
	Attribution string

	// Untrusted says that what the message says comes from a source that nobody vouches for, so that instructions in it are
	// not to be followed. The host sets it on what such a provider or tool adds, and on what a model made of that; it is
	// stored and restored with the message. Clearing it is a decision about trust.
	Untrusted bool

	// Properties are further JSON values that travel with the message and are not sent to a model.
	Properties map[string]jsontext.Value
}

// New returns a message of the given role and contents.
func New(role Role, contents ...Content) *Message {
	return &Message{Role: role, Contents: contents}
}

// System returns a system message of one text.
func System(text string) *Message { return New(RoleSystem, Text{Text: text}) }

// User returns a user message of one text.
func User(text string) *Message { return New(RoleUser, Text{Text: text}) }

// Assistant returns an assistant message of one text.
func Assistant(text string) *Message { return New(RoleAssistant, Text{Text: text}) }

// Text returns the texts of the message joined with nothing between them. Contents of other kinds, reasoning among
// them, are passed over.
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

// Clone returns a copy that shares nothing that could be changed with m.
func (m *Message) Clone() *Message {
	var c *Message
	if len(m.Contents) == 1 { // as nearly all have: one allocation for both
		both := &struct {
			Message
			contents [1]Content
		}{Message: *m}
		c, both.Contents = &both.Message, both.contents[:]
	} else {
		c = new(*m)
		c.Contents = make([]Content, len(m.Contents))
	}
	for i, content := range m.Contents {
		switch content.(type) {
		case Text, Reasoning, URI, Error: // nothing in it can be changed
			c.Contents[i] = content
		default:
			c.Contents[i] = content.clone()
		}
	}
	if m.Properties != nil {
		c.Properties = make(map[string]jsontext.Value, len(m.Properties))
		for k, v := range m.Properties {
			c.Properties[k] = v.Clone()
		}
	}
	return c
}

// CloneAll clones each message of a list.
func CloneAll(messages []*Message) []*Message {
	if messages == nil {
		return nil
	}
	out := make([]*Message, len(messages))
	for i, m := range messages {
		out[i] = m.Clone()
	}
	return out
}

// JoinText returns the texts of all messages joined with nothing between them.
func JoinText(messages []*Message) string {
	var b strings.Builder
	for _, m := range messages {
		b.WriteString(m.Text())
	}
	return b.String()
}

// sortedProperties are the names of m's properties in a fixed order, so that a message has one JSON form.
func (m *Message) sortedProperties() []string {
	return slices.Sorted(maps.Keys(m.Properties))
}
