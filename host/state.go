package host

import (
	"bytes"
	"errors"
	"fmt"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/weft-run/weft/internal/strictjson"
)

// stateDepth is how deep a bucket may nest.
const stateDepth = 512

// State is one provider's part of a session: a JSON object. What is written is turned into JSON at once, so that what
// cannot be represented is refused where it is written, and what was read from JSON keeps its bytes: numbers keep
// their digits.
//
// A State may be used by many goroutines. Two runs of one session at the same time see each other's writes; a read
// followed by a write is one step with Update alone, or with ReplaceIf where it takes longer.
type State struct {
	mu      sync.Mutex
	version uint64         // grows with each write
	raw     jsontext.Value // the object's bytes, which never change; nil while members has changes that raw has not
	members []member       // nil until somebody looks inside
	parsed  bool
}

// member is one key of a bucket: bytes, or a live value that turns into bytes when the session is saved.
type member struct {
	name string
	raw  jsontext.Value
	live appender
}

type appender interface {
	appendJSON(b []byte) ([]byte, error)
}

// Get reads the value of key into the value that into points to, and reports whether there was one.
func (s *State) Get(key string, into any) (bool, error) {
	raw, ok, err := s.GetRaw(key)
	if err != nil || !ok {
		return false, err
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return true, fmt.Errorf("state %q does not fit %T: %w", key, into, err)
	}
	return true, nil
}

// GetRaw returns the value of key as JSON and reports whether there was one.
func (s *State) GetRaw(key string) (jsontext.Value, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.parse()
	for i := range s.members {
		if m := &s.members[i]; m.name == key {
			if m.live != nil {
				raw, err := m.live.appendJSON(nil)
				return raw, true, err
			}
			return m.raw.Clone(), true, nil
		}
	}
	return nil, false, nil
}

// ErrConflict is returned where somebody else wrote to a bucket since it was read.
var ErrConflict = errors.New("the state was written by somebody else meanwhile")

// Version is a stamp of what the bucket holds: every write gives it another, also one of the same value. It is not saved
// with the session: it tells writes of this process apart.
func (s *State) Version() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.version
}

// Snapshot is the whole bucket as a JSON object, as [State.Raw] returns it, with the version that it is of.
func (s *State) Snapshot() (raw jsontext.Value, version uint64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	raw, err = s.appendLocked(nil)
	return raw, s.version, err
}

// Set writes the value of key. A value that JSON cannot represent is refused and changes nothing.
func (s *State) Set(key string, value any) error {
	raw, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("state %q cannot be kept as JSON: %w", key, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.parse()
	s.putLocked(member{name: key, raw: raw})
	return nil
}

// Update reads and writes the value of key as one step: f gets what is there, nil where nothing is, and returns what is to
// stand there; nil takes the key out. An error of f, and a value that JSON cannot represent, change nothing. f must be quick and must not touch
// the bucket, which is locked meanwhile.
func (s *State) Update(key string, f func(old jsontext.Value) (any, error)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.parse()
	var old jsontext.Value
	for i := range s.members {
		m := &s.members[i]
		if m.name != key {
			continue
		}
		old = m.raw.Clone()
		if m.live != nil {
			var err error
			if old, err = m.live.appendJSON(nil); err != nil {
				return err
			}
		}
	}
	value, err := f(old)
	if err != nil {
		return err
	}
	if value == nil {
		s.deleteLocked(key)
		return nil
	}
	raw, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("state %q cannot be kept as JSON: %w", key, err)
	}
	s.putLocked(member{name: key, raw: raw})
	return nil
}

// Delete removes key.
func (s *State) Delete(key string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.parse()
	s.deleteLocked(key)
	return nil
}

func (s *State) deleteLocked(key string) {
	s.version++
	for i, m := range s.members {
		if m.name == key {
			s.members = append(s.members[:i:i], s.members[i+1:]...)
			s.raw = nil
			return
		}
	}
}

// Raw returns the whole bucket as a JSON object, byte for byte as it was last replaced or restored if nothing was set
// since.
func (s *State) Raw() (jsontext.Value, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.appendLocked(nil)
}

// Replace puts a JSON object in place of the whole bucket. The bytes are checked and kept as they are.
func (s *State) Replace(object jsontext.Value) error {
	if err := checkObject(object); err != nil {
		return fmt.Errorf("a state bucket must be one JSON object: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.replaceLocked(object)
	return nil
}

// ReplaceIf is [State.Replace] where the bucket is still of a version, as [State.Snapshot] or [State.Version] returned it.
// Where somebody wrote since, it changes nothing and returns [ErrConflict]: read again, and decide again. Afterwards the
// bucket is of the next version, which is one higher.
func (s *State) ReplaceIf(version uint64, object jsontext.Value) error {
	if err := checkObject(object); err != nil {
		return fmt.Errorf("a state bucket must be one JSON object: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.version != version {
		return fmt.Errorf("%w: it is of version %d, and %d was read", ErrConflict, s.version, version)
	}
	s.replaceLocked(object)
	return nil
}

func (s *State) replaceLocked(object jsontext.Value) {
	s.version++
	s.raw, s.members, s.parsed = bytes.TrimSpace(bytes.Clone(object)), nil, false
}

func checkObject(object jsontext.Value) error {
	if len(object) > 0 && object[0] == '{' {
		if _, depth := strictjson.Span(object, 0); depth <= stateDepth && object.IsValid() {
			return nil
		}
	}
	dec, err := strictjson.Decoder(object, stateDepth)
	if err != nil {
		return err
	}
	if err := strictjson.Object(dec, new(int), func(string) (bool, error) { return false, nil }); err != nil {
		if f := strictjson.AsFault(err); f != nil {
			return f
		}
		return err
	}
	return strictjson.End(dec)
}

func (s *State) putLocked(m member) {
	s.version++
	s.raw = nil
	for i := range s.members {
		if s.members[i].name == m.name {
			s.members[i] = m
			return
		}
	}
	s.members = append(s.members, m)
}

// parse looks inside the bucket's bytes once they are needed. They were checked when they came, and are not once more.
func (s *State) parse() {
	if s.parsed {
		return
	}
	s.parsed = true
	for name, raw := range strictjson.Split(s.raw) {
		if len(raw) < len(s.raw)/2 {
			raw = raw.Clone() // a small member does not keep a large bucket's bytes alive
		}
		s.members = append(s.members, member{name: name, raw: raw})
	}
}

func (s *State) appendLocked(b []byte) ([]byte, error) {
	if s.raw != nil {
		return append(b, s.raw...), nil
	}
	b = append(b, '{')
	for i, m := range s.members {
		if i > 0 {
			b = append(b, ',')
		}
		var err error
		if b, err = jsontext.AppendQuote(b, m.name); err != nil {
			return b, err
		}
		b = append(b, ':')
		if m.live == nil {
			b = append(b, m.raw...)
			continue
		}
		if b, err = m.live.appendJSON(b); err != nil {
			return b, fmt.Errorf("%s/%w", m.name, err)
		}
	}
	return append(b, '}'), nil
}
