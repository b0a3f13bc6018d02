package host

import (
	"context"
	"slices"

	"github.com/weft-run/weft/message"
)

// LoadMessages says whether a history provider loads the conversation before a run.
type LoadMessages string

// The ways of loading.
const (
	// LoadAlways is the default.
	LoadAlways LoadMessages = "true"
	// LoadNever makes a history that only stores, such as an audit log.
	LoadNever LoadMessages = "false"
	// LoadAuto loads unless a service keeps the history: not where a conversation id is set, nor in a run with the option
	// store false.
	LoadAuto LoadMessages = "auto"
)

// HistoryStore keeps the messages of conversations. It must be safe for use by many goroutines. Both methods get the
// provider's own bucket of the session, for stores that keep the messages, or a key to them, there.
type HistoryStore interface {
	// GetMessages returns the conversation so far, oldest first. The caller changes none of the messages.
	GetMessages(ctx context.Context, sessionID string, state *State) ([]*message.Message, error)
	// SaveMessages adds messages at the end: all of them, or none. They belong to the store.
	SaveMessages(ctx context.Context, sessionID string, state *State, messages []*message.Message) error
}

// HistoryConfig says what a history provider loads and stores. The zero value loads, and stores input and output.
type HistoryConfig struct {
	// SourceID names the provider. Default: in_memory for [NewInMemoryHistory]; mandatory otherwise.
	SourceID string
	// LoadMessages is [LoadAlways] unless set.
	LoadMessages LoadMessages
	// SkipInputs and SkipOutputs leave the run's input, or its response, out of the store.
	SkipInputs, SkipOutputs bool
	// StoreContextMessages stores what other providers added to the run as well.
	StoreContextMessages bool
	// StoreContextFrom, where not nil, stores the context of these sources only.
	StoreContextFrom []string
	// SkipExcluded leaves out of loading what compaction marked as excluded (package compaction).
	SkipExcluded bool
}

// HistoryProvider loads the conversation before a run and stores the run after it: context (if any), input, output, in
// one batch. Nothing of a failed run is stored.
type HistoryProvider struct {
	store      HistoryStore
	config     HistoryConfig
	sourceType string
}

var (
	_ ContextProvider = (*HistoryProvider)(nil)
	_ SourceTypeOf    = (*HistoryProvider)(nil)
)

// NewHistory makes a provider of a store.
func NewHistory(store HistoryStore, c HistoryConfig) *HistoryProvider {
	if c.LoadMessages == "" {
		c.LoadMessages = LoadAlways
	}
	c.StoreContextFrom = slices.Clone(c.StoreContextFrom)
	return &HistoryProvider{store: store, config: c, sourceType: "history"}
}

// SourceID is the configured one.
func (h *HistoryProvider) SourceID() string { return h.config.SourceID }

// SourceType is "history".
func (h *HistoryProvider) SourceType() string { return h.sourceType }

// loads decides for one run.
func (h *HistoryProvider) loads(r *run) bool {
	switch h.config.LoadMessages {
	case LoadNever:
		return false
	case LoadAuto:
		return r.options.ConversationID == "" && (r.options.Store == nil || *r.options.Store)
	}
	return true
}

// BeforeRun adds the conversation so far to the context. The run does not call it where the history does not load.
func (h *HistoryProvider) BeforeRun(ctx context.Context, sc *SessionContext) error {
	if m, ok := h.store.(inMemory); ok {
		loaded, known, err := m.loadStamped(sc)
		if err != nil {
			return err
		}
		sc.extendOwned(h.shown(loaded), !known.asking, known.untrusted)
		return nil
	}
	messages, err := h.store.GetMessages(ctx, sc.Session().ID(), sc.State())
	if err != nil {
		return err
	}
	sc.ExtendMessages(h.shown(messages)...)
	return nil
}

// shown leaves out what compaction marked, if the history is to do so.
func (h *HistoryProvider) shown(messages []*message.Message) []*message.Message {
	if !h.config.SkipExcluded || !slices.ContainsFunc(messages, (*message.Message).Excluded) {
		return messages
	}
	return slices.DeleteFunc(slices.Clone(messages), (*message.Message).Excluded)
}

// AfterRun stores the run. The author's attribution marks are stripped, and so are the marks that context from another
// history may carry: what this one stores anew, no compaction has left out yet.
func (h *HistoryProvider) AfterRun(ctx context.Context, sc *SessionContext) error {
	return h.storeBatch(ctx, sc, true, sc.Input(), sc.Response())
}

// storeBatch stores one batch: context, if it is wanted, what was sent, and the reply, if there is one.
func (h *HistoryProvider) storeBatch(ctx context.Context, sc *SessionContext, withContext bool, sent []*message.Message, reply *Response) error {
	var batch []*message.Message
	if withContext && h.config.StoreContextMessages {
		batch = sc.Messages(Filter{Sources: h.config.StoreContextFrom, Exclude: []string{h.config.SourceID}})
	}
	if !h.config.SkipInputs {
		batch = append(batch, sent...)
	}
	if reply != nil && !h.config.SkipOutputs {
		batch = append(batch, reply.Messages...)
	}
	if len(batch) == 0 {
		return nil
	}
	copies := message.CloneAll(batch)
	for i, m := range copies {
		m.Attribution = ""
		copies[i] = m.WithExcluded(false)
	}
	return h.store.SaveMessages(ctx, sc.Session().ID(), sc.State(), copies)
}
