package wasm

import (
	"context"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/weft-run/weft/abi"
	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/message"
)

// streamed has the plugin's on_update see what next streams, where there is such an export (clause UPD-1).
func (s *stand) streamed(v *version, c *call, streaming bool, register func(host.StreamHooks), next host.Next) host.Next {
	if !streaming || !v.can(abi.HookOnUpdate) {
		return next
	}
	return func(ctx context.Context) error {
		u := &updates{ctx: ctx, stand: s, version: v, of: c}
		register(host.StreamHooks{Update: u.update, End: u.end, Response: u.response})
		return next(ctx)
	}
}

// updates are the calls of on_update for one stream.
type updates struct {
	ctx     context.Context
	stand   *stand
	version *version
	of      *call
	carry   jsontext.Value

	replaced bool
}

func (u *updates) update(piece *host.Update, emit func(*host.Update) error) error {
	out, err := u.call(func(in *view) { in.update(&u.version.grants, piece) })
	if err != nil {
		return err
	}
	if out == nil || out.Updates == nil {
		return emit(piece)
	}
	u.replaces()
	for _, other := range out.Updates {
		if err := emit(replaced(piece, other)); err != nil {
			return err
		}
	}
	return nil
}

func (u *updates) end(emit func(*host.Update) error) error {
	out, err := u.call(func(in *view) { in.boolean("end", true) })
	if err != nil || out == nil {
		return err
	}
	if out.Updates != nil {
		u.replaces()
	}
	for _, other := range out.Updates {
		if err := emit(replaced(&host.Update{}, other)); err != nil {
			return err
		}
	}
	return nil
}

// replaces remembers that what leaves is a stranger's.
func (u *updates) replaces() {
	u.replaced = true
	host.Distrust(u.ctx, u.version.sourceID)
}

// response labels the answer that is built of what the plugin put in the place of updates.
func (u *updates) response(r *host.Response) (*host.Response, error) {
	if !u.replaced {
		return r, nil
	}
	own := *r
	own.Messages = message.CloneAll(r.Messages)
	for _, m := range own.Messages {
		m.Untrusted = true
	}
	return &own, nil
}

// call calls on_update. Where it fails and the error policy says skip, it returns nothing: the update passes as it is.
func (u *updates) call(show func(*view)) (*abi.Out, error) {
	v := u.version
	c := u.stand.newCall(v, u.of.runID, u.of.agent, u.of.session, u.of.parts)
	c.hook, c.charged = abi.HookOnUpdate, u.of
	in := u.stand.view(v, c)
	if len(u.carry) > 0 {
		in.raw("carry", u.carry)
	}
	show(in)
	out, err := v.invoke(u.ctx, c, in)
	if err == nil {
		err = u.check(c, out)
	}
	if err != nil {
		if v.policy == host.OnErrorSkip && u.ctx.Err() == nil {
			v.log.WarnContext(u.ctx, "on_update failed and the update passes as it is, as on_error says", "plugin", v.sourceID, "error", err)
			return nil, nil
		}
		return nil, err
	}
	if out.Carry != nil {
		u.carry = out.Carry
	}
	return out, nil
}

func (u *updates) check(c *call, out *abi.Out) error {
	v := u.version
	if out.Error != nil {
		return v.failed(c, out.Error, "")
	}
	if err := v.may(out.Updates != nil, "updates", "result"); err != nil {
		return v.failed(c, err, "")
	}
	if limit := v.limits.State; beyond(int64(len(out.Carry)), limit) {
		return v.failed(c, &SizeError{Limit: "carry", Value: limit, Seen: int64(len(out.Carry))}, "")
	}
	return nil
}

// replaced is an update with what a plugin gave in its place; what it cannot give stays.
func replaced(u *host.Update, by abi.Update) *host.Update {
	out := *u
	out.Contents = by.Contents
	if by.Role != "" {
		out.Role = by.Role
	}
	if by.MessageID != "" {
		out.MessageID = by.MessageID
	}
	if by.FinishReason != "" {
		out.FinishReason = host.FinishReason(by.FinishReason)
	}
	return &out
}
