package compaction

import (
	"container/list"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"sync"
)

// key stands for the lines of a transcript from its start to one of them.
type key [sha256.Size]byte

// prefixKeys are the keys of the lines up to each of them.
func prefixKeys(lines []string) []key {
	keys := make([]key, len(lines))
	var before key
	for i, l := range lines {
		h := sha256.New()
		h.Write(before[:])
		h.Write(binary.AppendUvarint(nil, uint64(len(l))))
		h.Write([]byte(l))
		h.Sum(before[:0])
		keys[i] = before
	}
	return keys
}

// memory remembers summaries, a bounded number of them, and lets one goroutine at a time make each. The zero value is
// empty.
type memory struct {
	mu      sync.Mutex
	recent  list.List // of *remembered, the one used last in front
	byKey   map[key]*list.Element
	flights map[key]*flight
}

type remembered struct {
	key  key
	text string
}

// flight is a summary that is being made.
type flight struct {
	landed chan struct{} // closed when the rest is set
	text   string
	err    error
	// left says that who made it gave up for a reason of its own, so that it failed for nobody else.
	left bool
}

var errGivenUp = errors.New("the summary was given up")

// do returns the text of a key: the one that is remembered, the one that somebody is making, or the one that write
// returns. write puts it into the memory itself.
func (m *memory) do(ctx context.Context, k key, write func() (string, error)) (string, error) {
	for {
		m.mu.Lock()
		if text, ok := m.lookup(k); ok {
			m.mu.Unlock()
			return text, nil
		}
		f, flying := m.flights[k]
		if !flying {
			f = &flight{landed: make(chan struct{})}
			if m.flights == nil {
				m.flights = map[key]*flight{}
			}
			m.flights[k] = f
			m.mu.Unlock()
			return m.fly(ctx, k, f, write)
		}
		m.mu.Unlock()
		select {
		case <-f.landed:
		case <-ctx.Done():
			return "", ctx.Err()
		}
		if !f.left {
			return f.text, f.err
		}
	}
}

// fly makes a text on behalf of all who wait for it.
func (m *memory) fly(ctx context.Context, k key, f *flight, write func() (string, error)) (string, error) {
	defer func() {
		f.left = f.err != nil && ctx.Err() != nil
		m.mu.Lock()
		delete(m.flights, k)
		m.mu.Unlock()
		close(f.landed)
	}()
	f.err = errGivenUp // unless write returns
	f.text, f.err = write()
	return f.text, f.err
}

// longest is the remembered text of the longest part, and how many lines that has.
func (m *memory) longest(keys []key) (text string, lines int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := len(keys) - 1; i >= 0; i-- {
		if text, ok := m.lookup(keys[i]); ok {
			return text, i + 1
		}
	}
	return "", 0
}

// lookup is called with the lock held.
func (m *memory) lookup(k key) (string, bool) {
	e, ok := m.byKey[k]
	if !ok {
		return "", false
	}
	m.recent.MoveToFront(e)
	return e.Value.(*remembered).text, true
}

// put remembers a text, and forgets what was used longest ago where there are more than size.
func (m *memory) put(k key, text string, size int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.byKey == nil {
		m.byKey = map[key]*list.Element{}
	}
	if e, ok := m.byKey[k]; ok {
		m.recent.MoveToFront(e)
		return
	}
	m.byKey[k] = m.recent.PushFront(&remembered{k, text})
	for m.recent.Len() > size {
		oldest := m.recent.Back()
		m.recent.Remove(oldest)
		delete(m.byKey, oldest.Value.(*remembered).key)
	}
}
