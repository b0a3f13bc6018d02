package pdk

import "github.com/weft-run/weft/pdk/go/json"

// AgentContext is a run as middleware around it sees it. What is changed before [AgentContext.Next] is what the run gets,
// and each further one.
type AgentContext struct {
	Base
	// Options are the run's own, an object, as they came in; they go before the agent's. Right: read "options". See
	// [AgentContext.Option].
	Options json.Raw
	// Streaming says that the answer goes out in pieces.
	Streaming bool

	input   json.Raw
	list    []Message
	changed bool
	options members
	replyPart
	endPart
}

// Messages returns the run's new messages, as they stand. Right: read "input".
func (c *AgentContext) Messages() []Message {
	if c.list == nil {
		c.list = readMessages("input", c.input)
	}
	return c.list
}

// SetMessages replaces the run's new messages. What stands here is sent, and stored as input. Right: change "messages".
func (c *AgentContext) SetMessages(messages ...Message) { c.list, c.changed = messages, true }

// Append adds messages behind the run's new ones. Rights: read "input", change "messages".
func (c *AgentContext) Append(messages ...Message) {
	have := c.Messages()
	c.SetMessages(append(have[:len(have):len(have)], messages...)...)
}

// Option returns an option as it stands, or "" where it is not set. Right: read "options".
func (c *AgentContext) Option(name string) json.Raw { return optionOf(c.options, c.Options, name) }

// SetOption sets one of the run's options. Right: change "options".
func (c *AgentContext) SetOption(name string, value json.Raw) { c.options.set(name, value) }

// Next makes the run. Afterwards [AgentContext.Response] is what it came to. It may be called again, which makes another
// run. The error is an [*Error]: a hook that does not handle it returns it as it is.
func (c *AgentContext) Next() error {
	changed := c.changed
	c.changed = false
	return c.next(func(w *json.Writer) {
		if changed {
			w.Name("input")
			writeMessages(w, c.list)
		}
		c.options.write(w, "options")
	}, nil)
}

func (c *AgentContext) begin(in *In) {
	c.Base, c.Options, c.Streaming, c.input = in.Base, in.Options, in.rest.flag("streaming"), in.input
}

func (c *AgentContext) write(w *json.Writer) {
	writeResponse(w, c.set)
	c.endPart.write(w)
}

// optionOf is an option as it stands: one that was set, or else the one that came in.
func optionOf(set members, given json.Raw, name string) json.Raw {
	if value := set.get(name); value != "" {
		return value
	}
	return memberOf("options", given, name)
}
