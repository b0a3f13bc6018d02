package conformance

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/message"
)

// middleware makes the middleware of the agent or of a turn.
func (p *play) middleware(ctx context.Context, scripts []Middleware) (host.Middleware, error) {
	if p.options.Wasm {
		return p.pluginMiddleware(ctx, scripts)
	}
	return p.nativeMiddleware(scripts), nil
}

// nativeMiddleware compiles scripted middleware natively, each into the list of its layer.
func (p *play) nativeMiddleware(scripts []Middleware) host.Middleware {
	var m host.Middleware
	for _, script := range scripts {
		switch script.Layer {
		case "agent":
			m.Agent = append(m.Agent, host.AgentFunc(func(ctx context.Context, c *host.AgentContext, next host.Next) error {
				return p.wrap(ctx, script, next, &agentScope{layerScope{p, next}, c}, lastRoleIs(c.Messages, script.When))
			}))
		case "chat":
			m.Chat = append(m.Chat, host.ChatFunc(func(ctx context.Context, c *host.ChatContext, next host.Next) error {
				return p.wrap(ctx, script, next, &chatScope{layerScope{p, next}, c}, lastRoleIs(c.Request.Messages, script.When))
			}))
		case "function":
			m.Function = append(m.Function, host.FunctionFunc(func(ctx context.Context, c *host.FunctionContext, next host.Next) error {
				applies := script.When.Tool == "" || script.When.Tool == c.Tool.Definition().Name
				return p.wrap(ctx, script, next, &functionScope{layerScope{p, next}, c}, applies)
			}))
		}
	}
	return m
}

// wrap carries out middleware; where its "when" does not hold it only calls next.
func (p *play) wrap(ctx context.Context, script Middleware, next host.Next, s scope, applies bool) error {
	if !applies {
		return next(ctx)
	}
	return runOps(ctx, script.Process, s)
}

func lastRoleIs(messages []*message.Message, w When) bool {
	return w.LastRole == "" || len(messages) > 0 && string(messages[len(messages)-1].Role) == w.LastRole
}

// layerScope is what the scopes of all layers share.
type layerScope struct {
	play *play
	next host.Next
}

// holds is true: only a provider's operations have a "when".
func (s *layerScope) holds(When) (bool, error) { return true, nil }

// common carries out operations that mean the same at each layer; response is the layer's result as a text. It reports
// whether the operation was one of them.
func (s *layerScope) common(ctx context.Context, op Op, response func() string) (bool, error) {
	switch op.Name {
	case "log":
		s.play.logLine(*op.Text)
	case "log_response":
		s.play.logLine(response())
	case "call_next":
		if err := s.next(ctx); err != nil && (!op.Catch || errors.Is(err, host.ErrTerminate)) {
			return true, err
		}
	case "fail":
		return true, errors.New(op.Error)
	default:
		return false, nil
	}
	return true, nil
}

// agentScope is one call of agent middleware.
type agentScope struct {
	layerScope
	c *host.AgentContext
}

func (s *agentScope) do(ctx context.Context, op Op) error {
	if done, err := s.common(ctx, op, func() string { return responseText(s.c.Result) }); done {
		return err
	}
	switch op.Name {
	case "set_messages":
		s.c.Messages = toHost(op.Messages)
	case "append_message":
		s.c.Messages = append(slices.Clip(s.c.Messages), op.Message.toHost())
	case "set_option":
		return setOption(&s.c.Options, op)
	default:
		return resultOp(op, &s.c.Result)
	}
	return nil
}

// chatScope is one call of chat middleware.
type chatScope struct {
	layerScope
	c *host.ChatContext
}

func (s *chatScope) do(ctx context.Context, op Op) error {
	if done, err := s.common(ctx, op, func() string { return responseText(s.c.Result) }); done {
		return err
	}
	switch op.Name {
	case "set_messages":
		s.c.Request.Messages = toHost(op.Messages)
	case "append_message":
		s.c.Request.Messages = append(slices.Clip(s.c.Request.Messages), op.Message.toHost())
	case "set_option":
		return setOption(&s.c.Request.Options, op)
	default:
		return resultOp(op, &s.c.Result)
	}
	return nil
}

// functionScope is one call of function middleware.
type functionScope struct {
	layerScope
	c *host.FunctionContext
}

func (s *functionScope) do(ctx context.Context, op Op) error {
	done, err := s.common(ctx, op, func() string {
		if s.c.Result == nil {
			return "-"
		}
		return s.c.Text()
	})
	if done {
		return err
	}
	switch op.Name {
	case "set_arguments":
		s.c.Arguments = op.Arguments
	case "set_result":
		s.c.SetText(*op.Text)
	case "append_result":
		s.c.SetText(s.c.Text() + *op.Text)
	case "terminate":
		if op.Text != nil {
			s.c.SetText(*op.Text)
		}
		return host.ErrTerminate
	default:
		return fmt.Errorf("op %q is not one of function middleware", op.Name)
	}
	return nil
}

func responseText(r *host.Response) string {
	if r == nil {
		return "-"
	}
	return r.Text()
}

// setOption sets one option for what goes down the chain.
func setOption(o *host.Options, op Op) error {
	set, err := host.ParseOptions(objectOf(op.Key, op.Value))
	if err != nil {
		return err
	}
	*o = o.With(set)
	return nil
}

// resultOp carries out an operation on the result of the agent or the chat layer.
func resultOp(op Op, result **host.Response) error {
	switch op.Name {
	case "set_result":
		*result = host.NewResponse(*op.Text)
	case "append_result":
		*result = appended(*result, *op.Text)
	case "terminate":
		if op.Text != nil {
			*result = host.NewResponse(*op.Text)
		}
		return host.ErrTerminate
	default:
		return fmt.Errorf("op %q is not one of this layer", op.Name)
	}
	return nil
}

// appended is a copy of a response with something behind its last text. What was stored below stays as it was.
func appended(r *host.Response, text string) *host.Response {
	if r == nil {
		return host.NewResponse(text)
	}
	out := *r
	out.Messages = message.CloneAll(r.Messages)
	for i := len(out.Messages) - 1; i >= 0; i-- {
		contents := out.Messages[i].Contents
		for j := len(contents) - 1; j >= 0; j-- {
			if t, ok := contents[j].(message.Text); ok {
				contents[j] = message.Text{Text: t.Text + text}
				return &out
			}
		}
	}
	out.Messages = append(out.Messages, message.Assistant(text))
	return &out
}
