package wasm

import "github.com/weft-run/weft/abi"

// State says what a plugin is doing.
type State string

// The states of a plugin.
const (
	// StateReady is a plugin that serves.
	StateReady State = "ready"
	// StateResting is one whose last calls failed: its hooks fail at once for a while, then one is called, to see.
	StateResting State = "resting"
	// StateStale is one whose file changed into something that cannot be used; an older version serves.
	StateStale State = "stale"
)

// Status is what an operator wants to know of a plugin.
type Status struct {
	SourceID string
	File     string
	Layer    abi.Layer
	Hooks    []abi.Hook
	Identity
	StateVersion int
	State        State
	// Replaced counts older versions that runs under way are still served by.
	Replaced int
	// Last is the last reload; nil before there was one.
	Last *Reloaded
}

// Status is the plugin's at this moment.
func (p *Plugin) Status() Status {
	v := p.current.Load()
	p.mu.Lock()
	defer p.mu.Unlock()
	s := Status{
		SourceID: p.sourceID, File: p.config.Path, Layer: v.layer, Hooks: v.hooks, Identity: v.identity(),
		StateVersion: v.description.StateVersion, State: StateReady, Last: p.last,
	}
	for _, old := range p.old {
		if !old.unused() {
			s.Replaced++
		}
	}
	switch {
	case v.module.Stats().Resting:
		s.State = StateResting
	case p.last != nil && p.last.Err != nil:
		s.State = StateStale
	}
	return s
}
