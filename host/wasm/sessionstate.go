package wasm

import (
	"errors"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/internal/strictjson"
)

// stateSizes are the sizes of the buckets of all plugins in one session, so that their sum can be limited without looking at
// them. The buckets of a session that was restored are counted from the first call of any plugin on: those in versionsBucket
// are plugins', whether they are called or not.
type stateSizes struct {
	mu      sync.Mutex
	buckets map[string]bucketSize
	total   int64
}

// bucketSize is the size of a bucket of some version, in bytes.
type bucketSize struct {
	version uint64
	size    int64
}

type stateSizesKey struct{}

// stateSizesOf are those of a session.
func stateSizesOf(s *host.Session) *stateSizes {
	return host.PinSession(s, stateSizesKey{}, func() *stateSizes {
		sizes := &stateSizes{buckets: map[string]bucketSize{}}
		versions := s.Lookup(versionsBucket)
		if versions == nil {
			return sizes
		}
		listed, err := versions.Raw()
		if err != nil {
			return sizes // it cannot be saved either
		}
		for name := range strictjson.Split(listed) {
			if bucket := s.Lookup(name); bucket != nil {
				if raw, version, err := bucket.Snapshot(); err == nil {
					sizes.put(name, version, raw)
				}
			}
		}
		return sizes
	})
}

// saw takes note of what a plugin finds in its bucket.
func (s *stateSizes) saw(sourceID string, version uint64, state jsontext.Value) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if have, known := s.buckets[sourceID]; !known || have.version < version { // another run may have seen a later one
		s.put(sourceID, version, state)
	}
}

// replace puts a state into the bucket of a plugin that saw a version of it, unless that is no more what stands there, or
// the bucket grows and all of them would then be larger than the limit.
func (s *stateSizes) replace(sourceID string, bucket *host.State, version uint64, state jsontext.Value, limit int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	have, size := s.buckets[sourceID].size, sizeOfState(state)
	if sum := s.total - have + size; size > have && beyond(sum, limit) && bucket.Version() == version {
		return &SizeError{Limit: "session_state", Value: limit, Seen: sum}
	}
	err := bucket.ReplaceIf(version, state)
	switch {
	case errors.Is(err, host.ErrConflict):
		return &ConflictError{}
	case err != nil:
		return err
	}
	s.put(sourceID, version+1, state) // what it is after a write
	return nil
}

func (s *stateSizes) put(sourceID string, version uint64, state jsontext.Value) {
	size := sizeOfState(state)
	s.total += size - s.buckets[sourceID].size
	s.buckets[sourceID] = bucketSize{version, size}
}

// sizeOfState is the size of a bucket. One that is empty has none: whether it is there depends on who looked.
func sizeOfState(state jsontext.Value) int64 {
	if len(state) <= len("{}") {
		return 0
	}
	return int64(len(state))
}
