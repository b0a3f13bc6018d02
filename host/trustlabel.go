package host

import (
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/weft-run/weft/message"
)

// labelled is a response with the label on each message.
func labelled(r *Response) *Response {
	if r == nil || !slices.ContainsFunc(r.Messages, func(m *message.Message) bool { return m != nil && !m.Untrusted }) {
		return r
	}
	own := *r
	own.Messages = make([]*message.Message, len(r.Messages))
	for i, m := range r.Messages {
		if own.Messages[i] = m; m != nil && !m.Untrusted {
			c := *m
			c.Untrusted = true
			own.Messages[i] = &c
		}
	}
	return &own
}

// labelInstead labels the reply that a hook gave in place of the model's.
func (r *run) labelInstead(reply *Response) *Response {
	if len(r.untrusted) == 0 {
		return reply
	}
	return labelled(reply)
}

// trustAll labels no message.
func trustAll(*message.Message) bool { return false }

// labelNew says which messages of a list that takes another's place are to be labelled, where untrusted messages are left
// out or marked: those that say something new, for it may be what the others said. A copy of a trusted message is none.
func labelNew(before, after []*message.Message) func(m *message.Message) bool {
	if !slices.ContainsFunc(before, isUntrusted) {
		return trustAll
	}
	stays := make(map[*message.Message]bool, len(after))
	for _, m := range after {
		stays[m] = true
	}
	if !slices.ContainsFunc(before, func(m *message.Message) bool { return m.Untrusted && !stays[m] }) {
		return trustAll
	}
	known, trusted := make(map[*message.Message]bool, len(before)), map[string]bool{}
	for _, m := range before {
		known[m] = true
		if !m.Untrusted && !stays[m] {
			trusted[said(m)] = true
		}
	}
	delete(trusted, "")
	return func(m *message.Message) bool { return !m.Untrusted && !known[m] && !trusted[said(m)] }
}

// said is all that a message says.
func said(m *message.Message) string {
	raw, err := (&message.Message{Role: m.Role, Contents: m.Contents}).AppendJSON(nil)
	if err != nil {
		return "" // no two are the same
	}
	return string(raw)
}

// labelEdited is a list with the labels of [labelNew].
func labelEdited(before, after []*message.Message) []*message.Message {
	label := labelNew(before, after)
	out := after
	for i, m := range after {
		if !label(m) {
			continue
		}
		if &out[0] == &after[0] {
			out = slices.Clone(after)
		}
		out[i] = m.Clone()
		out[i].Untrusted = true
	}
	return out
}

// labelReply labels what a model made of untrusted text, and remembers it where a service keeps it.
func (r *run) labelReply(reply *Response) (*Response, error) {
	if len(r.untrusted) == 0 {
		return reply, nil
	}
	reply = labelled(reply)
	if reply.ConversationID == "" || !r.hasSession || r.keptUntrusted {
		return reply, nil
	}
	err := r.session.State(untrustedBucket).Update("sources", func(old jsontext.Value) (any, error) {
		var kept []string
		if old != nil {
			if err := json.Unmarshal(old, &kept); err != nil {
				return nil, err
			}
		}
		for _, source := range r.untrusted {
			if !slices.Contains(kept, source) {
				kept = append(kept, source)
			}
		}
		return kept, nil
	})
	r.keptUntrusted = err == nil
	return reply, err
}
