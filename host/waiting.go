package host

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/weft-run/weft/message"
)

// waitingBucket is the part of a session in which batches wait for approval. No provider can have it: what stands in it
// decides which calls run.
const waitingBucket = reservedPrefix + "approvals"

// waiting is a batch that is paused until every request in it is answered. It is kept in the session, so that it outlives
// the run, and a save and restore.
type waiting struct {
	ID      string        `json:"id"`
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
	// Policy says that the policy wants somebody asked, or the model had seen untrusted text, so that no rule answers it. Source is where the tool came from.
	Policy bool   `json:"policy,omitzero"`
	Source string `json:"source,omitzero"`
	// Reason is why it is asked about.
	Reason string `json:"reason,omitzero"`
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
			requests = append(requests, message.ApprovalRequest{Call: c.call(), Reason: c.Reason})
		}
	}
	return requests
}

// waits reports whether a call id belongs to the batch.
func (w *waiting) waits(callID string) bool {
	return slices.ContainsFunc(w.Calls, func(c waitingCall) bool { return c.CallID == callID })
}

// approvals are the batches of a session that wait, as one run sees and changes them.
type approvals struct {
	state   *State
	batches []waiting
	rules   []ApprovalRule
	changed bool

	taken      []string // ids of the batches that this run answered
	added      []waiting
	remembered []message.ApprovalResponse
	claimed    []string
	ruled      bool // an answer made a standing rule
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
				if err := a.decide(response); err != nil && !r.decided[response.Call.CallID] { // in an earlier try of this run
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
			if _, answered := w.decision(c.CallID); !c.Asked || c.Policy || answered {
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
	var other error
	for i := range a.batches {
		for _, c := range a.batches[i].Calls {
			if c.CallID != r.Call.CallID || !c.Asked {
				continue
			}
			if c.Name != r.Call.Name || !bytes.Equal([]byte(c.Arguments), r.Call.Arguments) {
				other = fmt.Errorf("%w: call %s is answered for %s%s, and %s%s was asked about", ErrApproval,
					c.CallID, r.Call.Name, r.Call.Arguments, c.Name, c.Arguments)
				continue // another batch may have a call of the same id
			}
			switch r.Remember {
			case "":
			case message.RememberTool, message.RememberArguments:
				a.rules, a.ruled, a.changed = remember(a.rules, r), true, true
				a.remembered = append(a.remembered, r)
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
	if other != nil {
		return other
	}
	return fmt.Errorf("%w: no request for call %s waits in this session", ErrApproval, r.Call.CallID)
}

// add lets another batch wait.
func (a *approvals) add(r *run, w *waiting) {
	if !r.hasSession {
		return
	}
	a.state = r.session.State(waitingBucket)
	a.added, a.changed = append(a.added, *w), true
}

// keep writes the batches back, once the run has come so far that nothing of it is lost.
func (a *approvals) keep() error {
	if !a.changed || a.state == nil {
		return nil
	}
	if a.ruled { // on what stands there now: another run, or the caller, may have changed it
		err := a.state.Update(rulesKey, func(old jsontext.Value) (any, error) {
			var rules []ApprovalRule
			if old != nil {
				if err := json.Unmarshal(old, &rules); err != nil {
					return nil, err
				}
			}
			for _, r := range a.remembered {
				rules = remember(rules, r)
			}
			return rules, nil
		})
		if err != nil {
			return err
		}
	}
	return a.state.Update("batches", func(old jsontext.Value) (any, error) {
		now := []waiting{}
		if old != nil {
			if err := json.Unmarshal(old, &now); err != nil {
				return nil, err
			}
		}
		now = slices.DeleteFunc(now, func(w waiting) bool { return slices.Contains(a.taken, w.ID) })
		for i := range now {
			at := slices.IndexFunc(a.batches, func(w waiting) bool { return w.ID == now[i].ID })
			if at < 0 {
				continue
			}
			mine := a.batches[at]
			for _, other := range now[i].Answers {
				if _, answered := mine.decision(other.CallID); !answered {
					mine.Answers = append(mine.Answers, other)
				}
			}
			now[i] = mine
		}
		if now = append(now, a.added...); len(now) == 0 {
			return nil, nil // nothing waits any more
		}
		return now, nil
	})
}

// takeReady removes and returns the batches in which everything is answered.
func (a *approvals) takeReady() []waiting {
	var ready []waiting
	a.batches = slices.DeleteFunc(a.batches, func(w waiting) bool {
		if len(w.Answers) == 0 || len(w.open()) > 0 {
			return false
		}
		ready = append(ready, w)
		a.taken = append(a.taken, w.ID)
		return true
	})
	return ready
}

// resumed is a batch that was answered.
type resumed struct {
	id    string
	batch *batch
	// untrusted are the sources that the results may come from, where they are not trusted.
	untrusted []string
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
	return withoutContents(messages, hidden)
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
