package abi

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/weft-run/weft/internal/strictjson"
	"github.com/weft-run/weft/message"
)

// Next is what call_next receives at the layers agent, chat and function (clauses PRO-3 to PRO-5). What is absent stays as
// it is.
type Next struct {
	// Input, at the layer agent, are the messages to go on with.
	Input []*message.Message `json:"input,omitzero"`
	// Messages, at the layer chat, are all messages anew; Splice changes those that there are.
	Messages []*message.Message `json:"messages,omitzero"`
	Splice   []Splice           `json:"splice,omitzero"`
	// Instructions, at the layer chat, take the place of those that there are.
	Instructions *string `json:"instructions,omitzero"`
	// Options are members to set.
	Options jsontext.Value `json:"options,omitzero"`
	// Arguments are a tool call's.
	Arguments jsontext.Value `json:"arguments,omitzero"`

	// Unknown counts members that the host passed over.
	Unknown int `json:"-"`
}

// Splice takes messages out of a list and puts others in their place.
type Splice struct {
	// Start counts from the end where it is below 0; nil is the end.
	Start  *int               `json:"start,omitzero"`
	Delete int                `json:"delete,omitzero"`
	Insert []*message.Message `json:"insert,omitzero"`
}

// nextMembers are what call_next receives at each layer.
var nextMembers = map[Layer][]string{
	LayerAgent:    {"input", "options"},
	LayerChat:     {"messages", "splice", "instructions", "options"},
	LayerFunction: {"arguments"},
}

// DecodeLayerNext reads what a plugin at a layer other than context gives to call_next, as strictly as [DecodeOut].
func DecodeLayerNext(layer Layer, data []byte) (*Next, error) {
	n, spliced := &Next{}, false
	if len(data) == 0 {
		return n, nil
	}
	err := decodeObject(data, nextMembers[layer], &n.Unknown, func(r *reader, name string) (err error) {
		dec := r.dec
		switch name {
		case "input":
			n.Input, err = r.list()
		case "messages":
			n.Messages, err = r.list()
		case "splice":
			spliced = true
			err = strictjson.Array(dec, func() error {
				if len(n.Splice) == maxSplices {
					return strictjson.Faultf(dec, "there are more than %d splices", maxSplices)
				}
				s, err := r.splice()
				n.Splice = append(n.Splice, s)
				return err
			})
		case "instructions":
			var text string
			text, err = strictjson.String(dec)
			n.Instructions = &text
		case "options":
			n.Options, err = strictjson.RawObject(dec)
		case "arguments":
			n.Arguments, err = strictjson.Raw(dec)
		}
		return err
	})
	if err == nil && n.Messages != nil && spliced {
		err = &OutputError{Reason: `call_next takes either "messages" or "splice"`}
	}
	if err != nil {
		return nil, err
	}
	return n, nil
}

// list reads messages; none is a list too.
func (r *reader) list() ([]*message.Message, error) {
	list, err := r.messages.List(r.dec)
	if list == nil {
		list = []*message.Message{}
	}
	return list, err
}

func (r *reader) splice() (s Splice, err error) {
	err = strictjson.Object(r.dec, &r.unknown, func(name string) (bool, error) {
		var err error
		switch name {
		case "start":
			var start int
			start, err = strictjson.Int(r.dec)
			s.Start = &start
		case "delete":
			err = between(r.dec, "delete", 0, anyNumber, &s.Delete)()
		case "insert":
			s.Insert, err = r.messages.List(r.dec)
		default:
			return false, nil
		}
		return true, err
	})
	return s, err
}

// decodeObject reads an object of the members named; others are passed over and counted.
func decodeObject(data []byte, members []string, unknown *int, member func(r *reader, name string) error) error {
	dec, err := open(data)
	if err != nil {
		return err
	}
	defer strictjson.Release(dec)
	r := &reader{dec: dec, messages: message.Decoder{RefuseUnknownKinds: true}}
	err = strictjson.Object(dec, &r.unknown, func(name string) (bool, error) {
		for _, m := range members {
			if m == name {
				return true, member(r, name)
			}
		}
		return false, nil
	})
	*unknown = r.unknown + r.messages.Unknown
	if err == nil {
		err = strictjson.End(dec)
	}
	if err != nil {
		return outputError(err)
	}
	return nil
}
