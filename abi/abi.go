package abi

import (
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/weft-run/weft/message"
)

// Version is the version of the contract that this package describes (clause VER-1).
const Version = 1

// Hook names a moment at which a plugin is called; it is the name of the export (clause EXP-1).
type Hook string

// The hooks of ABI 1 that this host calls.
const (
	HookDescribe       Hook = "describe"
	HookInit           Hook = "init"
	HookSessionCreated Hook = "session_created"
	HookBeforeRun      Hook = "before_run"
	HookAfterRun       Hook = "after_run"
	HookRunFailed      Hook = "run_failed"
)

// Hooks are the hooks that this host calls, in the order of a plugin's life.
var Hooks = []Hook{HookDescribe, HookInit, HookSessionCreated, HookBeforeRun, HookAfterRun, HookRunFailed}

// RunHooks are those that make a module a provider: it exports one of them at least (clause EXP-3).
var RunHooks = []Hook{HookSessionCreated, HookBeforeRun, HookAfterRun, HookRunFailed}

// ReservedHooks are names that ABI 1 keeps for what later hosts call. A module that exports one and no hook of
// [RunHooks] is refused with a hint that a later host is needed (clause EXP-4).
var ReservedHooks = []string{
	"process", "before_iteration", "before_tools", "before_function", "after_function", "after_iteration", "call_tool",
	"on_update", "migrate_state",
}

// Features are the names that a description may list in "requires" and that this host has (clause VER-3).
var Features = []string{}

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
	// Context counts what each source added so far, and holds the messages of those the plugin may read.
	Context []Source `json:"context,omitzero"`
	// Options are the run's options. Right: read "options".
	Options jsontext.Value `json:"options,omitzero"`
	// Metadata is shared by all hooks of one run. Right: read "metadata".
	Metadata jsontext.Value `json:"metadata,omitzero"`
	// Response is the run's answer, after it. Right: read "response".
	Response *Response `json:"response,omitzero"`
	// Error says why the run failed. Only for run_failed.
	Error *Error `json:"error,omitzero"`
}

// Run names the run and where it belongs (clause IN-3).
type Run struct {
	RunID            string `json:"run_id"`
	Agent            string `json:"agent,omitzero"`
	SessionID        string `json:"session_id,omitzero"`
	ServiceSessionID string `json:"service_session_id,omitzero"`
}

// Source is what one provider added to the run's context so far (clause IN-6).
type Source struct {
	SourceID string `json:"source_id"`
	Count    int    `json:"count"`
	// Messages is absent unless the plugin may read this source. Right: read "context:SOURCE" or "context:*".
	Messages []*message.Message `json:"messages,omitzero"`
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

// Out is what a hook returns: its effects (clauses OUT-1 to OUT-8). An absent member changes nothing.
type Out struct {
	// ExtendMessages are added to the context under the plugin's source id.
	ExtendMessages []*message.Message `json:"extend_messages,omitzero"`
	// ExtendInstructions are added to the run's instructions.
	ExtendInstructions []string `json:"extend_instructions,omitzero"`
	// State replaces the plugin's bucket.
	State jsontext.Value `json:"state,omitzero"`
	// Metadata is merged, key by key, into the run's shared metadata.
	Metadata map[string]jsontext.Value `json:"metadata,omitzero"`
	// Error reports that the hook failed. State is kept, other effects are dropped.
	Error *Error `json:"error,omitzero"`

	// Unknown counts members that the host passed over.
	Unknown int `json:"-"`
}

// Effects says which members of [Out] a hook may return (clause OUT-3).
func Effects(h Hook) []string {
	switch h {
	case HookBeforeRun:
		return []string{"extend_messages", "extend_instructions", "state", "metadata", "error"}
	case HookAfterRun, HookRunFailed:
		return []string{"state", "metadata", "error"}
	case HookSessionCreated:
		return []string{"state", "error"}
	case HookInit:
		return []string{"error"}
	}
	return nil
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

	// Unknown counts members that the host passed over.
	Unknown int `json:"-"`
}

// Grants are rights: what a plugin may read, what it may add, and which folders it may see (clauses GRA-1 to GRA-6).
type Grants struct {
	// Read lists parts of the run: "input", "response", "options", "metadata", "context:SOURCE", "context:*".
	Read []string `json:"read,omitzero"`
	// Add lists effects: "messages", "instructions", "metadata".
	Add []string `json:"add,omitzero"`
	// Roles lists the roles that added messages may have.
	Roles []message.Role `json:"roles,omitzero"`
	// Files lists folders.
	Files []FileGrant `json:"files,omitzero"`
}

// FileGrant lets a plugin read one folder (clause GRA-5).
type FileGrant struct {
	// Guest is the path under which the plugin sees the folder: absolute, with slashes.
	Guest string `json:"guest"`
	// Mode is "ro", the only one in ABI 1.
	Mode string `json:"mode,omitzero"`
}

// DefaultGrants is what a plugin may do without being granted anything (clause GRA-2).
func DefaultGrants() Grants {
	return Grants{
		Read:  []string{"input", "response"},
		Add:   []string{"messages", "instructions"},
		Roles: []message.Role{message.RoleUser},
	}
}

// CanRead reports whether the rights hold part: "input", "response", "options" or "metadata".
func (g Grants) CanRead(part string) bool { return slices.Contains(g.Read, part) }

// CanReadSource reports whether the rights hold the messages that a source added.
func (g Grants) CanReadSource(sourceID string) bool {
	return slices.Contains(g.Read, "context:*") || slices.Contains(g.Read, "context:"+sourceID)
}

// CanAdd reports whether the rights hold an effect: "messages", "instructions" or "metadata".
func (g Grants) CanAdd(effect string) bool { return slices.Contains(g.Add, effect) }

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
	CodeModel        Code = "model"         // the model failed
	CodeInternal     Code = "internal"      // anything else, on the host's side
)

// Codes are all codes, in the order in which errors list them.
var Codes = []Code{
	CodeFailed, CodeInvalidInput, CodeUnavailable, CodeNotFound, CodeDenied, CodeLimit, CodeTimeout, CodeCancelled,
	CodeModel, CodeInternal,
}

// Error is the envelope in which failures are data, in both directions (clause ERR-1).
type Error struct {
	Code    Code   `json:"code"`
	Message string `json:"message"`
}

// Error is the message, with the code before it unless that says nothing more.
func (e *Error) Error() string {
	if e.Code == CodeFailed || e.Code == "" {
		return e.Message
	}
	return string(e.Code) + ": " + e.Message
}
