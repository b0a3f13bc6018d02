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
	cost []Cost

	wroteMetadata bool
	oldMetadata   map[string]jsontext.Value // the run's, before this hook call first wrote to it
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
func (sc *SessionContext) State() *State { return sc.run.session.State(sc.slot.sourceID) }

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
	for i, m := range messages {
		copies[i] = sc.stamped(m)
	}
	sc.extendOwned(copies, false)
}

// extendOwned adds messages that carry a source and that nobody will change. plain says that none of them asks.
func (sc *SessionContext) extendOwned(messages []*message.Message, plain bool) {
	if len(messages) == 0 {
		return
	}
	c := &sc.run.context
	for i := range c.messages {
		if c.messages[i].sourceID == sc.slot.sourceID {
			all := c.messages[i].messages
			c.messages[i].messages = append(all[:len(all):len(all)], messages...)
			c.messages[i].plain = c.messages[i].plain && plain
			return
		}
	}
	if c.messages == nil {
		c.messages = make([]contribution, 0, len(sc.run.slots))
	}
	c.messages = append(c.messages, contribution{sourceID: sc.slot.sourceID, pos: sc.pos, messages: messages, plain: plain})
}

// ReplaceMessages puts other messages in place of the context so far, for a provider that thins it out. Messages that
// stand in the context, those of [SessionContext.Messages], keep their source; those that are missing are left out of
// the run. A new message is copied, gets the provider's source id unless it has one, and is filed under the source in
// whose place it stands, or dropped if there is no context at all. The order of the sources does not change. After the
// model answered this changes no request any more.
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
	next := 0
	for _, m := range messages {
		at, known := place[m]
		if known {
			next = at + 1
		} else {
			at = min(next, len(source)-1)
			m = sc.stamped(m)
		}
		after[source[at]] = append(after[source[at]], m)
	}
	c.replace(sc.pos, after)
}

// stamped is a copy of a message with the provider's source id, unless it has one.
func (sc *SessionContext) stamped(m *message.Message) *message.Message {
	c := m.Clone()
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
	if !sc.wroteMetadata {
		sc.wroteMetadata, sc.oldMetadata = true, sc.run.metadata
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
	if sc.wroteMetadata {
		return sc.oldMetadata
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

// ReportCost tells the trace what this hook call used of its limits.
func (sc *SessionContext) ReportCost(costs ...Cost) { sc.cost = append(sc.cost, costs...) }

// runContext is what providers added to a run so far. Each part knows the place of its provider, so that a wrapping
// provider's new try can drop what stands behind it.
type runContext struct {
	messages     []contribution
	instructions []instruction
	tools        []providerTool
	middleware   []providerMiddleware
	replaced     []replacement
}

type contribution struct {
	sourceID string
	pos      int
	messages []*message.Message
	plain    bool // none of the messages asks: known where a history looked at each once, and not in each run
}

// asks reports whether a message holds a request for approval or an answer to one.
func asks(m *message.Message) bool {
	return slices.ContainsFunc(m.Contents, func(c message.Content) bool {
		kind := c.Kind()
		return kind == message.KindApprovalRequest || kind == message.KindApprovalResponse
	})
}

// asks reports whether any context message does.
func (c *runContext) asks() bool {
	return slices.ContainsFunc(c.messages, func(c contribution) bool { return !c.plain && slices.ContainsFunc(c.messages, asks) })
}

type instruction struct {
	pos  int
	text string
}

type providerTool struct {
	pos int
	OfferedTool
}

type providerMiddleware struct {
	pos int
	Middleware
}

// replacement remembers what a provider replaced, so that it can be taken back.
type replacement struct {
	pos    int
	before []contribution // as they were
	sizes  []int          // how many messages took their place
}

// replace puts other messages in the place of each source's.
func (c *runContext) replace(pos int, after [][]*message.Message) {
	r := replacement{pos: pos, before: slices.Clone(c.messages), sizes: make([]int, len(after))}
	for i := range c.messages {
		c.messages[i].messages, r.sizes[i] = slices.Clip(after[i]), len(after[i])
		c.messages[i].plain = false
	}
	c.replaced = append(c.replaced, r)
}

// restore takes back all replacements but the first n. What was added since then stays.
func (c *runContext) restore(n int) {
	for _, r := range slices.Backward(c.replaced[n:]) {
		for i, was := range r.before {
			at := slices.IndexFunc(c.messages, func(now contribution) bool { return now.sourceID == was.sourceID })
			if at >= 0 {
				now := &c.messages[at]
				now.messages = slices.Concat(was.messages, now.messages[min(r.sizes[i], len(now.messages)):])
			}
		}
	}
	c.replaced = c.replaced[:n]
}

// dropAfter takes back what providers behind pos replaced and removes what they added.
func (c *runContext) dropAfter(pos int) {
	n := len(c.replaced)
	for n > 0 && c.replaced[n-1].pos > pos {
		n--
	}
	c.restore(n)
	c.messages = slices.DeleteFunc(c.messages, func(m contribution) bool { return m.pos > pos })
	c.instructions = slices.DeleteFunc(c.instructions, func(i instruction) bool { return i.pos > pos })
	c.tools = slices.DeleteFunc(c.tools, func(t providerTool) bool { return t.pos > pos })
	c.middleware = slices.DeleteFunc(c.middleware, func(m providerMiddleware) bool { return m.pos > pos })
}

// contextMark remembers how much one provider had added, so that a skipped hook leaves nothing behind.
type contextMark struct {
	messages            int
	instructions, tools int
	middleware          int
	replaced            int
}

func (c *runContext) mark(sourceID string) contextMark {
	m := contextMark{instructions: len(c.instructions), tools: len(c.tools), middleware: len(c.middleware), replaced: len(c.replaced)}
	for _, e := range c.messages {
		if e.sourceID == sourceID {
			m.messages = len(e.messages)
		}
	}
	return m
}

// since counts what was added after a mark.
func (c *runContext) since(m contextMark, sourceID string) contextMark {
	now := c.mark(sourceID)
	return contextMark{now.messages - m.messages, now.instructions - m.instructions, now.tools - m.tools, now.middleware - m.middleware, now.replaced - m.replaced}
}
