package pdk

import "github.com/weft-run/weft/pdk/go/json"

// Base is what the host tells every hook.
type Base struct {
	// ABI is the version of the contract that the host speaks.
	ABI int
	// Hook is the name of the hook that is called.
	Hook string
	// SourceID is the plugin's name in this agent. Empty for describe.
	SourceID string
	// Run tells which run this is. Empty for describe, init and migrate_state.
	Run Run
	// Config is the plugin's configuration as the operator wrote it, an object. See [Base.ReadConfig].
	Config json.Raw
}

// In is what the host tells a hook of a provider. What the plugin may not read, and what this hook has not, is empty.
//
// The long parts are read when they are asked for, by the methods: a hook that looks at none of the messages pays for
// none. They read anew with each call, so keep the result. If the host wrote something that is against the contract, or
// refuses messages that are fetched from it, they panic, and the hook's failure says where.
type In struct {
	Base
	// State is what the plugin last set as its state in this session, an object. See [In.ReadState].
	State json.Raw
	// Options are the run's options, an object. Right: read "options". See [In.Option].
	Options json.Raw
	// Metadata is what the plugins of this run share, an object. Right: read "metadata". See [In.MetadataValue].
	Metadata json.Raw
	// Error says why the run failed. Only for run_failed, nil elsewhere.
	Error *Error

	input, context, response, grants json.Raw
	// rest are the members that few hooks have, or that nobody knows.
	rest members
}

// Run names the run and where it belongs.
type Run struct {
	RunID            string
	Agent            string
	SessionID        string
	ServiceSessionID string
}

// ReadJSON reads what the host writes. A plugin has no need to call it; its tests may.
func (in *In) ReadJSON(r *json.Reader) {
	for name := range r.Object() {
		switch name {
		case "abi":
			in.ABI = r.Int()
		case "hook":
			in.Hook = r.String()
		case "source_id":
			in.SourceID = r.String()
		case "run":
			in.Run.ReadJSON(r)
		case "config":
			in.Config = r.Raw()
		case "state":
			in.State = r.Raw()
		case "options":
			in.Options = r.Raw()
		case "metadata":
			in.Metadata = r.Raw()
		case "error":
			in.Error = &Error{}
			in.Error.ReadJSON(r)
		case "input":
			in.input = r.Raw()
		case "context":
			in.context = r.Raw()
		case "response":
			in.response = r.Raw()
		case "grants":
			in.grants = r.Raw()
		default:
			in.rest = append(in.rest, member{name, r.Raw()})
		}
	}
}

// ReadJSON reads a run.
func (run *Run) ReadJSON(r *json.Reader) {
	for name := range r.Object() {
		switch name {
		case "run_id":
			run.RunID = r.String()
		case "agent":
			run.Agent = r.String()
		case "session_id":
			run.SessionID = r.String()
		case "service_session_id":
			run.ServiceSessionID = r.String()
		}
	}
}

// Input returns the run's new messages. Right: read "input", which every plugin has unless the operator took it away.
func (in *In) Input() []Message {
	return readMessages("input", in.input)
}

// Context counts what each source added to the run so far, in order. Right: read "context:SOURCE" or "context:*". The
// messages are fetched with [Source.Messages] and [Source.Last].
func (in *In) Context() []Source {
	return readList[Source]("context", in.context)
}

// Response returns the run's answer, or nil where there is none. Right: read "response", which every plugin has unless
// the operator took it away. In before_tools and after_iteration it is the reply.
func (in *In) Response() *Response {
	return readPart[Response]("response", in.response)
}

// Grants returns the rights that the operator gave. Only for init.
func (in *In) Grants() Grants {
	grants := readPart[Grants]("grants", in.grants)
	if grants == nil {
		return Grants{}
	}
	return *grants
}

// ReadConfig reads the configuration into v. Without one it leaves v as it is, so set the defaults before. The error has
// [CodeInvalidInput] and names the member.
func (b *Base) ReadConfig(v json.Readable) error { return readOwn("config", b.Config, v) }

// ReadState reads the plugin's state into v. Without one it leaves v as it is. The error has [CodeInvalidInput] and names
// the member.
func (in *In) ReadState(v json.Readable) error { return readOwn("state", in.State, v) }

// MetadataValue returns one member of the run's metadata, or "" where there is none of this name.
func (in *In) MetadataValue(name string) json.Raw { return memberOf("metadata", in.Metadata, name) }

// Option returns one of the run's options, or "" where it is not set. Right: read "options".
func (in *In) Option(name string) json.Raw { return memberOf("options", in.Options, name) }

// Response is the answer of a run or of a model.
type Response struct {
	Messages       []Message
	FinishReason   string
	ConversationID string
	// Usage counts tokens; nil where the model did not tell.
	Usage *Usage
}

// Usage counts a run's tokens.
type Usage struct {
	InputTokens  int
	OutputTokens int
}

// Text returns the texts of all messages joined with nothing between them. Of no response it is empty.
func (p *Response) Text() string {
	if p == nil {
		return ""
	}
	text := ""
	for i := range p.Messages {
		text += p.Messages[i].Text()
	}
	return text
}

// ReadJSON reads a response.
func (p *Response) ReadJSON(r *json.Reader) {
	for name := range r.Object() {
		switch name {
		case "messages":
			p.Messages = appendMessages(p.Messages, r)
		case "finish_reason":
			p.FinishReason = r.String()
		case "conversation_id":
			p.ConversationID = r.String()
		case "usage":
			p.Usage = &Usage{}
			p.Usage.ReadJSON(r)
		}
	}
}

// WriteJSON writes what a plugin may say of a response: its messages and why it ends.
func (p *Response) WriteJSON(w *json.Writer) {
	w.Object(func() {
		w.Name("messages")
		writeMessages(w, p.Messages)
		writeOptional(w, "finish_reason", p.FinishReason)
	})
}

// ReadJSON reads a count of tokens.
func (u *Usage) ReadJSON(r *json.Reader) {
	for name := range r.Object() {
		switch name {
		case "input_tokens":
			u.InputTokens = r.Int()
		case "output_tokens":
			u.OutputTokens = r.Int()
		}
	}
}
