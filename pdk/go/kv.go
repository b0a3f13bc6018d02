package pdk

import (
	"iter"

	"github.com/weft-run/weft/pdk/go/internal/extism"
	"github.com/weft-run/weft/pdk/go/json"
)

// Scope says what stored values belong to, beside the plugin.
type Scope string

// The scopes of storage.
const (
	ScopeSession Scope = "session" // one session. A run without a session has none: [CodeNotFound]
	ScopeAgent   Scope = "agent"   // the agent, in all its sessions
)

// Store keeps values by key, for longer than a run. Each value has a version, which grows with every write: what was read
// is written back only if nobody was faster, with [Store.SetIf]. Keys are the plugin's own. All errors are of type [*Error].
type Store struct {
	scope Scope
	ttl   int
}

// KV returns the storage of a scope. Right: kv, with that scope.
func KV(scope Scope) Store { return Store{scope: scope} }

// Entry is a stored value.
type Entry struct {
	Key string
	// Value is any JSON. [Store.List] leaves it empty unless it is asked for values.
	Value   json.Raw
	Version int
}

// Expiring returns the same storage, with values that are gone so many seconds after they were set.
func (s Store) Expiring(seconds int) Store {
	s.ttl = seconds
	return s
}

// Get returns what is stored under a key, and whether anything is.
func (s Store) Get(key string) (entry Entry, found bool, err error) {
	entry.Key = key
	err = ask(extism.KVGet, func(w *json.Writer) { s.of(w, key) }, func(name string, r *json.Reader) {
		if name == "found" {
			found = r.Bool()
		} else {
			entry.member(name, r)
		}
	})
	return entry, found, err
}

// Read reads what is stored under a key into v, and returns its version. Where nothing is, v stays as it is and the
// version is 0.
func (s Store) Read(key string, v json.Readable) (version int, err error) {
	entry, found, err := s.Get(key)
	if err != nil || !found {
		return 0, err
	}
	return entry.Version, readOwn("kv: "+key, entry.Value, v)
}

// Set stores a value, any JSON, and returns its version.
func (s Store) Set(key string, value json.Raw) (version int, err error) { return s.set(key, value, -1) }

// SetIf stores a value where what is stored has that version, 0 for a key that must not exist yet. Otherwise the error has
// [CodeConflict].
func (s Store) SetIf(key string, value json.Raw, version int) (newVersion int, err error) {
	return s.set(key, value, version)
}

func (s Store) set(key string, value json.Raw, ifVersion int) (version int, err error) {
	err = ask(extism.KVSet, func(w *json.Writer) {
		s.of(w, key)
		w.Name("value").Raw(value)
		if ifVersion >= 0 {
			w.Name("if_version").Int(ifVersion)
		}
		if s.ttl > 0 {
			w.Name("ttl").Int(s.ttl)
		}
	}, func(name string, r *json.Reader) {
		if name == "version" {
			version = r.Int()
		}
	})
	return version, err
}

// Delete removes what is stored under a key, and reports whether anything was.
func (s Store) Delete(key string) (deleted bool, err error) { return s.remove(key, -1) }

// DeleteIf removes what is stored under a key where it has that version. Otherwise the error has [CodeConflict].
func (s Store) DeleteIf(key string, version int) (deleted bool, err error) {
	return s.remove(key, version)
}

func (s Store) remove(key string, ifVersion int) (deleted bool, err error) {
	err = ask(extism.KVDelete, func(w *json.Writer) {
		s.of(w, key)
		if ifVersion >= 0 {
			w.Name("if_version").Int(ifVersion)
		}
	}, func(name string, r *json.Reader) {
		if name == "deleted" {
			deleted = r.Bool()
		}
	})
	return deleted, err
}

// List chooses keys.
type List struct {
	// Prefix is how the keys begin.
	Prefix string
	// After is a key behind which the list begins.
	After string
	// Limit is how many keys are wanted: 100 where it is 0, and at most 1,000.
	Limit int
	// Values asks for the values as well.
	Values bool
}

// List returns keys in the order of their bytes, and whether there are more of them.
func (s Store) List(l List) (entries []Entry, more bool, err error) {
	err = ask(extism.KVList, func(w *json.Writer) {
		w.Name("scope").String(string(s.scope))
		writeOptional(w, "prefix", l.Prefix)
		writeOptional(w, "after", l.After)
		if l.Limit != 0 {
			w.Name("limit").Int(l.Limit)
		}
		writeTrue(w, "values", l.Values)
	}, func(name string, r *json.Reader) {
		switch name {
		case "entries":
			entries = appendList(entries, r)
		case "more":
			more = r.Bool()
		}
	})
	return entries, more, err
}

// All goes over all keys with a prefix and their values, in the order of the keys' bytes. It fetches them from the host in
// parts. After an error it ends.
func (s Store) All(prefix string) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		after := ""
		for more := true; more; {
			var entries []Entry
			var err error
			entries, more, err = s.List(List{Prefix: prefix, After: after, Values: true})
			if err != nil {
				yield(Entry{}, err)
				return
			}
			for _, e := range entries {
				after = e.Key
				if !yield(e, nil) {
					return
				}
			}
			more = more && len(entries) > 0
		}
	}
}

func (s Store) of(w *json.Writer, key string) {
	w.Name("scope").String(string(s.scope))
	w.Name("key").String(key)
}

// ReadJSON reads an entry.
func (e *Entry) ReadJSON(r *json.Reader) {
	for name := range r.Object() {
		e.member(name, r)
	}
}

func (e *Entry) member(name string, r *json.Reader) {
	switch name {
	case "key":
		e.Key = r.String()
	case "value":
		e.Value = r.Raw()
	case "version":
		e.Version = r.Int()
	}
}
