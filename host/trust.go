package host

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/weft-run/weft/message"
)

// What is retrieved may say "call delete_all", and models obey. So text has a label that travels with it: what an
// [UntrustedSource] adds is untrusted, and so is what a model makes of it, in this run and in later ones. It is never lost
// by saving, restoring or summarising. A [TrustRequiredTool] does not run unasked while a request holds such text.
//
// A tool's name and description carry no label: whoever lets a stranger offer tools reads what they say. Nor does shared
// metadata: whoever makes text of it says what it is worth.

// UntrustedSource may be implemented by a [Provider], a [Tool] or a [ToolSource] whose texts nobody vouches for, such as
// one that fetches pages. The messages and instructions that such a provider adds, the results of its tools, and all that
// passes through its middleware are untrusted. It is asked once, for a tool once in each run.
type UntrustedSource interface {
	Untrusted() bool
}

// TrustRequiredTool may be implemented by a [FunctionTool] that must not be called on the word of a stranger, such as one
// that deletes or sends. While untrusted text is in the model's request, or in what the run came to so far, its calls wait
// for approval, whatever the session's standing rules allow; the request says why. An [ApprovalPolicy] goes before: where
// it allows a call, that runs. UntrustedSources tells it.
type TrustRequiredTool interface {
	RequiresTrusted() bool
}

// untrustedInput stands for text without a source, which came with the run's input.
const untrustedInput = "input"

// untrustedBucket is the part of a session that remembers untrusted text in a conversation that a service keeps. No
// provider can have it.
const untrustedBucket = reservedPrefix + "untrusted"

// untrustedKey is where the context of a tool call holds the sources of untrusted text.
type untrustedKey struct{}

// UntrustedSources are the source ids of the untrusted text that the model had seen when it asked for the tool call, or the
// approval of one, that ctx belongs to; none where it had seen none. Text that came back from a history stands under the
// source id of that, the caller's own under "input", a result of the agent's own tool under the name of the tool.
func UntrustedSources(ctx context.Context) []string {
	sources, _ := ctx.Value(untrustedKey{}).([]string)
	return slices.Clone(sources)
}

// Distrust says that untrusted text of a source got into the run that ctx belongs to by a way that carries no label, such as
// middleware that wrote instructions, or a result. What the model makes of it, and the results of tool calls under way, are
// untrusted from then on. Without a run it does nothing. It may be called by many goroutines.
func Distrust(ctx context.Context, sourceID string) {
	scopeOf(ctx).addUntrusted([]string{cmp.Or(sourceID, untrustedInput)})
}

// distrustTold takes over what was said with [Distrust].
func (r *run) distrustTold(ctx context.Context) {
	for _, source := range scopeOf(ctx).takeUntrusted() {
		r.distrust(source)
	}
}

// untrusted reports whether somebody says so of himself.
func untrusted(v any) bool {
	u, ok := v.(UntrustedSource)
	return ok && u.Untrusted()
}

// isUntrusted reports whether a message has the label.
func isUntrusted(m *message.Message) bool { return m.Untrusted }

// distrust remembers that untrusted text of a source is in what the model is sent.
func (r *run) distrust(sourceID string) {
	if sourceID = cmp.Or(sourceID, untrustedInput); !slices.Contains(r.untrusted, sourceID) {
		r.untrusted = append(slices.Clip(r.untrusted), sourceID) // tools under way have the list
		r.keptUntrusted = false
	}
}

// distrustIn looks for untrusted messages.
func (r *run) distrustIn(messages []*message.Message) {
	for _, m := range messages {
		if m != nil && m.Untrusted {
			r.distrust(m.SourceID)
		}
	}
}

// distrustAtStart finds the untrusted text that is there before the first model call: of whoever calls the agent as a
// tool, of the context, of the input, and of the conversation that a service keeps.
func (r *run) distrustAtStart(ctx context.Context, conversation string) error {
	r.untrusted, _ = ctx.Value(untrustedKey{}).([]string)
	r.keptUntrusted = false
	r.distrustTold(ctx)
	r.distrustContext()
	r.distrustIn(r.input)
	for i := range r.context.instructions {
		if s := r.slots[r.context.instructions[i].pos]; s.untrusted {
			r.distrust(s.sourceID)
		}
	}
	for i := range r.context.middleware {
		if s := r.slots[r.context.middleware[i].pos]; s.untrusted {
			r.distrust(s.sourceID)
		}
	}
	if conversation == "" || !r.hasSession || !slices.Contains(r.session.Sources(), untrustedBucket) {
		return nil
	}
	var kept []string
	if _, err := r.session.State(untrustedBucket).Get("sources", &kept); err != nil {
		return err
	}
	for _, source := range kept {
		r.distrust(source)
	}
	return nil
}

// distrustContext looks for untrusted messages in the context.
func (r *run) distrustContext() {
	for i := range r.context.messages {
		if c := &r.context.messages[i]; c.untrusted {
			r.distrustIn(c.messages)
		}
	}
}

// distrustCalls labels the results that came from untrusted tools, and those of agents that met untrusted text.
func (r *run) distrustCalls(ctx context.Context, b *batch, ran []*prepared) {
	for i, p := range ran {
		if p != nil && r.untrustedTool(p.tool) {
			b.results[i].untrusted = true
			r.distrust(cmp.Or(p.tool.SourceID, b.calls[i].Name))
		}
	}
	for _, source := range scopeOf(ctx).takeUntrusted() {
		for i := range b.results { // which of the calls it was is not known
			b.results[i].untrusted = true
		}
		r.distrust(source)
	}
}

// untrustedTool reports whether nobody vouches for what a tool returns.
func (r *run) untrustedTool(t OfferedTool) bool {
	if untrusted(t.Tool) {
		return true
	}
	if t.SourceID == "" {
		return false
	}
	if s := findSlot(r.slots, t.SourceID); s != nil && s.untrusted {
		return true
	}
	of := func(s ToolSource) bool { return s.SourceID() == t.SourceID && untrusted(s) }
	return slices.ContainsFunc(r.agent.sources, of) || slices.ContainsFunc(r.sources, of)
}

// tellCaller leaves with the scope which untrusted text the run met, for the run that called this one.
func (r *run) tellCaller(ctx context.Context) {
	if len(r.untrusted) > 0 {
		scopeOf(ctx).met(r.untrusted)
	}
}

// withUntrusted is a context that tells tools and policies of untrusted text.
func (r *run) withUntrusted(ctx context.Context) context.Context {
	if len(r.untrusted) == 0 {
		return ctx
	}
	return context.WithValue(ctx, untrustedKey{}, r.untrusted)
}

// distrusts is why a call of the tool must be approved; empty where it need not.
func (r *run) distrusts(tool Tool) string {
	if len(r.untrusted) == 0 {
		return ""
	}
	if t, ok := tool.(TrustRequiredTool); !ok || !t.RequiresTrusted() {
		return ""
	}
	const most = 5
	shown, more := r.untrusted, ""
	if len(shown) > most {
		shown, more = shown[:most], fmt.Sprintf(" and %d more", len(shown)-most)
	}
	return "the model had seen untrusted text of " + strings.Join(shown, ", ") + more + ", and the tool requires trusted text"
}
