package host

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/weft-run/weft/message"
)

// ErrApproval is returned where the input answers a request for approval that is not waiting, or answers it for other
// arguments than were asked about.
var ErrApproval = errors.New("approval of a call that is not waiting")

// ErrApprovalPending is returned where calls wait for approval in a conversation that a service keeps: it takes nothing
// else until they are answered.
var ErrApprovalPending = errors.New("calls wait for approval")

// ApprovalTool is a function tool of which some calls need somebody's approval.
type ApprovalTool interface {
	FunctionTool
	// NeedsApproval decides for one call. It must be quick and safe for many goroutines.
	NeedsApproval(call message.FunctionCall) bool
}

// rejected is the result of a call that was not approved.
const rejected = "Error: Tool call invocation was rejected by user."

// waitingBucket is the part of a session in which batches wait for approval. No provider can have it: what stands in it
// decides which calls run.
const waitingBucket = reservedPrefix + "approvals"

// waiting is a batch that is paused until every request in it is answered. It is kept in the session, so that it outlives
// the run, and a save and restore.
type waiting struct {
	Calls   []waitingCall `json:"calls"`
	Answers []answer      `json:"answers,omitzero"`
	// Conversation is the one that a service keeps, in which the calls stand.
	Conversation string `json:"conversation_id,omitzero"`
}

type waitingCall struct {
	CallID    string `json:"call_id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments,omitzero"` // JSON as text, so that its bytes are kept
	Asked     bool   `json:"asked,omitzero"`
	// Denied is the result of a call that was refused without asking anybody.
	Denied string `json:"denied,omitzero"`
}

type answer struct {
	CallID   string `json:"call_id"`
	Approved bool   `json:"approved"`
}

func (c waitingCall) call() message.FunctionCall {
	return message.FunctionCall{CallID: c.CallID, Name: c.Name, Arguments: []byte(c.Arguments)}
}

// decision returns the answer to a call that was asked about.
func (w *waiting) decision(callID string) (approved, answered bool) {
	for _, a := range w.Answers {
		if a.CallID == callID {
			return a.Approved, true
		}
	}
	return false, false
}

// open are the requests that are not answered yet.
func (w *waiting) open() []message.Content {
	var requests []message.Content
	for _, c := range w.Calls {
		if _, answered := w.decision(c.CallID); c.Asked && !answered {
			requests = append(requests, message.ApprovalRequest{Call: c.call()})
		}
	}
	return requests
}

// waits reports whether a call id belongs to the batch.
func (w *waiting) waits(callID string) bool {
	return slices.ContainsFunc(w.Calls, func(c waitingCall) bool { return c.CallID == callID })
}

// decideCalls finds out which calls of a batch need approval. Those that are refused get their result. It returns the
// batch as it is to wait, or nil where it can run now. Without a session there is nowhere to keep the calls that need
// none, so every call that may run is asked about.
func (r *run) decideCalls(ctx context.Context, b *batch, tools map[string]OfferedTool, rules []ApprovalRule) (*waiting, error) {
	w := &waiting{}
	needed := false
	for i, c := range b.calls {
		call := waitingCall{CallID: c.CallID, Name: c.Name, Arguments: string(c.Arguments)}
		approval, denied, err := r.approval(ctx, tools[c.Name], c, rules)
		if err != nil {
			return nil, err
		}
		switch approval {
		case ApprovalAsk:
			call.Asked, needed = true, true
		case ApprovalDeny:
			call.Denied = denied
			b.results[i] = refusal(c, denied)
		}
		w.Calls = append(w.Calls, call)
	}
	if !needed {
		return nil, nil
	}
	if !r.hasSession {
		for i := range w.Calls {
			w.Calls[i].Asked = w.Calls[i].Denied == ""
		}
	}
	return w, nil
}

// approval decides about one call: the policy, then standing rules, then the tool. denied is the result of a call that is
// refused.
func (r *run) approval(ctx context.Context, tool OfferedTool, call message.FunctionCall, rules []ApprovalRule) (a Approval, denied string, err error) {
	if tool.Tool == nil {
		return ApprovalAllow, "", nil // there is no such tool, which the model is told
	}
	said, err := r.policy(ctx, tool, call)
	switch {
	case err != nil || said == ApprovalAsk || said == ApprovalAllow:
		return said, "", err
	case said == ApprovalDeny:
		return said, deniedByPolicy, nil
	}
	if said := standing(rules, call); said != ApprovalUndecided {
		return said, rejected, nil
	}
	if t, ok := tool.Tool.(ApprovalTool); ok && t.NeedsApproval(call) {
		return ApprovalAsk, "", nil
	}
	return ApprovalAllow, "", nil
}

// policy asks the agent's policy about a call.
func (r *run) policy(ctx context.Context, tool OfferedTool, call message.FunctionCall) (said Approval, err error) {
	if r.agent.policy == nil {
		return ApprovalUndecided, nil
	}
	var session *Session
	if r.hasSession {
		session = r.session
	}
	err = guard(r.out, func() (err error) {
		said, err = r.agent.policy(ctx, session, tool, call)
		return err
	})
	if err == nil && said != ApprovalUndecided && said != ApprovalAllow && said != ApprovalDeny && said != ApprovalAsk {
		err = fmt.Errorf("%q is not one of allow, deny, ask", said)
	}
	if err != nil {
		return "", fmt.Errorf("approval policy: tool %s: %w", call.Name, err)
	}
	return said, nil
}

// refusal is the outcome of a call that may not run.
func refusal(c message.FunctionCall, text string) outcome {
	return outcome{refused: true, result: message.FunctionResult{CallID: c.CallID, Result: textValue(text), Error: text}}
}

// askFor ends a run with the requests of a batch: they stand in the message of the calls, and are the last update.
func (r *run) askFor(w *waiting, total *Response) error {
	requests := w.open()
	if n := len(total.Messages); n > 0 && total.Messages[n-1].Role == message.RoleAssistant {
		last := total.Messages[n-1].Clone()
		last.Contents = append(last.Contents, requests...)
		total.Messages[n-1] = last
	} else {
		total.Messages = append(total.Messages, message.New(message.RoleAssistant, requests...))
	}
	if r.out == nil {
		return nil
	}
	return r.out.show(&Update{Role: message.RoleAssistant, Contents: requests})
}

// approvals are the batches of a session that wait, as one run sees and changes them.
type approvals struct {
	state   *State
	batches []waiting
	rules   []ApprovalRule
	changed bool
	ruled   bool // an answer made a standing rule
}

// openApprovals reads the batches that wait, and puts the decisions in the run's input to them.
func (r *run) openApprovals() (*approvals, error) {
	a := &approvals{}
	if r.hasSession && slices.Contains(r.session.Sources(), waitingBucket) {
		a.state = r.session.State(waitingBucket)
		if _, err := a.state.Get("batches", &a.batches); err != nil {
			return nil, err
		}
		if _, err := a.state.Get(rulesKey, &a.rules); err != nil {
			return nil, err
		}
	}
	for _, m := range r.input {
		for _, c := range m.Contents {
			if response, ok := c.(message.ApprovalResponse); ok {
				if r.decided[response.Call.CallID] {
					continue // in an earlier try of this run
				}
				if err := a.decide(response); err != nil {
					return nil, err
				}
			}
		}
	}
	if a.ruled {
		a.applyRules()
	}
	return a, nil
}

// blocks reports batches without which a conversation that a service keeps cannot go on.
func (a *approvals) blocks(conversation string) error {
	for i := range a.batches {
		w := &a.batches[i]
		if conversation == "" || w.Conversation != conversation {
			continue
		}
		var names []string
		for _, c := range w.Calls {
			if _, answered := w.decision(c.CallID); c.Asked && !answered {
				names = append(names, c.Name)
			}
		}
		return fmt.Errorf("%w: %s: the service that keeps the conversation takes nothing else before they are approved or rejected (Session.PendingApprovals has the requests)",
			ErrApprovalPending, strings.Join(names, ", "))
	}
	return nil
}

// PendingApprovals are the requests that wait for an answer in the session, oldest first. Answers to them are input of a
// later run.
func (s *Session) PendingApprovals() ([]message.ApprovalRequest, error) {
	if !slices.Contains(s.Sources(), waitingBucket) {
		return nil, nil
	}
	var batches []waiting
	if _, err := s.State(waitingBucket).Get("batches", &batches); err != nil {
		return nil, err
	}
	var requests []message.ApprovalRequest
	for i := range batches {
		for _, c := range batches[i].open() {
			requests = append(requests, c.(message.ApprovalRequest))
		}
	}
	return requests, nil
}

// applyRules answers what is still asked and a standing rule speaks for now.
func (a *approvals) applyRules() {
	for i := range a.batches {
		w := &a.batches[i]
		for _, c := range w.Calls {
			if _, answered := w.decision(c.CallID); !c.Asked || answered {
				continue
			}
			if said := standing(a.rules, c.call()); said != ApprovalUndecided {
				w.Answers = append(w.Answers, answer{c.CallID, said == ApprovalAllow})
			}
		}
	}
}

// decide puts one decision to the call that it is bound to.
func (a *approvals) decide(r message.ApprovalResponse) error {
	for i := range a.batches {
		for _, c := range a.batches[i].Calls {
			if c.CallID != r.Call.CallID || !c.Asked {
				continue
			}
			if c.Name != r.Call.Name || !bytes.Equal([]byte(c.Arguments), r.Call.Arguments) {
				return fmt.Errorf("%w: call %s is answered for %s%s, and %s%s was asked about", ErrApproval,
					c.CallID, r.Call.Name, r.Call.Arguments, c.Name, c.Arguments)
			}
			switch r.Remember {
			case "":
			case message.RememberTool, message.RememberArguments:
				a.rules, a.ruled, a.changed = remember(a.rules, r), true, true
			default:
				return fmt.Errorf("%w: call %s: remember is %q, and must be tool or arguments", ErrApproval, c.CallID, r.Remember)
			}
			if _, answered := a.batches[i].decision(c.CallID); !answered {
				a.batches[i].Answers = append(a.batches[i].Answers, answer{c.CallID, r.Approved})
				a.changed = true
			}
			return nil
		}
	}
	return fmt.Errorf("%w: no request for call %s waits in this session", ErrApproval, r.Call.CallID)
}

// add lets another batch wait.
func (a *approvals) add(r *run, w *waiting) {
	if !r.hasSession {
		return
	}
	a.state = r.session.State(waitingBucket)
	a.batches, a.changed = append(a.batches, *w), true
}

// keep writes the batches back, once the run has come so far that nothing of it is lost.
func (a *approvals) keep() error {
	if !a.changed || a.state == nil {
		return nil
	}
	if a.ruled {
		if err := a.state.Set(rulesKey, a.rules); err != nil {
			return err
		}
	}
	if len(a.batches) == 0 {
		return a.state.Delete("batches")
	}
	return a.state.Set("batches", a.batches)
}

// takeReady removes and returns the batches in which everything is answered.
func (a *approvals) takeReady() []waiting {
	var ready []waiting
	a.batches = slices.DeleteFunc(a.batches, func(w waiting) bool {
		if len(w.Answers) == 0 || len(w.open()) > 0 {
			return false
		}
		ready = append(ready, w)
		return true
	})
	return ready
}

// resume answers the calls of a batch whose requests are all answered.
func (r *run) resume(ctx context.Context, w waiting, tools map[string]OfferedTool) (*batch, error) {
	if r.decided == nil {
		r.decided = map[string]bool{}
	}
	b := &batch{results: make([]outcome, len(w.Calls))}
	live := &batch{}
	var at []int
	for i, c := range w.Calls {
		b.calls = append(b.calls, c.call())
		r.decided[c.CallID] = true
		denied := c.Denied
		if approved, answered := w.decision(c.CallID); answered && !approved {
			denied = rejected
		}
		if denied == "" { // what was asked some time ago may be refused by now
			switch said, err := r.policy(ctx, tools[c.Name], c.call()); {
			case err != nil:
				return nil, err
			case said == ApprovalDeny:
				denied = deniedByPolicy
			}
		}
		if denied != "" {
			b.results[i] = refusal(c.call(), denied)
			continue
		}
		live.calls = append(live.calls, c.call())
		at = append(at, i)
	}
	live.results = make([]outcome, len(live.calls))
	err := r.invoke(ctx, live, tools)
	for i, o := range live.results {
		b.results[at[i]] = o
	}
	return b, err
}

// shownToModel leaves out what a model must not see: requests and decisions, and calls that still wait.
func (a *approvals) shownToModel(messages []*message.Message) []*message.Message {
	hidden := func(c message.Content) bool {
		switch c := c.(type) {
		case message.ApprovalRequest, message.ApprovalResponse:
			return true
		case message.FunctionCall:
			return slices.ContainsFunc(a.batches, func(w waiting) bool { return w.waits(c.CallID) })
		}
		return false
	}
	var out []*message.Message
	for i, m := range messages {
		if !slices.ContainsFunc(m.Contents, hidden) {
			if out != nil {
				out = append(out, m)
			}
			continue
		}
		if out == nil {
			out = append(make([]*message.Message, 0, len(messages)), messages[:i]...)
		}
		if kept := slices.DeleteFunc(slices.Clone(m.Contents), hidden); len(kept) > 0 {
			c := *m
			c.Contents = kept
			out = append(out, &c)
		}
	}
	if out == nil {
		return messages
	}
	return out
}

// holdsCalls reports whether the calls of a batch stand in a list of messages.
func holdsCalls(messages []*message.Message, b *batch) bool {
	return slices.ContainsFunc(messages, func(m *message.Message) bool {
		return slices.ContainsFunc(m.Contents, func(c message.Content) bool {
			call, ok := c.(message.FunctionCall)
			return ok && len(b.calls) > 0 && call.CallID == b.calls[0].CallID
		})
	})
}
