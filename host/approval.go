package host

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/weft-run/weft/message"
)

// ErrApproval is returned where the input answers a request for approval that is not waiting, or answers it for other
// arguments than were asked about.
var ErrApproval = errors.New("approval of a call that is not waiting")

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
}

type waitingCall struct {
	CallID    string `json:"call_id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments,omitzero"` // JSON as text, so that its bytes are kept
	Asked     bool   `json:"asked,omitzero"`
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

// pauseForApproval makes the batch wait where a call in it needs approval. Without a session there is nowhere to keep
// the calls that do not, so every call of the batch is asked about.
func (r *run) pauseForApproval(b *batch, tools map[string]OfferedTool) *waiting {
	w := &waiting{}
	needed := false
	for _, c := range b.calls {
		tool, ok := tools[c.Name].Tool.(ApprovalTool)
		asked := ok && tool.NeedsApproval(c)
		needed = needed || asked
		w.Calls = append(w.Calls, waitingCall{CallID: c.CallID, Name: c.Name, Arguments: string(c.Arguments), Asked: asked})
	}
	if !needed {
		return nil
	}
	if !r.hasSession {
		for i := range w.Calls {
			w.Calls[i].Asked = true
		}
	}
	return w
}

// ask ends a run with the requests of a batch: they stand in the message of the calls, and are the last update.
func (r *run) ask(w *waiting, total *Response) error {
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
	changed bool
}

// openApprovals reads the batches that wait, and puts the decisions in the run's input to them.
func (r *run) openApprovals() (*approvals, error) {
	a := &approvals{}
	if r.hasSession && slices.Contains(r.session.Sources(), waitingBucket) {
		a.state = r.session.State(waitingBucket)
		if _, err := a.state.Get("batches", &a.batches); err != nil {
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
	return a, nil
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
		if approved, answered := w.decision(c.CallID); answered && !approved {
			b.results[i] = outcome{result: message.FunctionResult{CallID: c.CallID, Result: textValue(rejected), Error: rejected}}
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
