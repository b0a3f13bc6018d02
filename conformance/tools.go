package conformance

import (
	"context"
	"errors"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/message"
)

// scriptedTool is a tool of a scenario that is declared only.
type scriptedTool struct{ Tool }

// runningTool is one that runs.
type runningTool struct {
	scriptedTool
	play *play
}

var _ host.FunctionTool = (*runningTool)(nil)

// Definition is what the file says; parameters are an open object where it says nothing.
func (t *scriptedTool) Definition() host.ToolDefinition {
	return host.ToolDefinition{Name: t.Name, Description: t.Description, Parameters: t.Parameters}
}

// Call keeps the call, and returns or fails with what the file says.
func (t *runningTool) Call(_ context.Context, arguments jsontext.Value) (jsontext.Value, error) {
	t.play.mu.Lock()
	t.play.toolRuns = append(t.play.toolRuns, ToolRun{Name: t.Name, Arguments: arguments.Clone()})
	t.play.mu.Unlock()
	if t.Fails != nil {
		return nil, errors.New(*t.Fails)
	}
	if t.Returns == nil {
		return quote(""), nil
	}
	return quote(*t.Returns), nil
}

// approvalTool is one that asks before each call.
type approvalTool struct{ runningTool }

var _ host.ApprovalTool = (*approvalTool)(nil)

// NeedsApproval is true.
func (t *approvalTool) NeedsApproval(message.FunctionCall) bool { return true }

func (p *play) tools(tools []Tool) []host.Tool {
	out := make([]host.Tool, len(tools))
	for i, t := range tools {
		switch running := (runningTool{scriptedTool{t}, p}); {
		case t.DeclarationOnly:
			out[i] = &scriptedTool{t}
		case t.Approval != "":
			out[i] = &approvalTool{running}
		default:
			out[i] = &running
		}
	}
	return out
}
