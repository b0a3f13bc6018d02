package wasm

import (
	"fmt"
	"slices"
	"strings"

	"github.com/weft-run/weft/abi"
	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/message"
)

// apply checks everything that a hook returned against its rights and limits, and then puts it into the run: all of it,
// or nothing.
func (p *Provider) apply(sc *host.SessionContext, out *abi.Out) error {
	if err := p.checkState(out); err != nil {
		return err
	}
	if out.Error != nil {
		// A failure that the plugin reports itself keeps its state; other effects are dropped (clause ERR-4).
		if len(out.State) > 0 {
			if err := sc.State().Replace(out.State); err != nil {
				return err
			}
		}
		return out.Error
	}
	if err := p.checkAdditions(out); err != nil {
		return err
	}
	if len(out.State) > 0 {
		if err := sc.State().Replace(out.State); err != nil {
			return err
		}
	}
	for key, value := range out.Metadata {
		if err := sc.SetMetadata(key, value); err != nil {
			return err
		}
	}
	for _, m := range out.ExtendMessages {
		m.SourceID, m.SourceType = p.sourceID, p.SourceType() // whatever the plugin claims (clause OUT-5)
	}
	sc.ExtendMessages(out.ExtendMessages...)
	sc.ExtendInstructions(out.ExtendInstructions...)
	return nil
}

func (p *Provider) checkState(out *abi.Out) error {
	if limit := p.limits.State; limit >= 0 && int64(len(out.State)) > limit {
		return &SizeError{Limit: "state", Value: limit, Seen: int64(len(out.State))}
	}
	return nil
}

func (p *Provider) checkAdditions(out *abi.Out) error {
	g := p.grants
	if len(out.ExtendMessages) > 0 && !g.CanAdd("messages") {
		return p.denied("extend_messages", "add", g.Add, "messages")
	}
	if len(out.ExtendInstructions) > 0 && !g.CanAdd("instructions") {
		return p.denied("extend_instructions", "add", g.Add, "instructions")
	}
	if len(out.Metadata) > 0 && !g.CanAdd("metadata") {
		return p.denied("metadata", "add", g.Add, "metadata")
	}
	size := 0
	for i, m := range out.ExtendMessages {
		if !slices.Contains(g.Roles, m.Role) {
			roles := make([]string, len(g.Roles))
			for i, r := range g.Roles {
				roles[i] = string(r)
			}
			return p.denied(fmt.Sprintf("extend_messages/%d: role %q", i, m.Role), "roles", roles, string(m.Role))
		}
		size += textSize(m)
	}
	for _, text := range out.ExtendInstructions {
		size += len(text)
	}
	if limit := p.limits.Text; limit >= 0 && int64(size) > limit {
		return &SizeError{Limit: "text", Value: limit, Seen: int64(size)}
	}
	return nil
}

func (p *Provider) denied(effect, list string, have []string, want string) error {
	return &DeniedError{
		Effect: effect,
		Grant:  fmt.Sprintf("%s: [%s]", list, strings.Join(append(slices.Clone(have), want), ", ")),
	}
}

// textSize counts all that a message would put before a model.
func textSize(m *message.Message) int {
	size := len(m.AuthorName)
	for _, c := range m.Contents {
		switch c := c.(type) {
		case message.Text:
			size += len(c.Text)
		case message.Reasoning:
			size += len(c.Text)
		case message.URI:
			size += len(c.URI)
		case message.FunctionCall:
			size += len(c.Name) + len(c.Arguments)
		case message.FunctionResult:
			size += len(c.Result) + len(c.Error)
		case message.Error:
			size += len(c.Message)
		case message.Unknown:
			size += len(c.JSON)
		}
	}
	return size
}

func toValidUTF8(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }
