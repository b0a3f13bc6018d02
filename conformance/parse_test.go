package conformance_test

import (
	"os"
	"strings"
	"testing"

	"github.com/weft-run/weft/conformance"
)

// Whatever is wrong with a file is told with the file, the place and, for a word, the nearest valid one.
func TestBadFiles(t *testing.T) {
	const file = "scenarios/provider-order-two-turns.json"
	for _, c := range []struct {
		name string
		edit edit
		want string
	}{
		{"unknown key", edit{"/turn", list{}}, `/: unknown key "turn"; did you mean "turns"?`},
		{"unknown key of the agent", edit{"/agent/provider", list{}}, `/agent: unknown key "provider"; did you mean "providers"?`},
		{"unknown key of a provider", edit{"/agent/providers/1/beforerun", list{}}, `/agent/providers/1: unknown key "beforerun"; did you mean "before_run"?`},
		{"unknown key of a history", edit{"/agent/providers/0/load_message", true}, `/agent/providers/0: unknown key "load_message"; did you mean "load_messages"?`},
		{"unknown key of an op", edit{"/agent/providers/1/before_run/0/txet", "x"}, `/agent/providers/1/before_run/0: unknown key "txet"; did you mean "text"?`},
		{"field that an op does not take", edit{"/agent/providers/1/before_run/0/key", "x"}, `/agent/providers/1/before_run/0: unknown key "key"`},
		{"field that an op lacks", edit{"/agent/providers/1/before_run/0/text", removed{}}, `/agent/providers/1/before_run/0: "text" is missing`},
		{"unknown op", edit{"/agent/providers/1/before_run/0/op", "lgo"}, `/agent/providers/1/before_run/0: unknown op "lgo"; did you mean "log"?`},
		{"op without a name", edit{"/agent/providers/1/before_run/0/op", removed{}}, `/agent/providers/1/before_run/0: "op" is missing`},
		{"op that is no text", edit{"/agent/providers/1/before_run/0/op", 1}, `/agent/providers/1/before_run/0/op: a string was wanted, and a number is there`},
		{"op that is no object", edit{"/agent/providers/1/before_run/0", "log"}, `/agent/providers/1/before_run/0: an object was wanted, and a string is there`},
		{"op in the wrong place", edit{"/agent/providers/1/before_run/0", obj{"op": "call_next"}}, `/agent/providers/1/before_run/0: op "call_next" cannot stand in a provider's hook`},
		{"middleware's op in process", edit{"/agent/providers/3", obj{"kind": "script", "source_id": "w", "process": list{obj{"op": "terminate"}}}}, `/agent/providers/3/process/0: op "terminate" cannot stand in a provider's process`},
		{"provider's op in middleware", edit{"/agent/middleware", list{obj{"kind": "script", "name": "m", "layer": "chat", "process": list{obj{"op": "state_incr", "key": "n"}}}}}, `/agent/middleware/0/process/0: op "state_incr" cannot stand in middleware of the chat layer`},
		{"unknown layer", edit{"/agent/middleware", list{obj{"kind": "script", "name": "m", "layer": "chta", "process": list{}}}}, `/agent/middleware/0/layer: "chta" is not valid here; did you mean "chat"?`},
		{"when of another layer", edit{"/agent/middleware", list{obj{"kind": "script", "name": "m", "layer": "chat", "when": obj{"tool": "t"}, "process": list{}}}}, `/agent/middleware/0/when: unknown key "tool"`},
		{"when without state", edit{"/agent/providers/1/before_run/0/when", obj{"n": 1}}, `/agent/providers/1/before_run/0/when: unknown key "n"`},
		{"unknown kind", edit{"/agent/providers/1/kind", "scripts"}, `/agent/providers/1/kind: "scripts" is not valid here; did you mean "script"?`},
		{"no source id", edit{"/agent/providers/1/source_id", removed{}}, `/agent/providers/1: "source_id" is missing`},
		{"process beside hooks", edit{"/agent/providers/1/process", list{}}, `/agent/providers/1: "process" and "before_run" cannot stand together`},
		{"unknown role", edit{"/agent/providers/1/before_run/1/messages/0/role", "usr"}, `/agent/providers/1/before_run/1/messages/0/role: "usr" is not valid here; did you mean "user"?`},
		{"source in a message that goes in", edit{"/agent/providers/1/before_run/1/messages/0/source", "a"}, `/agent/providers/1/before_run/1/messages/0: unknown key "source"`},
		{"unknown strategy", edit{"/agent/compaction", obj{"strategy": "truncate"}}, `/agent/compaction/strategy: "truncate" is not valid here`},
		{"strategy that lacks a number", edit{"/agent/compaction", obj{"strategy": "truncation", "max_n": 1}}, `/agent/compaction: "compact_to" is missing`},
		{"number below zero", edit{"/agent/function_invocation", obj{"max_iterations": -1}}, `/agent/function_invocation/max_iterations: a whole number from 0 on was wanted, and -1 is there`},
		{"default_history", edit{"/agent/default_history", "always"}, `/agent/default_history: "always" is not valid here; valid are when_empty, when_missing, never`},
		{"option of the wrong type", edit{"/agent/options", obj{"temperature": "hot"}}, `/agent/options: options:`},
		{"load_messages", edit{"/agent/providers/0/load_messages", "never"}, `/agent/providers/0/load_messages: "never" is not valid here; valid are auto`},
		{"load_messages of the wrong type", edit{"/agent/providers/0/load_messages", 1}, `/agent/providers/0/load_messages: true or false was wanted, and a number is there`},
		{"wrong type", edit{"/agent/instructions", list{}}, `/agent/instructions: a string was wanted, and an array is there`},
		{"no model", edit{"/model", removed{}}, `/: "model" is missing`},
		{"name that is empty", edit{"/name", ""}, `/name: must not be empty`},
		{"reply of nothing", edit{"/model/replies/0", obj{}}, `/model/replies/0: a reply needs "text", "calls" or "error"`},
		{"chunks that are not the text", edit{"/model/replies/0/chunks", list{"o", "x"}}, `/model/replies/0: "chunks" must add up to "text"`},
		{"usage", edit{"/model/replies/0/usage", obj{"input_tokens": 1}}, `/model/replies/0/usage: "output_tokens" is missing`},
		{"unknown key of a turn", edit{"/turns/0/inputs", "hi"}, `/turns/0: unknown key "inputs"; did you mean "input"?`},
		{"approve beside input", edit{"/turns/0/approve", obj{"1": true}}, `/turns/0: "input" and "approve" cannot stand together`},
		{"stop_after of a run", edit{"/turns/0/stop_after", 1}, `/turns/0: "stop_after" needs "stream": true`},
		{"service_session_id at second use", edit{"/turns/1/service_session_id", "x"}, `/turns/1: "service_session_id" binds a session at its first use`},
		{"unknown key of a turn's expect", edit{"/turns/0/expect/erorr", "x"}, `/turns/0/expect: unknown key "erorr"; did you mean "error"?`},
		{"text and text_contains", edit{"/turns/0/expect/messages/0/text_contains", "x"}, `/turns/0/expect/messages/0: "text" and "text_contains" cannot stand together`},
		{"unknown key of expect", edit{"/expect/logs", list{}}, `/expect: unknown key "logs"; did you mean "log"?`},
		{"unknown key of a request", edit{"/expect/requests/0/tool", list{}}, `/expect/requests/0: unknown key "tool"; did you mean "tools"?`},
		{"log of the wrong type", edit{"/expect/log/0", 1}, `/expect/log/0: a string was wanted, and a number is there`},
		{"state of no session", edit{"/expect/state/s2", obj{}}, `/expect/state: no turn has a session "s2"`},
		{"state of the wrong type", edit{"/expect/state/s1/a", 1}, `/expect/state/s1/a: an object was wanted, and a number is there`},
		{"history with more than messages", edit{"/expect/state/s1/in_memory/n", 1}, `/expect/state/s1/in_memory: unknown key "n"; valid are messages`},
		{"null where it may not stand", edit{"/expect/log", nil}, `/expect/log: an array was wanted, and null is there`},
		{"reference_expect alone", edit{"/reference_expect", obj{"anything": 1}}, `"differs", and that is missing`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, err := conformance.Parse("bad.json", edited(t, file, c.edit))
			if err == nil || s != nil {
				t.Fatalf("it was read; wanted an error with %s", c.want)
			}
			if !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "bad.json: ") {
				t.Errorf("the error is\n%v\nwanted one with\nbad.json: %s", err, c.want)
			}
		})
	}
}

func TestFilesThatAreNotJSON(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"nothing":        {"", "not valid JSON"},
		"cut off":        {`{"name": "x"`, "not valid JSON"},
		"two values":     {`{} {}`, "more JSON follows"},
		"twice the same": {`{"name": "a", "name": "b"}`, "duplicate"},
		"too deep":       {strings.Repeat("[", 100) + strings.Repeat("]", 100), "nests deeper than 64"},
		"no object":      {`[]`, "an object was wanted, and an array is there"},
	} {
		_, err := conformance.Parse("bad.json", []byte(c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "bad.json: ") {
			t.Errorf("%s: the error is %v, wanted one with %q", name, err, c.want)
		}
	}
}

// All faults of a file are told at once, a line each.
func TestAllFaultsAtOnce(t *testing.T) {
	t.Parallel()
	_, err := conformance.Parse("bad.json", []byte(`{"namee": "x", "model": {"replies": 1}, "turns": [{"inptu": ""}]}`))
	if err == nil {
		t.Fatal("it was read")
	}
	for _, want := range []string{
		`bad.json: /: unknown key "namee"; did you mean "name"?`,
		`bad.json: /: "name" is missing`,
		`bad.json: /model/replies: an array was wanted, and a number is there`,
		`bad.json: /turns/0: unknown key "inptu"; did you mean "input"?`,
	} {
		if !strings.Contains(err.Error()+"\n", want+"\n") {
			t.Errorf("the error lacks the line %s:\n%v", want, err)
		}
	}
}

func TestLoadNamesTheFile(t *testing.T) {
	t.Parallel()
	if _, err := conformance.Load("testdata/no-such.json"); err == nil || !strings.Contains(err.Error(), "no-such.json") {
		t.Errorf("the error is %v", err)
	}
	s, err := conformance.Load("scenarios/stream-text.json")
	if err != nil {
		t.Fatal(err)
	}
	if s.File != "scenarios/stream-text.json" || s.Name != "stream-text" || len(s.Tags) != 3 || s.Summary == "" {
		t.Errorf("loaded %q, %q, %q, %q", s.File, s.Name, s.Tags, s.Summary)
	}
}

// Whatever the bytes: reading does not panic, and what was read can be played.
func FuzzParse(f *testing.F) {
	for _, file := range scenarioFiles(f) {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := conformance.Parse("fuzzed.json", data)
		if err != nil {
			return
		}
		s.Missing(true)
		conformance.Play(t.Context(), s, conformance.Options{})
	})
}
