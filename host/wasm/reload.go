package wasm

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/weft-run/weft/abi"
	"github.com/weft-run/weft/host/wasm/engine"
)

// Reload reads the plugin's file anew, and has what is there take over. The new version is read once, checked, compiled,
// started and initialised aside, with the config and the rights of the plugin; runs that begin afterwards are served by it,
// runs under way end on the version that they began with. It reports whether anything changed: a file with the same bytes
// changes nothing. Where the new version cannot be used, the error says why, and the one in use stays.
//
// Reloads of one plugin follow each other. [Config.OnReload] is told of each that changed something or failed.
func (p *Plugin) Reload(ctx context.Context) (changed bool, err error) {
	p.reloading.Lock()
	defer p.reloading.Unlock()
	c := p.configuration()
	if c.Path == "" {
		return false, fmt.Errorf("plugin %s came as bytes: give Replace the new ones", p.sourceID)
	}
	module, err := readModule(c.Path, c.Limits.Module)
	if err != nil {
		return false, p.refuse(ctx, &LoadError{Plugin: c.Path, Faults: []Fault{{What: err.Error()}}}, "")
	}
	return p.takeOver(ctx, c, module, false)
}

// Restart has the plugin's init run again, aside, and what it leaves take over: for folders that changed.
func (p *Plugin) Restart(ctx context.Context) error {
	p.reloading.Lock()
	defer p.reloading.Unlock()
	_, err := p.takeOver(ctx, p.configuration(), nil, true)
	return err
}

// Replace is Reload with another configuration, and where Module is set with other bytes. Where the plugin stands, and its
// source id, cannot change.
func (p *Plugin) Replace(ctx context.Context, c Config) error {
	p.reloading.Lock()
	defer p.reloading.Unlock()
	_, err := p.takeOver(ctx, c, c.Module, true)
	return err
}

// takeOver loads a version aside and puts it in the place of the current one. Without bytes they are those of the file, or
// for a plugin that came as bytes the ones in use. The caller holds reloading.
func (p *Plugin) takeOver(ctx context.Context, c Config, module []byte, always bool) (bool, error) {
	old := p.current.Load()
	if module == nil {
		module = p.bytes
	}
	if module == nil {
		var err error
		if module, err = readModule(c.Path, c.Limits.Module); err != nil {
			return false, p.refuse(ctx, &LoadError{Plugin: c.Path, Faults: []Fault{{What: err.Error()}}}, "")
		}
	}
	sum := sha256.Sum256(module)
	digest := hex.EncodeToString(sum[:])
	if digest == old.digest && !always {
		p.failed = ""
		return false, nil
	}
	c.Module = module
	old.keepOwnStore(&c)
	l := &loader{config: c, name: pluginName(c), told: p.told, inUse: old}
	v, err := l.version(ctx, p.engine)
	if err == nil {
		if faults := old.successor(v); faults != nil {
			err = errors.Join(&LoadError{Plugin: l.name, Faults: faults}, v.close(context.WithoutCancel(ctx)))
		}
	}
	if err != nil {
		return false, p.refuse(ctx, err, digest)
	}
	v.turns = old.turns // runs of a session may be of both
	if !p.install(v, l.config, module) {
		return false, errors.Join(fmt.Errorf("plugin %s: %w", p.sourceID, engine.ErrClosed), v.close(context.WithoutCancel(ctx)))
	}
	p.failed = ""
	p.tell(ctx, Reloaded{SourceID: p.sourceID, File: c.Path, From: old.identity(), To: v.identity()})
	return true, nil
}

// install makes a version the current one, unless the plugin is closed.
func (p *Plugin) install(v *version, c Config, module []byte) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return false
	}
	old := p.current.Swap(v)
	if p.bytes != nil {
		p.bytes = bytes.Clone(module)
	}
	c.Module = nil
	p.config = c
	p.old = append(slices.DeleteFunc(p.old, (*version).unused), old)
	old.retire()
	return true
}

// successor reports why a version cannot take this one's place, beyond what it would not load for.
func (v *version) successor(next *version) []Fault {
	var faults []Fault
	if next.sourceID != v.sourceID {
		faults = append(faults, Fault{
			What:   fmt.Sprintf("the new version calls itself %s, and state and storage are kept under %s", next.sourceID, v.sourceID),
			Remedy: "set source_id: " + v.sourceID,
		})
	}
	if next.layer != v.layer {
		faults = append(faults, Fault{
			What:   fmt.Sprintf("the new version stands at %s, and the one in use at %s", next.layer, v.layer),
			Remedy: "set layer, or restart the host",
		})
	}
	if v.wraps() != next.wraps() {
		faults = append(faults, Fault{
			What:   "one of the versions wraps the rest of the run, and the other has hooks",
			Remedy: "restart the host, which then loads the new one as what it is",
		})
	}
	for _, h := range v.hooks {
		if !next.exports(h) {
			faults = append(faults, Fault{
				What:   fmt.Sprintf("the new version does not export %s any more, which the one in use is called by", h),
				Remedy: "export it, if only to return {}, or restart the host",
			})
		}
	}
	if have, want := next.description.StateVersion, v.description.StateVersion; have < want && !next.can(abi.HookMigrateState) {
		faults = append(faults, Fault{
			What:   fmt.Sprintf("the new version has state_version %d, and the one in use %d", have, want),
			Remedy: "export migrate_state, or use a newer version of the plugin",
		})
	}
	return faults
}

// refuse keeps the version in use, and says so once for the same reason.
func (p *Plugin) refuse(ctx context.Context, err error, digest string) error {
	if ctx.Err() != nil {
		return err
	}
	if reason := digest + "\n" + err.Error(); reason != p.failed {
		p.failed = reason
		p.tell(ctx, Reloaded{SourceID: p.sourceID, File: p.config.Path, From: p.current.Load().identity(), To: Identity{Digest: digest}, Err: err})
	}
	return err
}

// tell tells of a reload.
func (p *Plugin) tell(ctx context.Context, r Reloaded) {
	log := p.config.Logger
	if r.Err != nil {
		log.ErrorContext(ctx, "a plugin's new version cannot be used; the one in use stays", "plugin", r.SourceID, "file", r.File, "digest", short(r.To.Digest), "error", r.Err)
	} else {
		log.InfoContext(ctx, "a plugin's new version took over", "plugin", r.SourceID, "file", r.File, "from", r.From.String(), "to", r.To.String())
	}
	p.mu.Lock()
	p.last = &r
	p.mu.Unlock()
	if p.config.OnReload != nil {
		p.config.OnReload(r)
	}
}

// Reloaded says what became of a reload.
type Reloaded struct {
	SourceID, File string
	// From is the version that was in use, To the new one; of one that could not be used only the digest is known.
	From, To Identity
	// Err says why the new version could not be used; then From stays in use.
	Err error
}

// Identity names a version of a plugin.
type Identity struct {
	// Version is what the plugin describes; it may be empty.
	Version string
	// Digest is the SHA-256 of the module, in hex.
	Digest string
}

// String is the version, if there is one, and the beginning of the digest.
func (i Identity) String() string { return strings.TrimSpace(i.Version + " " + short(i.Digest)) }

func short(digest string) string { return digest[:min(len(digest), 12)] }

func (v *version) identity() Identity {
	return Identity{Version: v.description.Version, Digest: v.digest}
}

// unused reports whether no run is served by the version, nor will be.
func (v *version) unused() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.dying && v.users == 0
}
