package kv

import (
	"context"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// The scopes of a namespace.
const (
	// ScopeSession keys belong to one session of an agent.
	ScopeSession = "session"
	// ScopeAgent keys are shared by all sessions of an agent.
	ScopeAgent = "agent"
)

// Namespace says whose keys they are. Each field is any text, and two namespaces are one only where all four are equal
// byte for byte.
type Namespace struct {
	// Agent and Plugin are the ids of the agent and of the plugin, which is its source id. A host with tenants makes the
	// tenant a part of Agent.
	Agent, Plugin string
	// Scope is ScopeSession or ScopeAgent.
	Scope string
	// Session is the id of the session for ScopeSession, and empty for ScopeAgent.
	Session string
}

// Entry is a key and what it holds.
type Entry struct {
	Key string
	// Value is one JSON value, byte for byte as it was set. List leaves it nil unless it is asked for.
	Value jsontext.Value
	// Version is at least 1, and another one after every change of the key, for ever.
	Version int64
}

// Store keeps entries. All methods may be called concurrently, by many processes too where the store is shared by them.
// What they are given is theirs only during the call, and what they return is the caller's. A context that is over ends a
// call with that context's error, and a call that returns an error has changed nothing.
//
// A key is text in UTF-8 of 1 to MaxKey bytes without NUL. Keys that look alike but differ in their bytes are different
// keys. What is wrong with arguments is an ErrInvalid, with all its faults at once. After Close, calls fail with ErrClosed.
type Store interface {
	// Get returns the entry of a key, and whether there is one.
	Get(ctx context.Context, ns Namespace, key string) (Entry, bool, error)
	// Set writes a value and returns its version. It fails with a ConflictError where SetOptions.IfVersion does not hold,
	// and with a LimitError where a limit is in the way.
	Set(ctx context.Context, ns Namespace, key string, value jsontext.Value, options SetOptions) (int64, error)
	// Delete removes an entry and says whether there was one. ifVersion is as in SetOptions: nil for whatever is there,
	// else it fails with a ConflictError unless the entry has that version. 0 would be met by nothing and is ErrInvalid.
	Delete(ctx context.Context, ns Namespace, key string, ifVersion *int64) (bool, error)
	// List returns entries in the byte order of their keys, and whether there are more behind them.
	List(ctx context.Context, ns Namespace, options ListOptions) (entries []Entry, more bool, err error)
	// Clear removes all entries of a namespace, and says how many there were: for a session that is deleted.
	Clear(ctx context.Context, ns Namespace) (int, error)
	// Close lets calls that are under way end, and frees what the store holds. Closing it again does nothing.
	Close() error
}

// SetOptions say how a value is set. The zero value writes over whatever is there, for good, within the default limits.
type SetOptions struct {
	// IfVersion is nil to write over whatever is there, 0 to write only where nothing is there, and else the version that
	// the entry must have.
	IfVersion *int64
	// TTL is how long the entry is there, to the millisecond, rounded up. 0 is for ever. An entry that is set again has the
	// new TTL only.
	TTL time.Duration
	// Limits are those of whom the namespace belongs to.
	Limits Limits
}

// ListOptions say which entries are listed. The zero value lists the first 100 keys, without values.
type ListOptions struct {
	// Prefix is what the keys begin with, byte for byte.
	Prefix string
	// After is the key behind which the list begins, such as the last one of the page before. It need not be there.
	After string
	// Limit is how many entries are returned at most: 0 stands for DefaultPage, and what is above MaxPage for MaxPage. A
	// page also ends behind the entry with which it holds 1 MiB of values. There are more where List says so, however few
	// came.
	Limit int
	// Values says whether the entries hold their values.
	Values bool
}

// How many entries List returns.
const (
	DefaultPage = 100
	MaxPage     = 1000
)

// PageBytes is how many bytes of values end a page of List.
const PageBytes = 1 << 20

// Options are those of every store.
type Options struct {
	// Now is the clock by which entries expire; nil for the system's.
	Now func() time.Time
}

// Clock returns Now, or the system's clock.
func (o Options) Clock() func() time.Time {
	if o.Now == nil {
		return time.Now
	}
	return o.Now
}

// Expiry returns the moment from which an entry is not there any more, in milliseconds since 1970, and whether there is
// one. Stores compare it with the clock's UnixMilli.
func (o SetOptions) Expiry(now time.Time) (int64, bool) {
	if o.TTL == 0 {
		return 0, false
	}
	end := now.Add(o.TTL)
	return end.Add(time.Millisecond - 1).UnixMilli(), true
}
