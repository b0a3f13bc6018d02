package host

import (
	"reflect"
	"slices"

	"github.com/weft-run/weft/message"
)

// Changes are what chat or agent middleware made of what passed through it. Messages are told apart by identity, which is
// why they must not be changed in place. Where next was called several times, the most that any of the calls was given.
type Changes struct {
	// Added, Removed and Replaced count messages on the way down: one that is new, one that is missing, and one that is new
	// while another is missing.
	Added, Removed, Replaced int
	// Reordered says that messages which stayed stand in another order.
	Reordered bool
	// Fields are what else of the request it changed: instructions, conversation_id, tools, options.
	Fields []string
	// Result says that it put another result in the place of what next came to, or that it changed that, or gave one without
	// next.
	Result bool
}

// passing is what goes down a layer.
type passing struct {
	messages                     []*message.Message
	instructions, conversationID string
	tools                        []OfferedTool
	options                      Options
}

// watch sees what one middleware does, for its trace.
type watch struct {
	trace  *HookTrace
	before *passing // nil where the layer has no request
	result Response // as it was when the middleware got it
	none   bool     // there was none
}

// watch begins to watch a middleware of the layer.
func (l *layer) watch(t *HookTrace) *watch {
	w := &watch{trace: t}
	if l.passing != nil {
		p := l.passing()
		p.messages, p.tools, p.options = slices.Clone(p.messages), slices.Clone(p.tools), p.options.Clone()
		w.before = &p
		w.keep(l.result())
	}
	return w
}

// keep remembers a result.
func (w *watch) keep(r *Response) {
	if w.none = r == nil; w.none {
		return
	}
	w.result = *r
	w.result.Messages = slices.Clone(r.Messages)
}

// calls is called when the middleware calls next.
func (w *watch) calls(l *layer) {
	w.trace.NextCalls++
	if w.before != nil {
		w.trace.Changes.join(w.before.changes(l.passing()))
	}
}

// returned is called when next returned, before hooks on the stream may put another result in place.
func (w *watch) returned(l *layer) {
	if w.before != nil {
		w.keep(l.result())
	}
}

// over compares the result with what it was.
func (w *watch) over(l *layer) {
	if w.before == nil {
		return
	}
	r := l.result()
	w.trace.Changes.Result = w.none != (r == nil) || r != nil && !sameResponse(w.result, *r)
}

func sameResponse(a, b Response) bool {
	return slices.Equal(a.Messages, b.Messages) && a.ID == b.ID && a.ConversationID == b.ConversationID && a.Model == b.Model &&
		a.FinishReason == b.FinishReason && a.Usage == b.Usage
}

// changes are what was made of what passes.
func (p *passing) changes(now passing) Changes {
	c := changedMessages(p.messages, now.messages)
	field := func(name string, same bool) {
		if !same {
			c.Fields = append(c.Fields, name)
		}
	}
	field("instructions", p.instructions == now.instructions)
	field("conversation_id", p.conversationID == now.conversationID)
	field("tools", slices.EqualFunc(p.tools, now.tools, func(a, b OfferedTool) bool { return sameTool(a.Tool, b.Tool) }))
	field("options", reflect.DeepEqual(p.options, now.options))
	return c
}

// changedMessages compares two lists by identity.
func changedMessages(before, now []*message.Message) (c Changes) {
	if slices.Equal(before, now) {
		return c
	}
	left := make(map[*message.Message]int, len(before))
	for _, m := range before {
		left[m]++
	}
	var stayed []*message.Message // in the order of now
	for _, m := range now {
		if left[m] == 0 {
			c.Added++
			continue
		}
		left[m]--
		stayed = append(stayed, m)
	}
	c.Removed = len(before) - len(stayed)
	c.Replaced = min(c.Added, c.Removed)
	c.Added, c.Removed = c.Added-c.Replaced, c.Removed-c.Replaced
	i := 0
	for _, m := range before {
		if left[m] > 0 {
			left[m]--
			continue
		}
		c.Reordered = c.Reordered || stayed[i] != m
		i++
	}
	return c
}

// join takes over the most of each.
func (c *Changes) join(other Changes) {
	c.Added, c.Removed, c.Replaced = max(c.Added, other.Added), max(c.Removed, other.Removed), max(c.Replaced, other.Replaced)
	c.Reordered = c.Reordered || other.Reordered
	for _, name := range other.Fields {
		if !slices.Contains(c.Fields, name) {
			c.Fields = append(c.Fields, name)
		}
	}
}
