package host

import (
	"context"
	"fmt"
	"reflect"
)

// VersionedProvider stands in an agent's list for a provider that may be replaced while the agent is in use, such as a
// plugin whose file changes: each run uses what Current returns for it, and its own hooks, if it has any, are not called.
//
// Current is called when a run begins, and again where agent middleware runs it again, with a context that [Pin] takes, so
// that a run sees one version. It must be quick and safe for many goroutines. Its error ends the run before any hook was
// called. The provider that it returns must have the same source id, and must be neither another VersionedProvider nor
// made by [PerSession]. What it implements is found out once for each value, if that is a pointer.
type VersionedProvider interface {
	Provider
	Current(ctx context.Context) (Provider, error)
}

// resolve puts the providers of this run in the place of those that stand for them: of factories, and of providers with
// versions.
func (r *run) resolve(ctx context.Context) error {
	copied := false
	for i, s := range r.slots {
		if s.factory == nil && s.versioned == nil {
			continue
		}
		var err error
		if s.factory != nil {
			s, err = r.fromFactory(ctx, s)
		}
		if err == nil && s.versioned != nil {
			s, err = r.fromVersions(ctx, s)
		}
		if err != nil {
			return err
		}
		if !copied {
			r.slots, copied = append([]*slot(nil), r.slots...), true
		}
		r.slots[i] = s
	}
	return nil
}

// fromFactory is the slot of the provider that was made for this session.
func (r *run) fromFactory(ctx context.Context, s *slot) (*slot, error) {
	var p Provider
	err := guard(r.out, func() (err error) {
		p, err = r.session.provider(ctx, s.factory)
		return err
	})
	if err != nil {
		return nil, err
	}
	made, err := newSlot(p)
	if err == nil && (made.sourceID != s.sourceID || made.factory != nil) {
		err = fmt.Errorf("the factory of provider %q made %T with source_id %q", s.sourceID, p, made.sourceID)
	}
	return made, err
}

// fromVersions is the slot of a provider's current version.
func (r *run) fromVersions(ctx context.Context, s *slot) (*slot, error) {
	var p Provider
	err := guard(r.out, func() (err error) {
		p, err = s.versioned.Current(ctx)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("provider %s: its current version: %w", s.sourceID, err)
	}
	if known := s.current.Load(); known != nil && known.provider == p {
		return known, nil
	}
	now, err := newSlot(p)
	switch {
	case err != nil:
		return nil, fmt.Errorf("provider %s: its current version: %w", s.sourceID, err)
	case now.sourceID != s.sourceID:
		return nil, fmt.Errorf("provider %s: its current version, %T, has the source_id %q: all versions must have the same", s.sourceID, p, now.sourceID)
	case now.versioned != nil || now.factory != nil:
		return nil, fmt.Errorf("provider %s: its current version is %T, which only stands for another provider: Current must return one with hooks", s.sourceID, p)
	}
	if reflect.TypeOf(p).Kind() == reflect.Pointer { // what can be compared with the next run's
		s.current.Store(now)
	}
	return now, nil
}
