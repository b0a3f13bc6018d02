package abi

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/weft-run/weft/message"
)

// Version is the version of the contract that this package describes (clause VER-1).
const Version = 1

// Hook names a moment at which a plugin is called; it is the name of the export (clause EXP-1).
type Hook string

// The hooks of ABI 1.
const (
	HookDescribe        Hook = "describe"
	HookInit            Hook = "init"
	HookMigrateState    Hook = "migrate_state"
	HookSessionCreated  Hook = "session_created"
	HookBeforeRun       Hook = "before_run"
	HookProcess         Hook = "process"
	HookOnUpdate        Hook = "on_update"
	HookBeforeIteration Hook = "before_iteration"
	HookBeforeTools     Hook = "before_tools"
	HookBeforeFunction  Hook = "before_function"
	HookCallTool        Hook = "call_tool"
	HookAfterFunction   Hook = "after_function"
	HookAfterIteration  Hook = "after_iteration"
	HookAfterRun        Hook = "after_run"
	HookRunFailed       Hook = "run_failed"
)

// Hooks are the hooks that this host calls, in the order of a plugin's life.
var Hooks = []Hook{
	HookDescribe, HookInit, HookMigrateState, HookSessionCreated, HookBeforeRun, HookProcess, HookOnUpdate,
	HookBeforeIteration, HookBeforeTools, HookBeforeFunction, HookCallTool, HookAfterFunction, HookAfterIteration,
	HookAfterRun, HookRunFailed,
}

// ProviderHooks are those of a plugin among an agent's providers (clause EXP-4).
var ProviderHooks = []Hook{
	HookSessionCreated, HookBeforeRun, HookProcess, HookBeforeIteration, HookBeforeTools, HookBeforeFunction,
	HookAfterFunction, HookAfterIteration, HookAfterRun, HookRunFailed,
}

// MiddlewareHooks are those of a plugin among the middleware of a layer (clause EXP-4).
var MiddlewareHooks = []Hook{HookProcess, HookOnUpdate}

// Layer is where process stands (clauses PRO-2 to PRO-5).
type Layer string

// The layers.
const (
	LayerContext  Layer = "context"
	LayerAgent    Layer = "agent"
	LayerChat     Layer = "chat"
	LayerFunction Layer = "function"
)

// Layers are all layers.
var Layers = []Layer{LayerContext, LayerAgent, LayerChat, LayerFunction}

// Features are the names that a description may list in "requires" and that this host has (clause VER-3).
var Features = []string{"process", "tools", "kv", "complete", "embed", "search", "events", "http"}

// In is what a plugin receives with each call (clauses IN-1 to IN-11). What the plugin may not read is absent.
type In struct {
	// ABI is the version the host speaks.
	ABI int `json:"abi"`
	// Hook is the moment; it equals the export's name.
	Hook Hook `json:"hook"`
	// SourceID is the provider's name in this agent. Absent for describe.
	SourceID string `json:"source_id,omitzero"`
	// Run tells which run this is. Absent for describe and init.
	Run *Run `json:"run,omitzero"`
	// Config is the plugin's own configuration as the operator wrote it.
	Config jsontext.Value `json:"config,omitzero"`
	// Grants are the rights the operator gave. Only for init.
	Grants *Grants `json:"grants,omitzero"`
	// State is the plugin's own bucket of the session, byte for byte as it was last written.
	State jsontext.Value `json:"state,omitzero"`
	// Input is the run's new messages. Right: read "input".
	Input []*message.Message `json:"input,omitzero"`
	// Context counts what each source added so far. Right: read "context:SOURCE" or "context:*".
	Context []Source `json:"context,omitzero"`
	// Options are the run's options. Right: read "options".
	Options jsontext.Value `json:"options,omitzero"`
	// Metadata is shared by all hooks of one run. Right: read "metadata".
	Metadata jsontext.Value `json:"metadata,omitzero"`
	// Response is the run's answer, after it. Right: read "response".
	Response *Response `json:"response,omitzero"`
	// Error says why the run failed. Only for run_failed.
	Error *Error `json:"error,omitzero"`

	// Layer is where process or on_update stands; Name and Data are what extend_middleware said of it.
	Layer Layer          `json:"layer,omitzero"`
	Name  string         `json:"name,omitzero"`
	Data  jsontext.Value `json:"data,omitzero"`
	// Streaming says that the answer goes out in pieces.
	Streaming bool `json:"streaming,omitzero"`
	// Request is a model call's. Right: read "request".
	Request *Request `json:"request,omitzero"`
	// Iteration is the model call that a hook of the loop is about.
	Iteration *Iteration `json:"iteration,omitzero"`
	// Call is the tool call that process, a hook or call_tool is about; Calls are those of a reply. Right: read "calls".
	Call  *Call  `json:"call,omitzero"`
	Calls []Call `json:"calls,omitzero"`
	// Result is a call's, for after_function; Results are those of a reply, for after_iteration. Right: read "calls".
	Result  *Result  `json:"result,omitzero"`
	Results []Result `json:"results,omitzero"`
	// Update is one piece of a stream; Carry what the call before left; End says that there are no more.
	Update *Update        `json:"update,omitzero"`
	Carry  jsontext.Value `json:"carry,omitzero"`
	End    bool           `json:"end,omitzero"`
	// From and To are the versions of a state that migrate_state gets.
	From int `json:"from,omitzero"`
	To   int `json:"to,omitzero"`
}

// Run names the run and where it belongs (clause IN-3).
type Run struct {
	RunID            string `json:"run_id"`
	Agent            string `json:"agent,omitzero"`
	SessionID        string `json:"session_id,omitzero"`
	ServiceSessionID string `json:"service_session_id,omitzero"`
}

// Source counts what one provider added to the run's context so far (clause IN-6).
type Source struct {
	SourceID string `json:"source_id"`
	Count    int    `json:"count"`
}

// Request is a model call as a plugin sees it (clause PRO-4). Its messages are fetched.
type Request struct {
	Count          int      `json:"count"`
	Instructions   string   `json:"instructions,omitzero"`
	Tools          []string `json:"tools,omitzero"`
	ConversationID string   `json:"conversation_id,omitzero"`
}

// Iteration is one model call of a run (clause HOK-1).
type Iteration struct {
	Number int    `json:"number"`
	Usage  *Usage `json:"usage,omitzero"`
}

// Call is one tool call (clauses PRO-5 and TOL-2).
type Call struct {
	CallID    string         `json:"call_id"`
	Name      string         `json:"name"`
	Arguments jsontext.Value `json:"arguments,omitzero"`
	SourceID  string         `json:"source_id,omitzero"`
	Data      jsontext.Value `json:"data,omitzero"`
}

// Result is what a tool call came to (clauses HOK-4 and HOK-5).
type Result struct {
	CallID string         `json:"call_id"`
	Result jsontext.Value `json:"result,omitzero"`
	Error  string         `json:"error,omitzero"`
}

// Update is one piece of a streamed answer (clauses UPD-2 and UPD-3).
type Update struct {
	Role         message.Role      `json:"role,omitzero"`
	Contents     []message.Content `json:"contents,omitzero"`
	MessageID    string            `json:"message_id,omitzero"`
	FinishReason string            `json:"finish_reason,omitzero"`
}

// Response is the run's answer (clause IN-9).
type Response struct {
	Messages       []*message.Message `json:"messages"`
	FinishReason   string             `json:"finish_reason,omitzero"`
	ConversationID string             `json:"conversation_id,omitzero"`
	Usage          *Usage             `json:"usage,omitzero"`
}

// Usage counts a run's tokens.
type Usage struct {
	InputTokens  int `json:"input_tokens"`
	OutputTokens int `json:"output_tokens"`
}

// Description is what describe returns (clauses DSC-1 to DSC-7).
type Description struct {
	Name        string `json:"name,omitzero"`
	Version     string `json:"version,omitzero"`
	Description string `json:"description,omitzero"`
	// ABI is the version the plugin was written for; absent means 1.
	ABI int `json:"abi,omitzero"`
	// SourceID is the name that the provider gets where the operator gives none: snake_case.
	SourceID string `json:"source_id,omitzero"`
	// Requires lists features without which the plugin cannot work.
	Requires []string `json:"requires,omitzero"`
	// ConfigSchema is a JSON Schema that the config must meet.
	ConfigSchema jsontext.Value `json:"config_schema,omitzero"`
	// Grants are the rights that the plugin asks for.
	Grants *Grants `json:"grants,omitzero"`
	// Layers says at which layers process can stand; none says any.
	Layers []Layer `json:"layers,omitzero"`
	// StateVersion grows where the form of the plugin's state changes.
	StateVersion int `json:"state_version,omitzero"`

	// Unknown counts members that the host passed over.
	Unknown int `json:"-"`
}

// Code tells kinds of failure apart (clause ERR-2).
type Code string

// The codes of an error envelope.
const (
	CodeFailed       Code = "failed"        // the plugin says that it failed
	CodeInvalidInput Code = "invalid_input" // what the plugin was given is not what it can work with
	CodeUnavailable  Code = "unavailable"   // something the plugin needs cannot be reached
	CodeNotFound     Code = "not_found"     // what was asked for does not exist
	CodeDenied       Code = "denied"        // a right is missing
	CodeLimit        Code = "limit"         // a limit was reached
	CodeTimeout      Code = "timeout"       // a deadline passed
	CodeCancelled    Code = "cancelled"     // the caller gave up
	CodeConflict     Code = "conflict"      // somebody else was first
	CodeModel        Code = "model"         // the model failed
	CodeInternal     Code = "internal"      // anything else, on the host's side
)

// Codes are all codes, in the order in which errors list them.
var Codes = []Code{
	CodeFailed, CodeInvalidInput, CodeUnavailable, CodeNotFound, CodeDenied, CodeLimit, CodeTimeout, CodeCancelled,
	CodeConflict, CodeModel, CodeInternal,
}

// Error is the envelope in which failures are data, in both directions (clause ERR-1).
type Error struct {
	Code    Code   `json:"code"`
	Message string `json:"message"`
	// Cause is the number under which the host keeps an error that call_next returned; a plugin that returns the envelope
	// with it returns that error (clause PRO-6).
	Cause int `json:"cause,omitzero"`
}

// Error is the message, with the code before it unless that says nothing more.
func (e *Error) Error() string {
	if e.Code == CodeFailed || e.Code == "" {
		return e.Message
	}
	return string(e.Code) + ": " + e.Message
}
