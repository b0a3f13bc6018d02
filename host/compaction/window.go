package compaction

import (
	"context"

	"github.com/weft-run/weft/message"
)

// The defaults of a [ContextWindow].
const (
	// DefaultReserveOutput are the tokens that are kept free for the answer, or a quarter of the window if that is less.
	DefaultReserveOutput = 8192
	// DefaultEvictAbove is the share of the input budget above which tool results go.
	DefaultEvictAbove = 0.5
	// DefaultTruncateAbove is the share of the input budget above which the oldest groups go.
	DefaultTruncateAbove = 0.8
	// DefaultKeepToolResults is how many of the newest groups with tool calls stay whole.
	DefaultKeepToolResults = 3
	// evictedResult are the bytes that are left of each result that went.
	evictedResult = 200
)

// ContextWindow keeps messages inside a model's context window. The input budget is the window without what is reserved.
// Above a first share of it the oldest groups with tool calls become lines, like those of [ToolResult] with 200 bytes of
// each result, until the messages are at most that share, or only the newest such groups, those with a call that has no
// result yet and important ones are left. Above a second share the oldest groups go, until the messages are at most
// that share or none may go any more. In between nothing happens, so a short conversation is sent as it is.
//
// The shares leave room for what a tokenizer cannot know; with an exact one they may be higher.
type ContextWindow struct {
	// WindowTokens is the model's context window: input and output together. Mandatory.
	WindowTokens int
	// ReserveOutput are the tokens for the answer. Default (nil): a quarter of the window, at most
	// [DefaultReserveOutput].
	ReserveOutput *int
	// ReserveRequest are the tokens of what is sent beside the messages: instructions and tools, which a strategy does not
	// see (see [CountTools]). Default: 0.
	ReserveRequest int
	// EvictAbove is the first share, above 0 and at most 1. Default (nil): [DefaultEvictAbove].
	EvictAbove *float64
	// TruncateAbove is the second share, not below the first and at most 1. Default (nil): [DefaultTruncateAbove], or
	// EvictAbove if that is more.
	TruncateAbove *float64
	// KeepToolResults is how many of the newest groups with tool calls never become lines. Default (nil):
	// [DefaultKeepToolResults].
	KeepToolResults *int
	// Tokenizer counts; each message is counted once per call of Compact. Default: [Estimator].
	Tokenizer Tokenizer
	// PreserveSystem keeps system messages when the oldest groups go. Default (nil): true. False treats them like any
	// other.
	PreserveSystem *bool
}

// Check reports a window that is mandatory and not there, reserves that leave nothing of it, and shares that are none.
func (s ContextWindow) Check() error {
	f := faults{strategy: "compaction.ContextWindow"}
	f.positive("WindowTokens", s.WindowTokens)
	f.notNegative("ReserveOutput", s.reserveOutput())
	f.notNegative("ReserveRequest", s.ReserveRequest)
	f.notNegative("KeepToolResults", s.keepToolResults())
	if s.WindowTokens > 0 && s.budget() <= 0 {
		f.add("ReserveOutput (%d) and ReserveRequest (%d) leave nothing of WindowTokens (%d): they must be less together",
			s.reserveOutput(), s.ReserveRequest, s.WindowTokens)
	}
	evict, truncate := s.shares()
	for _, share := range []struct {
		field string
		value float64
	}{{"EvictAbove", evict}, {"TruncateAbove", truncate}} {
		if !(share.value > 0 && share.value <= 1) { // so that NaN is none either
			f.add("%s is %v, and it must be above 0 and at most 1", share.field, share.value)
		}
	}
	if evict > truncate {
		f.add("EvictAbove is %v, and it must not be above TruncateAbove, which is %v", evict, truncate)
	}
	return f.err()
}

// Compact makes lines of old tool results, and then leaves out the oldest groups, where there are too many tokens.
func (s ContextWindow) Compact(ctx context.Context, messages []*message.Message, own *message.Message) ([]*message.Message, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	c := newCounter(s.Tokenizer)
	evict, truncate := s.shares()
	budget := float64(s.budget())
	messages = c.evicted(messages, own, int(budget*evict), s.keepToolResults())
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return c.truncated(messages, own, int(budget*truncate), orTrue(s.PreserveSystem)), nil
}

func (s ContextWindow) reserveOutput() int {
	if s.ReserveOutput == nil {
		return min(DefaultReserveOutput, max(0, s.WindowTokens)/4)
	}
	return *s.ReserveOutput
}

func (s ContextWindow) keepToolResults() int {
	if s.KeepToolResults == nil {
		return DefaultKeepToolResults
	}
	return *s.KeepToolResults
}

func (s ContextWindow) budget() int { return s.WindowTokens - s.reserveOutput() - s.ReserveRequest }

func (s ContextWindow) shares() (evict, truncate float64) {
	evict = DefaultEvictAbove
	if s.EvictAbove != nil {
		evict = *s.EvictAbove
	}
	truncate = max(DefaultTruncateAbove, evict)
	if s.TruncateAbove != nil {
		truncate = *s.TruncateAbove
		if s.EvictAbove == nil {
			evict = min(evict, truncate)
		}
	}
	return evict, truncate
}

// evicted puts lines in the place of the oldest groups with tool calls until the messages fit.
func (c *counter) evicted(messages []*message.Message, own *message.Message, most, keep int) []*message.Message {
	left := c.all(messages)
	if left <= most {
		return messages
	}
	tools := withCalls(grouped(messages, own))
	lines := map[*group]*message.Message{}
	var gone []*group
	for _, g := range tools[:max(0, len(tools)-keep)] {
		if left <= most {
			break
		}
		if g.pinned || g.important || g.open() {
			continue
		}
		line := g.line(evictedResult)
		if saves := c.group(messages, g) - c.one(line); saves > 0 {
			left -= saves
			lines[g], gone = line, append(gone, g)
		}
	}
	return replaced(messages, gone, func(g *group) *message.Message { return lines[g] })
}
