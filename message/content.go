package message

import (
	"github.com/go-json-experiment/json/jsontext"
)

// Kind names a kind of content; it is the "type" of the content's JSON form.
type Kind string

// The kinds of content.
const (
	KindText           Kind = "text"
	KindReasoning      Kind = "reasoning"
	KindURI            Kind = "uri"
	KindFunctionCall   Kind = "function_call"
	KindFunctionResult Kind = "function_result"
	KindError          Kind = "error"
)

// The kinds of content with which a call waits for somebody's decision. Only the host makes the first, and only the
// caller of a run the second; a plugin may write neither.
const (
	KindApprovalRequest  Kind = "function_approval_request"
	KindApprovalResponse Kind = "function_approval_response"
)

// Kinds are the kinds that anybody may write, in the order in which errors list them.
var Kinds = []Kind{KindText, KindReasoning, KindURI, KindFunctionCall, KindFunctionResult, KindError}

// Content is one part of a message: one of [Text], [Reasoning], [URI], [FunctionCall], [FunctionResult], [Error],
// [ApprovalRequest], [ApprovalResponse] and [Unknown]. The set is closed, so a switch over the types can be complete.
type Content interface {
	// Kind tells the kinds apart.
	Kind() Kind

	clone() Content
	appendJSON(b []byte) ([]byte, error)
}

// Text is plain text.
type Text struct{ Text string }

// Reasoning is what a model shows of its thinking. It is no part of [Message.Text].
type Reasoning struct{ Text string }

// URI points to an image, a file or another resource; a data: URI carries it along.
type URI struct {
	URI string
	// MediaType is the resource's media type, such as "image/png"; it may be empty.
	MediaType string
}

// FunctionCall is the model's wish to have a tool called.
type FunctionCall struct {
	CallID string
	Name   string
	// Arguments is the JSON that the model wrote, an object as a rule. Empty means no arguments.
	Arguments jsontext.Value
}

// FunctionResult is what a tool call came to.
type FunctionResult struct {
	CallID string
	// Result is any JSON value; empty means null.
	Result jsontext.Value
	// Error is the error's text where the call failed.
	Error string
}

// Error is an error that a model or a service reported inside a message.
type Error struct {
	Message string
	Code    string
}

// ApprovalRequest asks for a decision about a call. Answer it with [ApprovalRequest.Respond].
type ApprovalRequest struct {
	Call FunctionCall
	// Reason tells the person who decides why this call is asked about; empty where it is the tool, or a policy, that always
	// asks.
	Reason string
}

// Respond is the answer to the request: a content for the input of a later run of the same session.
func (r ApprovalRequest) Respond(approved bool) ApprovalResponse {
	return ApprovalResponse{Call: r.Call, Approved: approved}
}

// RespondAlways is the answer to the request, and a standing rule for later calls: of the tool, or of the tool with
// these arguments.
func (r ApprovalRequest) RespondAlways(approved bool, remember Remember) ApprovalResponse {
	return ApprovalResponse{Call: r.Call, Approved: approved, Remember: remember}
}

// Remember says for which later calls of the session a decision holds too.
type Remember string

// What a decision may be remembered for. The zero value is for nothing else.
const (
	// RememberTool is for every call of the tool.
	RememberTool Remember = "tool"
	// RememberArguments is for every call of the tool with the same arguments.
	RememberArguments Remember = "arguments"
)

// ApprovalResponse is a decision about a call. It holds for that call id with those arguments, and for later calls only
// as Remember says.
type ApprovalResponse struct {
	Call     FunctionCall
	Approved bool
	Remember Remember
}

// Unknown is content of a kind that this version does not know, kept as it is.
type Unknown struct {
	Type Kind
	JSON jsontext.Value
}

// Kind is [KindText].
func (Text) Kind() Kind { return KindText }

// Kind is [KindReasoning].
func (Reasoning) Kind() Kind { return KindReasoning }

// Kind is [KindURI].
func (URI) Kind() Kind { return KindURI }

// Kind is [KindFunctionCall].
func (FunctionCall) Kind() Kind { return KindFunctionCall }

// Kind is [KindFunctionResult].
func (FunctionResult) Kind() Kind { return KindFunctionResult }

// Kind is [KindError].
func (Error) Kind() Kind { return KindError }

// Kind is [KindApprovalRequest].
func (ApprovalRequest) Kind() Kind { return KindApprovalRequest }

// Kind is [KindApprovalResponse].
func (ApprovalResponse) Kind() Kind { return KindApprovalResponse }

// Kind is the kind that the content's JSON names.
func (u Unknown) Kind() Kind { return u.Type }

func (t Text) clone() Content      { return t }
func (r Reasoning) clone() Content { return r }
func (u URI) clone() Content       { return u }
func (e Error) clone() Content     { return e }

func (c FunctionCall) clone() Content {
	c.Arguments = c.Arguments.Clone()
	return c
}

func (r FunctionResult) clone() Content {
	r.Result = r.Result.Clone()
	return r
}

func (r ApprovalRequest) clone() Content {
	r.Call.Arguments = r.Call.Arguments.Clone()
	return r
}

func (r ApprovalResponse) clone() Content {
	r.Call.Arguments = r.Call.Arguments.Clone()
	return r
}

func (u Unknown) clone() Content {
	u.JSON = u.JSON.Clone()
	return u
}
