package wasm

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/weft-run/weft/abi"
	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/message"
)

// What the layers and the hooks of the loop see (clauses PRO-3 to PRO-5, HOK-1 to HOK-5), each part where it may be read.

// request adds a model call without its messages, which are fetched.
func (v *view) request(g *abi.Grants, r *host.ChatRequest) {
	if !g.CanRead("request") || r == nil {
		return
	}
	v.object("request", func() {
		v.number("count", len(r.Messages))
		if r.Instructions != "" {
			v.text("instructions", r.Instructions)
		}
		if len(r.Tools) > 0 {
			v.array("tools", len(r.Tools), func(i int) { v.quote(r.Tools[i].Definition().Name) })
		}
		if r.ConversationID != "" {
			v.text("conversation_id", r.ConversationID)
		}
	})
}

// iteration adds which model call it is.
func (v *view) iteration(g *abi.Grants, it *host.Iteration) {
	v.object("iteration", func() {
		v.number("number", it.Number)
		if it.SoFar != nil && it.SoFar.Usage != nil && g.CanRead("response") {
			v.usage(it.SoFar.Usage)
		}
	})
}

// call adds a tool call.
func (v *view) call(g *abi.Grants, c message.FunctionCall, sourceID string) {
	if g.CanRead("calls") {
		v.key("call")
		v.oneCall(c, sourceID, nil)
	}
}

func (v *view) calls(g *abi.Grants, calls []message.FunctionCall) {
	if g.CanRead("calls") {
		v.array("calls", len(calls), func(i int) { v.oneCall(calls[i], "", nil) })
	}
}

func (v *view) oneCall(c message.FunctionCall, sourceID string, data jsontext.Value) {
	v.b = append(v.b, '{')
	v.text("call_id", c.CallID)
	v.text("name", c.Name)
	if len(c.Arguments) > 0 {
		v.raw("arguments", c.Arguments)
	}
	if sourceID != "" {
		v.text("source_id", sourceID)
	}
	if len(data) > 0 {
		v.raw("data", data)
	}
	v.b = append(v.b, '}')
}

// result adds what a call came to.
func (v *view) result(g *abi.Grants, r message.FunctionResult) {
	if g.CanRead("calls") {
		v.key("result")
		v.oneResult(r)
	}
}

func (v *view) results(g *abi.Grants, results []message.FunctionResult) {
	if g.CanRead("calls") {
		v.array("results", len(results), func(i int) { v.oneResult(results[i]) })
	}
}

func (v *view) oneResult(r message.FunctionResult) {
	v.b = append(v.b, '{')
	v.text("call_id", r.CallID)
	if len(r.Result) > 0 {
		v.raw("result", r.Result)
	}
	if r.Error != "" {
		v.text("error", r.Error)
	}
	v.b = append(v.b, '}')
}

// update adds one piece of a stream.
func (v *view) update(g *abi.Grants, u *host.Update) {
	if !g.CanRead("response") {
		return
	}
	v.object("update", func() {
		if u.Role != "" {
			v.text("role", string(u.Role))
		}
		if len(u.Contents) > 0 {
			v.key("contents")
			b, err := message.AppendContents(v.b, u.Contents)
			v.fail(err)
			v.b = b
		}
		if u.MessageID != "" {
			v.text("message_id", u.MessageID)
		}
		if u.FinishReason != "" {
			v.text("finish_reason", string(u.FinishReason))
		}
	})
}
