// Command every is a plugin that uses all that the contract has, through package pdk, and logs what it saw, a line each. A
// test of package conformance runs it in a host and compares the lines.
package main

import (
	"strconv"
	"strings"

	"github.com/weft-run/weft/pdk/go"
	"github.com/weft-run/weft/pdk/go/json"
)

//go:wasmexport describe
func describe() int32 {
	return pdk.Describe(pdk.Description{
		Name: "every", Version: "1.2.3", SourceID: "every", StateVersion: 2, Layers: []pdk.Layer{pdk.LayerChat},
		Requires:     []string{"process", "tools", "kv", "complete", "embed", "search", "events", "http"},
		ConfigSchema: `{"type": "object", "required": ["url"], "properties": {"url": {"type": "string"}}}`,
		Grants: pdk.Grants{
			Read:       []string{"context:in_memory", "request", "calls", "options", "metadata"},
			Add:        []string{"tools", "metadata"},
			Roles:      []pdk.Role{pdk.RoleSystem},
			Change:     []string{"messages", "options", "arguments", "result"},
			Middleware: []pdk.Layer{pdk.LayerChat},
			KV:         []pdk.Scope{pdk.ScopeSession, pdk.ScopeAgent},
			Complete:   &pdk.Budget{Calls: 1, Tokens: 1000}, Embed: &pdk.Budget{Calls: 1, Tokens: 1000},
			Search: []pdk.SearchGrant{{Index: "docs", Mode: "rw"}}, Events: []string{"emit", "request"},
			HTTP:  []pdk.HTTPGrant{{OriginFrom: "url", Methods: []string{"POST"}, Secrets: []string{"KEY"}, Private: true}},
			Files: []pdk.FileGrant{{Guest: "/notes", Mode: "rw"}},
		},
	})
}

//go:wasmexport init
func initialise() int32 {
	return pdk.Init(func(in *pdk.In) error {
		g := in.Grants()
		tell("init", g.KV, g.Events, g.Complete.Calls, g.HTTP[0].Secrets, g.Search[0].Mode)
		return nil
	})
}

//go:wasmexport migrate_state
func migrateState() int32 {
	return pdk.MigrateState(func(m *pdk.Migration, out *pdk.StateOut) error {
		tell("migrate_state", m.From, m.To, m.State)
		out.SetState(`{"calls":10}`)
		return nil
	})
}

//go:wasmexport before_run
func beforeRun() int32 {
	return pdk.BeforeRun(func(in *pdk.In, out *pdk.ContextOut) error {
		tell("before_run", in.State)
		out.ExtendTools(tools...)
		out.ExtendMiddleware(pdk.Middleware{Layer: pdk.LayerChat, Name: "shout", Data: `{"mark":"!"}`})
		for _, ask := range []func(*pdk.In) error{messages, storage, model, documents, events, notes, request} {
			if err := ask(in); err != nil {
				return err
			}
		}
		return nil
	})
}

//go:wasmexport process
func process() int32 {
	return pdk.Process(pdk.Layers{Chat: func(c *pdk.ChatContext) error {
		tell("process", c.Name, c.Data, c.Streaming, c.Request().Count, c.Request().Tools, c.Option("seed"), c.Last(1)[0].Text())
		c.Splice(0, 0, pdk.System("be loud"))
		c.SetOption("temperature", "0.5")
		c.Messages()
		err := c.Next()
		tell("process after next", c.Text())
		return err
	}})
}

//go:wasmexport on_update
func onUpdate() int32 {
	return pdk.OnUpdate(func(u *pdk.UpdateIn, out *pdk.UpdateOut) error {
		n := 0
		if u.Carry != "" {
			n = json.NewReader(u.Carry).Int()
		}
		out.SetCarry(json.Int(n + 1))
		switch text := u.Update.Text(); {
		case u.End:
			tell("on_update", u.Layer, u.Name, n)
			out.SetUpdates(pdk.TextUpdate("!"))
		case text == "uh ":
			out.Drop()
		case text != "":
			out.SetUpdates(pdk.TextUpdate(strings.ToUpper(text)))
		}
		return nil
	})
}

//go:wasmexport before_iteration
func beforeIteration() int32 {
	return pdk.BeforeIteration(func(in *pdk.In, _ *pdk.ResponseOut) error {
		tell("before_iteration", in.Iteration().Number, in.Request().Count)
		return nil
	})
}

//go:wasmexport before_tools
func beforeTools() int32 {
	return pdk.BeforeTools(func(in *pdk.In, _ *pdk.ResponseOut) error {
		tell("before_tools", len(in.Calls()), in.Calls()[0].Name, in.Calls()[0].Arguments)
		return nil
	})
}

//go:wasmexport before_function
func beforeFunction() int32 {
	return pdk.BeforeFunction(func(in *pdk.In, out *pdk.ResultOut) error {
		tell("before_function", in.Call().CallID, in.Call().SourceID)
		if in.Call().CallID == "blocked" {
			out.SetText("not this one")
		}
		return nil
	})
}

//go:wasmexport call_tool
func callTool() int32 { return pdk.CallTool(tools.Call) }

var tools = pdk.Tools{{
	Name: "count", Description: "Counts.", Parameters: `{"type":"object","properties":{"by":{"type":"integer"}}}`, Data: `{"base":100}`,
	Call: func(call *pdk.ToolCall, out *pdk.ToolOut) error {
		tell("call_tool", call.CallID, call.Arguments, call.Data, call.State)
		by, calls := member(call.Arguments, "by"), member(call.State, "calls")
		out.SetState(`{"calls":` + json.Int(calls+by) + `}`)
		out.SetResult(`{"calls":` + json.Int(calls+by) + `}`)
		return nil
	},
}}

//go:wasmexport after_function
func afterFunction() int32 {
	return pdk.AfterFunction(func(in *pdk.In, out *pdk.ResultOut) error {
		r := in.Result()
		tell("after_function", r.CallID, r.Text(), r.Error)
		out.SetText(r.Text() + "?")
		return nil
	})
}

//go:wasmexport after_iteration
func afterIteration() int32 {
	return pdk.AfterIteration(func(in *pdk.In, out *pdk.RunOut) error {
		i := in.Iteration()
		tell("after_iteration", i.Number, len(in.Results()), in.Response().Text())
		out.SetMetadata("iterations", json.Int(i.Number))
		return nil
	})
}

//go:wasmexport after_run
func afterRun() int32 {
	return pdk.AfterRun(func(in *pdk.In, _ *pdk.RunOut) error {
		tell("after_run", in.State, in.MetadataValue("iterations"), in.Response().Text())
		return nil
	})
}

func member(object json.Raw, wanted string) (n int) {
	r := json.NewReader(object)
	for name := range r.Object() {
		if name == wanted {
			n = r.Int()
		}
	}
	return n
}

// tell logs values as they are, with a space between them.
func tell(values ...any) {
	var b strings.Builder
	for i, value := range values {
		if i > 0 {
			b.WriteByte(' ')
		}
		switch v := value.(type) {
		case string:
			b.WriteString(v)
		case json.Raw:
			b.WriteString(string(v))
		case pdk.Layer:
			b.WriteString(string(v))
		case int:
			b.WriteString(strconv.Itoa(v))
		case bool:
			b.WriteString(strconv.FormatBool(v))
		case float64:
			b.WriteString(strconv.FormatFloat(v, 'g', 3, 64))
		case []string:
			b.WriteString(strings.Join(v, ","))
		case []pdk.Scope:
			for i, scope := range v {
				b.WriteString([]string{"", ","}[min(i, 1)] + string(scope))
			}
		case error:
			b.WriteString(v.Error())
		case nil:
			b.WriteString("nil")
		}
	}
	pdk.LogInfo(b.String())
}

func main() {}
