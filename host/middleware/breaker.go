package middleware

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/weft-run/weft/host"
)

// ErrRepeatedCall is what a [RepeatedCallError] is.
var ErrRepeatedCall = errors.New("the same tool call again and again")

// Defaults of [BreakerConfig].
const (
	DefaultRefuseAt = 3
	DefaultEndAt    = 5
)

// BreakerConfig says how often the model may make the same call in a row.
type BreakerConfig struct {
	// RefuseAt is the call from which on it is not run, and the model is told so. Default: [DefaultRefuseAt], so two
	// run. Negative: never.
	RefuseAt int
	// EndAt is the call that ends the run with a [RepeatedCallError]. Default: [DefaultEndAt]. Negative: never.
	EndAt int
}

func (c BreakerConfig) withDefaults() BreakerConfig {
	c.RefuseAt = orDefault(c.RefuseAt, DefaultRefuseAt)
	c.EndAt = orDefault(c.EndAt, DefaultEndAt)
	return c
}

// RepeatedCallError ended a run in which the model kept making one call.
type RepeatedCallError struct {
	Tool string
	// Count is how often the call was made in a row, this one included.
	Count int
}

// Error names the tool and the count.
func (e *RepeatedCallError) Error() string {
	return fmt.Sprintf("the model called the tool %q with the same arguments %d times in a row", e.Tool, e.Count)
}

// Unwrap is [ErrRepeatedCall].
func (e *RepeatedCallError) Unwrap() error { return ErrRepeatedCall }

type breaker struct {
	config BreakerConfig
	runs   *perRun[callRounds]
}

var (
	_ host.ChatMiddleware     = (*breaker)(nil)
	_ host.FunctionMiddleware = (*breaker)(nil)
)

// NewBreaker returns a guard against a model that makes the same call again and again within one run. Calls are the same
// where tool and arguments are, whatever the order of members and the white space. They stand in a row where each reply of
// the model holds the call, whatever else it holds; several in one reply count each. A refused call is a result and not
// a failure, so it does not count for [host.FunctionInvocation.MaxConsecutiveErrors]. The guard uses all three layers.
func NewBreaker(c BreakerConfig) host.Middleware {
	b := &breaker{config: c.withDefaults(), runs: &perRun[callRounds]{guard: "breaker", begin: newCallRounds}}
	return host.Middleware{
		Agent:    []host.AgentMiddleware{b.runs},
		Chat:     []host.ChatMiddleware{b},
		Function: []host.FunctionMiddleware{b},
	}
}

// SourceType is what traces call it.
func (*breaker) SourceType() string { return "breaker" }

// ProcessChat begins a new round with each reply.
func (b *breaker) ProcessChat(ctx context.Context, _ *host.ChatContext, next host.Next) error {
	rounds, err := b.runs.in(ctx)
	if err != nil {
		return err
	}
	if err := next(ctx); err != nil {
		return err
	}
	rounds.advance()
	return nil
}

// ProcessFunction counts the call and decides whether it runs.
func (b *breaker) ProcessFunction(ctx context.Context, c *host.FunctionContext, next host.Next) error {
	rounds, err := b.runs.in(ctx)
	if err != nil {
		return host.Fatal(err)
	}
	name := c.Tool.Definition().Name
	count := rounds.count(callKey(name, c.Arguments))
	switch {
	case b.config.EndAt > 0 && count >= b.config.EndAt:
		return host.Fatal(&RepeatedCallError{Tool: name, Count: count})
	case b.config.RefuseAt > 0 && count >= b.config.RefuseAt:
		c.SetText(fmt.Sprintf("Error: The call was not run: %q was called with the same arguments %d times in a row. "+
			"Use the results that are there, or try something else.", name, count))
		return nil
	}
	return next(ctx)
}

// callRounds counts the calls of one run. Only the calls of this round and the last one matter.
type callRounds struct {
	mu        sync.Mutex
	last, now map[[sha256.Size]byte]int
}

func newCallRounds() *callRounds { return &callRounds{now: map[[sha256.Size]byte]int{}} }

func (r *callRounds) advance() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last, r.now = r.now, map[[sha256.Size]byte]int{}
}

func (r *callRounds) count(key [sha256.Size]byte) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	n, again := r.now[key]
	if !again {
		n = r.last[key]
	}
	r.now[key] = n + 1
	return n + 1
}

// callKey is the same for the same call. Integers keep all their digits.
func callKey(tool string, arguments jsontext.Value) [sha256.Size]byte {
	canonical := arguments.Clone()
	if canonical.Canonicalize(jsontext.CanonicalizeRawInts(false)) != nil {
		canonical = arguments // it is no JSON, and then only the same bytes are the same call
	}
	return sha256.Sum256(append([]byte(tool+"\x00"), canonical...))
}
