package host

import (
	"context"
	"fmt"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"

	"github.com/weft-run/weft/internal/strictjson"
)

// Session is the data of one conversation: ids, and each provider's state. It belongs to no agent: any agent can go on
// with it, and state of providers that this agent lacks is kept untouched.
//
// A Session may be used by many goroutines.
type Session struct {
	id        string
	forOneRun bool

	mu        sync.Mutex
	serviceID string
	buckets   map[string]*State
	order     []string
	made      map[*perSession]Provider

	pinning sync.Mutex
	pins    map[any]any // what is known of the session, by [pinKey]

	resuming map[string]bool // batches whose calls run just now

	creating chan struct{} // holds one while session_created runs
	created  bool
}

// NewSession returns an empty session; an empty id stands for a new UUID.
func NewSession(id string) *Session {
	if id == "" {
		id = uuid.NewString()
	}
	return &Session{id: id, buckets: map[string]*State{}, creating: make(chan struct{}, 1)}
}

// ID is the session's id. It never changes.
func (s *Session) ID() string { return s.id }

// ForOneRun reports whether the session was made for one run alone, whose caller gave none: nobody will find again what is
// kept under its id.
func (s *Session) ForOneRun() bool { return s.forOneRun }

// ServiceSessionID is the id under which a service keeps the history; empty where none does. It is written after each
// model call that returns a conversation id.
func (s *Session) ServiceSessionID() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.serviceID
}

// SetServiceSessionID binds the session to a service's conversation.
func (s *Session) SetServiceSessionID(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.serviceID = id
}

// State is the bucket of one source, made empty at first use. Inside a hook [SessionContext.State] gives the
// provider's own.
func (s *Session) State(sourceID string) *State {
	s.mu.Lock()
	defer s.mu.Unlock()
	if b := s.buckets[sourceID]; b != nil {
		return b
	}
	b := &State{}
	s.buckets[sourceID] = b
	s.order = append(s.order, sourceID)
	return b
}

// existing is the bucket of a source, or one that is not the session's yet.
func (s *Session) existing(sourceID string) *State {
	s.mu.Lock()
	defer s.mu.Unlock()
	if b := s.buckets[sourceID]; b != nil {
		return b
	}
	return &State{}
}

// adopt makes a bucket that of a source, which is its turn to have one, unless there is one by now.
func (s *Session) adopt(sourceID string, b *State) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.buckets[sourceID] == nil {
		s.buckets[sourceID] = b
		s.order = append(s.order, sourceID)
	}
}

// Lookup is the bucket of one source; nil where it has none yet. It makes none.
func (s *Session) Lookup(sourceID string) *State {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buckets[sourceID]
}

// Sources are the source ids that have a bucket, in the order of their first use.
func (s *Session) Sources() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.order...)
}

// MarshalJSON is the session's one form: type, ids and state.
func (s *Session) MarshalJSON() ([]byte, error) {
	s.mu.Lock()
	serviceID, order := s.serviceID, append([]string(nil), s.order...)
	buckets := make([]*State, len(order))
	for i, source := range order {
		buckets[i] = s.buckets[source]
	}
	s.mu.Unlock()

	b, err := jsontext.AppendQuote([]byte(`{"type":"session","session_id":`), s.id)
	if err != nil {
		return nil, fmt.Errorf("session_id: %w", err)
	}
	b = append(b, `,"service_session_id":`...)
	if serviceID == "" {
		b = append(b, "null"...)
	} else if b, err = jsontext.AppendQuote(b, serviceID); err != nil {
		return nil, fmt.Errorf("service_session_id: %w", err)
	}
	b = append(b, `,"state":{`...)
	for i, source := range order {
		if i > 0 {
			b = append(b, ',')
		}
		if b, err = jsontext.AppendQuote(b, source); err != nil {
			return nil, fmt.Errorf("state: %w", err)
		}
		b = append(b, ':')
		bucket := buckets[i]
		bucket.mu.Lock()
		b, err = bucket.appendLocked(b)
		bucket.mu.Unlock()
		if err != nil {
			return nil, fmt.Errorf("state/%s/%w", source, err)
		}
	}
	return append(b, "}}"...), nil
}

// sessionFormat is the newest form of a session that this version reads. A file says its form in "format"; the first
// form has no such member.
const sessionFormat = 1

// RestoreSession reads what [Session.MarshalJSON] wrote. State is kept byte for byte. It fails, and says where, for
// anything that is not a session, and for one that a newer version wrote.
func RestoreSession(data []byte) (*Session, error) {
	s := NewSession("restored") // the id is replaced below; none is made up
	s.created = true
	var kind string
	var hasID bool
	format, unknown := 1, []string(nil)
	dec, err := strictjson.Decoder(data, stateDepth)
	if err != nil {
		return nil, fmt.Errorf("not a session: %w", err)
	}
	err = strictjson.Object(dec, new(int), func(name string) (bool, error) {
		var err error
		switch name {
		case "type":
			kind, err = strictjson.String(dec)
		case "format":
			format, err = strictjson.Int(dec)
		case "session_id":
			hasID = true
			s.id, err = strictjson.String(dec)
		case "service_session_id":
			if dec.PeekKind() == 'n' {
				return true, dec.SkipValue()
			}
			s.serviceID, err = strictjson.String(dec)
		case "state":
			err = strictjson.Object(dec, new(int), func(source string) (bool, error) {
				raw, err := strictjson.RawObject(dec)
				s.State(source).raw = raw
				return true, err
			})
		default:
			unknown = append(unknown, name)
			return false, nil
		}
		return true, err
	})
	if err == nil {
		err = strictjson.End(dec)
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("not a session: %w", strictjson.AsFault(err))
	case kind != "session":
		return nil, fmt.Errorf(`not a session: "type" must be "session", not %q`, kind)
	case format > sessionFormat:
		return nil, fmt.Errorf("the session was written by a newer version (format %d; this one reads up to %d): use that version, or start a new session",
			format, sessionFormat)
	case len(unknown) > 0:
		return nil, fmt.Errorf("the session has members that this version does not know and would lose: %q; was it written by a newer one?", unknown)
	case !hasID || s.id == "":
		return nil, fmt.Errorf(`not a session: "session_id" is missing`)
	}
	return s, nil
}

// claim reserves a batch for one run, and reports whether it was free.
func (s *Session) claim(batch string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.resuming[batch] {
		return false
	}
	if s.resuming == nil {
		s.resuming = map[string]bool{}
	}
	s.resuming[batch] = true
	return true
}

func (s *Session) release(batches []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, b := range batches {
		delete(s.resuming, b)
	}
}

// provider returns what a factory made for this session, making it first where needed.
func (s *Session) provider(ctx context.Context, f *perSession) (Provider, error) {
	s.mu.Lock()
	p := s.made[f]
	s.mu.Unlock()
	if p != nil {
		return p, nil
	}
	p, err := f.make(ctx, s)
	if err != nil {
		return nil, fmt.Errorf("make provider %q for session %s: %w", f.named, s.id, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if other := s.made[f]; other != nil {
		return other, nil // another run of the session was first
	}
	if s.made == nil {
		s.made = map[*perSession]Provider{}
	}
	s.made[f] = p
	return p, nil
}
