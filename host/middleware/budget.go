package middleware

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/weft-run/weft/host"
)

// ErrBudget is what a [BudgetError] is.
var ErrBudget = errors.New("budget used up")

// Unlimited as a limit of [Limits] means any number.
const Unlimited = -1

// DefaultBudgetBucket is the part of a session's state in which its counts are kept. No provider can have it, so none can
// reset them.
const DefaultBudgetBucket = "weft.budget"

// Defaults of [BudgetConfig] for one run. All other limits are [Unlimited].
const (
	DefaultRunTotalTokens = 1_000_000
	DefaultRunModelCalls  = 50
	DefaultRunToolCalls   = 200
)

// Limits is how much may be used. 0 stands for the default, [Unlimited] for any number.
type Limits struct {
	InputTokens, OutputTokens int64
	// TotalTokens are input and output together.
	TotalTokens int64
	ModelCalls  int64
	ToolCalls   int64
}

// BudgetConfig says how much runs and sessions may use.
type BudgetConfig struct {
	// Run is for each run. Default: [DefaultRunTotalTokens], [DefaultRunModelCalls] and [DefaultRunToolCalls].
	Run Limits
	// Session is for all runs of one session together. Default: [Unlimited] in all.
	Session Limits
	// Bucket is the part of the session's state that holds the session's counts. Default: [DefaultBudgetBucket].
	Bucket string
}

func (c BudgetConfig) withDefaults() BudgetConfig {
	c.Run = c.Run.or(Limits{Unlimited, Unlimited, DefaultRunTotalTokens, DefaultRunModelCalls, DefaultRunToolCalls})
	c.Session = c.Session.or(Limits{Unlimited, Unlimited, Unlimited, Unlimited, Unlimited})
	c.Bucket = orDefault(c.Bucket, DefaultBudgetBucket)
	return c
}

func (l Limits) or(byDefault Limits) Limits {
	return Limits{
		InputTokens:  orDefault(l.InputTokens, byDefault.InputTokens),
		OutputTokens: orDefault(l.OutputTokens, byDefault.OutputTokens),
		TotalTokens:  orDefault(l.TotalTokens, byDefault.TotalTokens),
		ModelCalls:   orDefault(l.ModelCalls, byDefault.ModelCalls),
		ToolCalls:    orDefault(l.ToolCalls, byDefault.ToolCalls),
	}
}

// Used is what was used of a budget. Its JSON form is the member "used" of the session's bucket.
type Used struct {
	InputTokens  int64 `json:"input_tokens"`
	OutputTokens int64 `json:"output_tokens"`
	ModelCalls   int64 `json:"model_calls"`
	ToolCalls    int64 `json:"tool_calls"`
}

// maxTokens is where counting of tokens stops, so that no sum overflows, whatever a model tells.
const maxTokens = math.MaxInt64 / 4

func (u *Used) add(other Used) {
	u.InputTokens = min(u.InputTokens+min(other.InputTokens, maxTokens), maxTokens)
	u.OutputTokens = min(u.OutputTokens+min(other.OutputTokens, maxTokens), maxTokens)
	u.ModelCalls += other.ModelCalls
	u.ToolCalls += other.ToolCalls
}

// Scope says whose budget is meant.
type Scope string

// The scopes.
const (
	ScopeRun     Scope = "run"
	ScopeSession Scope = "session"
)

// BudgetError ended a run before it used more than it may.
type BudgetError struct {
	// Limit is the limit's name: input_tokens, output_tokens, total_tokens, model_calls or tool_calls.
	Limit string
	// Used is what was used when the call was refused, and Max the limit.
	Used, Max int64
	Scope     Scope
}

// Error names the limit.
func (e *BudgetError) Error() string {
	return fmt.Sprintf("%v: the %s has used %d %s, and may use %d", ErrBudget, e.Scope, e.Used, e.Limit, e.Max)
}

// Unwrap is [ErrBudget].
func (e *BudgetError) Unwrap() error { return ErrBudget }

// check reports the first limit that leaves no room for one more call, which is counted under calls.
func (u Used) check(l Limits, scope Scope, calls string) error {
	for _, one := range []struct {
		name      string
		used, max int64
	}{
		{"input_tokens", u.InputTokens, l.InputTokens},
		{"output_tokens", u.OutputTokens, l.OutputTokens},
		{"total_tokens", u.InputTokens + u.OutputTokens, l.TotalTokens},
		{"model_calls", u.ModelCalls, l.ModelCalls},
		{"tool_calls", u.ToolCalls, l.ToolCalls},
	} {
		otherCalls := one.name != calls && (one.name == "model_calls" || one.name == "tool_calls")
		if one.max >= 0 && one.used >= one.max && !otherCalls {
			return &BudgetError{Limit: one.name, Used: one.used, Max: one.max, Scope: scope}
		}
	}
	return nil
}

type budget struct {
	config BudgetConfig
	runs   *perRun[runUse]
}

type runUse struct {
	mu   sync.Mutex
	used Used
}

var (
	_ host.ChatMiddleware     = (*budget)(nil)
	_ host.FunctionMiddleware = (*budget)(nil)
)

// NewBudget returns a guard that ends a run with a [BudgetError] before a model call or a tool call for which nothing is
// left. Calls are counted when they begin, tokens when the model tells of them, those of failing and abandoned runs too.
// So calls never exceed their limits, and tokens only by what the calls under way use.
//
// A session's counts stand in its state, are saved and restored with it, and count on from there. Runs of one session may
// go on at the same time, of several agents too. It uses all three layers; inside [NewRetry] each attempt counts.
// A call that middleware further in makes again, such as the repair of a structured answer, counts once, and all its
// tokens.
func NewBudget(c BudgetConfig) host.Middleware {
	b := &budget{config: c.withDefaults(), runs: &perRun[runUse]{guard: "budget", begin: func() *runUse { return &runUse{} }}}
	return host.Middleware{
		Agent:    []host.AgentMiddleware{b.runs},
		Chat:     []host.ChatMiddleware{b},
		Function: []host.FunctionMiddleware{b},
	}
}

// SessionUsed is what the runs of a session used so far. An empty bucket stands for [DefaultBudgetBucket].
func SessionUsed(s *host.Session, bucket string) (Used, error) {
	var used Used
	_, err := s.State(orDefault(bucket, DefaultBudgetBucket)).Get("used", &used)
	return used, err
}

// SourceType is what traces call it.
func (*budget) SourceType() string { return "budget" }

// ProcessChat counts one model call and its tokens.
func (b *budget) ProcessChat(ctx context.Context, c *host.ChatContext, next host.Next) error {
	run, err := b.runs.in(ctx)
	if err != nil {
		return err
	}
	if err := b.begin(run, c.Session, "model_calls", Used{ModelCalls: 1}); err != nil {
		return err
	}
	var told Used
	count := func(u *host.Usage) error {
		if u == nil {
			return nil
		}
		// A reply's usage repeats what its updates told.
		more := Used{
			InputTokens:  max(int64(u.InputTokens)-told.InputTokens, 0),
			OutputTokens: max(int64(u.OutputTokens)-told.OutputTokens, 0),
		}
		told.add(more)
		return b.add(run, c.Session, more)
	}
	var sum host.Usage
	c.OnStream(host.StreamHooks{Update: func(u *host.Update, emit func(*host.Update) error) error {
		if u.Usage != nil {
			sum.InputTokens += u.Usage.InputTokens
			sum.OutputTokens += u.Usage.OutputTokens
			if err := count(&sum); err != nil {
				return err
			}
		}
		return emit(u)
	}})
	err = next(ctx)
	if c.Result == nil {
		return err
	}
	if failed := count(c.Result.Usage); failed != nil {
		return errors.Join(err, failed)
	}
	return err
}

// ProcessFunction counts one tool call.
func (b *budget) ProcessFunction(ctx context.Context, c *host.FunctionContext, next host.Next) error {
	run, err := b.runs.in(ctx)
	if err == nil {
		err = b.begin(run, c.Session, "tool_calls", Used{ToolCalls: 1})
	}
	if err != nil {
		return host.Fatal(err)
	}
	return next(ctx)
}

// begin counts a call that both budgets have room for, or none.
func (b *budget) begin(run *runUse, s *host.Session, calls string, one Used) error {
	run.mu.Lock()
	defer run.mu.Unlock()
	if err := run.used.check(b.config.Run, ScopeRun, calls); err != nil {
		return err
	}
	err := b.session(s, func(used *Used) error {
		if err := used.check(b.config.Session, ScopeSession, calls); err != nil {
			return err
		}
		used.add(one)
		return nil
	})
	if err == nil {
		run.used.add(one)
	}
	return err
}

func (b *budget) add(run *runUse, s *host.Session, more Used) error {
	if more == (Used{}) {
		return nil
	}
	run.mu.Lock()
	defer run.mu.Unlock()
	run.used.add(more)
	return b.session(s, func(used *Used) error {
		used.add(more)
		return nil
	})
}

// session changes the session's counts in one step, unless change fails. Counts that cannot be read end the run, for they
// may be used up.
func (b *budget) session(s *host.Session, change func(*Used) error) error {
	if s == nil {
		return nil
	}
	err := s.State(b.config.Bucket).Update("used", func(old jsontext.Value) (any, error) {
		var used Used
		if old != nil {
			if err := json.Unmarshal(old, &used); err != nil {
				return nil, err
			}
		}
		return &used, change(&used)
	})
	if _, full := errors.AsType[*BudgetError](err); err != nil && !full {
		return fmt.Errorf("budget of session %s: %w", s.ID(), err)
	}
	return err
}
