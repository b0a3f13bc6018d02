package message

import (
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/weft-run/weft/internal/strictjson"
)

// quickDepth is how deep a value inside a message may nest for the quick reader.
const quickDepth = 64

// quick reads messages in one pass over their bytes, as [Decoder] reads them, or gives up: at a fault, at a member or a kind
// that it does not know, at anything else out of the ordinary. Then the decoder reads them, and says what is wrong. So
// what is read, and what is refused, never depends on which of the two was at work (FuzzQuick holds them together).
type quick struct {
	data    []byte
	at      int
	keep    slabs
	strict  Decoder   // for what the two do alike
	unquote []byte    // a text that had escapes
	parts   []Content // of the message under way
}

// quickMessage reads one message and nothing behind it.
func quickMessage(data []byte) (*Message, bool) {
	q := quick{data: data}
	m, ok := q.message()
	return m, ok && q.atEnd()
}

// quickList reads an array of messages and nothing behind it. A message at which the quick reader gives up is read by the
// decoder; at a fault in that one, all is given up, so that the error is told with its place in the whole.
func (d *Decoder) quickList(data []byte) (out []*Message, ok bool) {
	q := quick{data: data}
	unknown := d.Unknown
	defer func() {
		if !ok {
			d.Unknown = unknown
		}
	}()
	if !q.take('[') {
		return nil, false
	}
	for more := !q.take(']'); more; more = !q.take(']') {
		if len(out) > 0 && !q.take(',') {
			return nil, false
		}
		q.space()
		start := q.at
		m, ok := q.message()
		if !ok {
			q.at, _ = strictjson.Span(data, start)
			var err error
			if m, err = d.only(data[start:q.at], maxListDepth-1); err != nil {
				return nil, false
			}
		}
		out = append(out, m)
	}
	return out, q.atEnd()
}

func (q *quick) message() (*Message, bool) {
	m := q.keep.message()
	var p messageParts
	ok := q.object(func(name []byte) bool {
		text, has := p.member(m, string(name))
		if has == 0 || p.seen&has != 0 {
			return false
		}
		p.seen |= has
		switch {
		case has == hasRole:
			role, ok := q.text()
			m.Role = known(role, Roles)
			return ok && m.Role != ""
		case text != nil:
			return q.keepText(text)
		case has == hasContents:
			return q.contents(m)
		case has == hasUntrusted:
			return q.keepBool(&m.Untrusted)
		}
		return q.properties(m)
	})
	return m, ok && p.finish(m, nil) == nil
}

func (q *quick) contents(m *Message) bool {
	q.parts = q.parts[:0]
	if !q.take('[') {
		return false
	}
	for more := !q.take(']'); more; more = !q.take(']') {
		if len(q.parts) > 0 && !q.take(',') {
			return false
		}
		c, ok := q.content()
		if !ok {
			return false
		}
		q.parts = append(q.parts, c)
	}
	m.Contents = q.keep.contents(q.parts)
	return true
}

func (q *quick) content() (Content, bool) {
	var p contentParts
	ok := q.object(func(name []byte) bool {
		text, value, has := p.member(string(name))
		if has == 0 || p.seen&has != 0 {
			return false
		}
		p.seen |= has
		switch {
		case has == hasType:
			kind, ok := q.text()
			p.kind = string(known(kind, Kinds))
			return ok && p.kind != ""
		case text != nil:
			return q.keepText(text)
		case value != nil:
			return q.keepValue(value)
		}
		return false
	})
	if !ok {
		return nil, false
	}
	c, err := p.finish(&q.strict)
	return c, err == nil
}

func (q *quick) properties(m *Message) bool {
	m.Properties = map[string]jsontext.Value{}
	return q.object(func(name []byte) bool {
		if _, twice := m.Properties[string(name)]; twice {
			return false
		}
		var value jsontext.Value
		ok := q.keepValue(&value)
		m.Properties[string(name)] = value
		return ok
	})
}

// object reads an object; member reads the value of each member.
func (q *quick) object(member func(name []byte) bool) bool {
	if !q.take('{') {
		return false
	}
	for first := true; !q.take('}'); first = false {
		if !first && !q.take(',') {
			return false
		}
		name, ok := q.text()
		if !ok || !q.take(':') || !member(name) {
			return false
		}
	}
	return true
}

// text reads a string. It stands in a buffer until the next one is read.
func (q *quick) text() ([]byte, bool) {
	if !q.take('"') {
		return nil, false
	}
	start, ascii := q.at, true
	for i := start; i < len(q.data); i++ {
		switch c := q.data[i]; {
		case c == '"':
			q.at = i + 1
			text := q.data[start:i]
			return text, ascii || utf8.Valid(text)
		case c == '\\':
			end, _ := strictjson.Span(q.data, start-1)
			var err error
			q.unquote, err = jsontext.AppendUnquote(q.unquote[:0], q.data[start-1:end])
			q.at = end
			return q.unquote, err == nil
		case c < ' ':
			return nil, false
		case c >= utf8.RuneSelf:
			ascii = false
		}
	}
	return nil, false
}

// keepText reads a string into its place.
func (q *quick) keepText(into *string) bool {
	text, ok := q.text()
	*into = q.keep.text(text)
	return ok
}

// keepValue reads any value into its place.
func (q *quick) keepValue(into *jsontext.Value) bool {
	q.space()
	end, depth := strictjson.Span(q.data, q.at)
	value := jsontext.Value(q.data[q.at:end])
	if depth > quickDepth || !value.IsValid() {
		return false
	}
	*into, q.at = value.Clone(), end
	return true
}

// keepBool reads true or false into its place.
func (q *quick) keepBool(into *bool) bool {
	var value jsontext.Value
	ok := q.keepValue(&value)
	*into = value.Kind() == 't'
	return ok && (*into || value.Kind() == 'f')
}

// take steps over white space and one delimiter, if that is what follows.
func (q *quick) take(delimiter byte) bool {
	q.space()
	if q.at < len(q.data) && q.data[q.at] == delimiter {
		q.at++
		return true
	}
	return false
}

func (q *quick) space() {
	for q.at < len(q.data) {
		switch q.data[q.at] {
		case ' ', '\t', '\r', '\n':
			q.at++
		default:
			return
		}
	}
}

func (q *quick) atEnd() bool {
	q.space()
	return q.at == len(q.data)
}

// known is the name that text is, or empty.
func known[T ~string](text []byte, names []T) T {
	for _, n := range names {
		if string(text) == string(n) {
			return n
		}
	}
	return ""
}

// slabs gives out the memory of messages in pieces of at most slabMessages messages and slabText bytes: few large
// allocations are cheaper than many small ones, and whoever keeps one message keeps no more than its neighbours alive.
type slabs struct {
	made     int
	messages []Message
	slots    []Content
	texts    strings.Builder
	room     int // in texts
}

const (
	slabMessages = 64
	slabText     = 4 << 10
)

// message is a new message. The first one, which may be the only one, stands alone.
func (s *slabs) message() *Message {
	if len(s.messages) == 0 {
		s.messages = make([]Message, min(max(s.made, 1), slabMessages))
	}
	m := &s.messages[0]
	s.messages = s.messages[1:]
	s.made++
	return m
}

// contents is a copy of a list, with no room behind it.
func (s *slabs) contents(of []Content) []Content {
	n := len(of)
	if n == 0 || n > slabMessages/4 {
		return append([]Content{}, of...)
	}
	if n > len(s.slots) {
		s.slots = make([]Content, min(max(s.made, n), slabMessages))
	}
	out := s.slots[:n:n]
	s.slots = s.slots[n:]
	copy(out, of)
	return out
}

// text is a copy of a text.
func (s *slabs) text(b []byte) string {
	if len(b) > slabText/4 {
		return string(b)
	}
	if len(b) > s.room {
		s.room = min(s.made*64, slabText)
		if len(b) > s.room {
			s.room = 0
			return string(b)
		}
		s.texts = strings.Builder{}
		s.texts.Grow(s.room)
	}
	s.room -= len(b)
	from := s.texts.Len()
	s.texts.Write(b)
	return s.texts.String()[from:]
}
