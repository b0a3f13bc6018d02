package pdk

import "github.com/weft-run/weft/pdk/go/json"

// MigrateState is the body of the export migrate_state, which the host calls where the state was written by a version of
// the plugin with another [Description.StateVersion], before the first hook that sees it. The state that is set takes the
// old one's place; to set none is a failure.
func MigrateState(hook func(m *Migration, out *StateOut) error) int32 {
	out := &StateOut{}
	return call(func(in *In) error {
		return hook(&Migration{Base: in.Base, State: in.State, From: in.rest.number("from"), To: in.rest.number("to")}, out)
	}, out)
}

// Migration is what migrate_state is told.
type Migration struct {
	Base
	// State is the state as the other version wrote it, an object.
	State json.Raw
	// From is the version that wrote it, and To this plugin's.
	From, To int
}

// ReadState reads the state into v. The error has [CodeInvalidInput] and names the member.
func (m *Migration) ReadState(v json.Readable) error { return readOwn("state", m.State, v) }
