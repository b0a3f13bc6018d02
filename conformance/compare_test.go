package conformance_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/weft-run/weft/conformance"
)

// edit changes one place of a scenario: it sets the value at a JSON pointer, or removes it.
type edit struct {
	at    string
	value any
}

// removed in place of a value removes it.
type removed struct{}

// edited is a scenario file with changes.
func edited(t testing.TB, file string, edits ...edit) []byte {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var root any
	if err := json.Unmarshal(data, &root); err != nil {
		t.Fatal(err)
	}
	for _, e := range edits {
		root = setAt(t, root, strings.Split(e.at, "/")[1:], e)
	}
	out, err := json.Marshal(root)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func setAt(t testing.TB, v any, path []string, e edit) any {
	t.Helper()
	if len(path) == 0 {
		return e.value
	}
	switch v := v.(type) {
	case map[string]any:
		if _, remove := e.value.(removed); remove && len(path) == 1 {
			delete(v, path[0])
			return v
		}
		v[path[0]] = setAt(t, v[path[0]], path[1:], e)
		return v
	case []any:
		i, err := strconv.Atoi(path[0])
		if err != nil || i > len(v) {
			t.Fatalf("%s: no element %q", e.at, path[0])
		}
		if _, remove := e.value.(removed); remove && len(path) == 1 {
			return slices.Delete(v, i, i+1)
		}
		if i == len(v) {
			v = append(v, nil)
		}
		v[i] = setAt(t, v[i], path[1:], e)
		return v
	}
	t.Fatalf("%s: nothing is there", e.at)
	return nil
}

func playEdited(t *testing.T, file string, edits ...edit) *conformance.Result {
	t.Helper()
	s, err := conformance.Parse(file, edited(t, file, edits...))
	if err != nil {
		t.Fatal(err)
	}
	return conformance.Play(t.Context(), s, conformance.Options{})
}

type (
	list = []any
	obj  = map[string]any
)

// Each kind of expectation must be able to fail, and the difference must name its place.
func TestBrokenExpectationsFail(t *testing.T) {
	const (
		order    = "scenarios/provider-order-two-turns.json"
		state    = "scenarios/provider-state-scoped.json"
		model    = "scenarios/error-in-model.json"
		late     = "scenarios/service-id-appears-later.json"
		never    = "scenarios/history-default-never.json"
		stream   = "scenarios/stream-text.json"
		left     = "scenarios/stream-stopped-early.json"
		loaders  = "scenarios/history-two-loaders.json"
		twice    = "scenarios/duplicate-source-id.json"
		calls    = "scenarios/loop-no-tools.json"
		tools    = "scenarios/tools-duplicate-name.json"
		usage    = "scenarios-extra/usage-streamed-and-not.json"
		options  = "scenarios-extra/options-merge-by-key.json"
		roles    = "scenarios-extra/context-roles.json"
		several  = "scenarios-extra/error-in-several-after-run.json"
		attempts = "scenarios/context-process-retry.json"
	)
	user := func(text string) obj { return obj{"role": "user", "text": text} }
	for _, c := range []struct {
		name  string
		file  string
		edits []edit
		path  string
	}{
		{"turn text", order, []edit{{"/turns/0/expect/text", "Ok"}}, "/turns/0/expect/text"},
		{"turn text_contains", order, []edit{{"/turns/1/expect/text_contains", "nope"}}, "/turns/1/expect/text_contains"},
		{"turn messages text", order, []edit{{"/turns/0/expect/messages/0/text", "other"}}, "/turns/0/expect/messages/0/text"},
		{"turn messages role", order, []edit{{"/turns/0/expect/messages/0/role", "user"}}, "/turns/0/expect/messages/0/role"},
		{"turn messages too many", order, []edit{{"/turns/0/expect/messages/1", user("x")}}, "/turns/0/expect/messages/1"},
		{"turn messages too few", order, []edit{{"/turns/0/expect/messages", list{}}}, "/turns/0/expect/messages/0"},
		{"turn messages absent text", order, []edit{{"/turns/0/expect/messages/0/text", removed{}}}, "/turns/0/expect/messages/0/text"},
		{"turn messages text_contains", order, []edit{
			{"/turns/0/expect/messages/0/text", removed{}},
			{"/turns/0/expect/messages/0/text_contains", "kk"},
		}, "/turns/0/expect/messages/0/text_contains"},
		{"turn messages calls", calls, []edit{{"/turns/0/expect/messages/0/calls/0/arguments", obj{"x": 1}}}, "/turns/0/expect/messages/0/calls"},
		{"turn messages call id", calls, []edit{{"/turns/0/expect/messages/0/calls/0/call_id", "2"}}, "/turns/0/expect/messages/0/calls"},
		{"turn messages absent calls", calls, []edit{{"/turns/0/expect/messages/0/calls", removed{}}}, "/turns/0/expect/messages/0/calls"},
		{"turn fails unexpectedly", model, []edit{{"/turns/0/expect", obj{}}}, "/turns/0/expect/error"},
		{"turn fails otherwise", model, []edit{{"/turns/0/expect/error", "model up"}}, "/turns/0/expect/error"},
		{"turn does not fail", order, []edit{{"/turns/0/expect/error", "boom"}}, "/turns/0/expect/error"},
		{"turn error and no response", model, []edit{{"/turns/0/expect/text", ""}}, "/turns/0/expect/text"},
		{"turn error and other response", several, []edit{{"/turns/0/expect/text", "nope"}}, "/turns/0/expect/text"},
		{"updates", stream, []edit{{"/turns/0/expect/updates/1/text", "L"}}, "/turns/0/expect/updates/1/text"},
		{"updates too few", stream, []edit{{"/turns/0/expect/updates/2", removed{}}}, "/turns/0/expect/updates/2"},
		{"updates of a run", order, []edit{{"/turns/0/expect/updates", list{user("x")}}}, "/turns/0/expect/updates/0"},
		{"updates after stop_after", left, []edit{{"/turns/0/stop_after", 1}}, "/turns/0/expect/updates/1"},
		{"no stop_after", left, []edit{{"/turns/0/stop_after", removed{}}}, "/turns/0/expect/updates/2"},
		{"usage", usage, []edit{{"/turns/1/expect/usage/input_tokens", 12}}, "/turns/1/expect/usage"},
		{"usage of none", order, []edit{{"/turns/0/expect/usage", obj{"input_tokens": 0, "output_tokens": 0}}}, "/turns/0/expect/usage"},
		{"requests_for_approval", order, []edit{{"/turns/0/expect/requests_for_approval", list{"1"}}}, "/turns/0/expect/requests_for_approval/0"},

		{"request message text", order, []edit{{"/expect/requests/1/messages/4/text", "hi3"}}, "/expect/requests/1/messages/4/text"},
		{"request message source", order, []edit{{"/expect/requests/1/messages/0/source", "a"}}, "/expect/requests/1/messages/0/source"},
		{"request message source of input", order, []edit{{"/expect/requests/0/messages/2/source", "in_memory"}}, "/expect/requests/0/messages/2/source"},
		{"request message order", order, []edit{
			{"/expect/requests/0/messages/0/text", "cb"},
			{"/expect/requests/0/messages/1/text", "ca"},
		}, "/expect/requests/0/messages/0/text"},
		{"request message missing", order, []edit{{"/expect/requests/0/messages/3", user("x")}}, "/expect/requests/0/messages/3"},
		{"request message more", order, []edit{{"/expect/requests/0/messages/2", removed{}}}, "/expect/requests/0/messages/2"},
		{"request messages null", order, []edit{{"/expect/requests/0/messages", nil}}, "/expect/requests/0/messages/0"},
		{"request message results", roles, []edit{{"/expect/requests/0/messages/2/results/0/result", "x"}}, "/expect/requests/0/messages/2/results"},
		{"request instructions", order, []edit{{"/expect/requests/0/instructions", "base"}}, "/expect/requests/0/instructions"},
		{"request instructions null", order, []edit{{"/expect/requests/0/instructions", nil}}, "/expect/requests/0/instructions"},
		{"request tools", order, []edit{{"/expect/requests/0/tools", list{"t"}}}, "/expect/requests/0/tools"},
		{"request tool_choice", order, []edit{{"/expect/requests/0/tool_choice", "none"}}, "/expect/requests/0/tool_choice"},
		{"request tool_choice null", options, []edit{{"/expect/requests/0/tool_choice", nil}}, "/expect/requests/0/tool_choice"},
		{"request conversation_id", late, []edit{{"/expect/requests/1/conversation_id", "c2"}}, "/expect/requests/1/conversation_id"},
		{"request conversation_id null", late, []edit{{"/expect/requests/1/conversation_id", nil}}, "/expect/requests/1/conversation_id"},
		{"request conversation_id not there", late, []edit{{"/expect/requests/0/conversation_id", "c1"}}, "/expect/requests/0/conversation_id"},
		{"request options as a whole", options, []edit{{"/expect/requests/0/options/user", removed{}}}, "/expect/requests/0/options"},
		{"request options value", options, []edit{{"/expect/requests/1/options/temperature", 2}}, "/expect/requests/1/options"},
		{"request options null", options, []edit{{"/expect/requests/1/options", nil}}, "/expect/requests/1/options"},
		{"requests too few", order, []edit{{"/expect/requests/2", obj{}}}, "/expect/requests/2"},
		{"requests too many", order, []edit{{"/expect/requests/1", removed{}}}, "/expect/requests/1"},
		{"call past the last reply", attempts, []edit{{"/model/replies/1", removed{}}}, "/turns/0/expect/error"},
		{"call past the last reply, caught", attempts, []edit{
			{"/model/replies", list{}},
			{"/turns/0/expect", obj{"error": "no reply"}},
			{"/expect", obj{}},
		}, "/model/replies"},

		{"log line", order, []edit{{"/expect/log/0", "Before a"}}, "/expect/log/0"},
		{"log too short", order, []edit{{"/expect/log/8", "more"}}, "/expect/log/8"},
		{"log too long", order, []edit{{"/expect/log/7", removed{}}}, "/expect/log/7"},
		{"log order", order, []edit{{"/expect/log/0", "before b"}, {"/expect/log/1", "before a"}}, "/expect/log/0"},
		{"log empty", order, []edit{{"/expect/log", list{}}}, "/expect/log/0"},
		{"state value", state, []edit{{"/expect/state/s1/a/n", 3}}, "/expect/state/s1/a"},
		{"state type", state, []edit{{"/expect/state/s1/a/n", "2"}}, "/expect/state/s1/a"},
		{"state as a whole", state, []edit{{"/expect/state/s1/a/who", removed{}}}, "/expect/state/s1/a"},
		{"state nothing", state, []edit{{"/expect/state/s1/b", obj{}}}, "/expect/state/s1/b"},
		{"state of a history", state, []edit{{"/expect/state/s1/in_memory/messages/0/text", "x"}}, "/expect/state/s1/in_memory/messages/0/text"},
		{"state of a history, excluded", state, []edit{{"/expect/state/s1/in_memory/messages/0/excluded", true}}, "/expect/state/s1/in_memory/messages/0/excluded"},
		{"state of a history, not excluded", "scenarios/compaction-after-run.json", []edit{{"/expect/state/s1/in_memory/messages/0/excluded", false}}, "/expect/state/s1/in_memory/messages/0/excluded"},
		{"state of a history, source", state, []edit{{"/expect/state/s1/in_memory/messages/0/source", "a"}}, "/expect/state/s1/in_memory/messages/0/source"},
		{"state of a history, nothing", state, []edit{{"/expect/state/s1/in_memory", obj{}}}, "/expect/state/s1/in_memory"},
		{"state of an empty history", never, []edit{{"/expect/state/s1/in_memory", obj{"messages": list{user("x")}}}}, "/expect/state/s1/in_memory/messages/0"},
		{"state of a session, nothing", state, []edit{{"/expect/state/s1", obj{}}}, "/expect/state/s1"},
		{"tool_runs", tools, []edit{{"/expect/tool_runs/0", obj{"name": "t", "arguments": obj{}}}}, "/expect/tool_runs/0"},
		{"service_session_id", late, []edit{{"/expect/service_session_id/s1", "c2"}}, "/expect/service_session_id/s1"},
		{"service_session_id null", late, []edit{{"/expect/service_session_id/s1", nil}}, "/expect/service_session_id/s1"},
		{"service_session_id not there", never, []edit{{"/expect/service_session_id", obj{"s1": "c"}}}, "/expect/service_session_id/s1"},
		{"warnings none", loaders, []edit{{"/expect/warnings", list{}}}, "/expect/warnings"},
		{"warnings other", loaders, []edit{{"/expect/warnings/0", "no such warning"}}, "/expect/warnings"},
		{"warnings too many", loaders, []edit{{"/expect/warnings/1", "more than one provider loads history"}}, "/expect/warnings"},
		{"build_error other", twice, []edit{{"/expect/build_error", "duplicate tool"}}, "/expect/build_error"},
		{"build_error unexpected", twice, []edit{{"/expect/build_error", removed{}}}, "/expect/build_error"},
		{"build_error missing", order, []edit{{"/expect/build_error", "duplicate"}}, "/expect/build_error"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if r := playEdited(t, c.file); r.Status != conformance.Pass {
				t.Fatalf("%s fails unbroken: %v", c.file, r.Differences)
			}
			r := playEdited(t, c.file, c.edits...)
			if r.Status != conformance.Fail || len(r.Differences) == 0 {
				t.Fatalf("status is %s, wanted fail", r.Status)
			}
			d := r.Differences[0]
			if d.Path != c.path {
				t.Errorf("the first difference is %s, wanted one at %s", d, c.path)
			}
			if d.Want == d.Have || d.Want == "" || d.Have == "" {
				t.Errorf("a difference that tells nothing: %s", d)
			}
		})
	}
}

// What does not count must not fail.
func TestExpectationsThatHoldInOtherWords(t *testing.T) {
	for _, c := range []struct {
		name  string
		file  string
		edits []edit
	}{
		{"error in capitals", "scenarios/error-in-model.json", []edit{{"/turns/0/expect/error", "MODEL Down"}}},
		{"build_error in capitals", "scenarios/duplicate-source-id.json", []edit{{"/expect/build_error", "DUPLICATE"}}},
		{"warnings in capitals", "scenarios/history-two-loaders.json", []edit{{"/expect/warnings/0", "MORE THAN ONE"}}},
		{"warnings that are not listed", "scenarios/history-two-loaders.json", []edit{{"/expect/warnings", removed{}}}},
		{"text_contains in capitals", "scenarios/stream-text.json", []edit{{"/turns/0/expect/text_contains", "ELL"}}},
		{"tool_choice auto", "scenarios/stream-text.json", []edit{{"/expect/requests/0/tool_choice", "auto"}}},
		{"tool_choice auto set", "scenarios-extra/options-merge-by-key.json", []edit{
			{"/agent/options/tool_choice", "auto"},
			{"/expect/requests/0/tool_choice", nil},
			{"/expect/requests/1/tool_choice", removed{}},
		}},
		{"options null", "scenarios/stream-text.json", []edit{{"/expect/requests/0/options", nil}}},
		{"source not compared", "scenarios/stream-text.json", []edit{{"/expect/requests/1/messages/0/source", removed{}}}},
		{"number written otherwise", "scenarios/provider-options-are-a-copy.json", []edit{{"/expect/requests/0/options/temperature", json.Number("1.0e0")}}},
		{"replies left over", "scenarios/stream-text.json", []edit{{"/model/replies/2", obj{"text": "never"}}}},
		{"sources that are not listed", "scenarios/provider-state-scoped.json", []edit{{"/expect/state/s1/a", removed{}}}},
		{"not marked by compaction", "scenarios/provider-state-scoped.json", []edit{{"/expect/state/s1/in_memory/messages/0/excluded", false}}},
		{"neighbouring tool messages", "scenarios-extra/context-roles.json", []edit{
			{"/agent/providers/0/before_run/0/messages/3", obj{"role": "tool", "results": list{obj{"call_id": "2", "result": "u-ok"}}}},
			{"/expect/requests/0/messages/2/results/1", obj{"call_id": "2", "result": "u-ok"}},
			{"/expect/log/1", "be brief,let me look,,,ca,cq"},
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if r := playEdited(t, c.file, c.edits...); r.Status != conformance.Pass {
				t.Errorf("status is %s: %v", r.Status, r.Differences)
			}
		})
	}
}

func TestDifferencesAreBounded(t *testing.T) {
	t.Parallel()
	lines := make(list, 40)
	for i := range lines {
		lines[i] = "other"
	}
	r := playEdited(t, filepath.Join("scenarios", "provider-order-two-turns.json"), edit{"/expect/log", lines})
	if len(r.Differences) != 10 || r.More != 30 {
		t.Errorf("%d differences and %d more, wanted 10 and 30", len(r.Differences), r.More)
	}
}

// A turn that fails does not end the scenario, and one that fails unexpectedly is told with the others.
func TestAFailingTurnDoesNotEndTheScenario(t *testing.T) {
	t.Parallel()
	r := playEdited(t, "scenarios/error-in-model.json", edit{"/turns/0/expect", obj{}}, edit{"/turns/1/expect/text", "x"})
	if len(r.Differences) != 2 || r.Differences[1].Path != "/turns/1/expect/text" {
		t.Errorf("differences are %v", r.Differences)
	}
}
