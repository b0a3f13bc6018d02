package pdk

import (
	"slices"

	"github.com/weft-run/weft/pdk/go/json"
)

// StateOut is what session_created may return, and a part of what the other hooks may.
type StateOut struct {
	state json.Raw
}

// SetState replaces the plugin's state of this session; it must be a JSON object. The next hook of the session finds it
// as [In.State]. It is kept even if the hook fails.
func (out *StateOut) SetState(state json.Raw) { out.state = state }

// WriteState replaces the plugin's state with what v writes, which must be a JSON object.
func (out *StateOut) WriteState(v json.Writable) { out.state = json.Marshal(v) }

// RunOut is what after_run and run_failed may return.
type RunOut struct {
	StateOut
	metadata []member
}

// SetMetadata sets one member of what the plugins of this run share. Right: add "metadata".
func (out *RunOut) SetMetadata(name string, value json.Raw) {
	for i := range out.metadata {
		if out.metadata[i].name == name {
			out.metadata[i].value = value
			return
		}
	}
	if out.metadata == nil {
		out.metadata = make([]member, 0, 4)
	}
	out.metadata = append(out.metadata, member{name: name, value: value})
}

// member is a name and its value.
type member struct {
	name  string
	value json.Raw
}

// ContextOut is what before_run may return.
type ContextOut struct {
	RunOut
	messages     []Message
	instructions []string
}

// ExtendMessages adds messages to the run's context, behind those that were added before. The host marks them with the
// plugin's source id. Roles other than user need a right.
func (out *ContextOut) ExtendMessages(messages ...Message) {
	out.messages = append(out.messages, messages...)
}

// ExtendInstructions adds to the run's instructions.
func (out *ContextOut) ExtendInstructions(instructions ...string) {
	out.instructions = append(out.instructions, instructions...)
}

// effects are what a hook leaves to be written.
type effects interface {
	write(w *json.Writer)
	// writeState writes what is kept of a hook that failed.
	writeState(w *json.Writer)
}

var _, _, _ effects = (*StateOut)(nil), (*RunOut)(nil), (*ContextOut)(nil)

func (out *StateOut) writeState(w *json.Writer) {
	if out.state != "" {
		w.Name("state").Raw(out.state)
	}
}

func (out *StateOut) write(w *json.Writer) { out.writeState(w) }

func (out *RunOut) write(w *json.Writer) {
	out.StateOut.write(w)
	if len(out.metadata) == 0 {
		return
	}
	w.Name("metadata").Object(func() {
		for _, m := range out.metadata {
			w.Name(m.name).Raw(m.value)
		}
	})
}

func (out *ContextOut) write(w *json.Writer) {
	if len(out.messages) > 0 {
		w.Name("extend_messages").Array(func() {
			for i := range out.messages {
				w.Value(&out.messages[i])
			}
		})
	}
	if len(out.instructions) > 0 {
		w.Name("extend_instructions").Strings(out.instructions)
	}
	out.RunOut.write(w)
}

// noEffects is what init returns, and what is left of a hook that panicked.
type noEffects struct{}

func (noEffects) write(*json.Writer)      {}
func (noEffects) writeState(*json.Writer) {}

// sortedNames are the names of m in a fixed order, so that the same values give the same bytes.
func sortedNames(m map[string]json.Raw) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
