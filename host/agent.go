package host

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"

	"github.com/weft-run/weft/message"
)

// DefaultHistory says when an agent keeps the conversation in the session's state by itself.
type DefaultHistory string

// The modes of the default history.
const (
	// HistoryWhenEmpty adds an in-memory history for runs with a session where there are no providers at all and no
	// service keeps the history. It is the default.
	HistoryWhenEmpty DefaultHistory = "when_empty"
	// HistoryWhenMissing adds it also where there are providers but none of them loads history; it then stands last.
	HistoryWhenMissing DefaultHistory = "when_missing"
	// HistoryNever adds none.
	HistoryNever DefaultHistory = "never"
)

// Compactor thins out the messages of a model call (package compaction has strategies). own is the last user message of
// the run's own input, which must stay; it is nil where there is none. Messages are shared: a compactor returns others in
// their place and changes none. It must be safe for many goroutines.
type Compactor interface {
	Compact(ctx context.Context, messages []*message.Message, own *message.Message) ([]*message.Message, error)
}

// Checker may be implemented by a [Compactor] or a [Provider] whose settings can be wrong: its fault is then one of
// [NewAgent].
type Checker interface {
	Check() error
}

// AgentConfig is what an agent is made of. Only Client is mandatory.
type AgentConfig struct {
	Name         string
	Description  string
	Instructions string
	Client       ChatClient
	// Providers are called in this order before the model, and in reverse after it.
	Providers []Provider
	Tools     []Tool
	// ToolSources offer tools that may change between runs; they stand behind all others.
	ToolSources []ToolSource
	// Middleware wraps runs, model calls and tool calls.
	Middleware Middleware
	// FunctionInvocation says how the model's tool calls are answered.
	FunctionInvocation FunctionInvocation
	// ApprovalPolicy decides which tool calls run, are refused, or are asked about. Default: the session's standing rules and
	// the tools decide.
	ApprovalPolicy ApprovalPolicy
	// Compaction thins out what is sent with each model call. Default: none.
	Compaction Compactor
	// Options are the defaults of every run.
	Options Options
	// DefaultHistory is [HistoryWhenEmpty] unless set.
	DefaultHistory DefaultHistory
	// PerServiceCallHistory makes histories load before and store after each model call, in place of once per run.
	PerServiceCallHistory bool
	// MarkUntrusted shows the model what nobody vouches for ([UntrustedSource]): such texts stand between <untrusted> and
	// </untrusted>, with their source, and a line of the instructions says what that means. Default: the model is not told.
	MarkUntrusted bool
	// SequentialBeforeRun lets providers wait for each other before the model where they need not ([IndependentProvider]).
	SequentialBeforeRun bool
	// Tracer follows the parts of each run.
	Tracer Tracer
	// Logger gets warnings. Default: slog.Default().
	Logger *slog.Logger
}

// Agent runs conversations. It is never changed by a run and is safe for use by many goroutines.
type Agent struct {
	name           string
	description    string
	instructions   string
	client         ChatClient
	slots          []*slot
	tools          []Tool
	middleware     Middleware
	invocation     FunctionInvocation
	policy         ApprovalPolicy
	compaction     Compactor
	options        Options
	defaultHistory DefaultHistory
	perCallHistory bool
	sequential     bool
	markUntrusted  bool
	sources        []ToolSource
	tracers        tracers
	log            *slog.Logger

	warnedNoHistory  atomic.Bool
	warnedTwoLoaders atomic.Bool
}

// NewAgent checks a config and makes an agent of it. All faults are reported at once.
func NewAgent(c AgentConfig) (*Agent, error) {
	var faults []error
	if c.Client == nil {
		faults = append(faults, errors.New("client: an agent needs a chat client, and there is none"))
	}
	switch c.DefaultHistory {
	case "":
		c.DefaultHistory = HistoryWhenEmpty
	case HistoryWhenEmpty, HistoryWhenMissing, HistoryNever:
	default:
		faults = append(faults, fmt.Errorf("default_history: %q is not one of when_empty, when_missing, never", c.DefaultHistory))
	}
	for i, source := range c.ToolSources {
		if source == nil {
			faults = append(faults, fmt.Errorf("tool_sources/%d: a source is nil", i))
		}
	}
	slots, bad := newSlots(c.Providers, nil)
	faults = append(faults, bad...)
	if err := checkTools(slices.Concat(c.Tools, c.FunctionInvocation.AdditionalTools)); err != nil {
		faults = append(faults, err)
	}
	if err := c.Middleware.check(); err != nil {
		faults = append(faults, err)
	}
	if err := c.FunctionInvocation.check(); err != nil {
		faults = append(faults, err)
	}
	if checked, ok := c.Compaction.(Checker); ok {
		if err := checked.Check(); err != nil {
			faults = append(faults, fmt.Errorf("compaction: %w", err))
		}
	}
	if len(faults) > 0 {
		return nil, fmt.Errorf("agent %q: %w", c.Name, errors.Join(faults...))
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	options := c.Options.Clone()
	if c.Instructions != "" && options.Instructions != "" {
		options.Instructions = c.Instructions + "\n" + options.Instructions
	} else if c.Instructions != "" {
		options.Instructions = c.Instructions
	}
	a := &Agent{
		name: c.Name, description: c.Description, instructions: options.Instructions, client: c.Client, slots: slots,
		tools: append([]Tool(nil), c.Tools...), invocation: c.FunctionInvocation.withDefaults(), policy: c.ApprovalPolicy, compaction: c.Compaction, options: options, defaultHistory: c.DefaultHistory,
		sources: slices.Clone(c.ToolSources), perCallHistory: c.PerServiceCallHistory, sequential: c.SequentialBeforeRun, markUntrusted: c.MarkUntrusted, log: c.Logger,
	}
	a.middleware = Middleware{
		Agent: slices.Clone(c.Middleware.Agent), Chat: slices.Clone(c.Middleware.Chat), Function: slices.Clone(c.Middleware.Function),
	}
	a.options.Instructions = ""
	if c.Tracer != nil {
		a.tracers = tracers{c.Tracer}
	}
	return a, nil
}

// Name is the agent's name.
func (a *Agent) Name() string { return a.name }

// Description is the agent's description.
func (a *Agent) Description() string { return a.description }

// CreateSession returns a new session for conversations with this agent; an empty id stands for a new UUID.
func (a *Agent) CreateSession(id string) *Session { return NewSession(id) }

// GetSession returns a session that goes on with a conversation which a service keeps under serviceSessionID; an empty
// id stands for a new UUID.
func (a *Agent) GetSession(serviceSessionID, id string) *Session {
	s := NewSession(id)
	s.serviceID = serviceSessionID
	return s
}

// RunConfig is what one run is given besides its input. The zero value is fine.
type RunConfig struct {
	// Session is the conversation that the run belongs to. Without one nothing is remembered.
	Session *Session
	// Options go before the agent's, key by key. Instructions are added behind all others.
	Options Options
	// Providers stand behind the agent's for this run.
	Providers []Provider
	// Tools join the agent's for this run.
	Tools []Tool
	// ToolSources join the agent's for this run.
	ToolSources []ToolSource
	// Middleware stands inside the agent's, for this run alone.
	Middleware Middleware
	// OnEvent is given the events of the run, on the goroutine that they come from: tools of one reply may call it at the
	// same time.
	OnEvent func(ctx context.Context, e *Event)
	// Tracer follows the parts of this run, beside the agent's.
	Tracer Tracer
}

// Text returns input of one user message.
func Text(text string) []*message.Message { return []*message.Message{message.User(text)} }

// Run gives the input to the agent and returns the response. The input may be empty. If only AfterRun hooks failed, both
// the response and their joined errors are returned.
func (a *Agent) Run(ctx context.Context, input []*message.Message, c RunConfig) (*Response, error) {
	return a.execute(ctx, input, c, nil)
}
