package structured

import (
	"context"
	"errors"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/message"
)

// Run gives the input to the agent and returns its answer as a T. The run is that of [host.Agent.Run], and its errors are
// returned as they are; an answer that does not fit is an [Error], and nothing of that run is stored. Where only AfterRun
// hooks failed, value, response and error are all returned. Where the run ended with calls that wait, the error is
// [ErrNoAnswer].
func Run[T any](ctx context.Context, agent *host.Agent, input []*message.Message, c host.RunConfig, o Config) (T, *host.Response, error) {
	var out T
	f, err := formatOf[T](o)
	if err != nil {
		return out, nil, err
	}
	value, response, err := f.run(ctx, agent, input, c)
	if value == nil {
		return out, response, err
	}
	return out, response, errors.Join(err, decode(value, &out))
}

// RunSchema is [Run] for a schema. The value that it returns fits it.
func RunSchema(ctx context.Context, agent *host.Agent, input []*message.Message, c host.RunConfig, s host.Schema, o Config) (jsontext.Value, *host.Response, error) {
	f, err := newFormat(s, o)
	if err != nil {
		return nil, nil, err
	}
	return f.run(ctx, agent, input, c)
}

// run carries a run out. The value is nil where there is none, and then there is an error.
func (f *format) run(ctx context.Context, agent *host.Agent, input []*message.Message, c host.RunConfig) (jsontext.Value, *host.Response, error) {
	c.Middleware.Chat = slices.Insert(slices.Clone(c.Middleware.Chat), 0, host.ChatMiddleware(f))
	response, err := agent.Run(ctx, input, c)
	if response == nil {
		return nil, nil, err
	}
	value, bad := f.valueOf(response)
	return value, response, errors.Join(err, bad)
}

// Decode takes the value out of the response of a run with [Middleware]. It checks it again, so it also serves any other
// response: the error is then an [Error], or [ErrNoAnswer].
func Decode[T any](r *host.Response) (T, error) {
	var out T
	f, err := formatOf[T](Config{})
	if err != nil {
		return out, err
	}
	value, err := f.valueOf(r)
	if err != nil {
		return out, err
	}
	return out, decode(value, &out)
}

// DecodeSchema is [Decode] for a run with [MiddlewareSchema] and the same schema.
func DecodeSchema(r *host.Response, s host.Schema) (jsontext.Value, error) {
	f, err := newFormat(s, Config{})
	if err != nil {
		return nil, err
	}
	return f.valueOf(r)
}

// valueOf finds the value in the response of a run.
func (f *format) valueOf(r *host.Response) (jsontext.Value, error) {
	if r == nil {
		return nil, ErrNoAnswer
	}
	said := read(r.Messages, r.FinishReason)
	if said.calls || said.text == "" && endsWithResults(r.Messages) {
		return nil, ErrNoAnswer
	}
	_, value, wrong := f.check(said)
	if wrong != nil {
		wrong.Attempts = 1
		return nil, wrong
	}
	return value, nil
}

func endsWithResults(messages []*message.Message) bool {
	return len(messages) > 0 && messages[len(messages)-1].Role == message.RoleTool
}
