package host

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/weft-run/weft/message"
)

// all are the context messages in order, in a list of the caller's own.
func (c *runContext) all() []*message.Message {
	size := 8 // room for what follows
	for _, m := range c.messages {
		size += len(m.messages)
	}
	all := make([]*message.Message, 0, size)
	for _, m := range c.messages {
		all = append(all, m.messages...)
	}
	return all
}

// request puts together what the model is sent: context by source, then the input; instructions of the agent, the
// providers and the run; their tools in the same order.
func (r *run) request(ctx context.Context) (*ChatRequest, error) {
	messages := append(r.context.all(), r.input...)

	lines := make([]string, 0, 2+len(r.context.instructions))
	if r.agent.instructions != "" {
		lines = append(lines, r.agent.instructions)
	}
	for _, i := range r.context.instructions {
		if s := r.slots[i.pos]; s.untrusted && r.agent.markUntrusted {
			i.text = marked(i.text, s.sourceID)
		}
		lines = append(lines, i.text)
	}
	if r.options.Instructions != "" {
		lines = append(lines, r.options.Instructions)
	}
	tools, err := r.offeredTools(ctx)
	if err != nil {
		return nil, err
	}
	options := r.options.Clone()
	options.Instructions, options.ConversationID = "", ""
	return &ChatRequest{
		Messages: messages, Instructions: strings.Join(lines, "\n"), ConversationID: r.conversationID(),
		Tools: tools, Options: options,
	}, nil
}

// conversationID is that of the next model call: what the last call of this run returned, else the run's option, else the
// session's, else the agent's.
func (r *run) conversationID() string {
	if r.returnedConversation != "" && !r.ownConversation {
		return r.returnedConversation
	}
	if !r.ownConversation && r.session != nil {
		if id := r.session.ServiceSessionID(); id != "" {
			return id
		}
	}
	return r.options.ConversationID
}

// chatMiddleware is all that wraps a model call, outermost first: the client's, the agent's, the run's, the providers'.
func (r *run) chatMiddleware() []ChatMiddleware {
	var all []ChatMiddleware
	if c, ok := r.agent.client.(ChatMiddlewareOf); ok {
		all = append(all, c.ChatMiddleware()...)
	}
	all = append(append(all, r.agent.middleware.Chat...), r.middleware.Chat...)
	for _, m := range r.context.middleware {
		all = append(all, m.Chat...)
	}
	return all
}

// functionMiddleware is all that wraps a tool call, outermost first.
func (r *run) functionMiddleware() []FunctionMiddleware {
	all := append(slices.Clip(r.agent.middleware.Function), r.middleware.Function...)
	for _, m := range r.context.middleware {
		all = append(all, m.Function...)
	}
	return all
}

// offeredTools merges the tools of agent, providers, run and tool sources. The same tool twice counts once.
func (r *run) offeredTools(ctx context.Context) ([]OfferedTool, error) {
	if len(r.agent.tools)+len(r.context.tools)+len(r.tools)+len(r.agent.sources)+len(r.sources) == 0 {
		return nil, nil
	}
	var all []OfferedTool
	for _, t := range r.agent.tools {
		all = append(all, OfferedTool{Tool: t})
	}
	for _, t := range r.context.tools {
		all = append(all, t.OfferedTool)
	}
	for _, t := range r.tools {
		all = append(all, OfferedTool{Tool: t})
	}
	for _, source := range slices.Concat(r.agent.sources, r.sources) {
		var tools []Tool
		err := guard(r.out, func() (err error) {
			tools, err = source.Tools(ctx)
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("tools of %s: %w", source.SourceID(), err)
		}
		for _, t := range tools {
			all = append(all, OfferedTool{t, source.SourceID()})
		}
	}
	return r.distinct(all)
}

// distinct leaves each tool in a list once, and reports those that cannot stand beside each other. The agent's own come
// first.
func (r *run) distinct(all []OfferedTool) ([]OfferedTool, error) {
	var faults []error
	seen := make(map[string]placedTool, len(all))
	out := all[:0]
	for at, t := range all {
		this := placedTool{t, at}
		if t.Tool == nil {
			faults = append(faults, fmt.Errorf("a tool of %s is nil", r.owner(this)))
			continue
		}
		name := t.Definition().Name
		other, ok := seen[name]
		switch {
		case !ok:
			if err := checkToolName(name); err != nil {
				faults = append(faults, fmt.Errorf("tool of %s: %w", r.owner(this), err))
			}
			seen[name] = this
			out = append(out, t)
		case !sameTool(t.Tool, other.Tool):
			faults = append(faults, r.duplicate(name, other, this))
		}
	}
	for _, t := range r.agent.invocation.AdditionalTools {
		name := t.Definition().Name
		if other, ok := seen[name]; ok && !sameTool(t, other.Tool) {
			faults = append(faults, r.duplicate(name, other, placedTool{OfferedTool{Tool: t}, additional}))
		}
	}
	return out, errors.Join(faults...)
}

// placedTool is a tool and its place in the list of all, from which its owner can be told.
type placedTool struct {
	OfferedTool
	at int
}

// additional is the place of a tool that is not offered.
const additional = -1

func (r *run) duplicate(name string, a, b placedTool) error {
	return fmt.Errorf("%w %q: %s and %s both have one: rename or remove one of them", ErrDuplicateTool, name, r.owner(a), r.owner(b))
}

// owner says who brought a tool along.
func (r *run) owner(t placedTool) string {
	switch {
	case t.SourceID != "":
		return "source " + t.SourceID
	case t.at == additional:
		return "the agent, as an additional tool,"
	case t.at < len(r.agent.tools):
		return "the agent"
	}
	return "the run"
}
