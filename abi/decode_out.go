package abi

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/weft-run/weft/internal/strictjson"
	"github.com/weft-run/weft/message"
)

// DecodeOut reads what hook h returned; the layer matters for process alone. It is strict: one JSON object and nothing
// after it, no duplicate names, valid UTF-8, nesting of at most [Depth], right types, known roles, layers and codes, and
// only the effects that [Effects] lists. Members that no version of the contract names are passed over and counted in
// [Out.Unknown]. Every error is an [*OutputError].
func DecodeOut(h Hook, layer Layer, data []byte) (*Out, error) {
	return decodeEffects(string(h), Effects(h, layer), data)
}

// DecodeNext reads what a plugin at the layer context gives to call_next (clause PRO-2), as strictly as [DecodeOut].
// Nothing at all, and an empty object, change nothing.
func DecodeNext(data []byte) (*Out, error) {
	if len(data) == 0 {
		return &Out{}, nil
	}
	return decodeEffects("call_next", contextEffects, data)
}

func decodeEffects(what string, allowed []string, data []byte) (*Out, error) {
	dec, err := open(data)
	if err != nil {
		return nil, err
	}
	defer strictjson.Release(dec)
	r := reader{dec: dec, messages: message.Decoder{RefuseUnknownKinds: true}}
	out := &Out{}
	err = strictjson.Object(dec, &r.unknown, func(name string) (bool, error) {
		if !slices.Contains(effectNames, name) {
			return false, nil
		}
		if !slices.Contains(allowed, name) {
			return true, &OutputError{
				Pointer: "/" + name,
				Reason:  fmt.Sprintf("%s has no effect %q; it may return %s", what, name, strings.Join(allowed, ", ")),
			}
		}
		return true, r.effect(out, name)
	})
	out.Unknown = r.unknown + r.messages.Unknown
	if err == nil {
		err = strictjson.End(dec)
	}
	if err != nil {
		return nil, outputError(err)
	}
	return out, nil
}

// effectNames are all members of Out, whichever hook they belong to.
var effectNames = []string{
	"extend_messages", "extend_instructions", "extend_tools", "extend_middleware", "state", "metadata", "response", "result",
	"terminate", "updates", "carry", "error",
}

// reader reads the parts of what guests write, and counts the members that it passes over.
type reader struct {
	dec      *jsontext.Decoder
	messages message.Decoder
	unknown  int
}

func (r *reader) effect(out *Out, name string) (err error) {
	dec := r.dec
	switch name {
	case "extend_messages":
		out.ExtendMessages, err = r.messages.List(dec)
	case "extend_instructions":
		out.ExtendInstructions, err = strictjson.Strings(dec)
	case "extend_tools":
		err = strictjson.Array(dec, func() error {
			t, err := r.tool()
			out.ExtendTools = append(out.ExtendTools, t)
			return err
		})
	case "extend_middleware":
		err = strictjson.Array(dec, func() error {
			m, err := r.middleware()
			out.ExtendMiddleware = append(out.ExtendMiddleware, m)
			return err
		})
	case "state":
		out.State, err = strictjson.RawObject(dec)
	case "metadata":
		out.Metadata, err = strictjson.Members(dec)
	case "response":
		out.Response, err = r.response()
	case "result":
		out.Result, err = strictjson.Raw(dec)
	case "terminate":
		out.Terminate, err = strictjson.Bool(dec)
	case "updates":
		out.Updates = []Update{}
		err = strictjson.Array(dec, func() error {
			if len(out.Updates) == maxUpdates {
				return strictjson.Faultf(dec, "there are more than %d updates", maxUpdates)
			}
			u, err := r.update()
			out.Updates = append(out.Updates, u)
			return err
		})
	case "carry":
		out.Carry, err = strictjson.Raw(dec)
	case "error":
		out.Error, err = readError(dec, &r.unknown)
	}
	return err
}

func (r *reader) tool() (t Tool, err error) {
	dec := r.dec
	err = strictjson.Object(dec, &r.unknown, func(name string) (bool, error) {
		var err error
		switch name {
		case "name":
			t.Name, err = strictjson.String(dec)
		case "description":
			t.Description, err = strictjson.String(dec)
		case "parameters":
			t.Parameters, err = strictjson.RawObject(dec)
		case "approval_required":
			t.ApprovalRequired, err = strictjson.Bool(dec)
		case "requires_trusted":
			t.RequiresTrusted, err = strictjson.Bool(dec)
		case "declaration_only":
			t.DeclarationOnly, err = strictjson.Bool(dec)
		case "data":
			t.Data, err = strictjson.Raw(dec)
		default:
			return false, nil
		}
		return true, err
	})
	if err == nil && t.Name == "" {
		err = strictjson.Faultf(dec, `a tool needs a "name"`)
	}
	return t, err
}

func (r *reader) middleware() (m Middleware, err error) {
	dec := r.dec
	err = strictjson.Object(dec, &r.unknown, func(name string) (bool, error) {
		var err error
		switch name {
		case "layer":
			m.Layer, err = readLayer(dec)
		case "name":
			m.Name, err = strictjson.String(dec)
		case "data":
			m.Data, err = strictjson.Raw(dec)
		default:
			return false, nil
		}
		return true, err
	})
	if err == nil && m.Layer != LayerChat && m.Layer != LayerFunction {
		err = strictjson.Faultf(dec, `a plugin may add chat or function middleware: "layer" is %q`, string(m.Layer))
	}
	return m, err
}

// response reads a response, whose "text" is short for one assistant message of that text.
func (r *reader) response() (*Response, error) {
	dec, out := r.dec, &Response{}
	text, hasText, hasMessages := "", false, false
	err := strictjson.Object(dec, &r.unknown, func(name string) (bool, error) {
		var err error
		switch name {
		case "messages":
			hasMessages = true
			out.Messages, err = r.messages.List(dec)
		case "text":
			hasText = true
			text, err = strictjson.String(dec)
		case "finish_reason":
			out.FinishReason, err = strictjson.String(dec)
		default:
			return false, nil
		}
		return true, err
	})
	for _, m := range out.Messages {
		if err == nil {
			err = answerRole(dec, m.Role)
		}
	}
	switch {
	case err != nil:
	case hasText == hasMessages:
		err = strictjson.Faultf(dec, `a response has either "messages" or "text"`)
	case hasText:
		out.Messages = []*message.Message{message.Assistant(text)}
	}
	return out, err
}

// answerRole refuses what no model says: an answer is kept, and a system message in it would instruct later runs.
func answerRole(dec *jsontext.Decoder, role message.Role) error {
	if role != message.RoleAssistant && role != message.RoleTool {
		return strictjson.Faultf(dec, "an answer has messages of the roles assistant and tool, and not %q", string(role))
	}
	return nil
}

func (r *reader) update() (u Update, err error) {
	dec := r.dec
	m, text := message.Message{}, ""
	err = strictjson.Object(dec, &r.unknown, func(name string) (bool, error) {
		var err error
		switch name {
		case "role":
			var role string
			role, err = strictjson.String(dec)
			if u.Role = message.Role(role); err == nil && !u.Role.Valid() {
				err = strictjson.Faultf(dec, "role %q is not one of %s", role, joined(message.Roles))
			}
			if err == nil {
				err = answerRole(dec, u.Role)
			}
		case "contents":
			u.Contents, err = r.messages.Contents(dec)
		case "text":
			text, err = strictjson.String(dec)
			m.Contents = []message.Content{message.Text{Text: text}}
		case "message_id":
			u.MessageID, err = strictjson.String(dec)
		case "finish_reason":
			u.FinishReason, err = strictjson.String(dec)
		default:
			return false, nil
		}
		return true, err
	})
	if err == nil && m.Contents != nil {
		if u.Contents != nil {
			err = strictjson.Faultf(dec, `an update has either "contents" or "text"`)
		}
		u.Contents = m.Contents
	}
	return u, err
}

func readLayer(dec *jsontext.Decoder) (Layer, error) {
	text, err := strictjson.String(dec)
	if err == nil && !slices.Contains(Layers, Layer(text)) {
		err = strictjson.Faultf(dec, "layer %q is not one of %s", text, joined(Layers))
	}
	return Layer(text), err
}

func readLayers(dec *jsontext.Decoder) (layers []Layer, err error) {
	err = strictjson.Array(dec, func() error {
		l, err := readLayer(dec)
		layers = append(layers, l)
		return err
	})
	return layers, err
}

// UnmarshalJSON reads an update, as a host in the tests of a plugin would.
func (u *Update) UnmarshalJSON(data []byte) error {
	dec, err := open(data)
	if err != nil {
		return err
	}
	r := reader{dec: dec}
	*u, err = r.update()
	return err
}
