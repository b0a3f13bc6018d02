package wasm

import (
	"context"
	"fmt"
	"regexp"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/weft-run/weft/abi"
	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/message"
)

// declaredTool is a tool of a plugin whose calls are the caller's to answer.
type declaredTool struct{ definition host.ToolDefinition }

// Definition is what the plugin says of the tool.
func (t *declaredTool) Definition() host.ToolDefinition { return t.definition }

// pluginTool is a tool of a plugin for one run: its calls reach the plugin's call_tool (clauses TOL-1 to TOL-4).
type pluginTool struct {
	declaredTool
	version *version
	added   *call // that added it
	tool    abi.Tool
}

var (
	_ host.FunctionTool      = (*pluginTool)(nil)
	_ host.ApprovalTool      = (*pluginTool)(nil)
	_ host.TrustRequiredTool = (*pluginTool)(nil)
)

// NeedsApproval is what the plugin says of the tool.
func (t *pluginTool) NeedsApproval(message.FunctionCall) bool { return t.tool.ApprovalRequired }

// RequiresTrusted is what the plugin says of the tool.
func (t *pluginTool) RequiresTrusted() bool { return t.tool.RequiresTrusted }

// Call calls the plugin's call_tool.
func (t *pluginTool) Call(ctx context.Context, arguments jsontext.Value) (jsontext.Value, error) {
	v := t.version
	state := t.added.session.State(v.sourceID)
	c := &call{version: v, hook: abi.HookCallTool, runID: t.added.runID, agent: t.added.agent, session: t.added.session}
	raw, err := c.readState(ctx, state)
	if err != nil {
		return nil, v.failed(c, err, "")
	}
	in := v.newView(c)
	in.raw("state", raw)
	in.key("call")
	in.oneCall(message.FunctionCall{CallID: host.CallID(ctx), Name: t.tool.Name, Arguments: arguments}, "", t.tool.Data)
	out, err := v.invoke(ctx, c, in)
	if err != nil {
		return nil, err
	}
	if err := v.checkState(out.State); err != nil {
		return nil, v.failed(c, err, "")
	}
	if err := c.replaceState(ctx, state, out.State); err != nil {
		return nil, v.failed(c, err, "")
	}
	switch {
	case out.Error != nil:
		return nil, v.failed(c, out.Error, "")
	case out.Result == nil:
		return jsontext.Value(`""`), nil
	}
	return out.Result, nil
}

// What the model APIs take as a tool's name.
var toolNameForm = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// tools makes the tools that a plugin adds to a run. A tool that cannot be is an error, and then none is added.
func (v *version) tools(c *call, added []abi.Tool) ([]host.Tool, error) {
	if len(added) == 0 {
		return nil, nil
	}
	if limit, n := v.limits.Tools, c.tools+len(added); beyond(n, limit) {
		return nil, &SizeError{Limit: "tools", Value: int64(limit), Seen: int64(n)}
	}
	tools := make([]host.Tool, len(added))
	for i, t := range added {
		place := fmt.Sprintf("/extend_tools/%d", i)
		if !toolNameForm.MatchString(t.Name) {
			return nil, &abi.OutputError{Pointer: place + "/name", Reason: fmt.Sprintf("%.80q: model APIs take 1 to 64 letters, digits, _ and -", t.Name)}
		}
		declared := declaredTool{host.ToolDefinition{Name: t.Name, Description: t.Description}}
		if len(t.Parameters) > 0 {
			parsed, err := v.schemas.of(t.Parameters, v.limits.ToolSchema)
			if err != nil {
				return nil, &abi.OutputError{Pointer: place + "/parameters", Reason: err.Error()}
			}
			declared.definition.Parameters = parsed
		}
		switch {
		case t.DeclarationOnly:
			tools[i] = &declared
		case !v.can(abi.HookCallTool):
			return nil, &abi.OutputError{Pointer: place, Reason: "the plugin adds a tool and does not export call_tool"}
		default:
			tools[i] = &pluginTool{declaredTool: declared, version: v, added: c, tool: t}
		}
	}
	return tools, nil
}
