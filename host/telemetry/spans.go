package telemetry

import (
	"context"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/weft-run/weft/host"
)

// describe is what is known of a part when it begins: samplers see no more.
func (t *Tracer) describe(ctx context.Context, h *host.HookTrace) (name string, kind trace.SpanKind, attributes []attribute.KeyValue) {
	attributes = make([]attribute.KeyValue, 0, 16)
	add := func(more ...attribute.KeyValue) { attributes = append(attributes, more...) }
	if h.RunID != "" { // empty for agent middleware that runs what is inside once more
		add(keyRunID.String(h.RunID))
	}
	switch h.Hook {
	case "run":
		add(operationAgent, keyStream.Bool(h.Streaming))
		name = named("invoke_agent", h.AgentName)
	case "model":
		add(operationChat, keyStream.Bool(h.Streaming))
		add(t.base...)
		model := ""
		if h.Request != nil {
			model = h.Request.Options.Model
			attributes = append(attributes, options(&h.Request.Options)...)
		}
		name, kind = named("chat", model), trace.SpanKindClient
	case "function":
		add(operationTool, keyToolType.String(toolTypeFunction))
		tool := toolName(h.Tool)
		if tool != "" {
			add(keyToolName.String(tool))
		}
		if h.Call != nil && h.Call.CallID != "" {
			add(keyToolCallID.String(cutText(h.Call.CallID, longestIdentifier)))
		}
		name = named("execute_tool", tool)
	default:
		add(keyHook.String(h.Hook))
		if h.Layer != "" {
			add(keyLayer.String(h.Layer))
		}
		if h.SourceType != "" {
			add(keySourceType.String(h.SourceType))
		}
		if h.SourceID != "" {
			name = named(h.Hook, h.SourceID)
		} else {
			name = named(named(h.Hook, h.Layer), h.SourceType)
		}
	}
	if h.SourceID != "" {
		add(keySourceID.String(h.SourceID))
	}
	if h.AgentName != "" {
		add(keyAgentName.String(h.AgentName))
	}
	if id := conversation(ctx, h); id != "" {
		add(keyConversation.String(cutText(id, longestIdentifier)))
	}
	if kind == trace.SpanKindUnspecified {
		kind = trace.SpanKindInternal
	}
	return name, kind, attributes
}

func named(operation, name string) string {
	if name == "" {
		return operation
	}
	return operation + " " + name
}

// conversation is the caller's session, else what the service calls the conversation.
func conversation(ctx context.Context, h *host.HookTrace) string {
	id, inRun := ctx.Value(runKey{}).(string)
	if !inRun {
		id = h.SessionID
	}
	if id == "" && h.Request != nil {
		return h.Request.ConversationID
	}
	return id
}

// toolName is a tool's name where it can be one. The model wrote it, and what it made up is content.
func toolName(name string) string {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
	if len(name) > 64 || strings.Trim(name, letters) != "" {
		return ""
	}
	return name
}

// options are the options of a model call that the conventions know.
func options(o *host.Options) []attribute.KeyValue {
	all := make([]attribute.KeyValue, 0, 8)
	if o.Model != "" {
		all = append(all, keyModel.String(o.Model))
	}
	if o.Temperature != nil {
		all = append(all, keyTemperature.Float64(*o.Temperature))
	}
	if o.TopP != nil {
		all = append(all, keyTopP.Float64(*o.TopP))
	}
	if o.MaxTokens != nil {
		all = append(all, keyMaxTokens.Int(*o.MaxTokens))
	}
	if o.Seed != nil {
		all = append(all, keySeed.Int(*o.Seed))
	}
	if len(o.Stop) > 0 {
		all = append(all, keyStop.StringSlice(o.Stop))
	}
	if o.ResponseFormat != nil {
		all = append(all, keyOutputType.String(outputTypeJSON))
	}
	return all
}

// outcome is what is known of a part when it is over.
func (t *Tracer) outcome(h *host.HookTrace) []attribute.KeyValue {
	all := make([]attribute.KeyValue, 0, 4+2*len(h.Costs))
	switch {
	case h.Hook == "run" || h.Hook == "model":
		if h.Hook == "model" && h.FirstUpdate > 0 {
			all = append(all, keyFirstChunk.Float64(h.FirstUpdate.Seconds()))
		}
		all = append(all, response(h.Response)...)
	case h.Hook != "function" && h.SourceID != "": // tool calls and middleware add nothing to a run's context
		all = append(all, keyMessages.Int(h.Messages), keyAddedLines.Int(h.Instructions), keyTools.Int(h.Tools))
		if h.Skipped {
			all = append(all, keySkipped.Bool(true))
		}
	}
	for _, cost := range h.Costs {
		if h.Hook == "model" && (cost.Name == "input_tokens" || cost.Name == "output_tokens") {
			continue // the conventions have names for them
		}
		all = append(all, attribute.Int64(prefixCost+cost.Name+".used", cost.Used))
		if cost.Limit != 0 {
			all = append(all, attribute.Int64(prefixCost+cost.Name+".limit", cost.Limit))
		}
	}
	return all
}

// response is what a model call, or a run, came to.
func response(r *host.Response) []attribute.KeyValue {
	if r == nil {
		return nil
	}
	all := make([]attribute.KeyValue, 0, 7)
	if r.ID != "" {
		all = append(all, keyResponseID.String(cutText(r.ID, longestIdentifier)))
	}
	if r.Model != "" {
		all = append(all, keyResponseModel.String(cutText(r.Model, longestIdentifier)))
	}
	if r.FinishReason != "" {
		all = append(all, keyFinishReasons.StringSlice([]string{cutText(string(r.FinishReason), longestIdentifier)}))
	}
	if u := r.Usage; u != nil {
		all = append(all, keyInputTokens.Int(u.InputTokens), keyOutputTokens.Int(u.OutputTokens))
		if u.CachedInputTokens != 0 {
			all = append(all, keyCachedTokens.Int(u.CachedInputTokens))
		}
		if u.ReasoningTokens != 0 {
			all = append(all, keyThoughtTokens.Int(u.ReasoningTokens))
		}
	}
	return all
}
