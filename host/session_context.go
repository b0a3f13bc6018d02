package host

import (
	"fmt"
	"maps"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/weft-run/weft/message"
)

// SessionContext is what a hook sees of the run, and where it puts what it adds. It belongs to one hook call of one
// provider and must not be used after it returned, nor by several goroutines at once. Messages read from it are shared
// and read-only.
type SessionContext struct {
	run  *run
	slot *slot
	pos  int // the provider's place in the run's list
	// costs are those of the hook call; nil where nobody follows.
	costs *ledger
	// ahead is set while the provider's turn has not come: a state that is not there yet must not be made in the session.
	ahead *startedHook
	// oldMetadata is the run's, before this hook call first wrote to it; nil where it did not.
	oldMetadata *map[string]jsontext.Value
}

// SourceID is the provider's own source id.
func (sc *SessionContext) SourceID() string { return sc.slot.sourceID }

// RunID is the run's id.
func (sc *SessionContext) RunID() string { return sc.run.id }

// AgentName is the name of the agent that runs.
func (sc *SessionContext) AgentName() string { return sc.run.agent.name }

// Session is the run's session: the caller's, or one made for this run alone.
func (sc *SessionContext) Session() *Session { return sc.run.session }

// State is the provider's own bucket of the session.
func (sc *SessionContext) State() *State {
	if sc.ahead == nil {
		return sc.run.session.State(sc.slot.sourceID)
	}
	if sc.ahead.state == nil {
		sc.ahead.state = sc.run.session.existing(sc.slot.sourceID)
	}
	return sc.ahead.state
}

// Input is the run's new messages.
func (sc *SessionContext) Input() []*message.Message { return slices.Clip(sc.run.input) }

// Options are a copy of the run's merged options; changing it changes nothing.
func (sc *SessionContext) Options() Options { return sc.run.options.Clone() }

// ConversationID is the conversation that the run's model calls name; empty where no service keeps the history.
func (sc *SessionContext) ConversationID() string { return sc.run.options.ConversationID }

// Response is the run's response; nil before the model answered.
func (sc *SessionContext) Response() *Response { return sc.run.response }

// SetResponse puts a response in place of what there is. Only a wrapping provider's Process may call it; in other hooks
// it is an error.
func (sc *SessionContext) SetResponse(r *Response) error {
	if sc.slot.wrap == nil {
		return fmt.Errorf("provider %s: only a wrapping provider may set the response", sc.slot.sourceID)
	}
	sc.run.response, sc.run.ownResponse = r, true
	return nil
}

// ExtendMessages adds messages to the run's context under the provider's source id. They are copied. A message that has
// a source id keeps it. After the model answered this changes no request any more; histories may store it.
func (sc *SessionContext) ExtendMessages(messages ...*message.Message) {
	copies := make([]*message.Message, len(messages))
	untrusted := false
	for i, m := range messages {
		copies[i] = sc.stamped(m)
		untrusted = untrusted || copies[i].Untrusted
	}
	sc.extendOwned(copies, false, untrusted)
}

// extendOwned adds messages that carry a source and that nobody will change. plain says that none of them asks, untrusted
// that one of them has that label.
func (sc *SessionContext) extendOwned(messages []*message.Message, plain, untrusted bool) {
	if len(messages) == 0 {
		return
	}
	c := &sc.run.context
	for i := range c.messages {
		if c.messages[i].sourceID == sc.slot.sourceID {
			all := c.messages[i].messages
			c.messages[i].messages = append(all[:len(all):len(all)], messages...)
			c.messages[i].plain = c.messages[i].plain && plain
			c.messages[i].untrusted = c.messages[i].untrusted || untrusted
			return
		}
	}
	if c.messages == nil {
		c.messages = make([]contribution, 0, len(sc.run.slots))
	}
	c.messages = append(c.messages, contribution{sourceID: sc.slot.sourceID, pos: sc.pos, messages: messages, plain: plain, untrusted: untrusted})
}

// ReplaceMessages puts other messages in place of the context so far, for a provider that thins it out. Messages that
// stand in the context, those of [SessionContext.Messages], keep their source; those that are missing are left out of
// the run. A new message is copied, gets the provider's source id unless it has one, and is filed under the source in
// whose place it stands, or dropped if there is no context at all; where an untrusted message is left out, it is untrusted
// too, for it may say the same. The order of the sources does not change. After the model answered this changes no request
// any more.
func (sc *SessionContext) ReplaceMessages(messages ...*message.Message) {
	c := &sc.run.context
	place := make(map[*message.Message]int)
	var source []int // by place
	for i := range c.messages {
		for _, m := range c.messages[i].messages {
			place[m] = len(source)
			source = append(source, i)
		}
	}
	if len(source) == 0 {
		return
	}
	after := make([][]*message.Message, len(c.messages))
	label := c.labelNew(messages)
	next := 0
	for _, m := range messages {
		at, known := place[m]
		if known {
			next = at + 1
		} else {
			at = min(next, len(source)-1)
			m = sc.stamped(m)
			m.Untrusted = m.Untrusted || label(m)
		}
		after[source[at]] = append(after[source[at]], m)
	}
	c.replace(sc.pos, after)
}

// stamped is a copy of a message with the provider's source id, unless it has one, and the label of an untrusted provider.
func (sc *SessionContext) stamped(m *message.Message) *message.Message {
	c := m.Clone()
	c.Untrusted = c.Untrusted || sc.slot.untrusted
	if c.SourceID == "" {
		c.SourceID, c.SourceType = sc.slot.sourceID, sc.slot.sourceType
	}
	return c
}

// ExtendInstructions adds lines to the run's instructions, behind those of earlier providers.
func (sc *SessionContext) ExtendInstructions(instructions ...string) {
	for _, text := range instructions {
		sc.run.context.instructions = append(sc.run.context.instructions, instruction{pos: sc.pos, text: text})
	}
}

// ExtendTools adds tools to the run. Two different tools of one name end the run before the model is called.
func (sc *SessionContext) ExtendTools(tools ...Tool) {
	for _, t := range tools {
		sc.run.context.tools = append(sc.run.context.tools, providerTool{pos: sc.pos, OfferedTool: OfferedTool{t, sc.slot.sourceID}})
	}
}

// ExtendMiddleware adds chat and function middleware to the run; it stands innermost. Agent middleware is refused: it
// would have to wrap what is under way already.
func (sc *SessionContext) ExtendMiddleware(m Middleware) error {
	if len(m.Agent) > 0 {
		return fmt.Errorf("provider %s: a provider may add chat or function middleware, and no agent middleware", sc.slot.sourceID)
	}
	if err := m.check(); err != nil {
		return err
	}
	sc.run.context.middleware = append(sc.run.context.middleware, providerMiddleware{pos: sc.pos, Middleware: m})
	return nil
}

// Metadata reads a value that hooks of this run share, into the value that into points to, and reports whether there
// was one.
func (sc *SessionContext) Metadata(key string, into any) (bool, error) {
	raw, ok := sc.run.metadata[key]
	if !ok {
		return false, nil
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return true, fmt.Errorf("metadata %q does not fit %T: %w", key, into, err)
	}
	return true, nil
}

// SetMetadata writes a value that hooks of this run share. It is kept as JSON and is gone with the run.
func (sc *SessionContext) SetMetadata(key string, value any) error {
	raw, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("metadata %q cannot be kept as JSON: %w", key, err)
	}
	if sc.oldMetadata == nil {
		sc.oldMetadata = new(sc.run.metadata)
		sc.run.metadata = maps.Clone(sc.run.metadata)
	}
	if sc.run.metadata == nil {
		sc.run.metadata = map[string]jsontext.Value{}
	}
	sc.run.metadata[key] = raw
	return nil
}

// metadataBefore is the run's metadata as it was before this hook call.
func (sc *SessionContext) metadataBefore() map[string]jsontext.Value {
	if sc.oldMetadata != nil {
		return *sc.oldMetadata
	}
	return sc.run.metadata
}

// MetadataJSON is all metadata of the run as a JSON object with sorted names.
func (sc *SessionContext) MetadataJSON() (jsontext.Value, error) {
	if len(sc.run.metadata) == 0 {
		return jsontext.Value("{}"), nil
	}
	return json.Marshal(sc.run.metadata, json.Deterministic(true))
}

// Source is what one provider added to the context so far.
type Source struct {
	SourceID string
	// Messages are shared and read-only.
	Messages []*message.Message
}

// Sources are the sources that hold context messages so far, in the order of their first message.
func (sc *SessionContext) Sources() []Source {
	out := make([]Source, 0, len(sc.run.context.messages))
	for _, c := range sc.run.context.messages {
		if len(c.messages) > 0 {
			out = append(out, Source{SourceID: c.sourceID, Messages: slices.Clip(c.messages)})
		}
	}
	return out
}

// Filter chooses what [SessionContext.Messages] returns. The zero value is the context messages of all sources.
type Filter struct {
	// Sources, where not nil, leaves only these sources.
	Sources []string
	// Exclude leaves out these sources.
	Exclude []string
	// Input puts the run's input behind the context, Response the response's messages behind that.
	Input, Response bool
}

// Messages returns context messages in provider order, as the filter says.
func (sc *SessionContext) Messages(f Filter) []*message.Message {
	var out []*message.Message
	for _, c := range sc.run.context.messages {
		if f.Sources != nil && !slices.Contains(f.Sources, c.sourceID) || slices.Contains(f.Exclude, c.sourceID) {
			continue
		}
		out = append(out, c.messages...)
	}
	if f.Input {
		out = append(out, sc.run.input...)
	}
	if f.Response && sc.run.response != nil {
		out = append(out, sc.run.response.Messages...)
	}
	return out
}

// ReportCost tells the trace what this hook call used of its limits, as [ReportCost] does by the context of the call.
func (sc *SessionContext) ReportCost(costs ...Cost) { sc.costs.report(costs) }
