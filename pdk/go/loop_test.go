package pdk_test

import (
	"testing"

	"github.com/weft-run/weft/pdk/go"
	"github.com/weft-run/weft/pdk/go/json"
	"github.com/weft-run/weft/pdk/go/pdktest"
)

const iteration = `"iteration":{"number":2,"usage":{"input_tokens":3,"output_tokens":4}}`

func TestHooksOfTheLoop(t *testing.T) {
	for _, c := range []struct {
		name string
		hook func() int32
		in   string
		want string
	}{
		{"before_iteration", func() int32 {
			return pdk.BeforeIteration(func(in *pdk.In, out *pdk.ResponseOut) error {
				r := in.Request()
				out.SetText(shown(in.Iteration().Number, *in.Iteration().Usage, r.Count, r.Tools))
				out.SetState(`{"n":1}`)
				return nil
			})
		}, iteration + `,"request":{"count":3,"tools":["a"]}`, `{"response":{"messages":[{"role":"assistant","text":"2 {3 4} 3 [a]"}]},"state":{"n":1}}`},
		{"before_tools", func() int32 {
			return pdk.BeforeTools(func(in *pdk.In, out *pdk.ResponseOut) error {
				calls := in.Calls()
				out.SetResponse(&pdk.Response{
					Messages: []pdk.Message{pdk.Assistant(in.Response().Text() + calls[1].Name)}, FinishReason: "stop",
				})
				out.SetMetadata("k", "1")
				return nil
			})
		}, iteration + `,"response":{"messages":[{"role":"assistant","text":"let me "}]},` +
			`"calls":[{"call_id":"1","name":"a"},{"call_id":"2","name":"b"}]`, `{"response":{"messages":[{"role":"assistant","text":"let me b"}],"finish_reason":"stop"},"metadata":{"k":1}}`},
		{"before_function", func() int32 {
			return pdk.BeforeFunction(func(in *pdk.In, out *pdk.ResultOut) error {
				c := in.Call()
				out.SetText(c.CallID + c.Name + string(c.Arguments) + c.SourceID)
				return nil
			})
		}, `"call":{"call_id":"1","name":"a","arguments":{"x":1},"source_id":"s"}`, `{"result":"1a{\"x\":1}s"}`},
		{"after_function", func() int32 {
			return pdk.AfterFunction(func(in *pdk.In, out *pdk.ResultOut) error {
				r := in.Result()
				out.SetResult(json.String(r.Text() + " " + r.Error))
				return nil
			})
		}, `"call":{"call_id":"1","name":"a"},"result":{"result":"was","error":"e"}`, `{"result":"was e"}`},
		{"after_function lets it stand", func() int32 {
			return pdk.AfterFunction(func(*pdk.In, *pdk.ResultOut) error { return nil })
		}, `"result":{"result":"was"}`, `{}`},
		{"after_iteration", func() int32 {
			return pdk.AfterIteration(func(in *pdk.In, out *pdk.RunOut) error {
				r := in.Results()
				out.SetMetadata("seen", json.String(shown(len(in.Calls()), r[0].CallID, r[0].Text(), r[1].Error)))
				return nil
			})
		}, iteration + `,"calls":[{"call_id":"1","name":"a"},{"call_id":"2","name":"b"}],` +
			`"results":[{"call_id":"1","result":[1]},{"call_id":"2","result":null,"error":"x"}]`, `{"metadata":{"seen":"2 1 [1] x"}}`},
		{"nothing may be read", func() int32 {
			return pdk.BeforeTools(func(in *pdk.In, _ *pdk.ResponseOut) error {
				if in.Iteration() != (pdk.Iteration{}) || in.Call().Name != "" || in.Result().CallID != "" || in.Calls() != nil {
					t.Error("what is absent is empty")
				}
				return nil
			})
		}, `"later":1`, `{}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if have := pdktest.Call(t, c.hook, `{`+c.in+`}`); have != c.want {
				t.Errorf("want %s\nhave %s", c.want, have)
			}
		})
	}
}

func TestOnUpdate(t *testing.T) {
	upper := func() int32 {
		return pdk.OnUpdate(func(u *pdk.UpdateIn, out *pdk.UpdateOut) error {
			var held counter
			if err := u.ReadCarry(&held); err != nil {
				return err
			}
			held.Runs++
			out.WriteCarry(&held)
			switch {
			case u.End:
				out.SetUpdates(pdk.TextUpdate("end of " + string(u.Layer)))
			case u.Update.Text() == "secret":
				out.Drop()
			case u.Update.FinishReason == "":
				u.Update.Contents = append(u.Update.Contents, pdk.Text{Text: "!"})
				out.SetUpdates(u.Update)
			}
			return nil
		})
	}
	for _, c := range []struct{ name, in, want string }{
		{
			"replaced", `"update":{"role":"assistant","contents":[{"type":"text","text":"a"}],"message_id":"m"}`,
			`{"updates":[{"role":"assistant","contents":[{"type":"text","text":"a"},{"type":"text","text":"!"}],"message_id":"m"}],"carry":{"runs":1}}`,
		},
		{"dropped", `"update":{"contents":[{"type":"text","text":"secret"}]},"carry":{"runs":4}`, `{"updates":[],"carry":{"runs":5}}`},
		{"as it is", `"update":{"role":"assistant","finish_reason":"stop"}`, `{"carry":{"runs":1}}`},
		{
			"at the end", `"end":true`,
			`{"updates":[{"role":"assistant","contents":[{"type":"text","text":"end of chat"}]}],"carry":{"runs":1}}`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			if have := pdktest.Call(t, upper, `{"layer":"chat",`+c.in+`}`); have != c.want {
				t.Errorf("want %s\nhave %s", c.want, have)
			}
		})
	}
}

func TestMigrateState(t *testing.T) {
	out := pdktest.Call(t, func() int32 {
		return pdk.MigrateState(func(m *pdk.Migration, out *pdk.StateOut) error {
			var c counter
			if err := m.ReadState(&c); err != nil {
				return err
			}
			c.Runs += m.From*10 + m.To
			out.WriteState(&c)
			return nil
		})
	}, `{"hook":"migrate_state","state":{"runs":500},"from":1,"to":2}`)
	if want := `{"state":{"runs":512}}`; out != want {
		t.Errorf("want %s, have %s", want, out)
	}
}

// sum is the arguments of a tool.
type sum struct{ A, B int }

func (s *sum) ReadJSON(r *json.Reader) {
	for name := range r.Object() {
		switch name {
		case "a":
			s.A = r.Int()
		case "b":
			s.B = r.Int()
		}
	}
}

var tools = pdk.Tools{
	{
		Name: "add", Description: "adds", Parameters: `{"type":"object"}`, Data: `{"d":1}`,
		Call: func(call *pdk.ToolCall, out *pdk.ToolOut) error {
			var s sum
			if err := call.ReadArguments(&s); err != nil {
				return err
			}
			out.SetResult(json.Int(s.A + s.B))
			return nil
		},
	},
	{
		Name: "remember", ApprovalRequired: true, RequiresTrusted: true,
		Call: func(call *pdk.ToolCall, out *pdk.ToolOut) error {
			var c counter
			if err := call.ReadState(&c); err != nil {
				return err
			}
			c.Runs++
			out.WriteState(&c)
			out.SetText(call.CallID + string(call.Data))
			return nil
		},
	},
	{Name: "declared", DeclarationOnly: true},
}

func callTool() int32 { return pdk.CallTool(tools.Call) }

func TestToolsOfAPlugin(t *testing.T) {
	added := pdktest.Call(t, func() int32 {
		return pdk.BeforeRun(func(_ *pdk.In, out *pdk.ContextOut) error {
			out.ExtendTools(tools...)
			out.ExtendMiddleware(pdk.Middleware{Layer: pdk.LayerChat}, pdk.Middleware{Layer: pdk.LayerFunction, Name: "n", Data: "[1]"})
			return nil
		})
	}, `{}`)
	want := `{"extend_tools":[{"name":"add","description":"adds","parameters":{"type":"object"},"data":{"d":1}},` +
		`{"name":"remember","approval_required":true,"requires_trusted":true},{"name":"declared","declaration_only":true}],` +
		`"extend_middleware":[{"layer":"chat"},{"layer":"function","name":"n","data":[1]}]}`
	if added != want {
		t.Errorf("want %s\nhave %s", want, added)
	}
	for _, c := range []struct{ name, in, want string }{
		{"add", `"call":{"call_id":"1","name":"add","arguments":{"a":2,"b":3}}`, `{"result":5}`},
		{"remember", `"call":{"call_id":"1","name":"remember","arguments":{},"data":[2]},"state":{"runs":7}`, `{"result":"1[2]","state":{"runs":8}}`},
		{
			"arguments", `"call":{"name":"add","arguments":{"a":"x"}}`,
			`{"error":{"code":"invalid_input","message":"arguments: at /a: a number was wanted, and a string is there"}}`,
		},
		{"unknown", `"call":{"name":"sub"}`, `{"error":{"code":"not_found","message":"this plugin has no tool \"sub\""}}`},
		{"declared", `"call":{"name":"declared"}`, `{"error":{"code":"not_found","message":"this plugin has no tool \"declared\""}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if have := pdktest.Run(callTool, `{"hook":"call_tool",`+c.in+`}`).Output; have != c.want {
				t.Errorf("want %s\nhave %s", c.want, have)
			}
		})
	}
}
