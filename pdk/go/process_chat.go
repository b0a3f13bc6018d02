package pdk

import "github.com/weft-run/weft/pdk/go/json"

// ChatContext is a model call as middleware around it sees it. What is changed before [ChatContext.Next] is what the model
// gets, and what it gets in each further call; it is not stored.
type ChatContext struct {
	Base
	// Name and Data are what [ContextOut.ExtendMiddleware] said; empty where the middleware stands in the configuration.
	Name string
	Data json.Raw
	// Options are the call's, an object, as they came in. Right: read "options". See [ChatContext.Option].
	Options json.Raw
	// Streaming says that the answer goes out in pieces.
	Streaming bool

	request json.Raw
	options members
	text    *string // of instructions that were set

	// list is what Messages returns, once it was asked for or replaced: what the host has with the changes in it. Changes
	// that the host does not know yet are the whole list, if replaced, or splices.
	list     []Message
	known    bool
	replaced bool
	splices  []splice

	replyPart
	endPart
}

// splice is a change of a list of messages.
type splice struct {
	start, remove int
	atEnd         bool
	insert        []Message
}

// Request tells of the model call what is not its messages, as it came in. Right: read "request".
func (c *ChatContext) Request() ModelRequest {
	request := readPart[ModelRequest]("request", c.request)
	if request == nil {
		return ModelRequest{}
	}
	return *request
}

// Messages returns what the model is sent, as it stands. It is fetched from the host, all of it, when it is first asked
// for: [ChatContext.Last] is cheaper where the last ones will do. Right: read "request".
func (c *ChatContext) Messages() []Message {
	if !c.known {
		c.list, c.known = fetch(Range{Part: PartRequest}), true
		for _, s := range c.splices {
			c.list = s.of(c.list)
		}
	}
	return c.list
}

// Last returns the last n messages that the model is sent, or all where there are fewer. Right: read "request".
func (c *ChatContext) Last(n int) []Message {
	if !c.known && len(c.splices) == 0 {
		return last(PartRequest, "", n)
	}
	all := c.Messages()
	return all[max(0, len(all)-max(n, 0)):]
}

// SetMessages replaces all messages. Right: change "messages".
func (c *ChatContext) SetMessages(messages ...Message) {
	c.list, c.known, c.replaced, c.splices = messages, true, true, nil
}

// Splice removes as many messages as it is told at start, which counts from the end where it is below 0, and puts others
// there. The messages that stay are not fetched for it, and keep what a plugin cannot write. A place outside of the list is
// an error of Next. Right: change "messages".
func (c *ChatContext) Splice(start, remove int, insert ...Message) {
	c.splice(splice{start: start, remove: remove, insert: insert})
}

// Append adds messages at the end. Right: change "messages".
func (c *ChatContext) Append(messages ...Message) { c.splice(splice{atEnd: true, insert: messages}) }

func (c *ChatContext) splice(s splice) {
	if c.known {
		c.list = s.of(c.list)
	}
	if !c.replaced {
		c.splices = append(c.splices, s)
	}
}

// of carries the change out on a copy of a list, as the host does.
func (s splice) of(list []Message) []Message {
	start := len(list)
	switch {
	case s.atEnd:
	case s.start < 0:
		start = max(0, start+s.start)
	default:
		start = min(start, s.start)
	}
	end := min(len(list), start+max(0, s.remove))
	all := make([]Message, 0, len(list)+len(s.insert))
	all = append(all, list[:start]...)
	all = append(all, s.insert...)
	return append(all, list[end:]...)
}

// SetInstructions replaces the instructions. Right: change "messages".
func (c *ChatContext) SetInstructions(instructions string) { c.text = &instructions }

// Option returns an option as it stands, or "" where it is not set. Right: read "options".
func (c *ChatContext) Option(name string) json.Raw { return optionOf(c.options, c.Options, name) }

// SetOption sets an option of the call. Right: change "options".
func (c *ChatContext) SetOption(name string, value json.Raw) { c.options.set(name, value) }

// Next calls the model. Afterwards [ChatContext.Response] is its reply. It may be called again. The error is an [*Error]:
// a hook that does not handle it returns it as it is.
func (c *ChatContext) Next() error {
	list, replaced, splices := c.list, c.replaced, c.splices
	// Middleware further in may change the list as well, so it is fetched anew.
	c.list, c.known, c.replaced, c.splices = nil, false, false, nil
	return c.next(func(w *json.Writer) {
		if replaced {
			w.Name("messages")
			writeMessages(w, list)
		} else if len(splices) > 0 {
			w.Name("splice")
			writeAll(w, splices)
		}
		if c.text != nil {
			w.Name("instructions").String(*c.text)
		}
		c.options.write(w, "options")
	}, nil)
}

func (c *ChatContext) begin(in *In) {
	c.Base, c.Options, c.request = in.Base, in.Options, in.rest.get("request")
	c.Name, c.Data, c.Streaming = in.rest.text("name"), in.rest.get("data"), in.rest.flag("streaming")
}

func (c *ChatContext) write(w *json.Writer) {
	writeResponse(w, c.set)
	c.endPart.write(w)
}

// WriteJSON writes the change.
func (s *splice) WriteJSON(w *json.Writer) {
	w.Object(func() {
		if !s.atEnd {
			w.Name("start").Int(s.start)
		}
		if s.remove != 0 {
			w.Name("delete").Int(s.remove)
		}
		if len(s.insert) > 0 {
			w.Name("insert")
			writeMessages(w, s.insert)
		}
	})
}
