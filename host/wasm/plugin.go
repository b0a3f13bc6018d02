package wasm

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/weft-run/weft/abi"
	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/wasm/engine"
)

// Plugin is a plugin of an agent: a provider in its list of providers, or, by [Plugin.ForLayer], middleware. Which version
// of the file it is may change while it is used ([Plugin.Reload]); all calls of one run are of one version. It is safe for
// use by many goroutines and may serve several agents. Close it when no agent uses it any more.
type Plugin struct {
	engine   *engine.Engine
	sourceID string
	layer    abi.Layer
	told     func(resting bool)

	current atomic.Pointer[version]

	reloading sync.Mutex // one reload at a time
	bytes     []byte     // of a plugin that came as bytes; guarded by reloading
	failed    string     // why the last reload failed, so that it is told once; guarded by reloading

	mu     sync.Mutex
	config Config // with defaults
	closed bool
	old    []*version // replaced, and still used by runs
	last   *Reloaded
}

var (
	_ host.VersionedProvider = (*Plugin)(nil)
	_ host.ErrorPolicyOf     = (*Plugin)(nil)
	_ host.SourceTypeOf      = (*Plugin)(nil)
)

// SourceID is the configured one, else what the plugin describes, else the file's name.
func (p *Plugin) SourceID() string { return p.sourceID }

// SourceType is "plugin:" and the plugin's name.
func (p *Plugin) SourceType() string { return p.current.Load().SourceType() }

// ErrorPolicy is the configured one.
func (p *Plugin) ErrorPolicy() host.ErrorPolicy { return p.current.Load().policy }

// Current is the version that serves the run of ctx, as a provider.
func (p *Plugin) Current(ctx context.Context) (host.Provider, error) {
	return p.pinned(ctx).provider(), nil
}

// pinned is the version that serves the run of ctx: the newest when the run first asked.
func (p *Plugin) pinned(ctx context.Context) *version {
	return host.Pin(ctx, p, func() (*version, func()) {
		for {
			// A version that was replaced meanwhile may be closed: then there is a newer one.
			if v := p.current.Load(); v.acquire() {
				return v, v.release
			}
		}
	})
}

// Description is what the plugin says of itself; empty where it does not export describe.
func (p *Plugin) Description() abi.Description { return p.current.Load().description }

// Grants are the rights in force, defaults included.
func (p *Plugin) Grants() abi.Grants { return p.current.Load().grants }

// File is the path that the plugin is loaded from; empty for one that came as bytes.
func (p *Plugin) File() string { return p.configuration().Path }

// Hooks are the hooks of the plugin that are called where it stands.
func (p *Plugin) Hooks() []abi.Hook { return slices.Clone(p.current.Load().hooks) }

// Info is what the engine knows of the module.
func (p *Plugin) Info() *engine.Info { return p.current.Load().module.Info() }

// Stats counts the plugin's instances.
func (p *Plugin) Stats() engine.Stats { return p.current.Load().module.Stats() }

// UnknownMembers counts the members of the plugin's output that the host did not know and passed over.
func (p *Plugin) UnknownMembers() int64 { return p.current.Load().unknown.Load() }

// InvisibleCharacters counts the characters that were taken out of what the plugin added because nobody would see them
// (clause OUT-11).
func (p *Plugin) InvisibleCharacters() int64 { return p.current.Load().removed.Load() }

// Close frees the plugin. It waits for calls under way, or for ctx.
func (p *Plugin) Close(ctx context.Context) error {
	p.mu.Lock()
	p.closed = true
	versions := append(p.old, p.current.Load())
	p.old = nil
	p.mu.Unlock()
	var all []error
	for _, v := range versions {
		all = append(all, v.close(ctx))
	}
	return errors.Join(all...)
}

// configuration is the plugin's, with defaults.
func (p *Plugin) configuration() Config {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.config
}

// rests tells that the plugin is rested, or not any more.
func (p *Plugin) rests(resting bool) {
	c := p.configuration()
	switch {
	case c.Logger == nil: // it is being loaded
		return
	case resting:
		c.Logger.Warn("a plugin is rested because its last calls failed", "plugin", p.sourceID, "faults", p.current.Load().module.Limits().Faults)
	default:
		c.Logger.Info("a plugin works again, and is not rested any more", "plugin", p.sourceID)
	}
	if c.OnRest != nil {
		c.OnRest(p.sourceID, resting)
	}
}
