package compaction

import (
	"context"
	"fmt"

	"github.com/weft-run/weft/message"
)

// TokenBudget applies strategies one after the other until the messages fit into a number of tokens. Where they fit from
// the start, or after some of the strategies, the rest is not called. Where they do not fit after the last, the oldest
// groups go until they do, or none may go any more: then what is left is above the budget, and no error.
//
// Put gentle strategies first: [ToolResult], then [Summarization].
type TokenBudget struct {
	// MaxTokens is the budget of the messages. Mandatory. Instructions, tools and the answer are not in it: take them off
	// the model's window yourself, or use [ContextWindow].
	MaxTokens int
	// Strategies are applied in this order. None at all is fine: then the oldest groups go.
	Strategies []Strategy
	// Tokenizer counts; each message is counted once per call of Compact. Default: [Estimator].
	Tokenizer Tokenizer
	// PreserveSystem keeps system messages when the oldest groups go. Default (nil): true. False treats them like any
	// other.
	PreserveSystem *bool
}

// Check reports a budget below 1, strategies that are nil, and faults in the settings of the others.
func (s TokenBudget) Check() error {
	f := faults{strategy: "compaction.TokenBudget"}
	f.positive("MaxTokens", s.MaxTokens)
	for i, next := range s.Strategies {
		if next == nil {
			f.add("strategies/%d: a strategy is nil", i)
		} else if c, ok := next.(checked); ok {
			if err := c.Check(); err != nil {
				f.add("strategies/%d: %w", i, err)
			}
		}
	}
	return f.err()
}

// Compact applies as many of the strategies as it takes. The error of one ends it.
func (s TokenBudget) Compact(ctx context.Context, messages []*message.Message, own *message.Message) ([]*message.Message, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	c := newCounter(s.Tokenizer)
	for i, next := range s.Strategies {
		if c.all(messages) <= s.MaxTokens {
			return messages, nil
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		kept, err := compact(ctx, next, messages, own)
		if err != nil {
			return nil, fmt.Errorf("strategies/%d: %w", i, err)
		}
		messages = kept
	}
	return c.truncated(messages, own, s.MaxTokens, orTrue(s.PreserveSystem)), nil
}

// truncated leaves out the oldest groups until the messages fit.
func (c *counter) truncated(messages []*message.Message, own *message.Message, most int, keepSystem bool) []*message.Message {
	left := c.all(messages)
	if left <= most {
		return messages
	}
	may := leavingBut(grouped(messages, own), keepSystem)
	n := 0
	for ; n < len(may) && left > most; n++ {
		left -= c.group(messages, may[n])
	}
	return without(messages, may[:n])
}
