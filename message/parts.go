package message

import (
	"cmp"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/weft-run/weft/internal/strictjson"
)

// members is a set of members that an object has.
type members uint16

// The members of a message.
const (
	hasRole members = 1 << iota
	hasContents
	hasShort
	hasID
	hasAuthorName
	hasSourceID
	hasSourceType
	hasAttribution
	hasUntrusted
	hasProperties
)

// messageParts is what a message's JSON says besides the message's own fields.
type messageParts struct {
	seen        members
	role, short string
}

// member is where the member of a name belongs, if it is a text, and which it is: none for one that is not known.
func (p *messageParts) member(m *Message, name string) (*string, members) {
	switch name {
	case "role":
		return &p.role, hasRole
	case "contents":
		return nil, hasContents
	case "text":
		return &p.short, hasShort
	case "message_id":
		return &m.ID, hasID
	case "author_name":
		return &m.AuthorName, hasAuthorName
	case "source_id":
		return &m.SourceID, hasSourceID
	case "source_type":
		return &m.SourceType, hasSourceType
	case "attribution":
		return &m.Attribution, hasAttribution
	case "untrusted":
		return nil, hasUntrusted
	case "properties":
		return nil, hasProperties
	}
	return nil, 0
}

// finish checks that the message is whole, and writes out its short form. dec says where a fault is; it may be nil.
func (p *messageParts) finish(m *Message, dec *jsontext.Decoder) error {
	short, contents := p.seen&hasShort != 0, p.seen&hasContents != 0
	switch {
	case p.seen&hasRole == 0:
		return strictjson.Faultf(dec, `a message needs a "role": one of %s`, list(Roles))
	case short && contents:
		return strictjson.Faultf(dec, `a message has either "text" or "contents", and this one has both`)
	case short:
		m.Contents = []Content{Text{Text: p.short}}
	case !contents:
		return strictjson.Faultf(dec, `a message needs "contents" or "text", and this one has neither`)
	}
	return nil
}

// The members of a content.
const (
	hasType members = 1 << iota
	hasText
	hasURI
	hasMediaType
	hasCallID
	hasName
	hasArguments
	hasResult
	hasError
	hasMessage
	hasCode
	hasFunctionCall
	hasApproved
	hasRemember
	hasReason
)

// contentParts is what a content's JSON says. Its type decides what of that belongs to it, and may come last.
type contentParts struct {
	seen members

	kind, text, uri, mediaType, callID, name, failure, message, code, remember, reason string

	arguments, result, call jsontext.Value
	approved                bool
}

// member is where the member of a name belongs, if it is a text or any value, and which it is: none for one that is not
// known.
func (p *contentParts) member(name string) (*string, *jsontext.Value, members) {
	switch name {
	case "type":
		return &p.kind, nil, hasType
	case "text":
		return &p.text, nil, hasText
	case "uri":
		return &p.uri, nil, hasURI
	case "media_type":
		return &p.mediaType, nil, hasMediaType
	case "call_id":
		return &p.callID, nil, hasCallID
	case "name":
		return &p.name, nil, hasName
	case "arguments":
		return nil, &p.arguments, hasArguments
	case "result":
		return nil, &p.result, hasResult
	case "error":
		return &p.failure, nil, hasError
	case "message":
		return &p.message, nil, hasMessage
	case "code":
		return &p.code, nil, hasCode
	case "function_call":
		return nil, &p.call, hasFunctionCall
	case "approved":
		return nil, nil, hasApproved
	case "remember":
		return &p.remember, nil, hasRemember
	case "reason":
		return &p.reason, nil, hasReason
	}
	return nil, nil, 0
}

// finish makes the content, or nothing if it is of an unknown kind that is to be kept.
func (p *contentParts) finish(d *Decoder) (Content, error) {
	switch kind := Kind(p.kind); {
	case kind == KindText:
		return Text{Text: p.text}, p.need(hasText, "text")
	case kind == KindReasoning:
		return Reasoning{Text: p.text}, p.need(hasText, "text")
	case kind == KindURI:
		return URI{URI: p.uri, MediaType: p.mediaType}, p.need(hasURI, "uri")
	case kind == KindFunctionCall:
		return FunctionCall{CallID: p.callID, Name: p.name, Arguments: p.arguments},
			cmp.Or(p.need(hasCallID, "call_id"), p.need(hasName, "name"))
	case kind == KindFunctionResult:
		return FunctionResult{CallID: p.callID, Result: p.result, Error: p.failure}, p.need(hasCallID, "call_id")
	case kind == KindError:
		return Error{Message: p.message, Code: p.code}, p.need(hasMessage, "message")
	case kind == "":
		return nil, strictjson.Faultf(nil, `a content needs a "type": one of %s`, list(Kinds))
	case d.RefuseUnknownKinds:
		return nil, strictjson.Faultf(nil, "content type %q is not one of %s", kind, list(Kinds))
	case kind == KindApprovalRequest, kind == KindApprovalResponse:
		return p.approval(d)
	}
	return nil, nil
}

// approval reads the call that an approval is about.
func (p *contentParts) approval(d *Decoder) (Content, error) {
	if err := p.need(hasFunctionCall, "function_call"); err != nil {
		return nil, err
	}
	read, err := d.content(p.call)
	if err != nil {
		return nil, strictjson.Under("/function_call", err)
	}
	about, ok := read.(FunctionCall)
	switch {
	case !ok:
		return nil, strictjson.Faultf(nil, `a content of type %q needs a "function_call" of type %q`, p.kind, KindFunctionCall)
	case Kind(p.kind) == KindApprovalRequest:
		return ApprovalRequest{Call: about, Reason: p.reason}, nil
	}
	remember := Remember(p.remember)
	if remember != "" && remember != RememberTool && remember != RememberArguments {
		return nil, strictjson.Faultf(nil, `"remember" is %q, and must be "tool" or "arguments"`, remember)
	}
	return ApprovalResponse{Call: about, Approved: p.approved, Remember: remember}, p.need(hasApproved, "approved")
}

func (p *contentParts) need(has members, name string) error {
	if p.seen&has != 0 {
		return nil
	}
	return strictjson.Faultf(nil, "a content of type %q needs %q", p.kind, name)
}
