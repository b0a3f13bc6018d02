package conformance

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/schema"
	"github.com/weft-run/weft/message"
)

// scriptedTool is a tool of a scenario that is declared only.
type scriptedTool struct {
	Tool
	schema host.Schema
}

// runningTool is one that runs.
type runningTool struct {
	scriptedTool
	play *play
}

var _ host.FunctionTool = (*runningTool)(nil)

// Definition is what the file says; parameters are an open object where it says nothing.
func (t *scriptedTool) Definition() host.ToolDefinition {
	return host.ToolDefinition{Name: t.Name, Description: t.Description, Parameters: t.schema}
}

// Call keeps the call, and returns or fails with what the file says.
func (t *runningTool) Call(_ context.Context, arguments jsontext.Value) (jsontext.Value, error) {
	t.play.toolRan(t.Name, arguments)
	if t.Fails != nil {
		return nil, errors.New(*t.Fails)
	}
	if t.Returns == nil {
		return quote(""), nil
	}
	return quote(*t.Returns), nil
}

// toolRan keeps one execution of a tool.
func (p *play) toolRan(name string, arguments jsontext.Value) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.toolRuns = append(p.toolRuns, ToolRun{Name: name, Arguments: arguments.Clone()})
}

// approvalTool is one that asks before each call.
type approvalTool struct{ runningTool }

var _ host.ApprovalTool = (*approvalTool)(nil)

// NeedsApproval is true.
func (t *approvalTool) NeedsApproval(message.FunctionCall) bool { return true }

// tools makes the tools of a list. A schema that is none is an error of what the tools are for.
func (p *play) tools(tools []Tool) ([]host.Tool, error) {
	out := make([]host.Tool, len(tools))
	for i, t := range tools {
		declared := scriptedTool{Tool: t}
		if len(t.Parameters) > 0 {
			parsed, err := schema.Parse(t.Parameters)
			if err != nil {
				return nil, fmt.Errorf("tool %q: parameters: %w", t.Name, err)
			}
			declared.schema = parsed
		}
		switch running := (runningTool{declared, p}); {
		case t.DeclarationOnly:
			out[i] = &declared
		case t.Approval != "":
			out[i] = &approvalTool{running}
		default:
			out[i] = &running
		}
	}
	return out, nil
}
