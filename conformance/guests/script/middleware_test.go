package main

import "testing"

const answer = `{"response":{"messages":[{"role":"assistant","contents":[{"type":"reasoning","text":"hm"},{"type":"text","text":"ok"},{"type":"uri","uri":"x:y"}]}],"finish_reason":"stop"}}`

// Each case is one call of middleware: the script, what else comes in, what goes down and what goes out.
func TestMiddleware(t *testing.T) {
	for _, c := range []struct {
		name, layer, script, in, out string
		log                          []string
		asked                        []question
	}{
		{
			name: "a model call", layer: "chat",
			script: `"process":[{"op":"log_response"},{"op":"append_message","message":{"role":"user","text":"m"}},{"op":"set_option","key":"temperature","value":0.5},
				{"op":"call_next"},{"op":"log_response"},{"op":"append_result","text":"!"},{"op":"log_response"}]`,
			asked: []question{{"call_next", `{"splice":[{"insert":[{"role":"user","text":"m"}]}],"options":{"temperature":0.5}}`, answer}},
			out:   `{"response":{"messages":[{"role":"assistant","contents":[{"type":"reasoning","text":"hm"},{"type":"text","text":"ok!"},{"type":"uri","uri":"x:y"}]}],"finish_reason":"stop"}}`,
			log:   []string{"-", "ok", "ok!"},
		},
		{
			name: "all messages of a model call anew", layer: "chat",
			script: `"process":[{"op":"set_messages","messages":[{"role":"system","text":"s"}]},{"op":"call_next"},{"op":"call_next"}]`,
			asked: []question{
				{"call_next", `{"messages":[{"role":"system","text":"s"}]}`, answer},
				{"call_next", `{}`, answer},
			},
			out: `{}`,
		},
		{
			name: "something behind no text", layer: "chat", script: `"process":[{"op":"append_result","text":"!"}]`,
			out: `{"response":{"messages":[{"role":"assistant","text":"!"}]}}`,
		},
		{
			name: "something behind calls", layer: "chat", script: `"process":[{"op":"call_next"},{"op":"append_result","text":"!"}]`,
			asked: []question{{"call_next", `{}`, `{"response":{"messages":[{"role":"assistant","contents":[{"type":"function_call","call_id":"1","name":"t"}]}]}}`}},
			out:   `{"response":{"messages":[{"role":"assistant","contents":[{"type":"function_call","call_id":"1","name":"t"}]},{"role":"assistant","text":"!"}]}}`,
		},
		{
			name: "when the last message has another role", layer: "chat", script: `"when":{"last_role":"tool"},"process":[{"op":"log","text":"no"}]`,
			asked: []question{
				{"get_messages", `{"ranges":[{"part":"request","start":-1}]}`, `{"ranges":[{"messages":[{"role":"user","text":"q"}]}]}`},
				{"call_next", `{}`, answer},
			},
			out: `{}`,
		},
		{
			name: "when the last message has the role", layer: "agent", script: `"when":{"last_role":"user"},"process":[{"op":"set_result","text":"yes"}]`,
			in: `"input":[{"role":"tool","text":"x"},{"role":"user","text":"q"}],`, out: `{"response":{"messages":[{"role":"assistant","text":"yes"}]}}`,
		},
		{
			name: "when there is no message", layer: "agent", script: `"when":{"last_role":"user"},"process":[{"op":"log","text":"no"}]`,
			asked: []question{{"call_next", `{}`, `{}`}}, out: `{}`,
		},
		{
			name: "a run", layer: "agent",
			script: `"process":[{"op":"append_message","message":{"role":"user","text":"m"}},{"op":"set_option","key":"store","value":true},{"op":"call_next"},{"op":"log_response"},{"op":"append_result","text":"!"}]`,
			in:     `"input":[{"role":"user","text":"q"}],`,
			asked:  []question{{"call_next", `{"input":[{"role":"user","text":"q"},{"role":"user","text":"m"}],"options":{"store":true}}`, `{"response":{"messages":[{"role":"assistant","text":"ok"}]}}`}},
			out:    `{"response":{"messages":[{"role":"assistant","text":"ok!"}]}}`, log: []string{"ok"},
		},
		{
			name: "a run of other messages", layer: "agent", script: `"process":[{"op":"set_messages","messages":[]},{"op":"call_next"}]`,
			asked: []question{{"call_next", `{"input":[]}`, `{}`}}, out: `{}`,
		},
		{
			name: "terminated with a text", layer: "agent", script: `"process":[{"op":"terminate","text":""},{"op":"log","text":"never"}]`,
			out: `{"response":{"messages":[{"role":"assistant","text":""}]},"terminate":true}`,
		},
		{name: "terminated without one", layer: "chat", script: `"process":[{"op":"terminate"}]`, out: `{"terminate":true}`},
		{name: "failed", layer: "chat", script: `"process":[{"op":"fail","error":"boom"}]`, out: `{"error":{"code":"failed","message":"boom"}}`},
		{
			name: "failed below", layer: "chat", script: `"process":[{"op":"call_next","catch":true},{"op":"call_next"}]`,
			asked: []question{
				{"call_next", `{}`, `{"error":{"code":"model","message":"a","cause":1}}`},
				{"call_next", `{}`, `{"error":{"code":"model","message":"b","cause":2}}`},
			},
			out: `{"error":{"code":"model","message":"b","cause":2}}`,
		},
		{
			name: "a tool call", layer: "function",
			script: `"when":{"tool":"t"},"process":[{"op":"log_response"},{"op":"set_arguments","arguments":{"x":2}},{"op":"call_next"},{"op":"log_response"},{"op":"append_result","text":"!"}]`,
			in:     `"call":{"call_id":"1","name":"t","arguments":{"x":1}},`,
			asked:  []question{{"call_next", `{"arguments":{"x":2}}`, `{"result":"ok"}`}},
			out:    `{"result":"ok!"}`, log: []string{"-", "ok"},
		},
		{
			name: "another tool", layer: "function", script: `"when":{"tool":"t"},"process":[{"op":"fail","error":"no"}]`,
			in: `"call":{"call_id":"1","name":"u"},`, asked: []question{{"call_next", `{}`, `{"result":1}`}}, out: `{}`,
		},
		{
			name: "added by a provider", layer: "function", script: `"process":[{"op":"fail","error":"no"}]`,
			in: `"name":"m","data":{"layer":"function","process":[{"op":"terminate","text":"stop"}]},`, out: `{"result":"stop","terminate":true}`,
		},
		{
			name: "an operation of another layer", layer: "function", script: `"process":[{"op":"set_option","key":"k","value":1}]`,
			out: `{"error":{"code":"invalid_input","message":"op \"set_option\" is not one of the layer function"}}`,
		},
		{
			name: "an operation of another layer", layer: "chat", script: `"process":[{"op":"set_arguments","arguments":{}}]`,
			out: `{"error":{"code":"invalid_input","message":"op \"set_arguments\" is not one of the layer chat"}}`,
		},
		{
			name: "an operation of another layer", layer: "agent", script: `"process":[{"op":"extend_tools"}]`,
			out: `{"error":{"code":"invalid_input","message":"op \"extend_tools\" is not one of the layer agent"}}`,
		},
	} {
		t.Run(c.layer+"/"+c.name, func(t *testing.T) {
			in := `{"hook":"process","layer":"` + c.layer + `",` + c.in + `"config":{"kind":"script","name":"m","layer":"` + c.layer + `",` + c.script + `}}`
			check(t, process, in, c.out, c.log, c.asked)
		})
	}
}

// A tool's execution is told to the runner before it returns or fails.
func TestTools(t *testing.T) {
	for _, c := range []struct{ name, data, out string }{
		{"returns", `{"name":"t","returns":"t-ok"}`, `{"result":"t-ok"}`},
		{"returns nothing", `{"name":"t"}`, `{"result":""}`},
		{"fails", `{"name":"t","fails":""}`, `{"error":{"code":"failed","message":"the plugin failed and did not say why"}}`},
		{"fails with a text", `{"name":"t","fails":"boom"}`, `{"error":{"code":"failed","message":"boom"}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			check(t, callTool, `{"hook":"call_tool","call":{"call_id":"1","name":"t","arguments":{"x": "\"é"},"data":`+c.data+`}}`, c.out,
				[]string{`{"tool_run":"t","arguments":"{\"x\": \"\\\"\u00e9\"}"}`}, nil)
		})
	}
}
