package compaction

import (
	"slices"

	"github.com/weft-run/weft/message"
)

// Important is the attribution of messages that stay as long as anything else can go.
const Important = "important"

// group is what stays or goes as a whole.
type group struct {
	at        []int // the places of its messages, ascending
	calls     []message.FunctionCall
	results   []message.FunctionResult
	system    bool
	important bool
	summary   bool
	asks      bool // for approval of a call
	// pinned groups never go.
	pinned bool
}

// open reports whether a call of the group has no result yet.
func (g *group) open() bool {
	return slices.ContainsFunc(g.calls, func(c message.FunctionCall) bool {
		return !slices.ContainsFunc(g.results, func(r message.FunctionResult) bool { return r.CallID == c.CallID })
	})
}

func (g *group) last() int { return g.at[len(g.at)-1] }

// grouper puts messages into groups one after the other.
type grouper struct {
	groups []*group
	byCall map[string]*group // the group of the latest call with that id
}

// add puts the message at place i into the group of the calls that it is about, or into one of its own.
func (b *grouper) add(i int, m *message.Message) {
	var g *group
	var calls []message.FunctionCall
	var results []message.FunctionResult
	asks := false
	for _, c := range m.Contents {
		callID, about := "", false // an id may be empty: some models give none
		switch c := c.(type) {
		case message.FunctionCall:
			calls = append(calls, c)
		case message.FunctionResult:
			results = append(results, c)
			callID, about = c.CallID, true
		case message.ApprovalRequest:
			asks = true
			callID, about = c.Call.CallID, true
		case message.ApprovalResponse:
			if m.Text() == "" { // what somebody said beside it is a message like any other
				callID, about = c.Call.CallID, true
			}
		}
		if other := b.byCall[callID]; about && other != nil {
			g = b.join(g, other)
		}
	}
	if g == nil && m.Role == message.RoleTool && len(b.groups) > 0 {
		// Results of calls that are not here, such as those that a service keeps, belong together.
		if before := b.groups[len(b.groups)-1]; before.last() == i-1 && len(before.results) > 0 && len(before.calls) == 0 {
			g = before
		}
	}
	if g == nil {
		g = &group{system: m.Role == message.RoleSystem}
		b.groups = append(b.groups, g)
	}
	g.at = append(g.at, i)
	g.calls, g.results = append(g.calls, calls...), append(g.results, results...)
	g.important = g.important || m.Attribution == Important
	g.summary = g.summary || isSummary(m)
	g.asks = g.asks || asks
	for _, c := range calls {
		b.byCall[c.CallID] = g
	}
}

// join makes one group of two; a may be nil.
func (b *grouper) join(a, other *group) *group {
	if a == nil || a == other {
		return other
	}
	a.at = append(a.at, other.at...)
	slices.Sort(a.at)
	a.calls, a.results = append(a.calls, other.calls...), append(a.results, other.results...)
	a.important, a.asks = a.important || other.important, a.asks || other.asks
	a.summary = a.summary || other.summary
	b.groups = slices.DeleteFunc(b.groups, func(g *group) bool { return g == other })
	for id, g := range b.byCall {
		if g == other {
			b.byCall[id] = a
		}
	}
	return a
}

// grouped puts messages into groups, oldest first: a group is as old as its last message. own is the run's own question,
// or nil.
func grouped(messages []*message.Message, own *message.Message) []*group {
	b := grouper{groups: make([]*group, 0, len(messages)), byCall: map[string]*group{}}
	for i, m := range messages {
		b.add(i, m)
	}
	slices.SortFunc(b.groups, func(x, y *group) int { return x.last() - y.last() })
	at := placeOf(messages, own)
	newest := true
	for _, g := range slices.Backward(b.groups) {
		g.pinned = newest && !g.system || slices.Contains(g.at, at) || g.asks && g.open()
		newest = newest && g.system
	}
	return b.groups
}

// placeOf is the place of the run's own question, -1 where it is not there. Middleware may have put a copy in its place:
// then it is the last user message with the same text.
func placeOf(messages []*message.Message, own *message.Message) int {
	if own == nil {
		return -1
	}
	if at := slices.Index(messages, own); at >= 0 {
		return at
	}
	text := own.Text()
	for i, m := range slices.Backward(messages) {
		if m.Role == own.Role && m.Text() == text {
			return i
		}
	}
	return -1
}

// leaving orders the groups that may go by when they go: oldest first, then summaries, which stand for more than they
// are, and important ones last.
func leaving(groups []*group) []*group {
	return inTurn(groups, func(g *group) int {
		switch {
		case g.important:
			return 2
		case g.summary:
			return 1
		}
		return 0
	})
}

// inTurn orders the groups that may go by their turn, and those of one turn oldest first.
func inTurn(groups []*group, turn func(*group) int) []*group {
	may := slices.DeleteFunc(slices.Clone(groups), func(g *group) bool { return g.pinned })
	slices.SortStableFunc(may, func(a, b *group) int { return turn(a) - turn(b) })
	return may
}

// surplus are the groups that go so that the last few stay. Pinned groups outside of those few stay beside them.
func surplus(groups []*group, keep int) []*group {
	return leaving(groups)[:outside(groups, keep)]
}

// outside is how many groups that may go are not among the last few.
func outside(groups []*group, keep int) int {
	n := 0
	for _, g := range groups[:max(0, len(groups)-keep)] {
		if !g.pinned {
			n++
		}
	}
	return n
}

// without returns the messages that belong to none of the groups, in a list of its own if there are any such groups.
func without(messages []*message.Message, gone []*group) []*message.Message {
	return replaced(messages, gone, func(*group) *message.Message { return nil })
}

// replaced puts one message in the place of each of the groups, or none where there is nil for it.
func replaced(messages []*message.Message, gone []*group, instead func(*group) *message.Message) []*message.Message {
	if len(gone) == 0 {
		return messages
	}
	goes := map[int]*message.Message{}
	for _, g := range gone {
		for _, i := range g.at {
			goes[i] = nil
		}
		goes[g.at[0]] = instead(g)
	}
	out := make([]*message.Message, 0, len(messages))
	for i, m := range messages {
		if other, goes := goes[i]; goes {
			m = other
		}
		if m != nil {
			out = append(out, m)
		}
	}
	return out
}
