package wasm

import (
	"context"
	"errors"
	"log/slog"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/weft-run/weft/abi"
	"github.com/weft-run/weft/host"
)

// eventSkipped tells the caller of a run that middleware failed and the run goes on without it.
const eventSkipped = "middleware_skipped"

// stand is a plugin at a layer of middleware: by its entry among the middleware, or for one run by extend_middleware.
type stand struct {
	of    func(ctx context.Context) *version
	layer abi.Layer
	name  string
	data  jsontext.Value
	kind  func() string
}

var (
	_ host.AgentMiddleware    = (*stand)(nil)
	_ host.ChatMiddleware     = (*stand)(nil)
	_ host.FunctionMiddleware = (*stand)(nil)
	_ host.SourceTypeOf       = (*stand)(nil)
)

// SourceType is the plugin's.
func (s *stand) SourceType() string { return s.kind() }

// ForLayer is the plugin as middleware of the layer that it was loaded for.
func (p *Plugin) ForLayer() host.Middleware {
	return (&stand{of: p.pinned, layer: p.layer, kind: p.SourceType}).listed()
}

// standing is the version as middleware of a run, as extend_middleware asks.
func (v *version) standing(m abi.Middleware) host.Middleware {
	s := &stand{
		of: func(context.Context) *version { return v }, layer: m.Layer, name: m.Name, data: m.Data, kind: v.SourceType,
	}
	return s.listed()
}

// listed puts the middleware into the list of its layer.
func (s *stand) listed() host.Middleware {
	switch s.layer {
	case abi.LayerAgent:
		return host.Middleware{Agent: []host.AgentMiddleware{s}}
	case abi.LayerChat:
		return host.Middleware{Chat: []host.ChatMiddleware{s}}
	case abi.LayerFunction:
		return host.Middleware{Function: []host.FunctionMiddleware{s}}
	}
	return host.Middleware{}
}

// newCall is a call of process where the plugin stands.
func (s *stand) newCall(v *version, runID, agent string, session *host.Session, from parts) *call {
	return &call{version: v, hook: abi.HookProcess, layer: s.layer, runID: runID, agent: agent, session: session, parts: from}
}

// view begins what process sees.
func (s *stand) view(v *version, c *call) *view {
	in := v.newView(c)
	if s.name != "" {
		in.text("name", s.name)
	}
	if len(s.data) > 0 {
		in.raw("data", s.data)
	}
	return in
}

// run calls process and takes what it returned, as the error policy says. take puts the effects in place and reports whether
// there is a result; next is the rest of the chain, and restore takes back what call_next changed of what that is given.
func (s *stand) run(ctx context.Context, v *version, c *call, in *view, next host.Next, restore func(), take func(*abi.Out) error, has func() bool) error {
	out, err := v.invoke(ctx, c, in)
	if err == nil && out.Error != nil {
		if err = c.reported(out.Error); c.passed == nil {
			err = v.failed(c, err, "")
		}
	}
	if err == nil {
		if err = v.may(out.Terminate, "terminate", "result"); err == nil {
			err = take(out)
		}
		if err != nil {
			err = v.failed(c, err, "")
		} else if out.Terminate {
			return host.ErrTerminate
		}
	}
	if err == nil || c.passed != nil || ctx.Err() != nil || v.policy != host.OnErrorSkip {
		return err
	}
	v.log.LogAttrs(ctx, slog.LevelWarn, "a plugin failed and was skipped, as its on_error says",
		slog.String("plugin", v.sourceID), slog.String("layer", string(s.layer)), slog.Any("error", err))
	_ = host.Emit(host.EventsFrom(ctx, ""), eventSkipped, map[string]string{ // an event that reaches nobody stops nothing
		"plugin": v.sourceID, "layer": string(s.layer), "error": envelope(err).Message,
	})
	if has() {
		return nil // it failed after the rest was done, which stands
	}
	restore()
	return next(ctx)
}

// around makes of the rest of a chain what call_next does: change puts what the plugin gave in place, back writes what it
// gets.
func (c *call) around(next host.Next, change func(*abi.Next) error, back func(*view)) {
	c.next = func(ctx context.Context, input []byte) (*view, error) {
		n, err := abi.DecodeLayerNext(c.layer, input)
		if err != nil {
			return nil, invalidInput("call_next", err)
		}
		c.version.unknown.Add(int64(n.Unknown))
		if err := change(n); err != nil {
			return nil, asData(err)
		}
		if err := next(ctx); err != nil {
			if ends(ctx, err) {
				return nil, err
			}
			return nil, c.failure(err)
		}
		out := &view{b: []byte{'{'}}
		back(out)
		return out, nil
	}
}

// asData has a plugin get an error of its own doing.
func asData(err error) error {
	if _, ok := errors.AsType[*abi.Error](err); ok {
		return err
	}
	e := &abi.Error{Code: abi.CodeInvalidInput, Message: err.Error()}
	var refused *DeniedError
	var size *SizeError
	switch {
	case errors.As(err, &refused):
		e.Code = abi.CodeDenied
	case errors.As(err, &size):
		e.Code = abi.CodeLimit
	case errors.Is(err, host.ErrConflict):
		e.Code = abi.CodeConflict
	}
	return e
}

// may reports whether the plugin has the right to change something, where it does.
func (v *version) may(does bool, effect, change string) error {
	if does && !v.grants.CanChange(change) {
		return v.denied(effect, "change", v.grants.Change, change)
	}
	return nil
}

// setOptions sets members of options.
func (v *version) setOptions(have host.Options, object jsontext.Value) (host.Options, error) {
	if len(object) == 0 {
		return have, nil
	}
	set, err := host.ParseOptions(object)
	if err != nil {
		return have, err
	}
	return have.With(set), nil
}
