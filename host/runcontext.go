package host

import (
	"slices"

	"github.com/weft-run/weft/message"
)

// runContext is what providers added to a run so far. Each part knows the place of its provider, so that a wrapping
// provider's new try can drop what stands behind it.
type runContext struct {
	messages     []contribution
	instructions []instruction
	tools        []providerTool
	middleware   []providerMiddleware
	replaced     []replacement
}

type contribution struct {
	sourceID  string
	pos       int
	messages  []*message.Message
	plain     bool // none of the messages asks: known where a history looked at each once, and not in each run
	untrusted bool // one of them is
}

// asks reports whether a message holds a request for approval or an answer to one.
func asks(m *message.Message) bool {
	return slices.ContainsFunc(m.Contents, func(c message.Content) bool {
		kind := c.Kind()
		return kind == message.KindApprovalRequest || kind == message.KindApprovalResponse
	})
}

// asks reports whether any context message does.
func (c *runContext) asks() bool {
	return slices.ContainsFunc(c.messages, func(c contribution) bool { return !c.plain && slices.ContainsFunc(c.messages, asks) })
}

type instruction struct {
	pos  int
	text string
}

type providerTool struct {
	pos int
	OfferedTool
}

type providerMiddleware struct {
	pos int
	Middleware
}

// replacement remembers what a provider replaced, so that it can be taken back.
type replacement struct {
	pos    int
	before []contribution // as they were
	sizes  []int          // how many messages took their place
}

// replace puts other messages in the place of each source's.
func (c *runContext) replace(pos int, after [][]*message.Message) {
	r := replacement{pos: pos, before: slices.Clone(c.messages), sizes: make([]int, len(after))}
	for i := range c.messages {
		c.messages[i].messages, r.sizes[i] = slices.Clip(after[i]), len(after[i])
		c.messages[i].plain, c.messages[i].untrusted = false, slices.ContainsFunc(after[i], isUntrusted)
	}
	c.replaced = append(c.replaced, r)
}

// labelNew says which new messages of those that are to stand in the context are untrusted.
func (c *runContext) labelNew(after []*message.Message) func(m *message.Message) bool {
	if !slices.ContainsFunc(c.messages, func(c contribution) bool { return c.untrusted }) {
		return trustAll
	}
	return labelNew(c.all(), after)
}

// restore takes back all replacements but the first n. What was added since then stays.
func (c *runContext) restore(n int) {
	for _, r := range slices.Backward(c.replaced[n:]) {
		for i, was := range r.before {
			at := slices.IndexFunc(c.messages, func(now contribution) bool { return now.sourceID == was.sourceID })
			if at >= 0 {
				now := &c.messages[at]
				now.untrusted = now.untrusted || was.untrusted
				now.messages = slices.Concat(was.messages, now.messages[min(r.sizes[i], len(now.messages)):])
			}
		}
	}
	c.replaced = c.replaced[:n]
}

// dropAfter takes back what providers behind pos replaced and removes what they added.
func (c *runContext) dropAfter(pos int) {
	n := len(c.replaced)
	for n > 0 && c.replaced[n-1].pos > pos {
		n--
	}
	c.restore(n)
	c.messages = slices.DeleteFunc(c.messages, func(m contribution) bool { return m.pos > pos })
	c.instructions = slices.DeleteFunc(c.instructions, func(i instruction) bool { return i.pos > pos })
	c.tools = slices.DeleteFunc(c.tools, func(t providerTool) bool { return t.pos > pos })
	c.middleware = slices.DeleteFunc(c.middleware, func(m providerMiddleware) bool { return m.pos > pos })
}

// contextMark remembers how much one provider had added, so that a skipped hook leaves nothing behind.
type contextMark struct {
	messages            int
	instructions, tools int
	middleware          int
	replaced            int
}

func (c *runContext) mark(sourceID string) contextMark {
	m := contextMark{instructions: len(c.instructions), tools: len(c.tools), middleware: len(c.middleware), replaced: len(c.replaced)}
	for _, e := range c.messages {
		if e.sourceID == sourceID {
			m.messages = len(e.messages)
		}
	}
	return m
}

// since counts what was added after a mark.
func (c *runContext) since(m contextMark, sourceID string) contextMark {
	now := c.mark(sourceID)
	return contextMark{now.messages - m.messages, now.instructions - m.instructions, now.tools - m.tools, now.middleware - m.middleware, now.replaced - m.replaced}
}
