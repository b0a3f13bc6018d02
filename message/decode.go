package message

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/weft-run/weft/internal/strictjson"
)

// How deep a message may nest where it is read on its own, and a list.
const (
	maxDepth     = 256
	maxListDepth = 512
)

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
	var p messageParts
	err := strictjson.Object(dec, &d.Unknown, func(name string) (bool, error) {
		var err error
		text, has := p.member(m, name)
		p.seen |= has
		switch {
		case text != nil:
			*text, err = strictjson.String(dec)
			if name == "role" {
				if m.Role = Role(p.role); err == nil && !m.Role.Valid() {
					err = strictjson.Faultf(dec, "role %q is not one of %s", p.role, list(Roles))
				}
			}
		case has == hasContents:
			m.Contents, err = d.Contents(dec)
		case has == hasUntrusted:
			m.Untrusted, err = strictjson.Bool(dec)
		case has == hasProperties:
			m.Properties, err = strictjson.Members(dec)
		default:
			return false, nil
		}
		return true, err
	})
	if err == nil {
		err = p.finish(m, dec)
	}
	if err != nil {
		return nil, err
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

// DecodeList reads an array of messages, as [AppendList] writes it, and nothing behind it; it may nest 512 levels. It reads
// what [Decoder.List] reads, and the usual form of messages several times faster. The messages share nothing with data, and
// up to 64 neighbours stand in the same memory.
func (d *Decoder) DecodeList(data []byte) ([]*Message, error) {
	if out, ok := d.quickList(data); ok {
		return out, nil
	}
	dec, err := strictjson.Decoder(data, maxListDepth)
	if err != nil {
		return nil, err
	}
	out, err := d.List(dec)
	if err == nil {
		err = strictjson.End(dec)
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}

// UnmarshalJSON reads a message; see [Decoder] for how strictly.
func (m *Message) UnmarshalJSON(data []byte) error {
	if read, ok := quickMessage(data); ok {
		*m = *read
		return nil
	}
	read, err := new(Decoder).only(data, maxDepth)
	if err != nil {
		return err
	}
	*m = *read
	return nil
}

// only reads a message and nothing behind it.
func (d *Decoder) only(data []byte, maxDepth int) (*Message, error) {
	dec, err := strictjson.Decoder(data, maxDepth)
	if err != nil {
		return nil, err
	}
	m, err := d.Message(dec)
	if err != nil {
		return nil, err
	}
	return m, strictjson.End(dec)
}

// Contents reads the next value of dec as an array of contents.
func (d *Decoder) Contents(dec *jsontext.Decoder) ([]Content, error) {
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
	p := contentParts{}
	unknown := d.Unknown
	dec, err := strictjson.Decoder(raw, maxDepth)
	if err != nil {
		return nil, err
	}
	err = strictjson.Object(dec, &d.Unknown, func(name string) (bool, error) {
		var err error
		text, value, has := p.member(name)
		p.seen |= has
		switch {
		case text != nil:
			*text, err = strictjson.String(dec)
		case value != nil:
			*value, err = strictjson.Raw(dec)
		case has == hasApproved:
			p.approved, err = strictjson.Bool(dec)
		default:
			return false, nil
		}
		return true, err
	})
	if err != nil {
		return nil, err
	}
	c, err := p.finish(d)
	if c == nil && err == nil {
		d.Unknown = unknown // what belongs to an unknown kind is kept, not passed over
		c = Unknown{Type: Kind(p.kind), JSON: raw}
	}
	return c, err
}

func list[T ~string](names []T) string {
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = string(n)
	}
	return strings.Join(quoted, ", ")
}
