package host

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/weft-run/weft/message"
)

// Approval is what a policy says of a tool call.
type Approval string

// The decisions of an [ApprovalPolicy].
const (
	// ApprovalUndecided leaves the call to the session's standing rules, and then to the tool.
	ApprovalUndecided Approval = ""
	// ApprovalAllow lets the call run.
	ApprovalAllow Approval = "allow"
	// ApprovalDeny refuses it: the model is told, and nobody is asked.
	ApprovalDeny Approval = "deny"
	// ApprovalAsk asks, whatever the rules and the tool say.
	ApprovalAsk Approval = "ask"
)

// ApprovalPolicy decides about one tool call of a run, before standing rules and the tool's own wish. session is the
// caller's, nil where there is none. It must be safe for many goroutines; its error ends the run.
type ApprovalPolicy func(ctx context.Context, session *Session, tool OfferedTool, call message.FunctionCall) (Approval, error)

// deniedByPolicy is the result of a call that a policy refused.
const deniedByPolicy = "Error: Tool call invocation was rejected by policy."

// rulesKey is where standing rules stand in the bucket of approvals.
const rulesKey = "rules"

// ApprovalRule is a standing decision of a session: for each later call of a tool, or of a tool with the same arguments.
// A rule with arguments goes before one without. "Always deny" holds for every tool; "always allow" speaks for somebody
// who would have been asked.
type ApprovalRule struct {
	Tool string `json:"tool"`
	// Arguments, where not empty, are those that the rule is for, whatever the order of their members.
	Arguments string `json:"arguments,omitzero"`
	Approved  bool   `json:"approved"`
}

// ApprovalRules are the session's standing rules, in the order in which they were made.
func (s *Session) ApprovalRules() ([]ApprovalRule, error) {
	if !slices.Contains(s.Sources(), waitingBucket) {
		return nil, nil
	}
	var rules []ApprovalRule
	_, err := s.State(waitingBucket).Get(rulesKey, &rules)
	return rules, err
}

// SetApprovalRules replaces the session's standing rules. Arguments that are no JSON object are refused.
func (s *Session) SetApprovalRules(rules []ApprovalRule) error {
	kept := slices.Clone(rules)
	for i, rule := range kept {
		if rule.Tool == "" {
			return fmt.Errorf("rules/%d: a rule needs the name of a tool", i)
		}
		if rule.Arguments == "" {
			continue
		}
		if err := checkObject([]byte(rule.Arguments)); err != nil {
			return fmt.Errorf("rules/%d: arguments: %w", i, err)
		}
		kept[i].Arguments = canonical([]byte(rule.Arguments))
	}
	if len(kept) == 0 {
		return s.State(waitingBucket).Delete(rulesKey)
	}
	return s.State(waitingBucket).Set(rulesKey, kept)
}

// remember makes a standing rule of an answer that asks for one, in place of an earlier one for the same calls.
func remember(rules []ApprovalRule, r message.ApprovalResponse) []ApprovalRule {
	rule := ApprovalRule{Tool: r.Call.Name, Approved: r.Approved}
	if r.Remember == message.RememberArguments {
		rule.Arguments = canonical(r.Call.Arguments)
	}
	rules = slices.DeleteFunc(slices.Clone(rules), func(other ApprovalRule) bool {
		return other.Tool == rule.Tool && other.Arguments == rule.Arguments
	})
	return append(rules, rule)
}

// standing is what the rules say of a call.
func standing(rules []ApprovalRule, call message.FunctionCall) Approval {
	said := ApprovalUndecided
	arguments := ""
	for _, rule := range rules {
		if rule.Tool != call.Name {
			continue
		}
		approval := ApprovalDeny
		if rule.Approved {
			approval = ApprovalAllow
		}
		if rule.Arguments == "" {
			said = approval
			continue
		}
		if arguments == "" {
			arguments = canonical(call.Arguments)
		}
		if rule.Arguments == arguments {
			return approval
		}
	}
	return said
}

// canonical is the one form of equal arguments. Numbers keep their digits: two that only look alike as floats are not the
// same. Bytes that are no JSON stand for themselves alone.
func canonical(arguments jsontext.Value) string {
	if len(bytes.TrimSpace(arguments)) == 0 {
		return "{}"
	}
	v := arguments.Clone()
	if err := v.Canonicalize(jsontext.CanonicalizeRawInts(false), jsontext.CanonicalizeRawFloats(false)); err != nil {
		return string(arguments)
	}
	return string(v)
}
