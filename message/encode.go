package message

import (
	"fmt"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// AppendJSON appends the message's JSON form to b: role and contents, then what else is set, in a fixed order. It
// fails for a role that does not exist, for text that is not valid UTF-8, and for a raw value that is not valid JSON.
func (m *Message) AppendJSON(b []byte) ([]byte, error) {
	if !m.Role.Valid() {
		return b, fmt.Errorf("role %q is not one of %s", m.Role, list(Roles))
	}
	b = append(b, `{"role":"`...)
	b = append(b, m.Role...)
	b = append(b, `","contents":`...)
	b, err := AppendContents(b, m.Contents)
	if err != nil {
		return b, fmt.Errorf("contents/%w", err)
	}
	for _, f := range [...]struct{ name, value string }{
		{"message_id", m.ID},
		{"author_name", m.AuthorName},
		{"source_id", m.SourceID},
		{"source_type", m.SourceType},
		{"attribution", m.Attribution},
	} {
		if f.value == "" {
			continue
		}
		if b, err = appendMember(b, f.name, f.value); err != nil {
			return b, err
		}
	}
	if m.Untrusted {
		b = append(b, `,"untrusted":true`...)
	}
	if len(m.Properties) > 0 {
		b = append(b, `,"properties":{`...)
		for i, name := range m.sortedProperties() {
			if i > 0 {
				b = append(b, ',')
			}
			if b, err = jsontext.AppendQuote(b, name); err != nil {
				return b, fmt.Errorf("properties: %w", err)
			}
			b = append(b, ':')
			if b, err = appendRaw(b, m.Properties[name]); err != nil {
				return b, fmt.Errorf("properties/%s: %w", name, err)
			}
		}
		b = append(b, '}')
	}
	return append(b, '}'), nil
}

// AppendContents appends a JSON array of contents to b. It fails as [Message.AppendJSON] does.
func AppendContents(b []byte, contents []Content) ([]byte, error) {
	b = append(b, '[')
	var err error
	for i, c := range contents {
		if i > 0 {
			b = append(b, ',')
		}
		if b, err = c.appendJSON(b); err != nil {
			return b, fmt.Errorf("%d: %w", i, err)
		}
	}
	return append(b, ']'), nil
}

// AppendList appends a JSON array of messages to b.
func AppendList(b []byte, messages []*Message) ([]byte, error) {
	b = append(b, '[')
	var err error
	for i, m := range messages {
		if i > 0 {
			b = append(b, ',')
		}
		if b, err = m.AppendJSON(b); err != nil {
			return b, fmt.Errorf("%d/%w", i, err)
		}
	}
	return append(b, ']'), nil
}

// MarshalJSON returns what [Message.AppendJSON] appends.
func (m *Message) MarshalJSON() ([]byte, error) { return m.AppendJSON(nil) }

// appendMember appends `,"name":"value"`.
func appendMember(b []byte, name, value string) ([]byte, error) {
	b = append(b, ',', '"')
	b = append(b, name...)
	b = append(b, '"', ':')
	b, err := jsontext.AppendQuote(b, value)
	if err != nil {
		return b, fmt.Errorf("%s: %w", name, err)
	}
	return b, nil
}

// appendRaw appends a value that somebody else wrote: checked, and otherwise left as it is.
func appendRaw(b []byte, v jsontext.Value) ([]byte, error) {
	if len(v) == 0 {
		return append(b, "null"...), nil
	}
	if !v.IsValid() {
		return b, fmt.Errorf("not valid JSON: %.40q", []byte(v))
	}
	return append(b, v...), nil
}

func (t Text) appendJSON(b []byte) ([]byte, error) {
	return closing(appendMember(append(b, `{"type":"text"`...), "text", t.Text))
}

func (r Reasoning) appendJSON(b []byte) ([]byte, error) {
	return closing(appendMember(append(b, `{"type":"reasoning"`...), "text", r.Text))
}

func (u URI) appendJSON(b []byte) ([]byte, error) {
	b, err := appendMember(append(b, `{"type":"uri"`...), "uri", u.URI)
	if err == nil && u.MediaType != "" {
		b, err = appendMember(b, "media_type", u.MediaType)
	}
	return closing(b, err)
}

func (c FunctionCall) appendJSON(b []byte) ([]byte, error) {
	b, err := appendMember(append(b, `{"type":"function_call"`...), "call_id", c.CallID)
	if err == nil {
		b, err = appendMember(b, "name", c.Name)
	}
	if err == nil && len(c.Arguments) > 0 {
		b, err = appendRaw(append(b, `,"arguments":`...), c.Arguments)
	}
	return closing(b, err)
}

func (r FunctionResult) appendJSON(b []byte) ([]byte, error) {
	b, err := appendMember(append(b, `{"type":"function_result"`...), "call_id", r.CallID)
	if err == nil {
		b, err = appendRaw(append(b, `,"result":`...), r.Result)
	}
	if err == nil && r.Error != "" {
		b, err = appendMember(b, "error", r.Error)
	}
	return closing(b, err)
}

func (e Error) appendJSON(b []byte) ([]byte, error) {
	b, err := appendMember(append(b, `{"type":"error"`...), "message", e.Message)
	if err == nil && e.Code != "" {
		b, err = appendMember(b, "code", e.Code)
	}
	return closing(b, err)
}

func (r ApprovalRequest) appendJSON(b []byte) ([]byte, error) {
	b, err := r.Call.appendJSON(append(b, `{"type":"function_approval_request","function_call":`...))
	if err == nil && r.Reason != "" {
		b, err = appendMember(b, "reason", r.Reason)
	}
	return closing(b, err)
}

func (r ApprovalResponse) appendJSON(b []byte) ([]byte, error) {
	b = append(b, `{"type":"function_approval_response","approved":`...)
	b = strconv.AppendBool(b, r.Approved)
	if r.Remember != "" {
		var err error
		if b, err = jsontext.AppendQuote(append(b, `,"remember":`...), r.Remember); err != nil {
			return b, err
		}
	}
	return closing(r.Call.appendJSON(append(b, `,"function_call":`...)))
}

func (u Unknown) appendJSON(b []byte) ([]byte, error) { return appendRaw(b, u.JSON) }

func closing(b []byte, err error) ([]byte, error) { return append(b, '}'), err }
