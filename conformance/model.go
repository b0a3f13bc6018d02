package conformance

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/message"
)

// scriptedModel is the chat client of a scenario: it gives one reply per call and keeps what it received.
type scriptedModel struct {
	model Model

	mu       sync.Mutex
	requests []seenRequest
	broken   error // a request that could not be shown
}

var (
	_ host.ChatClient    = (*scriptedModel)(nil)
	_ host.HistoryKeeper = (*scriptedModel)(nil)
)

// StoresHistory is what the file says.
func (m *scriptedModel) StoresHistory() bool { return m.model.StoresHistory }

// next keeps a request and returns the reply to it. A call past the last reply is an error here and a difference later.
func (m *scriptedModel) next(request *host.ChatRequest) (Reply, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	seen, err := showRequest(request)
	if err != nil {
		m.broken = err
	}
	n := len(m.requests)
	m.requests = append(m.requests, seen)
	if n >= len(m.model.Replies) {
		return Reply{}, fmt.Errorf("the scenario has no reply for model call %d", n+1)
	}
	return m.model.Replies[n], nil
}

// Complete gives the next reply as a whole.
func (m *scriptedModel) Complete(_ context.Context, request *host.ChatRequest) (*host.Response, error) {
	reply, err := m.next(request)
	if err != nil {
		return nil, err
	}
	if reply.Error != "" {
		return nil, errors.New(reply.Error)
	}
	response := &host.Response{
		ConversationID: reply.ConversationID, FinishReason: reply.finish(),
		Messages: []*message.Message{message.New(message.RoleAssistant, reply.contents()...)},
	}
	if reply.Usage != nil {
		response.Usage = new(*reply.Usage)
	}
	return response, nil
}

// Stream gives the next reply in pieces: each chunk, or the whole text; then all calls; then what has no content.
func (m *scriptedModel) Stream(_ context.Context, request *host.ChatRequest) iter.Seq2[*host.Update, error] {
	return func(yield func(*host.Update, error) bool) {
		reply, err := m.next(request)
		if err != nil {
			yield(nil, err)
			return
		}
		for _, u := range reply.updates() {
			if !yield(u, nil) {
				return
			}
		}
		if reply.Error != "" {
			yield(nil, errors.New(reply.Error))
		}
	}
}

func (r Reply) finish() host.FinishReason {
	if len(r.Calls) > 0 {
		return host.FinishToolCalls
	}
	return host.FinishStop
}

// contents are the text, and the calls behind it: one message.
func (r Reply) contents() []message.Content {
	var contents []message.Content
	if r.Text != nil {
		contents = append(contents, message.Text{Text: *r.Text})
	}
	for _, c := range r.Calls {
		contents = append(contents, c.toHost())
	}
	return contents
}

func (r Reply) updates() []*host.Update {
	var updates []*host.Update
	pieces := r.Chunks
	if pieces == nil && r.Text != nil && r.Error == "" {
		pieces = []string{*r.Text}
	}
	for _, piece := range pieces {
		updates = append(updates, host.TextUpdate(piece))
	}
	if r.Error != "" {
		return updates
	}
	if len(r.Calls) > 0 {
		calls := Reply{Calls: r.Calls}
		updates = append(updates, &host.Update{Role: message.RoleAssistant, Contents: calls.contents()})
	}
	last := &host.Update{Role: message.RoleAssistant, ConversationID: r.ConversationID, FinishReason: r.finish()}
	if r.Usage != nil {
		last.Usage = new(*r.Usage)
	}
	return append(updates, last)
}

// seen returns what was received, and an error where that is not all that can be said.
func (m *scriptedModel) seen() ([]seenRequest, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.requests, m.broken
}
