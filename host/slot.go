package host

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
)

// slot is a provider as the pipeline uses it: what it implements was found out once.
type slot struct {
	provider   Provider
	sourceID   string
	sourceType string
	policy     ErrorPolicy
	untrusted  bool // nobody vouches for its texts

	before  BeforeRunHook
	after   AfterRunHook
	failed  RunFailedHook
	created SessionCreatedHook
	wrap    WrappingProvider
	// independent is the provider's before_run in place of before.
	independent IndependentProvider
	history     *HistoryProvider

	// A slot may stand for the provider that each run gets in its place (resolve.go).
	factory   *perSession
	versioned VersionedProvider
	current   atomic.Pointer[slot] // what the version that was used last implements

	beforeIteration BeforeIterationHook
	beforeTools     BeforeToolsHook
	beforeFunction  BeforeFunctionHook
	afterFunction   AfterFunctionHook
	afterIteration  AfterIterationHook
}

// listens reports whether the provider has a hook of the loop.
func (s *slot) listens() bool {
	return s.beforeIteration != nil || s.beforeTools != nil || s.beforeFunction != nil || s.afterFunction != nil || s.afterIteration != nil
}

// hasBefore reports whether the provider has a before_run.
func (s *slot) hasBefore() bool { return s.before != nil || s.independent != nil }

// reservedPrefix begins the names of state that is the host's own and no provider's.
const reservedPrefix = "weft."

// newSlot checks a provider and finds out what it implements.
func newSlot(p Provider) (*slot, error) {
	if p == nil {
		return nil, fmt.Errorf("a provider is nil")
	}
	s := &slot{provider: p, sourceID: p.SourceID(), policy: OnErrorFail}
	if s.sourceID == "" {
		return nil, fmt.Errorf("provider %T has an empty source_id: give it a name, unique in the agent", p)
	}
	if strings.HasPrefix(s.sourceID, reservedPrefix) {
		return nil, fmt.Errorf("provider %T has the source_id %q, and names that begin with %q are the host's own: give it another",
			p, s.sourceID, reservedPrefix)
	}
	s.sourceType = typeOf(p)
	if s.versioned, _ = p.(VersionedProvider); s.versioned != nil {
		return s, s.check()
	}
	s.untrusted = untrusted(p)
	s.before, _ = p.(BeforeRunHook)
	s.after, _ = p.(AfterRunHook)
	s.failed, _ = p.(RunFailedHook)
	s.created, _ = p.(SessionCreatedHook)
	s.wrap, _ = p.(WrappingProvider)
	if p, ok := p.(IndependentProvider); ok && p.Independent() {
		s.before, s.independent = nil, p
	}
	s.beforeIteration, _ = p.(BeforeIterationHook)
	s.beforeTools, _ = p.(BeforeToolsHook)
	s.beforeFunction, _ = p.(BeforeFunctionHook)
	s.afterFunction, _ = p.(AfterFunctionHook)
	s.afterIteration, _ = p.(AfterIterationHook)
	s.factory, _ = p.(*perSession)
	s.history, _ = p.(*HistoryProvider)
	if set, ok := p.(HookSet); ok {
		s.keepOnly(set.Hooks())
	}
	if s.wrap != nil && (s.hasBefore() || s.after != nil) {
		return nil, fmt.Errorf("provider %q has Process beside BeforeRun or AfterRun: it either wraps the rest or has hooks", s.sourceID)
	}
	if s.wrap == nil && !s.hasBefore() && s.after == nil && s.failed == nil && s.created == nil && s.factory == nil && !s.listens() {
		return nil, fmt.Errorf("provider %q (%T) implements no hook: it needs BeforeRun, AfterRun, RunFailed, SessionCreated, Process or a hook of the loop",
			s.sourceID, p)
	}
	if o, ok := p.(ErrorPolicyOf); ok {
		s.policy = o.ErrorPolicy()
	}
	return s, s.check()
}

// check asks a provider whose settings can be wrong.
func (s *slot) check() error {
	if checked, ok := s.provider.(Checker); ok {
		if err := checked.Check(); err != nil {
			return fmt.Errorf("provider %q: %w", s.sourceID, err)
		}
	}
	return nil
}

// keepOnly forgets the hooks that are not named.
func (s *slot) keepOnly(names []string) {
	drop := func(name string, forget func()) {
		if !slices.Contains(names, name) {
			forget()
		}
	}
	drop("before_run", func() { s.before, s.independent = nil, nil })
	drop("after_run", func() { s.after = nil })
	drop("run_failed", func() { s.failed = nil })
	drop("session_created", func() { s.created = nil })
	drop("process", func() { s.wrap = nil })
	drop("before_iteration", func() { s.beforeIteration = nil })
	drop("before_tools", func() { s.beforeTools = nil })
	drop("before_function", func() { s.beforeFunction = nil })
	drop("after_function", func() { s.afterFunction = nil })
	drop("after_iteration", func() { s.afterIteration = nil })
}

// newSlots checks a list of providers; taken are slots whose source ids are in use already.
func newSlots(providers []Provider, taken []*slot) ([]*slot, []error) {
	slots := make([]*slot, 0, len(providers))
	var faults []error
	for i, p := range providers {
		s, err := newSlot(p)
		if err != nil {
			faults = append(faults, fmt.Errorf("providers/%d: %w", i, err))
			continue
		}
		if other := findSlot(taken, s.sourceID); other != nil {
			faults = append(faults, duplicateSource(i, s, other))
		} else if other := findSlot(slots, s.sourceID); other != nil {
			faults = append(faults, duplicateSource(i, s, other))
		}
		slots = append(slots, s)
	}
	return slots, faults
}

func duplicateSource(i int, s, other *slot) error {
	return fmt.Errorf("providers/%d: duplicate source_id %q (%s, and %s before it): give one of them another",
		i, s.sourceID, s.sourceType, other.sourceType)
}

// findSlot is the slot of a source id, or nil.
func findSlot(slots []*slot, sourceID string) *slot {
	for _, s := range slots {
		if s.sourceID == sourceID {
			return s
		}
	}
	return nil
}
