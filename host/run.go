package host

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/weft-run/weft/message"
)

// run is one run of an agent: everything that changes while it is under way.
//
// The order of a run: options and default history are decided when it is made; then
// sessions are greeted, providers called, and the model in the middle of them (pipeline.go, loop.go). Agent
// middleware wraps newRun and do (execute.go); chat and function middleware stand inside the loop (loop.go).
type run struct {
	agent      *Agent
	id         string
	session    *Session
	slots      []*slot
	input      []*message.Message
	options    Options // merged; conversation id as at the start; run's instructions only
	tools      []Tool  // the run's own
	sources    []ToolSource
	middleware Middleware // the run's own
	// ownConversation says that the run's own options name the conversation.
	ownConversation bool
	// storedStep says that a step of this run was stored already (history_percall.go).
	storedStep bool
	// hasSession says that the caller passed a session, so that it outlives the run.
	hasSession bool
	// listens says that a provider has a hook of the loop, tells that somebody listens to events.
	listens, tells bool
	// untrusted are the sources of the untrusted text that the model is sent; keptUntrusted says that the session knows them
	// (trust.go).
	keptUntrusted bool
	untrusted     []string
	// decided are the calls whose approval this run acted upon.
	decided map[string]bool
	// resumed are the batches that this run answered: each runs once, whatever is tried again.
	resumed []resumed
	// calledNext is how often the wrapping provider called next that was done last, for its trace.
	calledNext int
	// iterations counts model calls.
	iterations int
	// owed is what the service's conversation waits for.
	owed debt
	// ahead is what was started before its turn (independent.go).
	ahead *ahead
	// gone are the providers without which this run goes on, by position.
	gone map[int]bool
	// returnedConversation is what the last model call of this run named.
	returnedConversation string
	tracers              tracers

	context     runContext
	metadata    map[string]jsontext.Value
	response    *Response
	ownResponse bool // the response was set by a provider and not by the model

	out       *emitter // nil for a run that is not streamed
	afterErrs []error
}

// newRun merges what the agent and the run bring along.
func (a *Agent) newRun(input []*message.Message, c RunConfig) (*run, error) {
	if i := slices.IndexFunc(c.ToolSources, func(s ToolSource) bool { return s == nil }); i >= 0 {
		return nil, fmt.Errorf("run: tool_sources/%d: a source is nil", i)
	}
	slots := a.slots
	if len(c.Providers) > 0 {
		own, faults := newSlots(c.Providers, a.slots)
		if len(faults) > 0 {
			return nil, fmt.Errorf("run: %w", errors.Join(faults...))
		}
		slots = append(slots[:len(slots):len(slots)], own...)
	}
	if err := checkInput(input); err != nil {
		return nil, err
	}
	r := &run{
		agent: a, session: c.Session, slots: slots, input: message.CloneAll(input),
		tools: c.Tools, middleware: c.Middleware, sources: c.ToolSources,
	}

	var client Options
	if d, ok := a.client.(OptionDefaults); ok {
		client = d.DefaultOptions()
	}
	r.options = client.over(a.options).over(c.Options)
	r.options.Instructions = c.Options.Instructions
	r.ownConversation = c.Options.ConversationID != ""
	r.options.ConversationID = r.conversationID()
	r.hasSession = c.Session != nil
	r.decideHistory(c.Session)
	if r.session == nil && len(r.slots) > 0 {
		r.session = NewSession("")
		r.session.forOneRun = true
	}
	return r, nil
}

// checkInput refuses what is no message: of the caller, and of middleware.
func checkInput(input []*message.Message) error {
	for i, m := range input {
		if m == nil {
			return fmt.Errorf("run: input/%d: a message is nil", i)
		}
		if !m.Role.Valid() {
			return fmt.Errorf("run: input/%d: role %q is not one of %v", i, m.Role, message.Roles)
		}
	}
	return nil
}

// decideHistory adds the default history to this run where it belongs, and warns of what is likely a mistake.
func (r *run) decideHistory(session *Session) {
	loaders := 0
	for i := range r.slots {
		if h := r.slots[i].history; h != nil && h.config.LoadMessages != LoadNever {
			loaders++
		}
	}
	if loaders > 1 && r.agent.warnedTwoLoaders.CompareAndSwap(false, true) {
		r.agent.log.Warn("more than one provider loads history: the conversation is sent to the model more than once; set load_messages to false on all but one",
			"agent", r.agent.name)
	}
	if session == nil || loaders > 0 || r.serviceKeepsHistory() {
		return
	}
	mode := r.agent.defaultHistory
	if mode == HistoryWhenMissing || mode == HistoryWhenEmpty && len(r.slots) == 0 {
		r.slots = append(r.slots[:len(r.slots):len(r.slots)], defaultHistorySlot(r.slots))
		return
	}
	if len(r.slots) > 0 && r.agent.warnedNoHistory.CompareAndSwap(false, true) {
		r.agent.log.Warn("no provider loads history: earlier turns of the session are not sent to the model; add a history provider, or set default_history to when_missing",
			"agent", r.agent.name)
	}
}

func (r *run) serviceKeepsHistory() bool {
	if r.options.ConversationID != "" {
		return true
	}
	if r.options.Store != nil {
		return *r.options.Store
	}
	keeper, ok := r.agent.client.(HistoryKeeper)
	return ok && keeper.StoresHistory()
}

// do carries the run out.
func (r *run) do(ctx context.Context) (*Response, error) {
	if err := r.resolve(ctx); err != nil {
		return nil, err
	}
	r.listens = slices.ContainsFunc(r.slots, func(s *slot) bool { return s.listens() })
	if err := r.greetSession(ctx); err != nil {
		return nil, err
	}
	if err := r.from(ctx, 0); err != nil {
		return nil, err
	}
	return r.response, errors.Join(r.afterErrs...)
}

// trace begins the description of a part of the run.
func (r *run) trace(hook string) HookTrace {
	t := HookTrace{RunID: r.id, AgentName: r.agent.name, Hook: hook, Streaming: r.out != nil}
	if r.session != nil {
		t.SessionID = r.session.ID()
	}
	return t
}

// greetSession calls session_created once per session.
func (r *run) greetSession(ctx context.Context) error {
	if r.session == nil {
		return nil
	}
	select {
	case r.session.creating <- struct{}{}:
		defer func() { <-r.session.creating }()
	case <-ctx.Done(): // another run of the session is not done with it
		return ctx.Err()
	}
	if r.session.created {
		return nil
	}
	for i := range r.slots {
		if s := r.slots[i]; s.created != nil {
			skipped, err := r.hook(ctx, i, "session_created", func(ctx context.Context, sc *SessionContext) error {
				return s.created.SessionCreated(ctx, sc)
			})
			if err != nil && !skipped {
				return err
			}
		}
	}
	r.session.created = true
	return nil
}
