package host

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/weft-run/weft/message"
)

// DefaultHistoryID is the source id of an in-memory history that was given none, and of the default history.
const DefaultHistoryID = "in_memory"

// NewInMemoryHistory returns a history provider that keeps the conversation in the session's state, as the member
// "messages" of its bucket: it lives as long as the session and is saved and restored with it.
func NewInMemoryHistory(c HistoryConfig) *HistoryProvider {
	if c.SourceID == "" {
		c.SourceID = DefaultHistoryID
	}
	h := NewHistory(inMemory{}, c)
	h.sourceType = "in_memory_history"
	return h
}

// defaultHistorySlot is the default history beside other providers. Two histories never share a bucket, so where its
// id is taken it gets a number.
func defaultHistorySlot(taken []*slot) *slot {
	id := DefaultHistoryID
	for n := 2; ; n++ {
		if findSlot(taken, id) == nil {
			break
		}
		id = DefaultHistoryID + "_" + strconv.Itoa(n)
	}
	h := NewInMemoryHistory(HistoryConfig{SourceID: id})
	return &slot{
		provider: h, sourceID: id, sourceType: h.sourceType, policy: OnErrorFail, before: h, after: h, history: h,
	}
}

const messagesKey = "messages"

// inMemory keeps messages as Go values in the bucket. They become JSON when the session is saved, and not in each run.
type inMemory struct{}

var _ HistoryStore = inMemory{}

// messageList is the live value of the "messages" member. All of it only grows.
type messageList struct {
	stored  []*message.Message
	stamped []*message.Message // the same as a run loads them, with the source that they come from
	known   knownOf            // what is known of stamped
	encoded []byte             // their JSON, without the closing bracket, as far as it was restored or saved before
	saved   int                // how many messages that is; saving encodes the others
}

// knownOf is what looking at each message once has shown.
type knownOf struct {
	asking    bool // one asks for approval, or answers
	untrusted bool // one is
}

// appendJSON appends the list's JSON, and keeps what of it is new.
func (l *messageList) appendJSON(b []byte) (_ []byte, err error) {
	b = slices.Grow(b, len(l.encoded)+len("[]}}}"))
	b = append(b, l.encoded...)
	fresh := len(b) // where what is new begins
	if len(l.encoded) == 0 {
		b = append(b, '[')
	}
	for i := l.saved; i < len(l.stored); i++ {
		if i == (3*l.saved+len(l.stored))/4 { // grow once by what the first quarter says of the rest, and not again and again
			b = slices.Grow(b, 3*(len(b)-fresh))
		}
		if i > 0 {
			b = append(b, ',')
		}
		if b, err = l.stored[i].AppendJSON(b); err != nil {
			return b, fmt.Errorf("%d/%w", i, err)
		}
	}
	if l.saved < len(l.stored) {
		l.encoded, l.saved = append(l.encoded, b[fresh:]...), len(l.stored)
	}
	return append(b, ']'), nil
}

// GetMessages returns what the bucket holds.
func (inMemory) GetMessages(_ context.Context, _ string, state *State) ([]*message.Message, error) {
	state.mu.Lock()
	defer state.mu.Unlock()
	l, err := listIn(state)
	if err != nil {
		return nil, err
	}
	return l.stored[:len(l.stored):len(l.stored)], nil
}

// SaveMessages adds to what the bucket holds.
func (inMemory) SaveMessages(_ context.Context, _ string, state *State, messages []*message.Message) error {
	state.mu.Lock()
	defer state.mu.Unlock()
	l, err := listIn(state)
	if err != nil {
		return err
	}
	grown := *l
	grown.stored = append(l.stored, messages...)
	state.putLocked(member{name: messagesKey, live: &grown})
	return nil
}

// StoredMessages are the messages that an in-memory history keeps in its bucket, oldest first, shared and read-only.
// None are there before the first run was stored.
func StoredMessages(state *State) ([]*message.Message, error) {
	return inMemory{}.GetMessages(context.Background(), "", state)
}

// EditStoredMessages puts what edit returns in place of the messages that an in-memory history keeps in its bucket. edit
// gets what is there at that moment. It must change none of it, be quick, and not touch the bucket, which is locked
// meanwhile. Where it leaves out an untrusted message, what it adds is untrusted too: a summary may say the same.
func EditStoredMessages(state *State, edit func(stored []*message.Message) []*message.Message) error {
	state.mu.Lock()
	defer state.mu.Unlock()
	l, err := listIn(state)
	if err != nil {
		return err
	}
	edited := edit(slices.Clip(l.stored))
	if slices.Equal(edited, l.stored) {
		return nil
	}
	state.putLocked(member{name: messagesKey, live: &messageList{stored: slices.Clip(labelEdited(l.stored, edited))}})
	return nil
}

// loadStamped returns the messages as the provider adds them to a run. Each is copied once in its life and then shared
// by all runs, so that loading costs the same whatever the messages hold.
func (inMemory) loadStamped(sc *SessionContext) (messages []*message.Message, known knownOf, err error) {
	state := sc.State()
	state.mu.Lock()
	defer state.mu.Unlock()
	l, err := listIn(state)
	if err != nil {
		return nil, knownOf{}, err
	}
	l.stamped = slices.Grow(l.stamped, len(l.stored)-len(l.stamped))
	var block []message.Message // of copies: one allocation for many
	for i := len(l.stamped); i < len(l.stored); i++ {
		m := l.stored[i]
		if m.SourceID == "" {
			if len(block) == 0 {
				block = make([]message.Message, min(len(l.stored)-i, stampBlock))
			}
			block[0] = *m
			m, block = &block[0], block[1:]
			m.SourceID, m.SourceType = sc.slot.sourceID, sc.slot.sourceType
		}
		l.stamped = append(l.stamped, m)
		l.known.asking = l.known.asking || asks(m)
		l.known.untrusted = l.known.untrusted || m.Untrusted
	}
	return slices.Clip(l.stamped), l.known, nil
}

// stampBlock is how many copies one allocation holds at most.
const stampBlock = 64

// listIn is the live list of a bucket, whose lock the caller holds. A list that was restored from JSON becomes live.
func listIn(state *State) (*messageList, error) {
	state.parse()
	for i := range state.members {
		m := &state.members[i]
		if m.name != messagesKey {
			continue
		}
		if l, ok := m.live.(*messageList); ok {
			return l, nil
		}
		stored, err := new(message.Decoder).DecodeList(m.raw)
		if err != nil {
			return nil, fmt.Errorf("stored %s cannot be read: %w", messagesKey, err)
		}
		open := bytes.TrimSuffix(m.raw, []byte("]"))
		l := &messageList{stored: stored, encoded: slices.Clip(open), saved: len(stored)}
		m.live, m.raw = l, nil
		return l, nil
	}
	return &messageList{}, nil
}
