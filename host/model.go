package host

import (
	"context"
	"iter"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/weft-run/weft/message"
)

// ChatClient speaks to a model. It must be safe for use by many goroutines, must not change the request or the
// messages in it, and must return soon after ctx ended.
type ChatClient interface {
	// Complete returns the model's whole answer.
	Complete(ctx context.Context, request *ChatRequest) (*Response, error)
	// Stream yields the answer in pieces. It stops at the first error, and when the consumer stops.
	Stream(ctx context.Context, request *ChatRequest) iter.Seq2[*Update, error]
}

// HistoryKeeper may be implemented by a client whose service keeps the history of a conversation itself, unless the
// option store says otherwise.
type HistoryKeeper interface {
	StoresHistory() bool
}

// OptionDefaults may be implemented by a client that has options of its own; the agent's and the run's go before them.
type OptionDefaults interface {
	DefaultOptions() Options
}

// ChatRequest is one model call.
type ChatRequest struct {
	// Messages are the context by source, then the input. They are shared and read-only.
	Messages []*message.Message
	// Instructions are the agent's, the providers' and the run's, a line each.
	Instructions string
	// ConversationID names the conversation that the service keeps; empty for none.
	ConversationID string
	Tools          []OfferedTool
	// Options are the merged options without instructions and conversation id.
	Options Options
}

// Tool is something that a model may ask to have called.
type Tool interface {
	Definition() ToolDefinition
}

// ToolDefinition is what a model is told of a tool.
type ToolDefinition struct {
	Name        string
	Description string
	// Parameters is the JSON Schema of the arguments; nil means an open object.
	Parameters Schema
}

// Schema is a JSON Schema that values can be held against. Package schema makes one of a document or of a Go type; the
// core knows none, so that a program without tools carries no validator. It must be safe for many goroutines.
type Schema interface {
	// JSON is the schema's document. The caller does not change it.
	JSON() []byte
	// Validate holds a JSON value against the schema. Its error says where the value does not fit.
	Validate(value jsontext.Value) error
}

// FunctionTool is a tool that the agent calls by itself. A tool that is none is declared only: its calls pause the run and
// are the caller's to answer.
type FunctionTool interface {
	Tool
	// Call runs the tool and returns its result as JSON. The arguments fit the tool's schema. It must be safe for many
	// goroutines and return soon after ctx ended. An error becomes the call's result, unless it is marked [Fatal].
	Call(ctx context.Context, arguments jsontext.Value) (jsontext.Value, error)
}

// OfferedTool is a tool in a request, with the source that added it.
type OfferedTool struct {
	Tool
	// SourceID is the provider that added the tool; empty for the agent's and the run's own.
	SourceID string
}

// ToolSource offers tools that may change between runs, such as those of an MCP server. It must be safe for many
// goroutines.
type ToolSource interface {
	// SourceID names the source in errors and on its tools.
	SourceID() string
	// Tools returns what is offered now. It is called once in each run, before the first model call; an error ends the
	// run.
	Tools(ctx context.Context) ([]Tool, error)
}

// Usage counts tokens.
type Usage struct {
	InputTokens  int
	OutputTokens int
	// CachedInputTokens are those of InputTokens that the service had in its cache.
	CachedInputTokens int
	// ReasoningTokens are those of OutputTokens that the model spent on thinking.
	ReasoningTokens int
}

// add counts other's tokens too.
func (u *Usage) add(other Usage) {
	u.InputTokens += other.InputTokens
	u.OutputTokens += other.OutputTokens
	u.CachedInputTokens += other.CachedInputTokens
	u.ReasoningTokens += other.ReasoningTokens
}

// FinishReason says why a model stopped.
type FinishReason string

// The usual finish reasons; a client may hand through others.
const (
	FinishStop          FinishReason = "stop"
	FinishLength        FinishReason = "length"
	FinishToolCalls     FinishReason = "tool_calls"
	FinishContentFilter FinishReason = "content_filter"
)

// Response is the answer of a model call, and of a run.
type Response struct {
	Messages       []*message.Message
	ID             string
	ConversationID string
	// Model is the model that answered, as the service names it.
	Model        string
	FinishReason FinishReason
	// Usage is nil where the client does not tell.
	Usage *Usage
}

// NewResponse returns a response of one assistant text.
func NewResponse(text string) *Response {
	return &Response{Messages: []*message.Message{message.Assistant(text)}, FinishReason: FinishStop}
}

// Text returns the texts of all messages joined with nothing between them.
func (r *Response) Text() string { return message.JoinText(r.Messages) }

// Update is one piece of a streamed answer.
type Update struct {
	Role     message.Role
	Contents []message.Content
	// MessageID starts a new message where it differs from the update's before.
	MessageID      string
	AuthorName     string
	ResponseID     string
	ConversationID string
	Model          string
	FinishReason   FinishReason
	// Usage is added to what earlier updates carried.
	Usage *Usage
	// Event is set, and nothing else, where a part of the run tells something. It is no part of the response.
	Event *Event

	begins bool // a message, whatever its id says
}

// Text returns the update's texts joined with nothing between them.
func (u *Update) Text() string {
	m := message.Message{Contents: u.Contents}
	return m.Text()
}

// TextUpdate returns an update of one assistant text.
func TextUpdate(text string) *Update {
	return &Update{Role: message.RoleAssistant, Contents: []message.Content{message.Text{Text: text}}}
}
