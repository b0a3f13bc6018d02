package main

import (
	"slices"
	"testing"

	"github.com/weft-run/weft/pdk/go/json"
	"github.com/weft-run/weft/pdk/go/pdktest"
)

// Each case is one call of one hook: the operations, what else comes in, what goes out and what is logged.
func TestHooks(t *testing.T) {
	hooks := map[string]func() int32{
		"session_created": sessionCreated, "before_run": beforeRun, "after_run": afterRun, "run_failed": runFailed,
	}
	for _, c := range []struct {
		name, hook, ops, in, out string
		log                      []string
	}{
		{name: "nothing to do", hook: "before_run", ops: `[]`, out: `{}`},
		{
			name: "context is seen with what was added", hook: "before_run",
			ops: `[{"op":"log_sources"},{"op":"log_seen"},
				{"op":"extend_messages","messages":[{"role":"user","text":"ca"},{"role":"assistant","calls":[{"call_id":"1","name":"t","arguments":{"x":1}}]},{"role":"tool","results":[{"call_id":"1","result":"ok"}]}]},
				{"op":"log_sources"},{"op":"log_seen"}]`,
			in:  `"context":[{"source_id":"h","count":1,"messages":[{"role":"user","text":"hi"}]}],`,
			out: `{"extend_messages":[{"role":"user","text":"ca"},{"role":"assistant","contents":[{"type":"function_call","call_id":"1","name":"t","arguments":{"x":1}}]},{"role":"tool","contents":[{"type":"function_result","call_id":"1","result":"ok"}]}]}`,
			log: []string{"h", "hi", "h,p", "hi,ca,,"},
		},
		{
			name: "own context of an earlier call grows", hook: "before_run",
			ops: `[{"op":"extend_messages","messages":[{"role":"user","text":"2"}]},{"op":"log_seen"}]`,
			in:  `"context":[{"source_id":"p","count":1,"messages":[{"role":"user","text":"1"}]},{"source_id":"q","count":1,"messages":[{"role":"user","text":"3"}]}],`,
			out: `{"extend_messages":[{"role":"user","text":"2"}]}`,
			log: []string{"1,2,3"},
		},
		{
			name: "instructions and metadata", hook: "before_run",
			ops: `[{"op":"extend_instructions","instructions":["a","b"]},{"op":"log_metadata","key":"k"},{"op":"metadata_set","key":"k","value":{"b":1,"a":2}},{"op":"log_metadata","key":"k"},{"op":"log_metadata","key":"n"}]`,
			in:  `"metadata":{"k":"was"},`,
			out: `{"extend_instructions":["a","b"],"metadata":{"k":{"b":1,"a":2}}}`,
			log: []string{`k="was"`, `k={"a":2,"b":1}`, `n=null`},
		},
		{
			name: "options are a copy", hook: "before_run",
			ops: `[{"op":"set_option","key":"temperature","value":9}]`, in: `"options":{"temperature":1},`, out: `{}`,
		},
		{
			name: "state", hook: "after_run",
			ops: `[{"op":"state_incr","key":"n"},{"op":"state_incr","key":"m"},{"op":"state_set","key":"who","value":[1, 2]},{"op":"log_state","key":"n"},{"op":"log_state","key":"who"},{"op":"log_state","key":"x"}]`,
			in:  `"state":{"z":1.50,"n":1},`,
			out: `{"state":{"z":1.50,"n":2,"m":1,"who":[1, 2]}}`,
			log: []string{"n=2", "who=[1,2]", "x=null"},
		},
		{
			name: "when", hook: "after_run",
			ops: `[{"op":"log","text":"yes","when":{"state":{"n":1.0,"o":{"a":1}}}},{"op":"log","text":"no","when":{"state":{"n":1,"m":2}}},{"op":"log","text":"no","when":{"state":{"o":{"a":2}}}}]`,
			in:  `"state":{"n":1,"o":{"a":1}},`,
			out: `{}`, log: []string{"yes"},
		},
		{
			name: "response", hook: "after_run", ops: `[{"op":"log_response"}]`,
			in:  `"response":{"messages":[{"role":"assistant","text":"o"},{"role":"assistant","text":"k"}]},`,
			out: `{}`, log: []string{"ok"},
		},
		{name: "no response", hook: "run_failed", ops: `[{"op":"log_response"}]`, out: `{}`, log: []string{"-"}},
		{
			name: "a failure keeps the state and nothing else", hook: "before_run",
			ops: `[{"op":"state_incr","key":"n"},{"op":"extend_instructions","instructions":["i"]},{"op":"metadata_set","key":"k","value":1},{"op":"fail","error":"boom"},{"op":"log","text":"never"}]`,
			out: `{"state":{"n":1},"error":{"code":"failed","message":"boom"}}`,
		},
		{
			name: "a count that is none", hook: "session_created", ops: `[{"op":"state_incr","key":"n"}]`, in: `"state":{"n":"x"},`,
			out: `{"error":{"code":"failed","message":"state \"n\": a number was wanted, and a string is there"}}`,
		},
		{
			name: "an operation that plugins do not have", hook: "session_created", ops: `[{"op":"terminate"}]`,
			out: `{"error":{"code":"invalid_input","message":"op \"terminate\" is not one of a plugin's"}}`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := `{"abi":1,"hook":"` + c.hook + `","source_id":"p",` + c.in +
				`"config":{"kind":"script","source_id":"p","` + c.hook + `":` + c.ops + `}}`
			result := pdktest.Run(hooks[c.hook], in)
			if result.Return != 0 || result.Output != c.out {
				t.Errorf("it returned %d and\n%s, wanted 0 and\n%s", result.Return, result.Output, c.out)
			}
			var lines []string
			for _, l := range result.Logs {
				r := json.NewReader(l.Text)
				lines = append(lines, r.String())
				if err := r.End(); err != nil || l.Level != "info" {
					t.Errorf("it logged %q at level %s", l.Text, l.Level)
				}
			}
			if !slices.Equal(lines, c.log) {
				t.Errorf("it logged %q, wanted %q", lines, c.log)
			}
		})
	}
}

func TestDescribe(t *testing.T) {
	out := pdktest.Call(t, describe, `{"hook":"describe"}`)
	const want = `{"name":"script","description":"Plays a scripted provider of a scenario.","abi":1,` +
		`"grants":{"read":["context:*","options","metadata"],"add":["metadata"],"roles":["system","assistant","tool"]}}`
	if out != want {
		t.Errorf("it describes itself as\n%s, wanted\n%s", out, want)
	}
}
