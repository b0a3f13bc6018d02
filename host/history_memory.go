package host

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/weft-run/weft/internal/strictjson"
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
func defaultHistorySlot(taken []slot) slot {
	id := DefaultHistoryID
	for n := 2; ; n++ {
		if _, ok := findSlot(taken, id); !ok {
			break
		}
		id = DefaultHistoryID + "_" + strconv.Itoa(n)
	}
	h := NewInMemoryHistory(HistoryConfig{SourceID: id})
	return slot{
		provider: h, sourceID: id, sourceType: h.sourceType, policy: OnErrorFail, before: h, after: h, history: h,
	}
}

const messagesKey = "messages"

// inMemory keeps messages as Go values in the bucket. They become JSON when the session is saved, and not in each run.
type inMemory struct{}

var _ HistoryStore = inMemory{}

// messageList is the live value of the "messages" member. stamped are the same messages as a run loads them, with the
// source that they come from; both only grow.
type messageList struct {
	stored  []*message.Message
	stamped []*message.Message
}

func (l *messageList) appendJSON(b []byte) ([]byte, error) { return message.AppendList(b, l.stored) }

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
	grown := &messageList{stored: append(l.stored, messages...), stamped: l.stamped}
	state.putLocked(member{name: messagesKey, live: grown})
	return nil
}

// StoredMessages are the messages that an in-memory history keeps in its bucket, oldest first, shared and read-only.
// None are there before the first run was stored.
func StoredMessages(state *State) ([]*message.Message, error) {
	return inMemory{}.GetMessages(context.Background(), "", state)
}

// EditStoredMessages puts what edit returns in place of the messages that an in-memory history keeps in its bucket. edit
// gets what is there at that moment. It must change none of it, be quick, and not touch the bucket, which is locked
// meanwhile.
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
	state.putLocked(member{name: messagesKey, live: &messageList{stored: slices.Clip(edited)}})
	return nil
}

// loadStamped returns the messages as the provider adds them to a run. Each is copied once in its life and then shared
// by all runs, so that loading costs the same whatever the messages hold.
func (inMemory) loadStamped(sc *SessionContext) ([]*message.Message, error) {
	state := sc.State()
	state.mu.Lock()
	defer state.mu.Unlock()
	l, err := listIn(state)
	if err != nil {
		return nil, err
	}
	for _, m := range l.stored[len(l.stamped):] {
		if m.SourceID == "" {
			c := *m
			c.SourceID, c.SourceType = sc.slot.sourceID, sc.slot.sourceType
			m = &c
		}
		l.stamped = append(l.stamped, m)
	}
	return l.stamped[:len(l.stamped):len(l.stamped)], nil
}

// listIn is the live list of a bucket, whose lock the caller holds. A list that was restored from JSON becomes live.
func listIn(state *State) (*messageList, error) {
	if err := state.parse(); err != nil {
		return nil, err
	}
	var raw jsontext.Value
	at := -1
	for i, m := range state.members {
		if m.name != messagesKey {
			continue
		}
		if l, ok := m.live.(*messageList); ok {
			return l, nil
		}
		raw, at = m.raw, i
	}
	l := &messageList{}
	if at < 0 {
		return l, nil
	}
	dec, err := strictjson.Decoder(raw, stateDepth)
	if err == nil {
		l.stored, err = new(message.Decoder).List(dec)
	}
	if err != nil {
		return nil, fmt.Errorf("stored %s cannot be read: %w", messagesKey, err)
	}
	state.members[at].live = l
	return l, nil
}
