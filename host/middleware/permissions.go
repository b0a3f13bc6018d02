package middleware

import (
	"context"
	"errors"
	"fmt"

	"github.com/weft-run/weft/host"
)

// ErrPermission is what a [PermissionError] is.
var ErrPermission = errors.New("tool call not permitted")

// OwnTools as [ToolRule.Source] stands for tools that no provider and no tool source added: the agent's and the run's own.
const OwnTools = "(own)"

// ToolRule names tools. In both fields * stands for any letters, none among them, and ? for one; upper and lower case
// differ. An empty field stands for all.
type ToolRule struct {
	// Tool is the tool's name.
	Tool string
	// Source is the source id of who added the tool, or [OwnTools].
	Source string
}

func (r ToolRule) matches(t host.OfferedTool) bool {
	source := orDefault(t.SourceID, OwnTools)
	return (r.Tool == "" || glob(r.Tool, t.Definition().Name)) && (r.Source == "" || glob(r.Source, source))
}

// PermissionsConfig says which tools may be called. The zero value permits none.
type PermissionsConfig struct {
	// Allow lists what may be called. Default: everything, if Deny or Check is set; nothing otherwise.
	Allow []ToolRule
	// Deny lists what may not, and goes before Allow. Default: nothing.
	Deny []ToolRule
	// Check, where set, is asked about calls that the rules permit; its error refuses the call, and its text is told to
	// the model. It must be safe for many goroutines and change nothing of the call. Default: none.
	Check func(ctx context.Context, c *host.FunctionContext) error
	// EndRun ends the run with a [PermissionError] where a call is refused. Default: the model gets a text that says so as
	// the call's result, and the run goes on.
	EndRun bool
}

// PermissionError is a refused call that ended its run.
type PermissionError struct {
	Tool     string
	SourceID string
	CallID   string
	// Reason is why, as the model would have been told.
	Reason string
}

// Error names the tool and the reason.
func (e *PermissionError) Error() string {
	return fmt.Sprintf("call %s of the tool %q (%s) is not permitted: %s", e.CallID, e.Tool, orDefault(e.SourceID, OwnTools), e.Reason)
}

// Unwrap is [ErrPermission].
func (e *PermissionError) Unwrap() error { return ErrPermission }

type permissions struct{ config PermissionsConfig }

var _ host.FunctionMiddleware = (*permissions)(nil)

// NewPermissions returns a guard that refuses calls of tools. It stands at the function layer. Middleware further in may
// still change a call's arguments, so a guard that checks them belongs innermost of those that do.
func NewPermissions(c PermissionsConfig) host.Middleware {
	return host.Middleware{Function: []host.FunctionMiddleware{&permissions{c}}}
}

// SourceType is what traces call it.
func (*permissions) SourceType() string { return "permissions" }

// ProcessFunction lets a call pass, or answers it with a refusal.
func (p *permissions) ProcessFunction(ctx context.Context, c *host.FunctionContext, next host.Next) error {
	reason := p.refusal(ctx, c)
	if reason == "" {
		return next(ctx)
	}
	name := c.Tool.Definition().Name
	if p.config.EndRun {
		return host.Fatal(&PermissionError{Tool: name, SourceID: c.Tool.SourceID, CallID: c.CallID, Reason: reason})
	}
	c.SetText(fmt.Sprintf("Error: The call of %q is not permitted and was not run: %s. Do not try it again.", name, reason))
	return nil
}

// refusal is why a call may not run; empty where it may.
func (p *permissions) refusal(ctx context.Context, c *host.FunctionContext) string {
	open := len(p.config.Allow) == 0 && (len(p.config.Deny) > 0 || p.config.Check != nil)
	switch {
	case anyMatches(p.config.Deny, c.Tool):
		return "the tool is on the list of those that may not be called"
	case !open && !anyMatches(p.config.Allow, c.Tool):
		return "the tool is not on the list of those that may be called"
	case p.config.Check == nil:
		return ""
	}
	if err := p.config.Check(ctx, c); err != nil {
		return orDefault(err.Error(), "its arguments were refused")
	}
	return ""
}

func anyMatches(rules []ToolRule, t host.OfferedTool) bool {
	for _, r := range rules {
		if r.matches(t) {
			return true
		}
	}
	return false
}

// glob reports whether a whole name fits a pattern. It looks back to the last star alone, so no pattern makes it slow.
func glob(pattern, name string) bool {
	p, n, star, resume := 0, 0, -1, 0
	for n < len(name) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, resume = p, n
			p++
		case p < len(pattern) && (pattern[p] == '?' || pattern[p] == name[n]):
			p, n = p+1, n+1
		case star >= 0:
			resume++
			p, n = star+1, resume
		default:
			return false
		}
	}
	for p < len(pattern) && pattern[p] == '*' {
		p++
	}
	return p == len(pattern)
}
