package conformance_test

import (
	"slices"
	"testing"

	"github.com/weft-run/weft/conformance"
)

// What a plugin could not do is found by looking at the file, and then nothing is played. Natively nothing is missing.
func TestMissing(t *testing.T) {
	const file = "scenarios/provider-order-two-turns.json"
	middleware := list{obj{"kind": "script", "name": "m", "layer": "chat", "process": list{obj{"op": "call_next"}}}}
	tools := list{obj{"name": "t", "returns": "t-ok"}}
	for _, c := range []struct {
		name  string
		edits []edit
		wasm  []string
	}{
		{"nothing", nil, nil},
		{"middleware", []edit{{"/agent/middleware", middleware}, {"/turns/1/middleware", middleware}}, nil},
		{
			"wrapping provider",
			[]edit{{"/agent/providers/3", obj{"kind": "script", "source_id": "w", "process": list{
				obj{"op": "extend_messages", "messages": list{}}, obj{"op": "extend_tools", "tools": tools}, obj{"op": "state_incr", "key": "n"},
			}}}},
			nil,
		},
		{
			"tools and middleware of a provider",
			[]edit{
				{"/agent/providers/1/before_run/0", obj{"op": "extend_tools", "tools": tools}},
				{"/agent/providers/2/before_run/0", obj{"op": "extend_middleware", "middleware": middleware}},
			},
			nil,
		},
		{
			"effects that a hook of a plugin does not have",
			[]edit{
				{"/agent/providers/1/after_run/0", obj{"op": "extend_messages", "messages": list{}}},
				{"/agent/providers/1/session_created", list{obj{"op": "metadata_set", "key": "k", "value": 1}, obj{"op": "state_incr", "key": "n"}}},
				{"/agent/providers/1/run_failed", list{obj{"op": "metadata_set", "key": "k", "value": 1}}},
			},
			[]string{"metadata_set in session_created of a plugin", "extend_messages in after_run of a plugin"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, err := conformance.Parse("edited.json", edited(t, file, c.edits...))
			if err != nil {
				t.Fatal(err)
			}
			if have := s.Missing(false); have != nil {
				t.Errorf("natively %q is missing", have)
			}
			if have := s.Missing(true); !slices.Equal(have, c.wasm) {
				t.Errorf("for plugins %q is missing, wanted %q", have, c.wasm)
			}
			if r := conformance.Play(t.Context(), s, conformance.Options{}); r.Status == conformance.Unsupported {
				t.Errorf("natively its status is %s", r.Status)
			}
			if c.wasm == nil {
				return
			}
			if r := conformance.Play(t.Context(), s, conformance.Options{Wasm: true}); r.Status != conformance.Unsupported || !slices.Equal(r.Missing, c.wasm) {
				t.Errorf("its status is %s, and %q is missing", r.Status, r.Missing)
			}
		})
	}
}
