package config

import (
	"context"
	"regexp"
	"strings"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/message"
)

// invocationKeys are the keys of function_invocation.
var invocationKeys = []key[host.FunctionInvocation]{
	{"enabled", func(d *decoder, n *node, f *host.FunctionInvocation) { f.Disabled = !d.boolean(n) }},
	{"max_iterations", func(d *decoder, n *node, f *host.FunctionInvocation) { f.MaxIterations = d.atLeast(n, 1) }},
	{"max_function_calls", func(d *decoder, n *node, f *host.FunctionInvocation) { f.MaxFunctionCalls = max(0, d.count(n)) }},
	{"max_concurrent_calls", func(d *decoder, n *node, f *host.FunctionInvocation) { f.MaxConcurrentCalls = max(0, d.count(n)) }},
	{"max_consecutive_errors", func(d *decoder, n *node, f *host.FunctionInvocation) {
		f.MaxConsecutiveErrors = d.atLeast(n, 1)
	}},
	{"terminate_on_unknown_calls", func(d *decoder, n *node, f *host.FunctionInvocation) { f.TerminateOnUnknownCalls = d.boolean(n) }},
	{"include_detailed_errors", func(d *decoder, n *node, f *host.FunctionInvocation) { f.IncludeDetailedErrors = d.boolean(n) }},
}

// Approvals say which tool calls run, are refused, or are asked about, by the names that the model sees. In a pattern *
// stands for any letters, none among them, and ? for one; upper and lower case differ. Deny goes before Ask, and Ask
// before Allow. Of other tools the session's standing rules, and then the tools themselves, decide.
type Approvals struct {
	Allow, Deny, Ask []string
}

// approvalKeys are the keys of approvals.
var approvalKeys = []key[Approvals]{
	{"allow", func(d *decoder, n *node, a *Approvals) { a.Allow = d.patterns(n) }},
	{"deny", func(d *decoder, n *node, a *Approvals) { a.Deny = d.patterns(n) }},
	{"ask", func(d *decoder, n *node, a *Approvals) { a.Ask = d.patterns(n) }},
}

// patterns reads a list of patterns of tools' names.
func (d *decoder) patterns(n *node) []string {
	return d.words(n, "a list of tools", func(n *node) (string, bool) { return d.line(n, `the name of a tool, or a pattern such as "get_*"`) })
}

// Policy decides as the lists say. It is nil where all of them are empty.
func (a Approvals) Policy() host.ApprovalPolicy {
	if len(a.Allow)+len(a.Deny)+len(a.Ask) == 0 {
		return nil
	}
	deny, ask, allow := anyOf(a.Deny), anyOf(a.Ask), anyOf(a.Allow)
	return func(_ context.Context, _ *host.Session, _ host.OfferedTool, call message.FunctionCall) (host.Approval, error) {
		switch {
		case deny.MatchString(call.Name):
			return host.ApprovalDeny, nil
		case ask.MatchString(call.Name):
			return host.ApprovalAsk, nil
		case allow.MatchString(call.Name):
			return host.ApprovalAllow, nil
		}
		return host.ApprovalUndecided, nil
	}
}

// nothing matches no text.
var nothing = regexp.MustCompile(`[^\s\S]`)

// anyOf matches the names that fit one of the patterns. The expressions need time in proportion to the name, whatever
// the pattern.
func anyOf(patterns []string) *regexp.Regexp {
	if len(patterns) == 0 {
		return nothing
	}
	signs := strings.NewReplacer(`\*`, `.*`, `\?`, `.`)
	forms := make([]string, len(patterns))
	for i, p := range patterns {
		forms[i] = signs.Replace(regexp.QuoteMeta(strings.ToValidUTF8(p, "\uFFFD")))
	}
	return regexp.MustCompile(`(?s)\A(?:` + strings.Join(forms, "|") + `)\z`)
}
