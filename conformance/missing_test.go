package conformance_test

import (
	"slices"
	"testing"

	"github.com/weft-run/weft/conformance"
)

// What a file uses and this version does not have is found by looking at the file, for each way of playing.
func TestMissing(t *testing.T) {
	const file = "scenarios/provider-order-two-turns.json"
	middleware := list{obj{"kind": "script", "name": "m", "layer": "agent", "process": list{obj{"op": "call_next"}}}}
	calls := list{obj{"call_id": "1", "name": "t", "arguments": obj{}}}
	tools := list{obj{"name": "t", "returns": "t-ok"}}
	for _, c := range []struct {
		name         string
		edits        []edit
		native, wasm []string
	}{
		{"nothing", nil, nil, nil},
		{"agent middleware", []edit{{"/agent/middleware", middleware}}, nil, []string{"middleware as a plugin"}},
		{"no agent middleware", []edit{{"/agent/middleware", list{}}}, nil, nil},
		{"turn middleware", []edit{{"/turns/1/middleware", middleware}}, nil, []string{"middleware as a plugin"}},
		{"approve", []edit{{"/turns/1/input", removed{}}, {"/turns/1/approve", obj{"1": true}}}, nil, nil},
		{"calls of tools", []edit{{"/agent/tools", tools}, {"/model/replies/0/calls", calls}}, nil, nil},
		{"per_service_call_history", []edit{{"/agent/per_service_call_history", true}}, nil, nil},
		{"compaction", []edit{{"/agent/compaction", obj{"strategy": "sliding_window", "keep_last_groups": 1}}}, nil, nil},
		{"compaction provider", []edit{{"/agent/providers/3", obj{"kind": "compaction"}}}, nil, nil},
		{"skip_excluded", []edit{{"/agent/providers/0/skip_excluded", true}}, nil, nil},
		{
			"wrapping provider",
			[]edit{{"/agent/providers/3", obj{"kind": "script", "source_id": "w", "process": list{obj{"op": "extend_messages", "messages": list{}}}}}},
			nil,
			[]string{"wrapping provider as a plugin"},
		},
		{
			"provider tools",
			[]edit{{"/agent/providers/1/before_run/0", obj{"op": "extend_tools", "tools": tools}}},
			nil,
			[]string{"extend_tools in before_run of a plugin"},
		},
		{
			"provider middleware",
			[]edit{{"/agent/providers/1/before_run/0", obj{"op": "extend_middleware", "middleware": middleware}}},
			nil,
			[]string{"extend_middleware in before_run of a plugin"},
		},
		{
			"effects that a hook of a plugin does not have",
			[]edit{
				{"/agent/providers/1/after_run/0", obj{"op": "extend_messages", "messages": list{}}},
				{"/agent/providers/1/session_created", list{obj{"op": "metadata_set", "key": "k", "value": 1}, obj{"op": "state_incr", "key": "n"}}},
				{"/agent/providers/1/run_failed", list{obj{"op": "metadata_set", "key": "k", "value": 1}}},
			},
			nil,
			[]string{"metadata_set in session_created of a plugin", "extend_messages in after_run of a plugin"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, err := conformance.Parse("edited.json", edited(t, file, c.edits...))
			if err != nil {
				t.Fatal(err)
			}
			if have := s.Missing(false); !slices.Equal(have, c.native) {
				t.Errorf("natively %q is missing, wanted %q", have, c.native)
			}
			if have := s.Missing(true); !slices.Equal(have, c.wasm) {
				t.Errorf("for plugins %q is missing, wanted %q", have, c.wasm)
			}
			if r := conformance.Play(t.Context(), s, conformance.Options{}); (r.Status == conformance.Unsupported) != (c.native != nil) {
				t.Errorf("status is %s", r.Status)
			}
		})
	}
}
