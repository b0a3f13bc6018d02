package main

import (
	"errors"
	"strconv"

	pdk "github.com/weft-run/weft/pdk/go"
	"github.com/weft-run/weft/pdk/go/json"
)

// wrap carries out scripted middleware: the one in data, where a provider added it to the run, or else the one in the
// configuration. Where its "when" does not hold it only calls next.
func wrap(base *pdk.Base, data json.Raw, s scope, applies func(*script) bool, next func() error) error {
	m := script{hook: "process"}
	if data == "" {
		data = base.Config
	}
	if err := json.Unmarshal(data, &m); err != nil {
		return err
	}
	if !applies(&m) {
		return next()
	}
	return carryOut(m.ops, s)
}

// always is embedded where operations have no "when" of their own.
type always struct{}

func (always) holds(*op) bool { return true }

// around is middleware of any layer.
type around interface {
	Next() error
	Terminate() error
	SetText(text string)
	Text() string
}

// common carries out operations that mean the same at each layer; result is what log_response logs. It reports whether the
// operation was one of them.
func common(c around, o *op, result func() string) (bool, error) {
	switch o.name {
	case "log":
		log(o.text)
	case "log_response":
		log(result())
	case "call_next":
		if err := c.Next(); err != nil && !o.catch {
			return true, err
		}
	case "set_result":
		c.SetText(o.text)
	case "terminate":
		if o.hasText {
			c.SetText(o.text)
		}
		return true, errTerminated
	case "fail":
		return true, pdk.NewError(pdk.CodeFailed, o.failure)
	default:
		return false, nil
	}
	return true, nil
}

// errTerminated ends the operations of middleware that terminates.
var errTerminated = errors.New("terminated")

// ended has middleware terminate where its operations said so.
func ended(c around, err error) error {
	if errors.Is(err, errTerminated) {
		return c.Terminate()
	}
	return err
}

func unknown(o *op, layer string) error {
	return pdk.NewError(pdk.CodeInvalidInput, "op "+strconv.Quote(o.name)+" is not one of the layer "+layer)
}

func processAgent(c *pdk.AgentContext) error {
	return ended(c, wrap(&c.Base, "", &exchange{c: c, layer: "agent"}, func(s *script) bool {
		return s.lastRole == "" || lastRole(c.Messages()) == s.lastRole
	}, c.Next))
}

func processChat(c *pdk.ChatContext) error {
	return ended(c, wrap(&c.Base, c.Data, &exchange{c: c, layer: "chat"}, func(s *script) bool {
		return s.lastRole == "" || lastRole(c.Last(1)) == s.lastRole
	}, c.Next))
}

func processFunction(c *pdk.FunctionContext) error {
	return ended(c, wrap(&c.Base, c.Data, &function{c: c}, func(s *script) bool {
		return s.tool == "" || c.Call.Name == s.tool
	}, c.Next))
}

func lastRole(messages []pdk.Message) string {
	if len(messages) == 0 {
		return ""
	}
	return string(messages[len(messages)-1].Role)
}

// rewriting is what agent and chat middleware have in common.
type rewriting interface {
	around
	SetMessages(messages ...pdk.Message)
	Append(messages ...pdk.Message)
	SetOption(name string, value json.Raw)
	Response() *pdk.Response
	SetResponse(response *pdk.Response)
}

// exchange is one call of agent or chat middleware.
type exchange struct {
	always
	c     rewriting
	layer string
}

func (s *exchange) do(o *op) error {
	if done, err := common(s.c, o, func() string { return textOf(s.c.Response()) }); done {
		return err
	}
	switch o.name {
	case "set_messages":
		s.c.SetMessages(o.messages...)
	case "append_message":
		s.c.Append(o.messages...)
	case "set_option":
		s.c.SetOption(o.key, o.value)
	case "append_result":
		s.c.SetResponse(appended(s.c.Response(), o.text))
	default:
		return unknown(o, s.layer)
	}
	return nil
}

// function is one call of function middleware.
type function struct {
	always
	c *pdk.FunctionContext
}

func (s *function) do(o *op) error {
	done, err := common(s.c, o, func() string {
		if s.c.Result() == "" {
			return "-"
		}
		return s.c.Text()
	})
	if done {
		return err
	}
	switch o.name {
	case "set_arguments":
		s.c.SetArguments(o.arguments)
	case "append_result":
		s.c.SetText(s.c.Text() + o.text)
	default:
		return unknown(o, "function")
	}
	return nil
}

// appended is a response with something behind its last text.
func appended(r *pdk.Response, text string) *pdk.Response {
	if r == nil {
		return &pdk.Response{Messages: []pdk.Message{pdk.Assistant(text)}}
	}
	for i := len(r.Messages) - 1; i >= 0; i-- {
		contents := r.Messages[i].Contents
		for j := len(contents) - 1; j >= 0; j-- {
			if t, ok := contents[j].(pdk.Text); ok {
				contents[j] = pdk.Text{Text: t.Text + text}
				return r
			}
		}
	}
	r.Messages = append(r.Messages, pdk.Assistant(text))
	return r
}
