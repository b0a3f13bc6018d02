package pdk

import "github.com/weft-run/weft/pdk/go/json"

// In is what the host tells a hook. What the plugin may not read, and what this hook has not, is empty.
//
// The long parts are read when they are asked for, by the methods: a hook that looks at none of the messages pays for
// none. They read anew with each call, so keep the result. If the host wrote something that is against the contract they
// panic, and the hook's failure says where.
type In struct {
	// ABI is the version of the contract that the host speaks.
	ABI int
	// Hook is the name of the hook that is called.
	Hook string
	// SourceID is the provider's name in this agent. Empty for describe.
	SourceID string
	// Run tells which run this is. Empty for describe and init.
	Run Run
	// Config is the plugin's configuration as the operator wrote it, an object. See [In.ReadConfig].
	Config json.Raw
	// State is what the plugin last set as its state in this session, an object. See [In.ReadState].
	State json.Raw
	// Options are the run's options, an object. Right: read "options".
	Options json.Raw
	// Metadata is what the plugins of this run share, an object. Right: read "metadata". See [In.MetadataValue].
	Metadata json.Raw
	// Error says why the run failed. Only for run_failed, nil elsewhere.
	Error *Error

	input, context, response, grants json.Raw
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

// Context returns what each source added to the run so far, in order.
func (in *In) Context() []Source {
	if in.context == "" {
		return nil
	}
	var all []Source
	r := json.NewReader(in.context)
	for range r.Array() {
		all = append(all, Source{})
		all[len(all)-1].ReadJSON(r)
	}
	ended("context", r)
	return all
}

// Response returns the run's answer, or nil where there is none. Right: read "response", which every plugin has unless
// the operator took it away.
func (in *In) Response() *Response {
	if in.response == "" {
		return nil
	}
	response := &Response{}
	r := json.NewReader(in.response)
	response.ReadJSON(r)
	ended("response", r)
	return response
}

// Grants returns the rights that the operator gave. Only for init.
func (in *In) Grants() Grants {
	var grants Grants
	if in.grants != "" {
		r := json.NewReader(in.grants)
		grants.ReadJSON(r)
		ended("grants", r)
	}
	return grants
}

// ReadConfig reads the configuration into v. Without one it leaves v as it is, so set the defaults before. The error has
// [CodeInvalidInput] and names the member.
func (in *In) ReadConfig(v json.Readable) error { return readOwn("config", in.Config, v) }

// ReadState reads the plugin's state into v. Without one it leaves v as it is. The error has [CodeInvalidInput] and names
// the member.
func (in *In) ReadState(v json.Readable) error { return readOwn("state", in.State, v) }

// MetadataValue returns one member of the run's metadata, or "" where there is none of this name.
func (in *In) MetadataValue(name string) json.Raw {
	if in.Metadata == "" {
		return ""
	}
	var value json.Raw
	r := json.NewReader(in.Metadata)
	for member := range r.Object() {
		if member == name {
			value = r.Raw()
		}
	}
	ended("metadata", r)
	return value
}

// Source is what one provider added to the run so far.
type Source struct {
	SourceID string
	Count    int
	// Readable reports whether the plugin may read the messages. Right: read "context:SOURCE" or "context:*".
	Readable bool

	messages json.Raw
}

// Messages returns the messages that the source added, or nil where they are not [Source.Readable].
func (s *Source) Messages() []Message {
	return readMessages("context", s.messages)
}

// ReadJSON reads a source.
func (s *Source) ReadJSON(r *json.Reader) {
	for name := range r.Object() {
		switch name {
		case "source_id":
			s.SourceID = r.String()
		case "count":
			s.Count = r.Int()
		case "messages":
			s.messages, s.Readable = r.Raw(), true
		}
	}
}

// Response is the run's answer.
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

// readMessages reads messages that the host wrote.
func readMessages(what string, raw json.Raw) []Message {
	if raw == "" {
		return nil
	}
	r := json.NewReader(raw)
	all := appendMessages(nil, r)
	ended(what, r)
	return all
}

// ended ends the reading of a part that the host wrote. A fault in it is the host's, so no hook is asked to handle it.
func ended(what string, r *json.Reader) {
	if err := r.End(); err != nil {
		panic(NewError(CodeInvalidInput, "the host's "+what+" is not what the contract says: "+err.Error()))
	}
}

func readOwn(what string, raw json.Raw, v json.Readable) error {
	if raw == "" {
		return nil
	}
	if err := json.Unmarshal(raw, v); err != nil {
		return NewError(CodeInvalidInput, what+": "+err.Error())
	}
	return nil
}
