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
		"session_created": sessionCreated, "before_run": beforeRun, "after_run": afterRun, "run_failed": runFailed, "process": process,
	}
	for _, c := range []struct {
		name, hook, ops, in, out string
		log                      []string
		asked                    []question
	}{
		{name: "nothing to do", hook: "before_run", ops: `[]`, out: `{}`},
		{
			name: "context is seen with what was added", hook: "before_run",
			ops: `[{"op":"log_sources"},{"op":"log_seen"},
				{"op":"extend_messages","messages":[{"role":"user","text":"ca"},{"role":"assistant","calls":[{"call_id":"1","name":"t","arguments":{"x":1}}]},{"role":"tool","results":[{"call_id":"1","result":"ok"}]}]},
				{"op":"log_sources"},{"op":"log_seen"}]`,
			in:  `"context":[{"source_id":"h","count":1}],`,
			out: `{"extend_messages":[{"role":"user","text":"ca"},{"role":"assistant","contents":[{"type":"function_call","call_id":"1","name":"t","arguments":{"x":1}}]},{"role":"tool","contents":[{"type":"function_result","call_id":"1","result":"ok"}]}]}`,
			log: []string{"h", "hi", "h,p", "hi,ca,,"},
			asked: []question{
				{"get_messages", `{"ranges":[{"source_id":"h"}]}`, `{"ranges":[{"messages":[{"role":"user","text":"hi"}]}]}`},
				{"get_messages", `{"ranges":[{"source_id":"h"}]}`, `{"ranges":[{"messages":[{"role":"user","text":"hi"}]}]}`},
			},
		},
		{
			name: "own context of an earlier call grows", hook: "before_run",
			ops: `[{"op":"extend_messages","messages":[{"role":"user","text":"2"}]},{"op":"log_seen"}]`,
			in:  `"context":[{"source_id":"p","count":1},{"source_id":"q","count":1}],`,
			out: `{"extend_messages":[{"role":"user","text":"2"}]}`,
			log: []string{"1,2,3"},
			asked: []question{{
				"get_messages", `{"ranges":[{"source_id":"p"},{"source_id":"q"}]}`,
				`{"ranges":[{"messages":[{"role":"user","text":"1"}]},{"messages":[{"role":"user","text":"3"}]}]}`,
			}},
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
			name: "an operation that providers do not have", hook: "session_created", ops: `[{"op":"terminate"}]`,
			out: `{"error":{"code":"invalid_input","message":"op \"terminate\" is not one of a provider's"}}`,
		},
		{
			name: "tools and middleware take along what they do", hook: "before_run",
			ops: `[{"op":"extend_tools","tools":[{"name":"t","description":"d","parameters":{"type":"object"},"returns":"ok"},{"name":"u","declaration_only":true},{"name":"v","approval":"always"}]},
				{"op":"extend_middleware","middleware":[{"kind":"script","name":"m","layer":"chat","process":[]}]}]`,
			out: `{"extend_tools":[{"name":"t","description":"d","parameters":{"type":"object"},"data":{"name":"t","description":"d","parameters":{"type":"object"},"returns":"ok"}},` +
				`{"name":"u","declaration_only":true,"data":{"name":"u","declaration_only":true}},{"name":"v","approval_required":true,"data":{"name":"v","approval":"always"}}],` +
				`"extend_middleware":[{"layer":"chat","name":"m","data":{"kind":"script","name":"m","layer":"chat","process":[]}}]}`,
		},
		{
			name: "wrapping the rest", hook: "process", in: `"layer":"context","state":{"n":1},"context":[],"metadata":{},`,
			ops: `[{"op":"log_response"},{"op":"extend_messages","messages":[{"role":"user","text":"c"}]},{"op":"state_incr","key":"n"},{"op":"log_sources"},{"op":"call_next"},
				{"op":"log_response"},{"op":"log_sources"},{"op":"log_state","key":"n"},{"op":"log_metadata","key":"k"},{"op":"state_incr","key":"n"},{"op":"set_result","text":"mine"},{"op":"log_response"}]`,
			asked: []question{{
				"call_next", `{"extend_messages":[{"role":"user","text":"c"}],"state":{"n":2}}`,
				`{"response":{"messages":[{"role":"assistant","text":"ok"}]},"state":{"n":5},"context":[{"source_id":"p","count":1},{"source_id":"q","count":1}],"metadata":{"k":1}}`,
			}},
			out: `{"state":{"n":6},"response":{"messages":[{"role":"assistant","text":"mine"}]}}`,
			log: []string{"-", "p", "ok", "p,q", "n=5", "k=1", "mine"},
		},
		{
			name: "a rest that fails", hook: "process", in: `"layer":"context",`,
			ops: `[{"op":"call_next","catch":true},{"op":"log","text":"again"},{"op":"call_next"},{"op":"log","text":"never"}]`,
			asked: []question{
				{"call_next", `{}`, `{"error":{"code":"model","message":"boom","cause":1}}`},
				{"call_next", `{}`, `{"error":{"code":"model","message":"boom","cause":2}}`},
			},
			out: `{"error":{"code":"model","message":"boom","cause":2}}`, log: []string{"again"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := `{"abi":1,"hook":"` + c.hook + `","source_id":"p",` + c.in +
				`"config":{"kind":"script","source_id":"p","` + c.hook + `":` + c.ops + `}}`
			check(t, hooks[c.hook], in, c.out, c.log, c.asked)
		})
	}
}

// question is one call of a function of the host, and what it returns.
type question struct{ function, input, output string }

// check runs a hook with a host that answers as is given, and compares all that it did.
func check(t *testing.T, hook func() int32, in, out string, log []string, asked []question) {
	t.Helper()
	answers := map[string][]string{}
	for _, a := range asked {
		answers[a.function] = append(answers[a.function], a.output)
	}
	host := pdktest.Host{Functions: map[string]func(string) string{}}
	for name, all := range answers {
		host.Functions[name] = pdktest.Answers(all...)
	}
	result := host.Run(hook, in)
	if result.Return != 0 || result.Output != out {
		t.Errorf("it returned %d and\n%s, wanted 0 and\n%s", result.Return, result.Output, out)
	}
	var questions []question
	for _, a := range result.Asked {
		questions = append(questions, question{a.Function, a.Input, a.Output})
	}
	if !slices.Equal(questions, asked) {
		t.Errorf("it asked\n%v, wanted\n%v", questions, asked)
	}
	var lines []string
	for _, l := range result.Logs {
		r := json.NewReader(l.Text)
		if r.Kind() == json.KindObject {
			lines = append(lines, l.Text) // the execution of a tool
			continue
		}
		lines = append(lines, r.String())
		if err := r.End(); err != nil || l.Level != "info" {
			t.Errorf("it logged %q at level %s", l.Text, l.Level)
		}
	}
	if !slices.Equal(lines, log) {
		t.Errorf("it logged %q, wanted %q", lines, log)
	}
}

func TestDescribe(t *testing.T) {
	out := pdktest.Call(t, describe, `{"hook":"describe"}`)
	const want = `{"name":"script","description":"Plays what is scripted in a scenario: a provider, or middleware.","abi":1,` +
		`"grants":{"read":["context:*","options","metadata","request","calls"],"add":["messages","instructions","metadata","tools"],` +
		`"roles":["system","user","assistant","tool"],"change":["messages","options","arguments","result"],` +
		`"middleware":["context","chat","function"]}}`
	if out != want {
		t.Errorf("it describes itself as\n%s, wanted\n%s", out, want)
	}
}
