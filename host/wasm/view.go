package wasm

import (
	"context"
	"errors"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/weft-run/weft/abi"
	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/wasm/engine"
	"github.com/weft-run/weft/message"
)

// view writes the object that a hook receives: only what the plugin may read, each part straight from where it is kept
// (clauses IN-1 to IN-11). State and config are bytes and stay as they are.
type view struct {
	b   []byte
	err error
}

// newView begins the object with what every call of a run has.
func (p *Provider) newView(hook abi.Hook, sc *host.SessionContext) *view {
	v := &view{b: make([]byte, 0, 1024)}
	v.head(hook)
	v.text("source_id", p.sourceID)
	v.key("run")
	v.b = append(v.b, `{"run_id":`...)
	v.quote(sc.RunID())
	if name := sc.AgentName(); name != "" {
		v.text("agent", name)
	}
	v.text("session_id", sc.Session().ID())
	if id := sc.Session().ServiceSessionID(); id != "" {
		v.text("service_session_id", id)
	}
	v.b = append(v.b, '}')
	v.raw("config", p.config)
	state, err := sc.State().Raw()
	v.fail(err)
	v.raw("state", state)
	return v
}

func (v *view) head(hook abi.Hook) {
	v.b = append(v.b, `{"abi":`...)
	v.b = strconv.AppendInt(v.b, abi.Version, 10)
	v.text("hook", string(hook))
}

// input adds the run's new messages, where they may be read.
func (v *view) input(g abi.Grants, sc *host.SessionContext) {
	if g.CanRead("input") {
		v.messages("input", sc.Input())
	}
}

// context adds the count of each source's messages, and the messages of those that may be read.
func (v *view) context(g abi.Grants, sc *host.SessionContext) {
	v.key("context")
	v.b = append(v.b, '[')
	for i, source := range sc.Sources() {
		if i > 0 {
			v.b = append(v.b, ',')
		}
		v.b = append(v.b, `{"source_id":`...)
		v.quote(source.SourceID)
		v.b = append(v.b, `,"count":`...)
		v.b = strconv.AppendInt(v.b, int64(len(source.Messages)), 10)
		if source.SourceID == sc.SourceID() || g.CanReadSource(source.SourceID) {
			v.messages("messages", source.Messages)
		}
		v.b = append(v.b, '}')
	}
	v.b = append(v.b, ']')
}

// shared adds options and metadata, where they may be read.
func (v *view) shared(g abi.Grants, sc *host.SessionContext) {
	if g.CanRead("options") {
		options, err := sc.Options().JSON()
		v.fail(err)
		v.raw("options", options)
	}
	if g.CanRead("metadata") {
		metadata, err := sc.MetadataJSON()
		v.fail(err)
		v.raw("metadata", metadata)
	}
}

// response adds the run's answer, where it may be read.
func (v *view) response(g abi.Grants, r *host.Response) {
	if r == nil || !g.CanRead("response") {
		return
	}
	v.key("response")
	v.b = append(v.b, `{"messages":`...)
	v.list(r.Messages)
	if r.FinishReason != "" {
		v.text("finish_reason", string(r.FinishReason))
	}
	if r.ConversationID != "" {
		v.text("conversation_id", r.ConversationID)
	}
	if r.Usage != nil {
		v.key("usage")
		v.b = append(v.b, `{"input_tokens":`...)
		v.b = strconv.AppendInt(v.b, int64(r.Usage.InputTokens), 10)
		v.b = append(v.b, `,"output_tokens":`...)
		v.b = strconv.AppendInt(v.b, int64(r.Usage.OutputTokens), 10)
		v.b = append(v.b, '}')
	}
	v.b = append(v.b, '}')
}

// failure adds why the run failed.
func (v *view) failure(cause error) {
	e := envelope(cause)
	v.key("error")
	v.b = append(v.b, `{"code":`...)
	v.quote(string(e.Code))
	v.text("message", e.Message)
	v.b = append(v.b, '}')
}

// done closes the object.
func (v *view) done() ([]byte, error) { return append(v.b, '}'), v.err }

func (v *view) key(name string) {
	v.b = append(v.b, ',', '"')
	v.b = append(v.b, name...)
	v.b = append(v.b, '"', ':')
}

func (v *view) text(name, value string) {
	v.key(name)
	v.quote(value)
}

func (v *view) quote(value string) {
	b, err := jsontext.AppendQuote(v.b, value)
	v.fail(err)
	v.b = b
}

func (v *view) raw(name string, value jsontext.Value) {
	v.key(name)
	v.b = append(v.b, value...)
}

func (v *view) messages(name string, messages []*message.Message) {
	v.key(name)
	v.list(messages)
}

func (v *view) list(messages []*message.Message) {
	b, err := message.AppendList(v.b, messages)
	v.fail(err)
	v.b = b
}

func (v *view) fail(err error) {
	if v.err == nil {
		v.err = err
	}
}

// longestCause is how much of an error's text a plugin gets to see.
const longestCause = 1024

// envelope puts the cause of a failed run into the contract's form (clause ERR-2).
func envelope(cause error) *abi.Error {
	e := &abi.Error{Code: abi.CodeInternal, Message: cause.Error()}
	var reported *abi.Error
	var limit *engine.LimitError
	var model *host.ModelError
	var hook *host.HookError
	switch {
	case errors.Is(cause, host.ErrStopped), errors.Is(cause, context.Canceled):
		e.Code = abi.CodeCancelled
	case errors.Is(cause, context.DeadlineExceeded), errors.Is(cause, engine.ErrTimeout):
		e.Code = abi.CodeTimeout
	case errors.As(cause, &limit):
		e.Code = abi.CodeLimit
	case errors.As(cause, &reported):
		e.Code = reported.Code
	case errors.As(cause, &model):
		e.Code = abi.CodeModel
	case errors.As(cause, &hook):
		e.Code = abi.CodeFailed
	}
	if len(e.Message) > longestCause {
		e.Message = e.Message[:longestCause]
	}
	e.Message = toValidUTF8(e.Message)
	return e
}
