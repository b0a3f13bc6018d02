package wasm

import (
	"context"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/weft-run/weft/abi"
	"github.com/weft-run/weft/host"
)

// versionsBucket holds, for each plugin that wrote state, the version that its bucket was written by: 0 for a plugin that has
// none. So it tells which buckets are plugins'.
const versionsBucket = "weft.state_versions"

// readState is the plugin's bucket in the form that this version of the plugin knows, and remembers that the plugin has
// seen it. A bucket of another version is migrated first (clause LIF-8); where another run of the session did that
// meanwhile, what it made of it is read.
func (c *call) readState(ctx context.Context, bucket *host.State) (jsontext.Value, error) {
	raw, from, err := c.look(bucket)
	to := c.version.description.StateVersion
	if err != nil || from == to {
		return raw, err
	}
	if !c.version.can(abi.HookMigrateState) {
		if from > to {
			return nil, fmt.Errorf("its state in this session was written by state_version %d, and this version of the plugin knows %d: "+
				"use the newer version of the plugin, or one that exports migrate_state", from, to)
		}
		return raw, nil
	}
	if c.turn == nil { // the bucket and its version are written one after the other, in a turn
		done, err := c.version.turns.take(ctx, bucket)
		if err != nil {
			return nil, err
		}
		defer done()
		if raw, from, err = c.look(bucket); err != nil || from == to {
			return raw, err
		}
	}
	migrated, err := c.migrate(ctx, bucket, raw, from)
	if err != nil {
		return nil, fmt.Errorf("migrate_state from %d to %d: %w", from, to, err)
	}
	return migrated, nil
}

// look is the bucket and the state_version that it was written by: for an empty one that of the plugin.
func (c *call) look(bucket *host.State) (raw jsontext.Value, from int, err error) {
	raw, c.state, err = bucket.Snapshot()
	if err != nil {
		return nil, 0, err
	}
	stateSizesOf(c.session).saw(c.version.sourceID, c.state, raw)
	if len(raw) <= len("{}") {
		return raw, c.version.description.StateVersion, nil
	}
	from, _, err = c.stateVersion()
	return raw, from, err
}

// migrate has the plugin bring its bucket into the form of its own version.
func (c *call) migrate(ctx context.Context, bucket *host.State, raw jsontext.Value, from int) (jsontext.Value, error) {
	v := c.version
	m := &call{version: v, hook: abi.HookMigrateState, session: c.session, state: c.state, turn: bucket, charged: c}
	in := &view{}
	in.head(abi.HookMigrateState)
	in.text("source_id", v.sourceID)
	in.raw("config", v.config)
	in.raw("state", raw)
	in.number("from", from)
	in.number("to", v.description.StateVersion)
	out, err := v.invoke(ctx, m, in)
	switch {
	case err != nil:
		return nil, err
	case out.Error != nil:
		return nil, v.failed(m, out.Error, "")
	case len(out.State) == 0:
		return nil, v.failed(m, &abi.OutputError{Reason: "migrate_state returned no state"}, "")
	}
	if err := v.checkState(out.State); err != nil {
		return nil, v.failed(m, err, "")
	}
	if err := m.replaceState(ctx, bucket, out.State); err != nil {
		return nil, v.failed(m, err, "")
	}
	c.state = m.state
	return out.State, nil
}

// stateVersion is the version that the plugin's bucket was written by, and whether that is said; 0 where it is not.
func (c *call) stateVersion() (n int, listed bool, err error) {
	versions := c.session.Lookup(versionsBucket)
	if versions == nil {
		return 0, false, nil
	}
	listed, err = versions.Get(c.version.sourceID, &n)
	return n, listed, err
}

// replaceState replaces the plugin's bucket, unless somebody else wrote to it since the plugin saw it, or the buckets of all
// plugins would be too large. A call that has not the bucket's turn waits for it: it must not write between what a hook reads
// and what that writes.
func (c *call) replaceState(ctx context.Context, bucket *host.State, state jsontext.Value) error {
	if len(state) == 0 {
		return nil
	}
	if c.turn == nil {
		done, err := c.version.turns.take(ctx, bucket)
		if err != nil {
			return err
		}
		defer done()
	}
	v := c.version
	if err := stateSizesOf(c.session).replace(v.sourceID, bucket, c.state, state, v.limits.SessionState); err != nil {
		return err
	}
	c.state++ // what it is after a write
	to := v.description.StateVersion
	if from, listed, err := c.stateVersion(); err != nil || listed && from == to {
		return err
	}
	return c.session.State(versionsBucket).Set(v.sourceID, to)
}

func (v *version) checkState(state jsontext.Value) error {
	if limit := v.limits.State; beyond(int64(len(state)), limit) {
		return &SizeError{Limit: "state", Value: limit, Seen: int64(len(state))}
	}
	return nil
}
