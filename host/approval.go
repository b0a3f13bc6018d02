package host

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"github.com/weft-run/weft/message"
)

// ErrApproval is returned where the input answers a request for approval that is not waiting, or answers it for other
// arguments than were asked about.
var ErrApproval = errors.New("approval of a call that is not waiting")

// ErrApprovalPending is returned where calls wait for approval in a conversation that a service keeps: it takes nothing
// else until they are answered.
var ErrApprovalPending = errors.New("calls wait for approval")

// ApprovalTool is a function tool of which some calls need somebody's approval. In a run without a session such calls are
// handed out as requests, and cannot be answered: there is nowhere to keep them.
type ApprovalTool interface {
	FunctionTool
	// NeedsApproval decides for one call. It must be quick and safe for many goroutines.
	NeedsApproval(call message.FunctionCall) bool
}

// rejected is the result of a call that was not approved.
const rejected = "Error: Tool call invocation was rejected by user."

// decideCalls finds out which calls of a batch need approval. Those that are refused get their result. It returns the
// batch as it is to wait, or nil where it can run now. Without a session there is nowhere to keep the calls that need
// none, so every call that may run is asked about.
func (r *run) decideCalls(ctx context.Context, b *batch, tools map[string]OfferedTool, rules []ApprovalRule) (*waiting, error) {
	ctx = r.withUntrusted(ctx)
	w := &waiting{ID: uuid.NewString()}
	needed := false
	for i, c := range b.calls {
		call := waitingCall{CallID: c.CallID, Name: c.Name, Arguments: string(c.Arguments), Source: tools[c.Name].SourceID}
		d, err := r.approval(ctx, tools[c.Name], c, rules)
		if err != nil {
			return nil, err
		}
		switch d.said {
		case ApprovalAsk:
			call.Asked, call.Policy, call.Reason, needed = true, d.firm, d.reason, true
		case ApprovalDeny:
			call.Denied = d.denied
			b.results[i] = refusal(c, d.denied)
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

// decision is what is to become of one call.
type decision struct {
	said   Approval
	denied string // the result of a call that is refused
	firm   bool   // no standing rule answers it
	reason string // why it is asked about, for the person who decides
}

// approval decides about one call: the policy, then a standing rule that denies, then trust, then a rule that allows, then
// the tool.
func (r *run) approval(ctx context.Context, tool OfferedTool, call message.FunctionCall, rules []ApprovalRule) (decision, error) {
	if tool.Tool == nil {
		return decision{said: ApprovalAllow}, nil // there is no such tool, which the model is told
	}
	said, err := r.policy(ctx, tool, call)
	reason := r.distrusts(tool.Tool)
	switch {
	case err != nil || said == ApprovalAllow:
		return decision{said: said}, err
	case said == ApprovalDeny:
		return decision{said: said, denied: deniedByPolicy}, nil
	case said == ApprovalAsk:
		return decision{said: said, firm: true, reason: reason}, nil
	}
	said = standing(rules, call)
	switch {
	case said == ApprovalDeny:
		return decision{said: said, denied: rejected}, nil
	case reason != "":
		return decision{said: ApprovalAsk, firm: true, reason: reason}, nil
	case said == ApprovalAllow:
		return decision{said: said}, nil
	}
	if t, ok := tool.Tool.(ApprovalTool); ok && t.NeedsApproval(call) {
		return decision{said: ApprovalAsk}, nil
	}
	return decision{said: ApprovalAllow}, nil
}

// policy asks the agent's policy about a call.
func (r *run) policy(ctx context.Context, tool OfferedTool, call message.FunctionCall) (said Approval, err error) {
	if r.agent.policy == nil || tool.Tool == nil {
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

// recheck decides once more about calls that nobody was asked about, and those whose tool is another source's by now:
// what may run may have changed while the batch waited.
func (r *run) recheck(ctx context.Context, a *approvals, tools map[string]OfferedTool) error {
	ctx = r.withUntrusted(ctx)
	for i := range a.batches {
		w := &a.batches[i]
		if len(w.Answers) == 0 || len(w.open()) > 0 {
			continue
		}
		for n := range w.Calls {
			c := &w.Calls[n]
			tool := tools[c.Name]
			if c.Asked {
				if tool.Tool != nil && tool.SourceID != c.Source {
					c.Source, a.changed = tool.SourceID, true
					w.Answers = slices.DeleteFunc(w.Answers, func(an answer) bool { return an.CallID == c.CallID })
				}
				continue
			}
			if c.Denied != "" {
				continue
			}
			d, err := r.approval(ctx, tool, c.call(), a.rules)
			if err != nil {
				return err
			}
			switch d.said {
			case ApprovalAsk:
				c.Asked, c.Policy, c.Reason, c.Source, a.changed = true, d.firm, d.reason, tool.SourceID, true
			case ApprovalDeny:
				c.Denied = d.denied
			}
		}
	}
	return nil
}

// claim makes sure that no other run answers the batch, or did so since this run looked.
func (r *run) claim(a *approvals, w waiting) error {
	if !r.session.claim(w.ID) {
		return fmt.Errorf("%w: another run of the session answers call %s just now", ErrApproval, w.Calls[0].CallID)
	}
	a.claimed = append(a.claimed, w.ID)
	var now []waiting
	if _, err := a.state.Get("batches", &now); err != nil {
		return err
	}
	if !slices.ContainsFunc(now, func(other waiting) bool { return other.ID == w.ID }) {
		return fmt.Errorf("%w: no request for call %s waits in this session", ErrApproval, w.Calls[0].CallID)
	}
	return nil
}

// resume answers the calls of a batch whose requests are all answered.
func (r *run) resume(ctx context.Context, w waiting, tools map[string]OfferedTool) (*batch, error) {
	if r.decided == nil {
		r.decided = map[string]bool{}
	}
	ctx = r.withUntrusted(ctx)
	b := &batch{results: make([]outcome, len(w.Calls))}
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
		}
	}
	return b, r.invoke(ctx, b, tools)
}
