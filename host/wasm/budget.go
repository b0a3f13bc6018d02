package wasm

import (
	"context"
	"sync"

	"github.com/weft-run/weft/abi"
	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/message"
)

// budget is what a plugin has asked of the host's model in one run. It may be used by many goroutines.
type budget struct {
	mu            sync.Mutex
	calls, tokens int
}

type budgetKey struct {
	version  *version
	function string
}

// asks refuses a plugin that has no budget.
func asks(function string, granted *abi.Budget) error {
	if granted == nil {
		return denied(function, function+": {calls: 1, tokens: 4000}")
	}
	return nil
}

// spend counts a call against the budget of the run, where what is left of it covers about that many tokens of input. It
// returns the budget, and what tokens are left. Calls never go beyond the budget; those under way at the same time may each
// use the tokens that were left when they began.
func (c *call) spend(ctx context.Context, function string, granted *abi.Budget, tokens int) (*budget, int, error) {
	b := host.Pin(ctx, budgetKey{c.version, function}, func() (*budget, func()) { return &budget{}, nil })
	b.mu.Lock()
	defer b.mu.Unlock()
	left := granted.Tokens - b.tokens
	switch {
	case b.calls >= granted.Calls:
		return nil, 0, limitReached("%s: the %d calls of one run are used up: ask for more at once, or raise calls in grant: {%s: …}",
			function, granted.Calls, function)
	case left <= 0:
		return nil, 0, limitReached("%s: the %d tokens of one run are used up: ask for less, or raise tokens in grant: {%s: …}",
			function, granted.Tokens, function)
	case tokens > left:
		return nil, 0, limitReached("%s: what it was given has about %d tokens, and %d of the run's %d are left: give less, or raise tokens in grant: {%s: …}",
			function, tokens, left, granted.Tokens, function)
	}
	b.calls++
	return b, left, nil
}

// used counts the tokens of a call.
func (b *budget) used(tokens int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tokens += max(tokens, 0)
}

// tokensIn is about how many tokens a text of so many bytes has.
func tokensIn(bytes int) int { return (bytes + 3) / 4 }

// largestResource is what an image or a file in a message counts as at most, in bytes of text: models count its size in
// their own ways, and not by the bytes of a data: URI.
const largestResource = 4096

// tokensOf is about how many tokens messages have.
func tokensOf(messages []*message.Message) int {
	bytes := 0
	for _, m := range messages {
		bytes += textSize(m)
		for _, c := range m.Contents {
			if uri, ok := c.(message.URI); ok {
				bytes -= max(0, len(uri.URI)-largestResource)
			}
		}
	}
	return tokensIn(bytes)
}
