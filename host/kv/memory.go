package kv

import (
	"context"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// Memory is a Store that ends with the process. Make it with NewMemory.
type Memory struct {
	now func() time.Time

	mu     sync.Mutex
	closed bool
	spaces map[Namespace]*space
	// floor is above no version of a space that was dropped, so that its versions do not come again.
	floor int64
	// sweep is when all spaces are next looked through for what has expired, in milliseconds since 1970.
	sweep int64
}

var _ Store = (*Memory)(nil)

// sweepEvery is how often spaces that nobody uses are looked through, in milliseconds.
const sweepEvery = 60_000

// NewMemory makes an empty store.
func NewMemory(options Options) *Memory {
	return &Memory{now: options.Clock(), spaces: map[Namespace]*space{}}
}

// space is what one namespace holds.
type space struct {
	entries map[string]value
	keys    []string // of entries, sorted
	bytes   int64    // of keys and values
	version int64    // the last one that was given out
	expires int64    // no entry expires before
}

type value struct {
	json    jsontext.Value
	version int64
	expires int64
}

// begin locks the store for a call, and returns the namespace without what has expired, or nil where it holds nothing.
func (m *Memory) begin(ctx context.Context, ns Namespace) (*space, time.Time, error) {
	if err := ctx.Err(); err != nil {
		return nil, time.Time{}, err
	}
	m.mu.Lock()
	if m.closed {
		m.mu.Unlock()
		return nil, time.Time{}, ErrClosed
	}
	now := m.now()
	m.sweepAll(now.UnixMilli())
	s := m.spaces[ns]
	s.expire(now.UnixMilli())
	return s, now, nil
}

// Get implements Store.
func (m *Memory) Get(ctx context.Context, ns Namespace, key string) (Entry, bool, error) {
	if err := CheckGet(ns, key); err != nil {
		return Entry{}, false, err
	}
	s, _, err := m.begin(ctx, ns)
	if err != nil {
		return Entry{}, false, err
	}
	defer m.mu.Unlock()
	v, ok := s.get(key)
	if !ok {
		return Entry{}, false, nil
	}
	return Entry{Key: key, Value: v.json.Clone(), Version: v.version}, true, nil
}

// Set implements Store.
func (m *Memory) Set(ctx context.Context, ns Namespace, key string, json jsontext.Value, options SetOptions) (int64, error) {
	if err := CheckSet(ns, key, json, options); err != nil {
		return 0, err
	}
	s, now, err := m.begin(ctx, ns)
	if err != nil {
		return 0, err
	}
	defer m.mu.Unlock()
	old, there := s.get(key)
	if err := CheckVersion(key, options.IfVersion, old.version); err != nil {
		return 0, err
	}
	before := s.usage()
	after := Usage{Keys: before.Keys + 1, Bytes: before.Bytes + int64(len(key)+len(json))}
	if there {
		after = Usage{Keys: before.Keys, Bytes: before.Bytes + int64(len(json)-len(old.json))}
	}
	if err := options.Limits.CheckUsage(before, after); err != nil {
		return 0, err
	}
	if s == nil {
		s = &space{entries: map[string]value{}, version: m.floor, expires: math.MaxInt64}
		m.spaces[ns] = s
	}
	expires, ends := options.Expiry(now)
	if !ends {
		expires = math.MaxInt64
	}
	return s.set(strings.Clone(key), value{json: json.Clone(), expires: expires}), nil
}

// Delete implements Store.
func (m *Memory) Delete(ctx context.Context, ns Namespace, key string, ifVersion *int64) (bool, error) {
	if err := CheckDelete(ns, key, ifVersion); err != nil {
		return false, err
	}
	s, _, err := m.begin(ctx, ns)
	if err != nil {
		return false, err
	}
	defer m.mu.Unlock()
	old, there := s.get(key)
	if err := CheckVersion(key, ifVersion, old.version); err != nil || !there {
		return false, err
	}
	s.remove(key)
	at, _ := slices.BinarySearch(s.keys, key)
	s.keys = slices.Delete(s.keys, at, at+1)
	return true, nil
}

// List implements Store.
func (m *Memory) List(ctx context.Context, ns Namespace, options ListOptions) ([]Entry, bool, error) {
	options, err := CheckList(ns, options)
	if err != nil {
		return nil, false, err
	}
	s, _, err := m.begin(ctx, ns)
	if err != nil {
		return nil, false, err
	}
	defer m.mu.Unlock()
	if s == nil {
		return nil, false, nil
	}
	at, found := slices.BinarySearch(s.keys, max(options.Prefix, options.After))
	if found && options.After >= options.Prefix {
		at++
	}
	var page []Entry
	bytes := 0
	for _, key := range s.keys[at:] {
		if !strings.HasPrefix(key, options.Prefix) {
			break // all that begin with it stand together
		}
		if len(page) == options.Limit || bytes >= PageBytes {
			return page, true, nil
		}
		v := s.entries[key]
		e := Entry{Key: key, Version: v.version}
		if options.Values {
			e.Value = v.json.Clone()
			bytes += len(v.json)
		}
		page = append(page, e)
	}
	return page, false, nil
}

// Clear implements Store.
func (m *Memory) Clear(ctx context.Context, ns Namespace) (int, error) {
	if err := CheckClear(ns); err != nil {
		return 0, err
	}
	s, _, err := m.begin(ctx, ns)
	if err != nil {
		return 0, err
	}
	defer m.mu.Unlock()
	if s == nil {
		return 0, nil
	}
	m.drop(ns, s)
	return len(s.keys), nil
}

// Close implements Store.
func (m *Memory) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed, m.spaces = true, nil
	return nil
}

func (m *Memory) drop(ns Namespace, s *space) {
	m.floor = max(m.floor, s.version)
	delete(m.spaces, ns)
}

// sweepAll frees, from time to time, what has expired in namespaces that nobody uses any more.
func (m *Memory) sweepAll(now int64) {
	if now < m.sweep {
		return
	}
	m.sweep = now + sweepEvery
	for ns, s := range m.spaces {
		if s.expire(now); len(s.keys) == 0 {
			m.drop(ns, s)
		}
	}
}

func (s *space) get(key string) (value, bool) {
	if s == nil {
		return value{}, false
	}
	v, ok := s.entries[key]
	return v, ok
}

func (s *space) usage() Usage {
	if s == nil {
		return Usage{}
	}
	return Usage{Keys: int64(len(s.keys)), Bytes: s.bytes}
}

// set puts a value there under a new version, which it returns.
func (s *space) set(key string, v value) int64 {
	if _, there := s.entries[key]; there {
		s.remove(key)
	} else {
		at, _ := slices.BinarySearch(s.keys, key)
		s.keys = slices.Insert(s.keys, at, key)
	}
	s.version++
	v.version = s.version
	s.entries[key] = v
	s.bytes += int64(len(key) + len(v.json))
	s.expires = min(s.expires, v.expires)
	return v.version
}

// remove takes an entry away and leaves its key among the keys.
func (s *space) remove(key string) {
	s.bytes -= int64(len(key) + len(s.entries[key].json))
	delete(s.entries, key)
}

// expire takes away what has expired. It costs nothing until something has.
func (s *space) expire(now int64) {
	if s == nil || now < s.expires {
		return
	}
	s.expires = math.MaxInt64
	s.keys = slices.DeleteFunc(s.keys, func(key string) bool {
		if v := s.entries[key]; v.expires > now {
			s.expires = min(s.expires, v.expires)
			return false
		}
		s.remove(key)
		return true
	})
}
