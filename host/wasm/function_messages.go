package wasm

import (
	"context"
	"fmt"

	"github.com/weft-run/weft/abi"
	"github.com/weft-run/weft/message"
)

// getMessages gives a plugin messages of the run (clause HF-3). What it costs grows with what is asked for, and not with what
// there is.
func getMessages(_ context.Context, c *call, input []byte) ([]byte, error) {
	const name = "get_messages"
	in, err := readInput(c, name, input, abi.DecodeGetMessages)
	if err != nil {
		return nil, err
	}
	out := newAnswer()
	out.key("ranges")
	out.b = append(out.b, '[')
	for i, r := range in.Ranges {
		lists, err := c.messagesOf(r)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			out.b = append(out.b, ',')
		}
		if err := c.writeRange(out, r, lists); err != nil {
			return nil, err
		}
	}
	out.b = append(out.b, ']')
	return c.answer(name, out)
}

// messagesOf are the messages of a part that the plugin may read, as the lists that they stand in.
func (c *call) messagesOf(r abi.Range) ([][]*message.Message, error) {
	if r.Part == "context" {
		return c.contextMessages(r.SourceID)
	}
	g := &c.version.grants
	if !g.CanRead(r.Part) {
		return nil, denied("get_messages of the part "+r.Part, listed("read", g.Read, r.Part))
	}
	list := map[string]func() []*message.Message{
		"input": c.parts.input, "request": c.parts.request, "response": c.parts.response,
	}[r.Part]
	if list == nil {
		return nil, c.noPart(r.Part)
	}
	return [][]*message.Message{list()}, nil
}

// contextMessages are those of one source, or, without a name, of all that may be read.
func (c *call) contextMessages(sourceID string) ([][]*message.Message, error) {
	v, own := c.version, ""
	if c.parts.sc != nil {
		own = c.parts.sc.SourceID()
	}
	if sourceID != "" && sourceID != own && !v.grants.CanReadSource(sourceID) {
		return nil, denied(fmt.Sprintf("get_messages of the source %.64q", sourceID), listed("read", v.grants.Read, "context:"+sourceID))
	}
	if c.parts.sc == nil {
		return nil, c.noPart("context")
	}
	var lists [][]*message.Message
	for _, s := range c.parts.sc.Sources() {
		if sourceID != "" && s.SourceID != sourceID || s.SourceID != own && !v.grants.CanReadSource(s.SourceID) {
			continue
		}
		lists = append(lists, s.Messages)
	}
	return lists, nil
}

func (c *call) noPart(part string) error {
	where := string(c.hook)
	if c.hook == abi.HookProcess || c.hook == abi.HookOnUpdate {
		where += " at the layer " + string(c.layer)
	}
	return notFound("get_messages: there is no %s in %s", part, where)
}

// writeRange writes what a range holds, and stops where that is too much.
func (c *call) writeRange(out *view, r abi.Range, lists [][]*message.Message) error {
	total := 0
	for _, list := range lists {
		total += len(list)
	}
	start := r.Start
	if start < 0 {
		start = max(0, start+total)
	}
	start = min(start, total)
	left := total - start
	if r.Count != nil {
		left = min(left, *r.Count)
	}
	out.b = append(out.b, `{"messages":[`...)
	first, skip := true, start
	for _, list := range lists {
		from := min(skip, len(list))
		skip -= from
		for _, m := range list[from:min(len(list), from+left)] {
			if !first {
				out.b = append(out.b, ',')
			}
			first = false
			b, err := m.AppendJSON(out.b)
			if err != nil {
				return unwritable("get_messages", err)
			}
			out.b = b
			if err := c.checkAnswer("get_messages", b); err != nil {
				return err
			}
			left--
		}
	}
	out.b = append(out.b, ']')
	out.number("start", start)
	out.number("total", total)
	out.b = append(out.b, '}')
	return nil
}
