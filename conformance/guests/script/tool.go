package main

import (
	"github.com/weft-run/weft/pdk/go"
	"github.com/weft-run/weft/pdk/go/json"
)

// readTool reads a tool of a scenario. What it answers travels along as its data.
func readTool(r *json.Reader) pdk.Tool {
	raw := r.Raw()
	t := pdk.Tool{Data: raw}
	member := json.NewReader(raw)
	for name := range member.Object() {
		switch name {
		case "name":
			t.Name = member.String()
		case "description":
			t.Description = member.String()
		case "parameters":
			t.Parameters = member.Raw()
		case "declaration_only":
			t.DeclarationOnly = member.Bool()
		case "approval":
			t.ApprovalRequired = member.String() != ""
		}
	}
	return t
}

// readMiddleware reads middleware of a scenario. What it does travels along as its data.
func readMiddleware(r *json.Reader) pdk.Middleware {
	raw := r.Raw()
	m := pdk.Middleware{Data: raw}
	member := json.NewReader(raw)
	for name := range member.Object() {
		switch name {
		case "name":
			m.Name = member.String()
		case "layer":
			m.Layer = pdk.Layer(member.String())
		}
	}
	return m
}

// tellRun tells the runner of one execution of a tool: an object in the host's log, where lines of the scenario's log are
// strings. The arguments are JSON within a string, so that the log leaves them as they are.
func tellRun(call *pdk.ToolCall) {
	pdk.LogInfo(`{"tool_run":` + quote(call.Name) + `,"arguments":` + quote(string(call.Arguments)) + `}`)
}

// play tells of the call, and returns or fails with what the scenario says.
func play(call *pdk.ToolCall, out *pdk.ToolOut) error {
	tellRun(call)
	r := json.NewReader(call.Data)
	returns, fails, failing := "", "", false
	for name := range r.Object() {
		switch name {
		case "returns":
			returns = r.String()
		case "fails":
			fails, failing = r.String(), true
		}
	}
	if err := r.End(); err != nil {
		return err
	}
	if failing {
		return pdk.NewError(pdk.CodeFailed, fails)
	}
	out.SetText(returns)
	return nil
}
