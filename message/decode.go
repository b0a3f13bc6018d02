package message

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/weft-run/weft/internal/strictjson"
)

// maxDepth is how deep a message may nest where it is read on its own.
const maxDepth = 256

// Decoder reads messages from JSON strictly: duplicate names, invalid UTF-8, wrong types and roles that do not exist are
// errors that carry the JSON pointer of the place. Members it does not know are passed over and counted.
//
// The zero value is ready to use. It is not safe for concurrent use.
type Decoder struct {
	// RefuseUnknownKinds makes content of an unknown kind an error. By default it is kept as [Unknown].
	RefuseUnknownKinds bool
	// Unknown counts the members that were passed over.
	Unknown int
}

// Message reads the next value of dec as a message. Besides "contents", the short form "text" is taken for a message of
// one text; to give both is an error (clause MSG-3 of abi.md).
func (d *Decoder) Message(dec *jsontext.Decoder) (*Message, error) {
	m := &Message{}
	var short *string
	var hasRole, hasContents bool
	err := strictjson.Object(dec, &d.Unknown, func(name string) (bool, error) {
		var err error
		switch name {
		case "role":
			var role string
			role, err = strictjson.String(dec)
			m.Role, hasRole = Role(role), true
			if err == nil && !m.Role.Valid() {
				err = strictjson.Faultf(dec, "role %q is not one of %s", role, list(Roles))
			}
		case "contents":
			hasContents = true
			m.Contents, err = d.contents(dec)
		case "text":
			var text string
			text, err = strictjson.String(dec)
			short = &text
		case "message_id":
			m.ID, err = strictjson.String(dec)
		case "author_name":
			m.AuthorName, err = strictjson.String(dec)
		case "source_id":
			m.SourceID, err = strictjson.String(dec)
		case "source_type":
			m.SourceType, err = strictjson.String(dec)
		case "attribution":
			m.Attribution, err = strictjson.String(dec)
		case "properties":
			m.Properties, err = strictjson.Members(dec)
		default:
			return false, nil
		}
		return true, err
	})
	switch {
	case err != nil:
		return nil, err
	case !hasRole:
		return nil, strictjson.Faultf(dec, `a message needs a "role": one of %s`, list(Roles))
	case short != nil && hasContents:
		return nil, strictjson.Faultf(dec, `a message has either "text" or "contents", and this one has both`)
	case short != nil:
		m.Contents = []Content{Text{Text: *short}}
	case !hasContents:
		return nil, strictjson.Faultf(dec, `a message needs "contents" or "text", and this one has neither`)
	}
	return m, nil
}

// List reads the next value of dec as an array of messages.
func (d *Decoder) List(dec *jsontext.Decoder) ([]*Message, error) {
	var out []*Message
	err := strictjson.Array(dec, func() error {
		m, err := d.Message(dec)
		out = append(out, m)
		return err
	})
	return out, err
}

// UnmarshalJSON reads a message; see [Decoder] for how strictly.
func (m *Message) UnmarshalJSON(data []byte) error {
	dec, err := strictjson.Decoder(data, maxDepth)
	if err != nil {
		return err
	}
	read, err := new(Decoder).Message(dec)
	if err != nil {
		return err
	}
	if err := strictjson.End(dec); err != nil {
		return err
	}
	*m = *read
	return nil
}

func (d *Decoder) contents(dec *jsontext.Decoder) ([]Content, error) {
	out := []Content{}
	err := strictjson.Array(dec, func() error {
		raw, err := dec.ReadValue()
		if err != nil {
			return err
		}
		at := dec.StackPointer()
		c, err := d.content(raw.Clone())
		if err != nil {
			return strictjson.Under(at, err)
		}
		out = append(out, c)
		return nil
	})
	return out, err
}

// content reads one content. It stands in a buffer of its own, because its type may come last in it.
func (d *Decoder) content(raw jsontext.Value) (Content, error) {
	var kind, text, remember, uri, mediaType, callID, name, message, code, failure string
	var arguments, result, call jsontext.Value
	var approved bool
	seen := map[string]bool{}
	unknown := d.Unknown
	dec, err := strictjson.Decoder(raw, maxDepth)
	if err != nil {
		return nil, err
	}
	err = strictjson.Object(dec, &d.Unknown, func(member string) (bool, error) {
		var err error
		switch member {
		case "type":
			kind, err = strictjson.String(dec)
		case "text":
			text, err = strictjson.String(dec)
		case "uri":
			uri, err = strictjson.String(dec)
		case "media_type":
			mediaType, err = strictjson.String(dec)
		case "call_id":
			callID, err = strictjson.String(dec)
		case "name":
			name, err = strictjson.String(dec)
		case "arguments":
			arguments, err = strictjson.Raw(dec)
		case "result":
			result, err = strictjson.Raw(dec)
		case "error":
			failure, err = strictjson.String(dec)
		case "message":
			message, err = strictjson.String(dec)
		case "code":
			code, err = strictjson.String(dec)
		case "function_call":
			call, err = strictjson.Raw(dec)
		case "approved":
			approved, err = strictjson.Bool(dec)
		case "remember":
			remember, err = strictjson.String(dec)
		default:
			return false, nil
		}
		seen[member] = true
		return true, err
	})
	if err != nil {
		return nil, err
	}
	need := func(members ...string) error {
		for _, m := range members {
			if !seen[m] {
				return strictjson.Faultf(nil, "a content of type %q needs %q", kind, m)
			}
		}
		return nil
	}
	switch Kind(kind) {
	case KindText:
		return Text{Text: text}, need("text")
	case KindReasoning:
		return Reasoning{Text: text}, need("text")
	case KindURI:
		return URI{URI: uri, MediaType: mediaType}, need("uri")
	case KindFunctionCall:
		return FunctionCall{CallID: callID, Name: name, Arguments: arguments}, need("call_id", "name")
	case KindFunctionResult:
		return FunctionResult{CallID: callID, Result: result, Error: failure}, need("call_id")
	case KindError:
		return Error{Message: message, Code: code}, need("message")
	case "":
		return nil, strictjson.Faultf(nil, `a content needs a "type": one of %s`, list(Kinds))
	}
	if approval := Kind(kind); !d.RefuseUnknownKinds && (approval == KindApprovalRequest || approval == KindApprovalResponse) {
		return d.approval(approval, call, approved, Remember(remember), need)
	}
	if d.RefuseUnknownKinds {
		return nil, strictjson.Faultf(nil, "content type %q is not one of %s", kind, list(Kinds))
	}
	d.Unknown = unknown // what belongs to an unknown kind is kept, not passed over
	return Unknown{Type: Kind(kind), JSON: raw}, nil
}

// approval reads the call that an approval is about.
func (d *Decoder) approval(kind Kind, call jsontext.Value, approved bool, remember Remember, need func(...string) error) (Content, error) {
	if err := need("function_call"); err != nil {
		return nil, err
	}
	read, err := d.content(call)
	if err != nil {
		return nil, strictjson.Under("/function_call", err)
	}
	about, ok := read.(FunctionCall)
	switch {
	case !ok:
		return nil, strictjson.Faultf(nil, `a content of type %q needs a "function_call" of type %q`, kind, KindFunctionCall)
	case kind == KindApprovalRequest:
		return ApprovalRequest{Call: about}, nil
	}
	if remember != "" && remember != RememberTool && remember != RememberArguments {
		return nil, strictjson.Faultf(nil, `"remember" is %q, and must be "tool" or "arguments"`, remember)
	}
	return ApprovalResponse{Call: about, Approved: approved, Remember: remember}, need("approved")
}

func list[T ~string](names []T) string {
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = string(n)
	}
	return strings.Join(quoted, ", ")
}
