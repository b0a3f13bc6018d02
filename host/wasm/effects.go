package wasm

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/weft-run/weft/abi"
	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/message"
)

// applyWith checks everything that a hook of a provider returned against its rights and limits, and then puts it into the
// run: all of it, or nothing. more, where it is not nil, does so with the effects that only this hook has.
func (v *version) applyWith(ctx context.Context, c *call, sc *host.SessionContext, out *abi.Out, more extra) error {
	if err := v.checkState(out.State); err != nil {
		return err
	}
	if out.Error != nil {
		// A failure that the plugin reports itself keeps its state; other effects are dropped (clause ERR-4).
		return errors.Join(c.replaceState(ctx, sc.State(), out.State), c.reported(out.Error))
	}
	if err := v.checkAdditions(c, out); err != nil {
		return err
	}
	tools, err := v.tools(c, out.ExtendTools)
	if err != nil {
		return err
	}
	if err := checkMetadata(sc, out.Metadata); err != nil {
		return err
	}
	var put func()
	if more != nil {
		if put, err = more(out); err != nil {
			return err
		}
	}
	if err := c.replaceState(ctx, sc.State(), out.State); err != nil {
		return err
	}
	for key, value := range out.Metadata {
		if err := sc.SetMetadata(key, value); err != nil {
			return err
		}
	}
	v.stamp(out.ExtendMessages)
	sc.ExtendMessages(out.ExtendMessages...)
	sc.ExtendInstructions(out.ExtendInstructions...)
	sc.ExtendTools(tools...)
	for _, m := range out.ExtendMiddleware {
		if err := sc.ExtendMiddleware(v.standing(m)); err != nil {
			return err
		}
	}
	if put != nil {
		put()
	}
	c.text += textAdded(out)
	c.tools += len(out.ExtendTools)
	c.middleware += len(out.ExtendMiddleware)
	return nil
}

// stamp marks messages as the plugin's, whatever it claims (clause OUT-5).
func (v *version) stamp(messages []*message.Message) {
	for _, m := range messages {
		m.SourceID, m.SourceType, m.Untrusted = v.sourceID, v.SourceType(), true
	}
}

// unmark takes from messages whatever source they claim: what a run is given as its input, and what answers it, comes from
// no provider, and a history that stores and loads it marks it as its own. That nobody vouches for them stays with them.
func unmark(messages []*message.Message) {
	for _, m := range messages {
		m.SourceID, m.SourceType, m.Untrusted = "", "", true
	}
}

func (v *version) checkAdditions(c *call, out *abi.Out) error {
	g := &v.grants
	for _, effect := range []struct {
		name, right string
		used        bool
	}{
		{"extend_messages", "messages", len(out.ExtendMessages) > 0},
		{"extend_instructions", "instructions", len(out.ExtendInstructions) > 0},
		{"metadata", "metadata", len(out.Metadata) > 0},
		{"extend_tools", "tools", len(out.ExtendTools) > 0},
	} {
		if effect.used && !g.CanAdd(effect.right) {
			return v.denied(effect.name, "add", g.Add, effect.right)
		}
	}
	for _, m := range out.ExtendMiddleware {
		if !g.CanStand(m.Layer) {
			return v.denied(fmt.Sprintf("extend_middleware at the layer %s", m.Layer), "middleware", texts(g.Middleware), string(m.Layer))
		}
		if !v.stands(m.Layer) {
			return &abi.OutputError{Pointer: "/extend_middleware", Reason: fmt.Sprintf("the plugin exports no process for the layer %s", m.Layer)}
		}
	}
	for i, m := range out.ExtendMessages {
		if !slices.Contains(g.Roles, m.Role) {
			return v.denied(fmt.Sprintf("extend_messages/%d: role %q", i, m.Role), "roles", texts(g.Roles), string(m.Role))
		}
	}
	if n := c.middleware + len(out.ExtendMiddleware); n > maxMiddleware {
		return &abi.OutputError{Pointer: "/extend_middleware", Reason: fmt.Sprintf("the plugin adds itself %d times; at most %d are possible in one run", n, maxMiddleware)}
	}
	if limit, size := v.limits.Text, c.text+textAdded(out); beyond(int64(size), limit) {
		return &SizeError{Limit: "text", Value: limit, Seen: int64(size)}
	}
	return nil
}

// maxMiddleware is how often a plugin may add itself as middleware to one run: as deep as calls may nest.
const maxMiddleware = 16

// maxMetadata bounds what all hooks of a run write into its metadata, in bytes of JSON: others receive it with each call.
const maxMetadata = 1 << 20

// checkMetadata finds metadata that would make the run's larger than it may be.
func checkMetadata(sc *host.SessionContext, more map[string]jsontext.Value) error {
	if len(more) == 0 {
		return nil
	}
	have, err := sc.MetadataJSON()
	size := len(have)
	for key, value := range more {
		size += len(key) + len(value)
	}
	if err == nil && size > maxMetadata {
		return &abi.OutputError{Pointer: "/metadata", Reason: fmt.Sprintf("the metadata of the run would have %d bytes, and may have %d: write less, or use state", size, maxMetadata)}
	}
	return err
}

// textAdded counts all that effects would put before a model.
func textAdded(out *abi.Out) int {
	size := 0
	for _, m := range out.ExtendMessages {
		size += textSize(m)
	}
	for _, text := range out.ExtendInstructions {
		size += len(text)
	}
	for _, t := range out.ExtendTools {
		size += len(t.Description)
	}
	return size
}

func (v *version) denied(effect, list string, have []string, want string) error {
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
