package compaction

import (
	"context"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/message"
)

// Strategy thins out a list of messages. Those of this package are safe for many goroutines, and but for [Summarization]
// they are values without state; any [host.Compactor] may stand in their place. Each has a method Check for its settings,
// and Compact returns what that does, so that wrong settings end the first run ([ErrSettings]).
type Strategy = host.Compactor

// SlidingWindow keeps the last groups. The run's own question stays beside them if it is older.
type SlidingWindow struct {
	// KeepLastGroups is how many groups stay. 0 leaves the newest alone.
	KeepLastGroups int
	// PreserveSystem keeps system messages, which the window does not count. Default (nil): true. False drops them all,
	// important ones too.
	PreserveSystem *bool
}

// Truncation keeps everything up to MaxMessages messages. Above that the oldest groups go until at most CompactTo
// messages are left, or none may go any more. System messages count.
type Truncation struct {
	MaxMessages int
	CompactTo   int
	// PreserveSystem keeps system messages. Default (nil): true. False treats them like any other.
	PreserveSystem *bool
}

// SelectiveToolCall keeps everything but older groups with tool calls.
type SelectiveToolCall struct {
	// KeepLastToolCallGroups is how many groups with tool calls stay. 0 leaves none, unless the newest group of all is one.
	KeepLastToolCallGroups int
}

// ToolResult puts one line in the place of each older group with tool calls: an assistant message such as
// "[Tool results: weather: sunny; time: noon]". What the model said beside its calls goes with them. A group with a call
// that has no result yet stays as it is.
type ToolResult struct {
	// KeepLastToolCallGroups is how many groups with tool calls stay. 0 leaves none, unless the newest group of all is one.
	KeepLastToolCallGroups int
	// MaxResult is how many bytes of each result the line shows; the line says how much it left out. 0 shows all.
	MaxResult int
}

var (
	_ host.Compactor = SlidingWindow{}
	_ host.Compactor = Truncation{}
	_ host.Compactor = SelectiveToolCall{}
	_ host.Compactor = ToolResult{}
)

// Compact leaves out what is older than the window.
func (s SlidingWindow) Compact(_ context.Context, messages []*message.Message, own *message.Message) ([]*message.Message, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	var system, others []*group
	for _, g := range grouped(messages, own) {
		if g.system {
			system = append(system, g)
		} else {
			others = append(others, g)
		}
	}
	gone := surplus(others, s.KeepLastGroups)
	if !orTrue(s.PreserveSystem) {
		gone = append(gone, system...)
	}
	return without(messages, gone), nil
}

// Compact leaves out the oldest groups where there are too many messages.
func (s Truncation) Compact(_ context.Context, messages []*message.Message, own *message.Message) ([]*message.Message, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	left := len(messages)
	if left <= s.MaxMessages {
		return messages, nil
	}
	may := leavingBut(grouped(messages, own), orTrue(s.PreserveSystem))
	n := 0
	for ; n < len(may) && left > s.CompactTo; n++ {
		left -= len(may[n].at)
	}
	return without(messages, may[:n]), nil
}

// Compact leaves out older groups with tool calls.
func (s SelectiveToolCall) Compact(_ context.Context, messages []*message.Message, own *message.Message) ([]*message.Message, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	return without(messages, surplus(withCalls(grouped(messages, own)), s.KeepLastToolCallGroups)), nil
}

// Compact puts lines in the place of older groups with tool calls.
func (s ToolResult) Compact(_ context.Context, messages []*message.Message, own *message.Message) ([]*message.Message, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	groups := withCalls(grouped(messages, own))
	for _, g := range groups {
		g.pinned = g.pinned || g.open()
	}
	return replaced(messages, surplus(groups, s.KeepLastToolCallGroups), func(g *group) *message.Message { return g.line(s.MaxResult) }), nil
}

func withCalls(groups []*group) []*group {
	return slices.DeleteFunc(groups, func(g *group) bool { return len(g.calls) == 0 })
}

// leavingBut is leaving, without system messages where those stay.
func leavingBut(groups []*group, system bool) []*group {
	if system {
		groups = slices.DeleteFunc(groups, func(g *group) bool { return g.system })
	}
	return leaving(groups)
}

// line is the message that stands for the group. most are the bytes of each result that it shows, 0 for all.
func (g *group) line(most int) *message.Message {
	parts := make([]string, len(g.results))
	for i, r := range g.results {
		text := resultText(r)
		if most > 0 {
			text, _ = clip(text, most)
		}
		parts[i] = g.tool(r.CallID) + ": " + text
	}
	m := message.Assistant("[Tool results: " + strings.Join(parts, "; ") + "]")
	if g.important {
		m.Attribution = Important
	}
	return m
}

// tool is the name of the tool that a call wanted.
func (g *group) tool(callID string) string {
	for _, c := range g.calls {
		if c.CallID == callID {
			return c.Name
		}
	}
	return callID
}

// resultText is a result as a model reads it: a string's text, any other value as JSON, or the error where there is no
// value.
func resultText(r message.FunctionResult) string {
	var text string
	switch {
	case len(r.Result) == 0 || r.Result.Kind() == 'n' && r.Error != "":
		return r.Error
	case r.Result.Kind() == '"' && json.Unmarshal(r.Result, &text) == nil:
		return text
	}
	return string(r.Result)
}

// orTrue is a setting that is true unless set.
func orTrue(b *bool) bool { return b == nil || *b }
