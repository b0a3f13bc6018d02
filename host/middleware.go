package host

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/weft-run/weft/message"
)

// ErrTerminate ends a layer at once where middleware returns it: outer middleware of the layer does not go on, as with any
// error, but the caller gets no error. The result is what stands on the context, or an empty one.
var ErrTerminate = errors.New("terminated")

// Fatal marks an error of function middleware, or of a tool, as one that ends the run. Any other becomes the call's
// result.
func Fatal(err error) error { return &fatalError{err} }

type fatalError struct{ err error }

func (e *fatalError) Error() string { return e.err.Error() }
func (e *fatalError) Unwrap() error { return e.err }

// AgentMiddleware wraps a whole run. It calls next, once as a rule, and finds the result on the context afterwards. It
// may call it again, which is another run of all that stands below; or not at all, after it set a result itself.
type AgentMiddleware interface {
	ProcessAgent(ctx context.Context, c *AgentContext, next Next) error
}

// ChatMiddleware wraps each model call of a run.
type ChatMiddleware interface {
	ProcessChat(ctx context.Context, c *ChatContext, next Next) error
}

// FunctionMiddleware wraps each tool call of a run. Calls of one reply run at the same time, so it must be safe for many
// goroutines. An error becomes the call's result, unless it is marked [Fatal].
type FunctionMiddleware interface {
	ProcessFunction(ctx context.Context, c *FunctionContext, next Next) error
}

// AgentFunc is agent middleware as a plain function.
type AgentFunc func(ctx context.Context, c *AgentContext, next Next) error

// ChatFunc is chat middleware as a plain function.
type ChatFunc func(ctx context.Context, c *ChatContext, next Next) error

// FunctionFunc is function middleware as a plain function.
type FunctionFunc func(ctx context.Context, c *FunctionContext, next Next) error

var (
	_ AgentMiddleware    = AgentFunc(nil)
	_ ChatMiddleware     = ChatFunc(nil)
	_ FunctionMiddleware = FunctionFunc(nil)
)

// ProcessAgent calls the function.
func (f AgentFunc) ProcessAgent(ctx context.Context, c *AgentContext, next Next) error {
	return f(ctx, c, next)
}

// ProcessChat calls the function.
func (f ChatFunc) ProcessChat(ctx context.Context, c *ChatContext, next Next) error {
	return f(ctx, c, next)
}

// ProcessFunction calls the function.
func (f FunctionFunc) ProcessFunction(ctx context.Context, c *FunctionContext, next Next) error {
	return f(ctx, c, next)
}

// Middleware is a list for each layer; the first of a list is the outermost. A value that implements several layers
// stands in several lists: the list says which layer is meant.
type Middleware struct {
	Agent    []AgentMiddleware
	Chat     []ChatMiddleware
	Function []FunctionMiddleware
}

// check reports middleware that is nil.
func (m Middleware) check() error {
	var faults []error
	report := func(layer string, missing int) {
		if missing >= 0 {
			faults = append(faults, fmt.Errorf("middleware: %s/%d is nil", layer, missing))
		}
	}
	report("agent", slices.IndexFunc(m.Agent, func(m AgentMiddleware) bool { return m == nil }))
	report("chat", slices.IndexFunc(m.Chat, func(m ChatMiddleware) bool { return m == nil }))
	report("function", slices.IndexFunc(m.Function, func(m FunctionMiddleware) bool { return m == nil }))
	return errors.Join(faults...)
}

// ChatMiddlewareOf may be implemented by a client that brings chat middleware along; it stands outermost.
type ChatMiddlewareOf interface {
	ChatMiddleware() []ChatMiddleware
}

// AgentContext is one run, as agent middleware sees it. What it changes before next is what goes down the chain.
type AgentContext struct {
	AgentName string
	// RunID is that of the run which the first call of next makes; each further call makes another.
	RunID string
	// Session is the caller's; nil where there is none.
	Session *Session
	// Messages are the run's input: what stands here is sent, and stored as input.
	Messages []*message.Message
	// Options are the run's own; they go before the agent's.
	Options Options
	// Streaming says that the answer goes out in pieces while next runs.
	Streaming bool
	// Result is the response, after next or when middleware sets it.
	Result *Response

	hooks []StreamHooks
}

// OnStream registers hooks for what the next call of next streams. It does nothing where the run is not streamed.
func (c *AgentContext) OnStream(h StreamHooks) { c.hooks = append(c.hooks, h) }

// ChatContext is one model call, as chat middleware sees it.
type ChatContext struct {
	RunID     string
	AgentName string
	// Session is the run's; nil for a run that has neither a session nor providers.
	Session *Session
	// Request is this call's own: changing it changes nothing else. The messages in it are shared and read-only.
	Request   *ChatRequest
	Streaming bool
	// Result is the reply, after next or when middleware sets it.
	Result *Response

	hooks []StreamHooks
}

// OnStream registers hooks for what the next call of next streams. It does nothing where the run is not streamed.
func (c *ChatContext) OnStream(h StreamHooks) { c.hooks = append(c.hooks, h) }

// passing is what goes down the layer.
func (c *ChatContext) passing() passing {
	r := c.Request
	if r == nil {
		return passing{}
	}
	return passing{r.Messages, r.Instructions, r.ConversationID, r.Tools, r.Options}
}

// FunctionContext is one tool call, as function middleware sees it.
type FunctionContext struct {
	RunID     string
	AgentName string
	Session   *Session
	// Tool is the tool that is called, with the source that added it. Middleware may put another [FunctionTool] in its
	// place.
	Tool   OfferedTool
	CallID string
	// Arguments are what the tool is called with. They were held against the tool's schema before any middleware ran.
	Arguments jsontext.Value
	// Result is the tool's result as JSON, after next or when middleware sets it; nil for none.
	Result jsontext.Value
}

// SetText makes a text the result.
func (c *FunctionContext) SetText(text string) { c.Result = textValue(text) }

// Text is the result as a text: a JSON string's content, the JSON itself of anything else, empty for none.
func (c *FunctionContext) Text() string { return valueText(c.Result) }
