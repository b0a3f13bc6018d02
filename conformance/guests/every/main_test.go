package main

import (
	"testing"

	"github.com/weft-run/weft/pdk/go/pdktest"
)

// Each hook by itself, natively. What they do in a host, a test of package conformance looks at.
func TestHooks(t *testing.T) {
	next := map[string]func(string) string{
		"call_next":    pdktest.Answers(`{"response":{"messages":[{"role":"assistant","text":"ok"}]}}`),
		"get_messages": func(string) string { return `{"ranges":[{"messages":[{"role":"user","text":"hi"}]}]}` },
	}
	for _, c := range []struct {
		name string
		hook func() int32
		in   string
		out  string
		log  string
	}{
		{
			"init", initialise, `{"grants":{"kv":["agent"],"events":["emit"],"complete":{"calls":2,"tokens":1},"http":[{"origin":"https://a.example","secrets":["KEY"]}],"search":[{"index":"docs","mode":"rw"}]}}`,
			`{}`, "init agent emit 2 KEY rw",
		},
		{"migrate_state", migrateState, `{"state":{"a":1},"from":1,"to":2}`, `{"state":{"calls":10}}`, `migrate_state 1 2 {"a":1}`},
		{
			"process", process, `{"layer":"chat","name":"n","data":[1],"request":{"count":1,"tools":["a","b"]},"options":{"seed":3}}`,
			`{}`, `process n [1] false 1 a,b 3 hi`,
		},
		{
			"on_update", onUpdate, `{"layer":"chat","update":{"contents":[{"type":"text","text":"a"}]},"carry":4}`,
			`{"updates":[{"role":"assistant","contents":[{"type":"text","text":"A"}]}],"carry":5}`, "",
		},
		{
			"on_update at the end", onUpdate, `{"layer":"chat","end":true}`,
			`{"updates":[{"role":"assistant","contents":[{"type":"text","text":"!"}]}],"carry":1}`, "on_update chat  0",
		},
		{"before_iteration", beforeIteration, `{"iteration":{"number":1},"request":{"count":2}}`, `{}`, "before_iteration 1 2"},
		{"before_tools", beforeTools, `{"calls":[{"name":"t","arguments":{}}]}`, `{}`, "before_tools 1 t {}"},
		{"before_function", beforeFunction, `{"call":{"call_id":"blocked"}}`, `{"result":"not this one"}`, "before_function blocked "},
		{
			"call_tool", callTool, `{"call":{"call_id":"1","name":"count","arguments":{"by":2},"data":{}},"state":{"calls":3}}`,
			`{"result":{"calls":5},"state":{"calls":5}}`, `call_tool 1 {"by":2} {} {"calls":3}`,
		},
		{"after_function", afterFunction, `{"result":{"call_id":"1","result":"a","error":"e"}}`, `{"result":"a?"}`, "after_function 1 a e"},
		{
			"after_iteration", afterIteration, `{"iteration":{"number":2},"response":{"messages":[]},"results":[{"call_id":"1"}]}`,
			`{"metadata":{"iterations":2}}`, "after_iteration 2 1 ",
		},
		{"after_run", afterRun, `{"state":{},"metadata":{"iterations":2}}`, `{}`, "after_run {} 2 "},
	} {
		t.Run(c.name, func(t *testing.T) {
			result := (&pdktest.Host{Functions: next}).Run(c.hook, c.in)
			if result.Output != c.out {
				t.Errorf("it returned\n%s, wanted\n%s", result.Output, c.out)
			}
			first := ""
			if len(result.Logs) > 0 {
				first = result.Logs[0].Text
			}
			if first != c.log {
				t.Errorf("it logged %q, wanted %q", first, c.log)
			}
		})
	}
}

// Without a host that answers, a hook that asks has failed.
func TestBeforeRunNeedsAHost(t *testing.T) {
	result := pdktest.Run(beforeRun, `{"state":{}}`)
	if want := `{"error":{"code":"denied","message":"the host of this test has no function get_messages"}}`; result.Output != want {
		t.Errorf("want %s\nhave %s", want, result.Output)
	}
	pdktest.Call(t, describe, `{}`)
}
