package conformance

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/compaction"
)

// Scenario is one conversation as data: an agent, a scripted model, the turns, and what must be seen. The words are
// those of scenarios/README.md. Where a key that is absent differs from one that is empty, the field is a pointer or a
// slice that is nil.
type Scenario struct {
	// File is the path that it was loaded from.
	File    string
	Name    string
	Summary string
	Tags    []string
	Differs string

	Agent  Agent
	Model  Model
	Turns  []Turn
	Expect Expect
}

// Agent is what the agent of a scenario is made of.
type Agent struct {
	Name           string
	Instructions   string
	Options        host.Options
	Providers      []Provider
	Middleware     []Middleware
	Tools          []Tool
	DefaultHistory host.DefaultHistory

	PerServiceCallHistory bool
	FunctionInvocation    host.FunctionInvocation
	// Compaction thins out what is sent with every model call; nil for none.
	Compaction compaction.Strategy
}

// Kind says what a provider is.
type Kind string

// The kinds of provider.
const (
	KindScript     Kind = "script"
	KindHistory    Kind = "in_memory_history"
	KindCompaction Kind = "compaction"
)

// Provider is one entry of the agent's providers.
type Provider struct {
	Kind     Kind
	SourceID string
	// Config is the provider's JSON as it stands in the file; it is the configuration of the plugin that plays it.
	Config jsontext.Value

	// Script holds the operations of a scripted provider by hook: session_created, before_run, after_run, run_failed, or
	// process.
	Script map[string][]Op
	// History says what an in-memory history loads and stores.
	History host.HistoryConfig
	// Compaction says what a compaction provider thins out.
	Compaction compaction.Config
}

// Middleware is one scripted middleware.
type Middleware struct {
	// Config is the middleware's JSON as it stands in the file; it is the configuration of the plugin that plays it.
	Config  jsontext.Value
	Name    string
	Layer   string
	When    When
	Process []Op
}

// When limits middleware to some calls, or an operation to some states.
type When struct {
	Tool     string
	LastRole string
	// State are keys of the provider's own state with the values that they must have.
	State []Member
}

// Member is one key of an object with its value.
type Member struct {
	Name  string
	Value jsontext.Value
}

// Op is one operation of a scripted provider or middleware. Which fields it has depends on its name.
type Op struct {
	Name string
	When When

	Text         *string
	Key          string
	Value        jsontext.Value
	Error        string
	Instructions []string
	Messages     []Message
	Message      *Message
	Tools        []Tool
	Middleware   []Middleware
	Arguments    jsontext.Value
	Catch        bool
}

// Tool is one scripted tool.
type Tool struct {
	Name            string
	Description     string
	Parameters      jsontext.Value
	Returns         *string
	Fails           *string
	DeclarationOnly bool
	Approval        string
}

// Model is the scripted model.
type Model struct {
	StoresHistory bool
	Replies       []Reply
}

// Reply is the model's answer to one call.
type Reply struct {
	Text           *string
	Calls          []Call
	Error          string
	ConversationID string
	Usage          *host.Usage
	Chunks         []string
}

// Turn is one run.
type Turn struct {
	// Session is the name of a session; empty for none.
	Session          string
	ServiceSessionID string
	Reload           bool
	Input            []Message
	Approve          []Member
	Options          host.Options
	Middleware       []Middleware
	Stream           bool
	// StopAfter is after how many updates the reader leaves the stream; 0 for reading to the end.
	StopAfter int
	Expect    TurnExpect
}

// Message is a message of a scenario: one that goes in, or one that is expected.
type Message struct {
	Role    string
	Text    *string
	Calls   []Call
	Results []CallResult

	// The following stand in expectations only.
	Source       *string
	TextContains *string
	Excluded     *bool
}

// Call is the model's wish to have a tool called.
type Call struct {
	CallID    string         `json:"call_id"`
	Name      string         `json:"name"`
	Arguments jsontext.Value `json:"arguments"`
}

// CallResult is what a call came to.
type CallResult struct {
	CallID string `json:"call_id"`
	Result string `json:"result"`
}

// ToolRun is one execution of a tool.
type ToolRun struct {
	Name      string         `json:"name"`
	Arguments jsontext.Value `json:"arguments"`
}

// Wanted is an expectation that a file may leave out.
type Wanted[T any] struct {
	// Set says that the file has the key; else nothing is compared.
	Set bool
	// Null says that its value is null: what is compared must be absent.
	Null  bool
	Value T
}

// TurnExpect is what must be seen of one turn.
type TurnExpect struct {
	Messages            Wanted[[]Message]
	Text                Wanted[string]
	TextContains        Wanted[string]
	Error               Wanted[string]
	Updates             Wanted[[]Message]
	RequestsForApproval Wanted[[]string]
	Usage               Wanted[host.Usage]
}

// Expect is what must be seen of the whole scenario.
type Expect struct {
	BuildError Wanted[string]
	Requests   Wanted[[]Request]
	Log        Wanted[[]string]
	// State holds, per session, what each source's bucket must be.
	State     []SessionState
	ToolRuns  Wanted[[]ToolRun]
	SessionID []ServiceID
	Warnings  Wanted[[]string]
}

// SessionState is what must be in a session. Without any source, nothing may be in it.
type SessionState struct {
	Session string
	Sources []SourceState
}

// SourceState is what must be in one bucket.
type SourceState struct {
	SourceID string
	// History says that the bucket is a history's: Messages is compared, and not Value.
	History  bool
	Messages []Message
	Value    jsontext.Value
}

// ServiceID is the service session id that a session must have; empty for none.
type ServiceID struct{ Session, ID string }

// Request is what one model call must have received.
type Request struct {
	Messages       Wanted[[]Message]
	Instructions   Wanted[string]
	Tools          Wanted[[]string]
	ToolChoice     Wanted[jsontext.Value]
	ConversationID Wanted[string]
	Options        Wanted[jsontext.Value]
}
